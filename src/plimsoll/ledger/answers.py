# SPDX-License-Identifier: Apache-2.0

"""Answers to questions about one moment: who asks the same of the same moment is given the same.

Schedulers that work side by side ask for the same flavour at the same time, and hosts that fit it are looked for once.
Nothing has to be forgotten: the answers go with the moment, and the next write makes another one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

MOST_BYTES = 4 << 20
"""Of all answers about one moment, with their questions. What comes later is not kept."""
_BESIDES = 512
"""What an entry takes besides them."""


class Answers:
    """For any thread: two who ask at the same time may both work it out, and get the same."""

    __slots__ = ("_by_question", "_room")

    def __init__(self) -> None:
        self._by_question: dict[tuple[Hashable, str], bytes] = {}
        self._room = MOST_BYTES

    def to(self, question: str, terms: Hashable, work_out: Callable[[], bytes]) -> bytes:
        """The question and its terms say everything that the answer depends on, but for the moment."""
        answer = self._by_question.get((terms, question))
        if answer is None:
            answer = work_out()
            taken = len(answer) + len(question) + _BESIDES
            if taken <= self._room:
                self._room -= taken
                self._by_question[terms, question] = answer
        return answer
