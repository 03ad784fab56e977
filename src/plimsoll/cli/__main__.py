# SPDX-License-Identifier: Apache-2.0

"""So that `python -m plimsoll.cli` is the `plimsoll` command."""

from plimsoll.cli import main

if __name__ == "__main__":
    main(prog_name="plimsoll")
