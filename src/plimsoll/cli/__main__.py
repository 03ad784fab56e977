# SPDX-License-Identifier: Apache-2.0

"""Run the `plimsoll` command as `python -m plimsoll.cli`."""

from plimsoll.cli import main

if __name__ == "__main__":
    main(prog_name="plimsoll")
