# SPDX-License-Identifier: Apache-2.0

"""Whose consumers and searches a caller may see."""

from __future__ import annotations

from plimsoll.api.v1.request import ALL_PROJECTS, V1Request
from plimsoll.http.problems import Problem

_OTHER_PROJECT = f"Policy does not allow {ALL_PROJECTS}: only the project of the token can be shown."
_NO_PROJECT = f"Policy does not allow {ALL_PROJECTS}, and the token has no project."


def visible_project(call: V1Request) -> str | None:
    """Return the project whose data is shown: that of the parameter `project`; None for all projects.

    Callers that may not see all projects get their own one. If the parameter names another one, it raises a 403.
    """
    wanted: str | None = call.values.get("project")
    if call.sees_all_projects:
        return wanted
    own = call.caller.project_id
    if not own:
        raise Problem(403, _NO_PROJECT)
    if wanted not in (None, own):
        raise Problem(403, _OTHER_PROJECT)
    call.is_own_project = True
    return own
