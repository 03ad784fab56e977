# SPDX-License-Identifier: Apache-2.0

"""The uuid of each row as JSON text, all of one width, so that responses can be written in columns.

Immutable; `whole` concatenates the blocks on first use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray

from plimsoll.search.index.blocks import BLOCK, BLOCK_BITS, concatenate_blocks

Texts: TypeAlias = NDArray[np.bytes_]

_WIDTH = len('"00000000-0000-0000-0000-000000000000"')


@dataclass(slots=True, eq=False)
class Labels:
    blocks: tuple[Texts, ...] = ()
    _whole: Texts | None = field(default=None, repr=False)

    def whole(self) -> Texts:
        whole = self._whole
        if whole is None:
            # Two threads may both do this, with the same result.
            width = max([_WIDTH, *[block.itemsize for block in self.blocks]])
            blocks = [_widened(block, width) for block in self.blocks]
            whole, self.blocks = concatenate_blocks(blocks, np.empty(0, f"S{width}"))
            self._whole = whole
        return whole

    def replaced(self, uuids: Mapping[int, str]) -> Labels:
        """Return labels with the uuids of additional rows."""
        blocks = list(self.blocks)
        changed: set[int] = set()
        for row, uuid in uuids.items():
            number, label = row >> BLOCK_BITS, orjson.dumps(uuid)
            while len(blocks) <= number:
                blocks.append(np.zeros(BLOCK, f"S{_WIDTH}"))
            if number not in changed:
                blocks[number] = blocks[number].copy()
                changed.add(number)
            block = blocks[number] = _widened(blocks[number], len(label))
            block[row & (BLOCK - 1)] = label.ljust(block.itemsize)
        return Labels(tuple(blocks))


def _widened(block: Texts, width: int) -> Texts:
    """Pad a block with blanks to at least this width. Blanks have no meaning in JSON."""
    return block if block.itemsize >= width else np.char.ljust(block, width)
