# SPDX-License-Identifier: Apache-2.0

"""Names and uuids of the made-up cloud. A uuid depends on the seed, the site and the name of its thing alone."""

from __future__ import annotations

import random
import uuid
from dataclasses import dataclass

_NAMESPACE = uuid.UUID("d3300000-0000-4000-8000-000000000000")

HOSTS_PER_RACK = 20

PROJECTS = [
    "payments",
    "web-shop",
    "search",
    "ml-research",
    "data-lake",
    "billing",
    "ci-runners",
    "identity",
    "video-encoding",
    "maps",
    "telemetry",
    "mobile-api",
    "fraud-detection",
    "genomics",
    "weather-model",
    "game-servers",
    "archive",
    "mail",
    "crm",
    "warehouse",
    "ad-serving",
    "recommendations",
    "ledger",
    "risk-models",
    "simulation",
    "render-farm",
    "call-center",
    "documents",
    "messaging",
    "iot-gateway",
    "network-lab",
    "security-lab",
    "training",
    "staging-web",
    "staging-api",
    "analytics",
    "reporting",
    "backup-service",
    "gateway",
    "vpn",
]
"""The ids of the projects. Keystone's ids are random; words are easier to distinguish on a page."""

USERS = [
    "ada",
    "grace",
    "edsger",
    "barbara",
    "donald",
    "frances",
    "alan",
    "margaret",
    "linus",
    "radia",
    "niklaus",
    "hedy",
    "dennis",
    "katherine",
]


@dataclass(frozen=True, slots=True)
class Naming:
    """The uuids and the names of one made-up cloud."""

    seed: int
    site: str = ""
    """Put before the names of hosts and storage pools, so that several clouds fit into one database."""

    def uuid(self, name: str) -> str:
        return str(uuid.uuid5(_NAMESPACE, f"{self.seed}/{self.site}/{name}"))

    def name(self, name: str) -> str:
        return f"{self.site}-{name}" if self.site else name

    def host(self, kind: str, zone: str, number: int) -> str:
        """Return the name of a host: its kind, zone, rack and place in the rack."""
        rack, place = divmod(number, HOSTS_PER_RACK)
        return self.name(f"{kind}-{zone}{rack + 1:02d}-{place + 1:02d}")

    def aggregate(self, label: str, number: int) -> str:
        """Return the uuid of an aggregate. It begins with the hexadecimal label, because aggregates have no names."""
        rest = self.uuid(f"aggregate {label} {number}")[13:]
        return f"{label}-{number:04x}{rest}"


def random_uuid(source: random.Random) -> str:
    return str(uuid.UUID(int=source.getrandbits(128), version=4))
