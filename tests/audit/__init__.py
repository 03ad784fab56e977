# SPDX-License-Identifier: Apache-2.0

"""Linearizability check: several processes on one database, and a checker with a model of its own.

Several services on one database serve several clients. The clients claim, move, clear, grow, shrink, reshape, create
and delete at random, each request through a randomly chosen service. With `--kills` the database and the services are
killed meanwhile. Afterwards the auditor checks one thing: **is there an order of all requests that explains all
responses and the final rows in SQL?** If there is none, a write was lost, doubled, half-written, decided on an old
state, or became visible too late. The input of the auditor is the requests, the responses and the times, and nothing
else: `model` is a separate Placement in plain Python, and neither our code nor our change log is used.

The order
    Each operation has a start time (before the request was sent) and, if there was a response, an end time (after the
    response was read), on one clock for all. It took effect at one moment in between. So an operation that ended
    before another one began comes before it: a read that begins after the response to a write, through any process,
    must show that write. Operations that overlap may have happened in either order; generations decide which, where a
    response shows one or a request was guarded by one. Where nothing decides, both orders stay open until a later
    response decides.

    `search` reads the history in the order of time and holds every *possibility*: a state, and which of the pending
    operations have happened in it. When an operation ends, it must have happened: a possibility is dropped if the
    model would not have given this response at any moment while the operation was pending. When the last one is
    dropped, no order explains the history up to this operation: that is a finding. Three rules limit the number of
    possibilities, and none of them drops one that matters:

    - A read, or a refused write, changes nothing. It happens as soon as the state fits its response.
    - Before an operation that ends, only the operations that conflict with it are tried (`conflicts`): a claim on
      another host by another consumer may as well come later.
    - Two paths to the same state with the same operations done are one possibility.

Requests without a response
    A request whose connection was refused, or that went to a process already dead, was never sent: it did not happen.
    A request with a 503 that states that nothing was changed did not happen either; if it did, some generation is one
    too high and no order fits. A request that was sent and got no response (the connection broke, the service was
    killed, the client timed out), or got a 503 that states that the outcome is unknown, may have happened at any time
    after it began, or not at all. Both stay open until a generation decides, at the longest until its service has been
    dead for `UNKNOWN_CLOSES_AFTER`: by then the database has committed or rolled back every statement that it received.
    A 500 is a finding of its own, and the request may have happened or not.

The final comparison
    When the clients have stopped, every provider, consumer and name is read through every service: these reads are
    operations like all others, so a worker whose state differs is found. SQL is read by plain statements, row by row
    (on a cluster from each node, and all nodes must have the same rows), and is the last operation of all. Then
    `plimsoll db verify` must find nothing, and no service may have found its memory different from SQL (they compare
    every few seconds, and log it).

The model refuses everything that breaks the invariants (no capacity exceeded by an accepted claim, generations that
rise by one, no allocation without an inventory). `model.invariants` checks this at every step, and now and then counts
all sums again from the single allocations.

Decisions of a client depend on the seed, its number, and the responses that it received, and on nothing else. So a seed
repeats the same decisions as long as the responses are the same; no seed repeats how the requests of several clients
interleave.
"""
