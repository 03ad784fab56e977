# SPDX-License-Identifier: Apache-2.0

"""Where could this fit?"""

from __future__ import annotations

import random
from dataclasses import replace

from plimsoll.domain.refusals import Refusal
from plimsoll.search.answer import Candidates
from plimsoll.search.candidates import find_candidates
from plimsoll.search.request import CandidatesRequest
from plimsoll.service.placement import Placement


def find(placement: Placement, request: CandidatesRequest) -> Candidates | Refusal:
    snapshot, order = placement.snapshot(), placement.settings.order
    if placement.settings.shuffle:
        order = replace(order, shuffle_seed=random.getrandbits(32))
    return find_candidates(snapshot.world, snapshot.index, request, order)
