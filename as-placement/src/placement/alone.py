# SPDX-License-Identifier: Apache-2.0

"""There is one `placement` in an environment. Whatever starts something here asks first."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

REFERENCE = "openstack-placement"

_BESIDE = (
    "{reference} {version} is installed in the same environment as plimsoll-as-placement. Both are the package"
    " `placement`, and parts of each would run. Remove both with `pip uninstall {reference} plimsoll-as-placement`,"
    " then install the one that is to serve."
)


class BesideReferenceError(RuntimeError):
    """Placement itself is installed here too."""


def require() -> None:
    """Raises BesideReferenceError if Placement itself is installed in this environment."""
    try:
        found = version(REFERENCE)
    except PackageNotFoundError:
        return
    raise BesideReferenceError(_BESIDE.format(reference=REFERENCE, version=found))
