# SPDX-License-Identifier: Apache-2.0

"""A check at each start that openstack-placement is not installed in the same environment."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

REFERENCE = "openstack-placement"

_BESIDE = (
    "{reference} {version} is installed in the same environment as plimsoll-as-placement. Both are the package"
    " `placement`, and parts of each would run. Remove both with `pip uninstall {reference} plimsoll-as-placement`,"
    " then install the one that you want to run."
)


class BesideReferenceError(RuntimeError):
    """openstack-placement is installed in this environment too."""


def require() -> None:
    """Raise BesideReferenceError if openstack-placement is installed in this environment."""
    try:
        found = version(REFERENCE)
    except PackageNotFoundError:
        return
    raise BesideReferenceError(_BESIDE.format(reference=REFERENCE, version=found))
