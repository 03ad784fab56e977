# SPDX-License-Identifier: Apache-2.0

"""Who does what where all requests of a process share one thread."""

import subprocess
import sys

HERE_OR_ASIDE = """
from gevent import monkey
monkey.patch_all()
from plimsoll.turns import AT_WORK, aside, aside_for_a_moment

real_thread = monkey.get_original("threading", "get_ident")
here = real_thread()

def is_done_here(how):
    return how(real_thread) == here

with AT_WORK:
    print(is_done_here(aside), is_done_here(aside_for_a_moment))
    with AT_WORK:
        print(is_done_here(aside), is_done_here(aside_for_a_moment))
print(is_done_here(aside_for_a_moment))
"""


def test_who_is_alone_does_here_what_is_soon_done() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HERE_OR_ASIDE], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split("\n")[:3] == ["False True", "False False", "True"]
