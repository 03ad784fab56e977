# SPDX-License-Identifier: Apache-2.0

"""A scenario of osc-placement commands: every command, at each API version that changes its behaviour.

A line has a version (`-` lets the client negotiate one) and a command; `!` marks a command that must fail.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

NAMES = {
    "HOST": "11111111-1111-4111-8111-111111111111",
    "NUMA": "22222222-2222-4222-8222-222222222222",
    "DISK": "33333333-3333-4333-8333-333333333333",
    "SPARE": "44444444-4444-4444-8444-444444444444",
    "NOBODY": "55555555-5555-4555-8555-555555555555",
    "RACK": "66666666-6666-4666-8666-666666666666",
    "POOL": "77777777-7777-4777-8777-777777777777",
    "SERVER": "88888888-8888-4888-8888-888888888888",
    "MOVE": "99999999-9999-4999-8999-999999999999",
    "OLD": "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa",
    "PROJECT": "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb",
    "USER": "cccccccc-cccc-4ccc-8ccc-cccccccccccc",
}

SCENARIO = """
# An empty cloud.
-      resource provider list
-      ! resource provider show NOBODY
1.10   ! allocation candidate list --resource UNKNOWN=1
1.17   ! allocation candidate list --resource VCPU=1 --required CUSTOM_UNKNOWN
1.10   allocation candidate list --resource VCPU=1

# Providers.
1.0    resource provider create host --uuid HOST
1.0    ! resource provider create host
1.0    ! resource provider create other --uuid HOST
1.0    ! resource provider create wrong --uuid not-a-uuid
-      resource provider create unnamed
-      resource provider list --name unnamed
1.0    ! resource provider create early --parent-provider HOST
1.14   resource provider create numa --uuid NUMA --parent-provider HOST
1.14   ! resource provider create orphan --parent-provider NOBODY
1.29   resource provider create disk --uuid DISK
1.39   resource provider create spare --uuid SPARE
1.0    resource provider set SPARE --name spare-1
1.14   resource provider set SPARE --name spare-2 --parent-provider HOST
1.14   ! resource provider set SPARE --name spare-2 --parent-provider NOBODY
1.29   ! resource provider set SPARE --name host
1.29   ! resource provider set NOBODY --name anything
1.0    resource provider show HOST
1.14   resource provider show NUMA
1.0    resource provider list --name host
1.0    resource provider list --uuid NUMA
1.14   resource provider list --in-tree HOST
1.14   ! resource provider list --in-tree not-a-uuid
1.0    ! resource provider list --in-tree HOST
1.29   ! resource provider delete HOST
1.29   resource provider delete SPARE
1.29   ! resource provider delete SPARE

# Classes.
1.2    resource class list
1.2    resource class create CUSTOM_GOLD
1.2    ! resource class create CUSTOM_GOLD
1.2    ! resource class create GOLD
1.7    resource class set CUSTOM_SILVER
1.7    resource class set CUSTOM_SILVER
1.6    ! resource class set CUSTOM_SILVER
1.2    resource class show CUSTOM_GOLD
1.2    ! resource class show CUSTOM_NONE
1.2    resource class delete CUSTOM_SILVER
1.2    ! resource class delete CUSTOM_SILVER
1.2    ! resource class delete VCPU

# Inventories.
1.0    resource provider inventory set HOST --resource VCPU=16 --resource MEMORY_MB=4096 --resource MEMORY_MB:step_size=128
1.0    resource provider inventory set HOST --resource VCPU:allocation_ratio=4.5 --amend
1.0    resource provider inventory set HOST --resource VCPU=1 --resource CUSTOM_GOLD=1 --dry-run
1.29   resource provider inventory set DISK --resource DISK_GB=1000 --resource DISK_GB:reserved=100
1.29   resource provider inventory set NUMA --resource VCPU=4 --resource CUSTOM_GOLD=2
1.0    ! resource provider inventory set HOST --resource UNKNOWN=1
1.0    ! resource provider inventory set HOST --resource VCPU=fish
1.0    resource provider inventory set HOST --resource VCPU:min_unit=9 --resource VCPU:max_unit=2 --amend
1.29   ! resource provider inventory set NOBODY --resource VCPU=1
1.0    resource provider inventory class set HOST VCPU --total 8 --max_unit 4 --reserved 1 --allocation_ratio 2.0
1.0    ! resource provider inventory class set HOST DISK_GB --total 8
1.0    ! resource provider inventory class set HOST UNKNOWN --total 8
1.0    ! resource provider inventory class set HOST VCPU --total 0
1.0    resource provider inventory show HOST VCPU
1.0    ! resource provider inventory show HOST DISK_GB
1.0    ! resource provider inventory show NOBODY VCPU
1.0    resource provider inventory list HOST
1.29   resource provider inventory list NUMA
1.0    ! resource provider inventory list NOBODY
1.4    resource provider list --resource VCPU=4
1.4    resource provider list --resource VCPU=5
1.4    ! resource provider list --resource UNKNOWN=5
1.4    ! resource provider list --resource VCPU=0

