# SPDX-License-Identifier: Apache-2.0

"""Many processes on one database, and an auditor who believes nobody.

Several services on one database answer several clients who claim, move, clear, grow, shrink, reshape, create and
delete at random, each request through a service chosen at random. With `--kills` the database and the services are
killed meanwhile. Afterwards the auditor asks one question: **is there an order of all requests that explains all
answers, and what SQL says at the end?** If there is none, something was lost, doubled, half-written, decided on an
old state, or shown too late. The auditor knows the requests, the answers and the times, and nothing else: `model` is
a Placement of its own in plain Python, and neither our code nor our change log is asked.

The order
    Each operation has a time at which it began (before the request was sent) and, if it was answered, one at which it
    ended (after the answer was read), on one clock for all. It has taken effect at one moment in between. So whatever
    ended before another began comes before it: a read that begins after an answered write, through whichever process,
    must show it. Operations that overlap may have happened in either order; generations tell which, wherever an
    answer shows one or a request was guarded by one. Where nothing tells, both orders stay open until a later answer
    decides.

    `search` goes through the history in the order of time and keeps every *possibility*: a world, and which of the
    operations under way have happened in it. When an operation ends, it must have happened: possibilities in which the
    model would not have given its answer, at no moment while it was under way, are dropped. When the last one is
    dropped, no order explains the history up to this operation: that is a finding. Three things keep the possibilities
    few, and none of them drops one that matters:

    - A read, or a refused write, changes nothing. It happens as soon as the world fits its answer.
    - Before an operation that ends, only those others are tried that meet it (`meetings`): a claim on another host by
      another consumer may as well come later.
    - Two ways to the same world with the same operations done are one.

What is not answered
    A request whose connection was refused, or that went to a process already dead, was never sent: it did not happen.
    A 503 that says that nothing was changed did not happen either; if it did, some generation is one too far and no
    order fits. A request that was sent and not answered (the connection broke, the service was killed, the client lost
    patience), or answered with a 503 that says that nobody knows, may have happened at any time after it began, or not
    at all. Both stay open until a generation decides, at the longest until its service has been dead for `PATIENCE`:
    whatever the database had been told by then, it has done or forgotten. A 500 is a finding of its own, and may have
    happened or not.

What is compared at the end
    When the clients have stopped, every provider, consumer and name is read through every service: these reads are
    operations like all others, so a worker with another world than the rest is found. SQL is read by plain statements,
    row by row (on a cluster from each node, and all have to say the same), and is the last operation of all. Then
    `plimsoll db verify` must find nothing, and no service may have found its memory different from SQL (they compare
    every few seconds, and log it).

That the history's worlds keep their promises (no line overstepped by an accepted claim, generations that step by one,
no allocation without an inventory) follows from the model, which refuses what breaks them. `model.promises` looks at
every step whether that is so, and counts all sums again from the single allocations now and then.

Decisions of a client depend on the seed, its number, and the answers it got, and on nothing else. So a seed repeats the
same decisions as long as the answers are the same; how requests of several clients interleave no seed can repeat.
"""
