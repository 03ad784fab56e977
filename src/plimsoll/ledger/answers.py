# SPDX-License-Identifier: Apache-2.0

"""Answers to questions about one moment: who asks the same of the same moment is given the same.

Schedulers that work side by side ask for the same flavour at the same time, and hosts that fit it are looked for once.
Nothing has to be forgotten: the answers go with the moment, and the next write makes another one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

MOST_BYTES = 4 << 20
"""Of all answers about one moment. What comes later is not kept."""


class Answers:
    """For any thread: two who ask at the same time may both work it out, and get the same."""

    __slots__ = ("_by_question", "_room")

    def __init__(self) -> None:
        self._by_question: dict[Hashable, bytes] = {}
        self._room = MOST_BYTES

    def to(self, question: Hashable, work_out: Callable[[], bytes]) -> bytes:
        """A question says everything that the answer depends on, but for the moment."""
        answer = self._by_question.get(question)
        if answer is None:
            answer = work_out()
            if len(answer) <= self._room:
                self._room -= len(answer)
                self._by_question[question] = answer
        return answer
