# SPDX-License-Identifier: Apache-2.0

"""Where could this fit?"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable
from dataclasses import replace

from plimsoll.domain.refusals import Refusal
from plimsoll.search.answer import Candidates
from plimsoll.search.candidates import find_candidates
from plimsoll.search.plan import NameMissing
from plimsoll.search.request import CandidatesRequest
from plimsoll.service.placement import Placement
from plimsoll.turns import aside


def find(placement: Placement, request: CandidatesRequest) -> Candidates | Refusal:
    snapshot, order = placement.snapshot(), placement.settings.order
    if placement.settings.shuffle:
        order = replace(order, shuffle_seed=random.getrandbits(32))
    index = snapshot.index

    def search() -> Candidates | NameMissing:
        return find_candidates(snapshot.world, index, request, order)

    # To combine providers may be a puzzle; to look through them never is.
    return search() if index.flat or len(request.groups) == 1 else aside(search)


def answered(placement: Placement, question: str, form: Hashable, work_out: Callable[[], bytes]) -> bytes:
    """What was answered to the same question in the same form, as long as nothing has changed; else it is worked out.

    Not where candidates come in random order: there each answer is to be another one.
    """
    if placement.settings.shuffle:
        return work_out()
    return placement.snapshot().answers.to(question, (form, placement.settings.order), work_out)
