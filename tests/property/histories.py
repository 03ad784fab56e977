# SPDX-License-Identifier: Apache-2.0

"""Random histories of a small cloud, made through the API; answers that are kept at the time, and asked for again later."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import select

from plimsoll.storage import tables as t
from tests.support.api import Api, Response, api

CLASSES = ("VCPU", "MEMORY_MB", "DISK_GB", "CUSTOM_A", "CUSTOM_B", "CUSTOM_C")
TRAITS = ("HW_CPU_X86_AVX2", "CUSTOM_X", "CUSTOM_Y", "MISC_SHARES_VIA_AGGREGATE")
AGGREGATES = tuple(f"aaaaaaaa-0000-4000-8000-00000000000{number}" for number in range(3))
PROVIDERS = 9
CONSUMERS = 12
TYPES = ("INSTANCE", "MIGRATION", "VOLUME")
OWNERS = (("red", "ada"), ("red", "bob"), ("blue", "ada"))


class RandomCloud:
    """A cloud that random requests change. Most of them are accepted; refused ones change nothing."""

    def __init__(self, client: Api, random: Random) -> None:
        self.client = client
        self.random = random
        self._steps: list[tuple[int, Callable[[], Response]]] = [
            (3, self.create),
            (1, self.delete),
            (1, self.change_name_or_parent),
            (3, self.replace_inventories),
            (2, self.write_inventory),
            (1, self.delete_inventory),
            (2, self.set_traits),
            (2, self.set_aggregates),
            (12, self.claim),
            (2, self.claim_together),
            (5, self.release),
            (1, self.create_class),
            (1, self.rename_class),
            (1, self.delete_class),
            (1, self.create_trait),
            (1, self.delete_trait),
        ]

    def change(self) -> None:
        """Send a random request."""
        weights = [weight for weight, _ in self._steps]
        response = self.random.choices(self._steps, weights)[0][1]()
        assert response.status < 500, response.body

    def revision(self) -> str:
        return str(self.client.get("/plimsoll/v1/fit?resources=VCPU:1").json["revision"])

    # Requests

    def create(self) -> Response:
        parent = self.provider() if self.random.random() < 0.4 else None
        body = {"uuid": self.provider(), "name": self.name(), "parent_provider_uuid": parent}
        return self.client.post("/resource_providers", body)

    def delete(self) -> Response:
        return self.client.delete(f"/resource_providers/{self.provider()}")

    def change_name_or_parent(self) -> Response:
        parent = self.provider() if self.random.random() < 0.5 else None
        body = {"name": self.name(), "parent_provider_uuid": parent}
        return self.client.put(f"/resource_providers/{self.provider()}", body)

    def replace_inventories(self) -> Response:
        provider = self.provider()
        wanted = {name: self.inventory() for name in CLASSES if self.random.random() < 0.6}
        return self.client.put(
            f"/resource_providers/{provider}/inventories",
            {"resource_provider_generation": self.generation(provider), "inventories": wanted},
        )

    def write_inventory(self) -> Response:
        provider, name = self.provider(), self.random.choice(CLASSES)
        body = {"resource_provider_generation": self.generation(provider), **self.inventory()}
        path = f"/resource_providers/{provider}/inventories"
        if self.random.random() < 0.3:
            return self.client.post(path, {"resource_class": name, **body})
        return self.client.put(f"{path}/{name}", body)

    def delete_inventory(self) -> Response:
        path = f"/resource_providers/{self.provider()}/inventories"
        return self.client.delete(path if self.random.random() < 0.3 else f"{path}/{self.choice(CLASSES)}")

    def set_traits(self) -> Response:
        provider = self.provider()
        traits = [name for name in TRAITS if self.random.random() < 0.35]
        body = {"resource_provider_generation": self.generation(provider), "traits": traits}
        return self.client.put(f"/resource_providers/{provider}/traits", body)

    def set_aggregates(self) -> Response:
        provider = self.provider()
        aggregates = [name for name in AGGREGATES if self.random.random() < 0.4]
        body = {"resource_provider_generation": self.generation(provider), "aggregates": aggregates}
        return self.client.put(f"/resource_providers/{provider}/aggregates", body)

    def claim(self) -> Response:
        consumer = self.consumer()
        return self.client.put(f"/allocations/{consumer}", self.allocations(consumer))

    def claim_together(self) -> Response:
        consumers = {self.consumer() for _ in range(3)}
        return self.client.post("/allocations", {each: self.allocations(each) for each in consumers})

    def release(self) -> Response:
        return self.client.delete(f"/allocations/{self.consumer()}")

    def create_class(self) -> Response:
        return self.client.put(f"/resource_classes/{self.choice(CLASSES[3:])}")

    def rename_class(self) -> Response:
        old, new = self.choice(CLASSES[3:]), self.choice(CLASSES[3:])
        return self.client.call("PUT", f"/resource_classes/{old}", {"name": new}, version="1.6")

    def delete_class(self) -> Response:
        return self.client.delete(f"/resource_classes/{self.choice(CLASSES[3:])}")

    def create_trait(self) -> Response:
        return self.client.put(f"/traits/{self.choice(TRAITS[1:3])}")

    def delete_trait(self) -> Response:
        return self.client.delete(f"/traits/{self.choice(TRAITS[1:3])}")

    # Parts of requests

    def choice(self, items: tuple[str, ...]) -> str:
        return self.random.choice(items)

    def provider(self) -> str:
        return f"10000000-0000-4000-8000-{self.random.randrange(PROVIDERS):012}"

    def consumer(self) -> str:
        return f"c0000000-0000-4000-8000-{self.random.randrange(CONSUMERS):012}"

    def name(self) -> str:
        return f"name-{self.random.randrange(2 * PROVIDERS)}"

    def inventory(self) -> dict[str, Any]:
        total = self.random.randint(1, 12)
        return {
            "total": total,
            "reserved": self.random.choice((0, 0, 1)),
            "max_unit": self.random.randint(1, total),
            "allocation_ratio": self.random.choice((1.0, 1.0, 1.5, 2.0)),
        }

    def generation(self, provider: str) -> int:
        response = self.client.get(f"/resource_providers/{provider}")
        return int(response.json["generation"]) if response.status == 200 else 0

    def allocations(self, consumer: str) -> dict[str, Any]:
        """Return a body: amounts of one provider, or of a tree; sometimes more than there is."""
        held = self.client.get(f"/allocations/{consumer}").json
        found = self.client.get("/plimsoll/v1/providers").json["providers"]
        chosen = self.random.sample(found, min(len(found), self.random.choice((1, 1, 2))))
        amounts = {
            each["uuid"]: {"resources": {name: self.random.randint(1, 3) for name in each["inventories"]}}
            for each in chosen
            if each["inventories"]
        }
        project, user = self.random.choice(OWNERS)
        return {
            "allocations": amounts,
            "project_id": project,
            "user_id": user,
            "consumer_type": self.random.choice(TYPES),
            "consumer_generation": held.get("consumer_generation"),
        }

    def query(self) -> str:
        """Return a random query for allocation candidates."""
        amounts = self.random.sample(CLASSES[:4], self.random.choice((1, 1, 2)))
        query = "resources=" + ",".join(f"{name}:{self.random.randint(1, 8)}" for name in amounts)
        if self.random.random() < 0.25:
            query += f"&required={self.choice(('', '!'))}{self.choice(TRAITS)}"
        if self.random.random() < 0.2:
            query += f"&member_of={self.choice(AGGREGATES)}"
        if self.random.random() < 0.2:
            query += f"&resources_1={self.choice(CLASSES[:3])}:1"
        return query


@contextmanager
def random_cloud(seed: str) -> Iterator[RandomCloud]:
    """Yield a new cloud on SQLite, with some hosts."""
    with TemporaryDirectory() as directory, api(Path(directory) / "plimsoll.sqlite") as client:
        cloud = RandomCloud(client, Random(seed))
        for name in CLASSES[3:]:
            client.put(f"/resource_classes/{name}")
        for name in TRAITS[1:3]:
            client.put(f"/traits/{name}")
        for number in range(4):
            client.host(f"10000000-0000-4000-8000-{number:012}", f"host-{number}", VCPU=8, MEMORY_MB=8)
        yield cloud


def paths(cloud: RandomCloud) -> list[str]:
    """Return paths of all routes that can be asked for the past, some of them with random queries."""
    explained = [f"explain?{cloud.query()}" for _ in range(3)]
    usage = ["usage", *(f"usage?group_by={each}" for each in ("aggregate", "trait", "root", "project"))]
    usage += ["usage?group_by=user", "usage?group_by=consumer_type", "usage?group_by=user&project=red"]
    listed = ["providers", "providers?empty=true&fields=uuid,updated_at", f"providers/{cloud.provider()}"]
    listed += [
        f"providers?resources=VCPU:{cloud.random.randint(1, 4)}",
        f"explain?{cloud.query()}&provider=name-1",
    ]
    return [*explained, *usage, *listed, f"fit?{cloud.query()}", f"fit?{cloud.query()}"]


def ask(client: Api, path: str, at: str | None = None) -> Any:
    """Return status and document. Moves of consumers are left out: there are none in the past."""
    path = f"/plimsoll/v1/{path}"
    if "explain?" in path and at is None:
        path += "&make_room=false"
    if at is not None:
        path += f"{'&' if '?' in path else '?'}at={at}"
    response = client.get(path)
    document = response.json
    if response.status != 200:
        del document["errors"][0]["request_id"]
    document.pop("make_room_is_complete", None)
    return response.status, document


def time_of(client: Api, revision: str) -> str:
    """Return the time of a change, as the change log has it."""
    number = int(revision.partition(":")[2])
    with client.database.read() as conn:
        time = conn.scalar(select(t.changes.c.at).where(t.changes.c.seq == number))
    assert time is not None
    return f"{time.isoformat(timespec='microseconds')}Z"