# Aggregates.
1.1    resource provider aggregate set HOST --aggregate RACK --aggregate POOL
1.1    resource provider aggregate list HOST
1.1    resource provider aggregate set HOST --aggregate RACK
1.1    ! resource provider aggregate set HOST --aggregate not-a-uuid
1.19   resource provider aggregate set DISK --aggregate RACK --aggregate POOL --generation 1
1.19   ! resource provider aggregate set DISK --aggregate RACK --generation 1
1.19   ! resource provider aggregate set DISK --aggregate RACK
1.19   ! resource provider aggregate list NOBODY
1.29   resource provider aggregate list DISK
1.0    ! resource provider aggregate list DISK
1.3    resource provider list --member-of RACK
1.3    resource provider list --aggregate-uuid POOL
1.24   resource provider list --member-of RACK --member-of POOL
1.24   resource provider list --member-of RACK,POOL
1.3    resource provider inventory set RACK --aggregate --amend --resource VCPU=8 --resource DISK_GB=1000
1.3    resource provider inventory set RACK --aggregate --dry-run --resource VCPU=9
1.3    ! resource provider inventory set NOBODY --aggregate --resource VCPU=9

# Traits.
1.6    trait create CUSTOM_FAST
1.6    trait create CUSTOM_FAST
1.6    trait create CUSTOM_UNUSED
1.6    ! trait create FAST
1.6    trait show CUSTOM_FAST
1.6    trait show HW_CPU_X86_AVX
1.6    ! trait show CUSTOM_UNKNOWN
1.5    ! trait list
1.6    trait list
1.6    trait list --name startswith:CUSTOM_
1.6    trait list --name in:CUSTOM_FAST,HW_CPU_X86_SSE,CUSTOM_UNKNOWN
1.6    ! trait list --name CUSTOM_FAST
1.6    resource provider trait set HOST --trait CUSTOM_FAST --trait HW_CPU_X86_AVX
1.6    resource provider trait set NUMA --trait HW_CPU_X86_SSE
1.6    resource provider trait set DISK --trait MISC_SHARES_VIA_AGGREGATE
1.6    ! resource provider trait set HOST --trait CUSTOM_UNKNOWN
1.6    ! resource provider trait set NOBODY --trait CUSTOM_FAST
1.6    resource provider trait list HOST
1.6    ! resource provider trait list NOBODY
1.6    trait list --associated
1.6    trait delete CUSTOM_UNUSED
1.6    ! trait delete CUSTOM_UNUSED
1.6    ! trait delete CUSTOM_FAST
1.6    ! trait delete HW_CPU_X86_AVX
1.18   resource provider list --required CUSTOM_FAST --required HW_CPU_X86_AVX
1.18   ! resource provider list --required CUSTOM_UNKNOWN
1.22   resource provider list --forbidden CUSTOM_FAST
1.39   resource provider list --required CUSTOM_FAST,HW_CPU_X86_SSE --forbidden MISC_SHARES_VIA_AGGREGATE

# Candidates.
1.10   allocation candidate list --resource VCPU=1
1.12   allocation candidate list --resource VCPU=1 --resource DISK_GB=5
1.16   allocation candidate list --resource MEMORY_MB=128 --limit 1
1.17   allocation candidate list --resource VCPU=1 --required CUSTOM_FAST
1.21   allocation candidate list --resource DISK_GB=1 --member-of POOL
1.21   allocation candidate list --resource DISK_GB=1 --aggregate-uuid POOL
1.22   allocation candidate list --resource VCPU=1 --forbidden CUSTOM_FAST
1.24   allocation candidate list --resource DISK_GB=1 --member-of POOL --member-of RACK
1.25   allocation candidate list --group 1 --resource VCPU=1 --group 2 --resource MEMORY_MB=128
1.29   allocation candidate list --group 1 --resource VCPU=1 --group 2 --resource VCPU=1 --group-policy isolate
1.29   allocation candidate list --resource MEMORY_MB=128 --resource CUSTOM_GOLD=1
1.39   allocation candidate list --resource VCPU=1 --required CUSTOM_FAST,HW_CPU_X86_SSE
-      allocation candidate list --resource VCPU=99
-      allocation candidate list --resource MEMORY_MB=100
1.9    ! allocation candidate list --resource VCPU=1
1.10   ! allocation candidate list --resource VCPU=1 --limit 1
1.29   ! allocation candidate list --resource VCPU=0
1.29   ! allocation candidate list --resource UNKNOWN=1
1.29   ! allocation candidate list --resource VCPU=1 --required CUSTOM_UNKNOWN
1.29   ! allocation candidate list --resource VCPU=1 --member-of not-a-uuid

