# SPDX-License-Identifier: Apache-2.0

"""Compare the cloud as of earlier revisions with answers that were kept then, and "since when" with a search of every revision.

python -m tests.property.history --revisions 1000 --histories 100 --seed 1

`--histories` counts those in which a change is named; in others there are candidates, or there never were any.
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

from tests.property.histories import RandomCloud, ask, paths, random_cloud, time_of

HISTORY = 400
"""Changes of a history in which revisions are compared."""
SHORT_HISTORY = 60
"""Changes of a history in which the change that ended the candidates is searched."""


def compare_revisions(seed: str, revisions: int) -> Counter[str]:
    """Keep the answers at random revisions of a history, and ask for each of them again at its end."""
    counts: Counter[str] = Counter()
    with random_cloud(seed) as cloud:
        for _ in range(30):
            cloud.change()
        kept: list[tuple[str, list[tuple[str, Any]]]] = []
        seen = set[str]()
        while len(kept) < revisions:
            cloud.change()
            revision = cloud.revision()
            if revision not in seen and cloud.random.random() < 0.6:
                seen.add(revision)
                kept.append((revision, [(path, ask(cloud.client, path)) for path in paths(cloud)]))
        cloud.random.shuffle(kept)
        for revision, answers in kept:
            for path, then in answers:
                at = _spelled(cloud, revision)
                now = ask(cloud.client, path, at)
                assert now == then, f"{path} at {at} (revision {revision}):\n{now}\n{then}"
                counts[path.partition("?")[0].partition("/")[0]] += 1
        counts["revisions"] = len(kept)
    return counts


def _spelled(cloud: RandomCloud, revision: str) -> str:
    """Return the revision, its number alone, or the time of its change."""
    match cloud.random.randrange(3):
        case 0:
            return revision
        case 1:
            return revision.partition(":")[2]
        case _:
            return time_of(cloud.client, revision)


def check_since_when(seed: str, changes: int = SHORT_HISTORY) -> str:
    """Compare the change that is named with a search of every revision. Return the kind of result."""
    with random_cloud(seed) as cloud:
        queries = [cloud.query() for _ in range(25)]
        revisions = [cloud.revision()]
        for _ in range(changes):
            cloud.change()
            revision = cloud.revision()
            if revision != revisions[-1]:
                revisions.append(revision)
        best = max(queries, key=lambda query: _interest(cloud, query))
        answer = _explained(cloud, best, "since_when=true")
        if answer is None or answer["verdict"] == "found":
            assert answer is None or "since_when" not in answer
            return "found"
        since = answer["since_when"]
        expected = _plain_search(cloud, best, revisions)
        assert since["exact"] == (expected is not None), (best, since, expected)
        if expected is None:
            assert since["ended_by"] is None
            return "not in the log"
        assert since["revision"] == since["ended_by"]["revision"] == expected, (best, since, expected)
        return "named"


def _interest(cloud: RandomCloud, query: str) -> tuple[bool, int]:
    """Prefer queries without candidates now that are short: they are likely to have had some."""
    answer = _explained(cloud, query, "relax=false")
    return answer is not None and answer["verdict"] != "found", -len(query)


def _explained(cloud: RandomCloud, query: str, more: str) -> Any:
    response = cloud.client.get(f"/plimsoll/v1/explain?{query}&make_room=false&{more}")
    return response.json if response.status == 200 else None


def _plain_search(cloud: RandomCloud, query: str, revisions: list[str]) -> str | None:
    """Search at each revision of the history, the newest first; return the one after the newest with candidates."""
    epoch, _, highest = revisions[-1].partition(":")
    for number in range(int(highest) - 1, -1, -1):
        response = cloud.client.get(f"/plimsoll/v1/fit?{query}&at={epoch}:{number}")
        if response.status == 200 and response.json["now"]["instances"]:
            return f"{epoch}:{number + 1}"
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--revisions", type=int, default=1_000)
    parser.add_argument("--histories", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    part = 0
    while counts["revisions"] < options.revisions:
        left = options.revisions - counts["revisions"]
        counts += compare_revisions(f"{options.seed}:{part}", min(left, HISTORY // 2))
        part += 1
    print(f"Answers as of then that equal those kept then: {dict(counts)}")
    results: Counter[str] = Counter()
    while results["named"] < options.histories:
        results[check_since_when(f"{options.seed}:{results.total()}")] += 1
    print(f"Since when, as in a search of every revision: {dict(results)}")


if __name__ == "__main__":
    main()