# Claims.
1.0    resource provider allocation set OLD --allocation rp=HOST,VCPU=1
1.8    resource provider allocation set OLD --allocation rp=HOST,VCPU=2 --project-id PROJECT --user-id USER
1.12   resource provider allocation set OLD --allocation rp=HOST,MEMORY_MB=128 --project-id PROJECT --user-id USER
1.0    resource provider allocation show OLD
1.12   resource provider allocation show OLD
1.28   resource provider allocation set SERVER --allocation rp=HOST,VCPU=2 --allocation rp=DISK,DISK_GB=10 --project-id PROJECT --user-id USER
1.28   resource provider allocation set SERVER --allocation rp=HOST,VCPU=4 --allocation rp=DISK,DISK_GB=10 --project-id PROJECT --user-id USER
1.38   resource provider allocation set MOVE --allocation rp=NUMA,CUSTOM_GOLD=1 --project-id PROJECT --user-id USER --consumer-type MIGRATION
1.38   resource provider allocation show MOVE
1.38   resource provider allocation show SERVER
1.39   resource provider allocation show NOBODY
1.28   ! resource provider allocation set NOBODY --allocation rp=HOST,VCPU=99 --project-id PROJECT --user-id USER
1.28   ! resource provider allocation set NOBODY --allocation rp=HOST,VCPU=5 --project-id PROJECT --user-id USER
1.28   ! resource provider allocation set NOBODY --allocation rp=HOST,MEMORY_MB=1 --project-id PROJECT --user-id USER
1.28   ! resource provider allocation set NOBODY --allocation rp=HOST,SRIOV_NET_VF=1 --project-id PROJECT --user-id USER
1.28   ! resource provider allocation set NOBODY --allocation rp=HOST,UNKNOWN=1 --project-id PROJECT --user-id USER
1.28   ! resource provider allocation set NOBODY --allocation rp=NOBODY,VCPU=1 --project-id PROJECT --user-id USER
1.38   ! resource provider allocation set NOBODY --allocation rp=HOST,VCPU=1 --project-id PROJECT --user-id USER --consumer-type wrong
1.38   ! resource provider allocation set NOBODY --allocation rp=HOST,VCPU=1 --project-id PROJECT --user-id USER
1.0    resource provider show HOST --allocations
1.29   resource provider show DISK --allocations
1.29   resource provider inventory list HOST
1.0    ! resource provider inventory delete HOST --resource-class VCPU
1.5    ! resource provider inventory delete HOST
1.0    ! resource provider inventory class set HOST VCPU --total 2 --reserved 3
1.29   ! resource class delete CUSTOM_GOLD
1.29   ! resource provider delete DISK

# Usages.
1.0    resource provider usage show HOST
1.29   resource provider usage show DISK
1.29   ! resource provider usage show NOBODY
1.9    resource usage show PROJECT
1.9    resource usage show PROJECT --user-id USER
1.9    resource usage show nobody
1.38   resource usage show PROJECT
1.38   resource usage show PROJECT --user-id USER

# All of it goes away.
1.28   resource provider allocation unset SERVER --provider DISK
1.12   resource provider allocation unset OLD --resource-class MEMORY_MB
1.38   resource provider allocation unset MOVE --provider NUMA --resource-class VCPU
1.38   resource provider allocation unset MOVE
1.28   resource provider allocation unset SERVER
1.0    ! resource provider allocation delete SERVER
1.28   resource provider allocation set SERVER --allocation rp=HOST,VCPU=1 --project-id PROJECT --user-id USER
1.0    resource provider allocation delete SERVER
1.0    resource provider inventory delete HOST --resource-class VCPU
1.0    ! resource provider inventory delete HOST --resource-class VCPU
1.4    ! resource provider inventory delete HOST
1.5    resource provider inventory delete HOST
1.29   resource provider inventory delete NUMA
1.29   ! resource provider inventory delete NOBODY
1.6    resource provider trait delete HOST
1.6    ! resource provider trait delete NOBODY
1.6    trait delete CUSTOM_FAST
1.1    resource provider aggregate set HOST
1.2    resource class delete CUSTOM_GOLD
1.29   resource provider delete NUMA
1.0    resource provider delete HOST
1.39   resource provider delete DISK
"""

SILENT = (
    "resource class create",
    "resource class delete",
    "resource class set",
    "resource provider allocation delete",
    "resource provider delete",
    "resource provider inventory delete",
    "resource provider trait delete",
    "trait create",
    "trait delete",
)
"""Commands without output, which get no option for JSON."""


@dataclass(frozen=True, slots=True)
class Step:
    version: str
    command: str
    fails: bool

    @property
    def line(self) -> str:
        """The arguments after `openstack`."""
        line = re.sub(r"\b[A-Z]+\b", lambda word: NAMES.get(word[0], word[0]), self.command)
        version = "" if self.version == "-" else f"--os-placement-api-version {self.version} "
        return f"{version}{line}" if self.command.startswith(SILENT) else f"{version}{line} -f json"


def steps(scenario: str = SCENARIO) -> Iterator[Step]:
    for line in scenario.splitlines():
        if line and not line.startswith("#"):
            version, command = line.split(maxsplit=1)
            yield Step(version, command.removeprefix("! "), command.startswith("! "))
