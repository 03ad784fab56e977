# SPDX-License-Identifier: Apache-2.0

"""Effects of the change log can be encoded and decoded with any names."""

from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.domain import effects as e
from plimsoll.domain.consumer import Account, Allocation, Consumer
from plimsoll.domain.inventory import MAX_INT, Inventory
from plimsoll.ledger.change_codec import EFFECTS, decode, encode

# Any text that can be stored: the API rejects lone surrogates.
text = st.text(st.characters(exclude_categories=["Cs"]))
amount = st.integers(0, MAX_INT)
at = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1))
inventory = st.builds(
    Inventory, amount, amount, amount, amount, amount, st.floats(allow_nan=False, allow_infinity=False)
)
allocation = st.tuples(text, text, amount).map(lambda each: Allocation(*each))
account = st.none() | st.tuples(text, text, st.none() | text).map(lambda each: Account(*each))

FIELDS = {
    "at": at,
    "id": amount,
    "generation": amount,
    "inventory": inventory,
    "before": st.lists(allocation).map(tuple),
    "after": st.lists(allocation).map(tuple),
    "account_before": account,
    "account_after": account,
    "traits": st.frozensets(text),
    "aggregates": st.frozensets(text),
    "subtree": st.lists(text).map(tuple),
    "parent": st.none() | text,
}


def effects_of(cls: type[e.Effect]) -> st.SearchStrategy[e.Effect]:
    fields = {name: FIELDS.get(name, text) for name in cls.__dataclass_fields__}
    if cls in (e.ConsumerAdded, e.ConsumerChanged):
        fields["consumer"] = st.builds(Consumer, text, text, text, st.none() | text, amount)
    return st.builds(cls, **fields)


@given(st.lists(st.one_of([effects_of(cls) for cls in EFFECTS])))
def test_encoded_effects_decode_to_the_same_effects(effects: list[e.Effect]) -> None:
    assert decode(encode(effects)) == effects


def test_the_encoding_is_stable() -> None:
    claimed = e.AllocationsReplaced(
        "c", (), (Allocation("p", "VCPU", 1), Allocation("p", "DISK_GB", 2)), None, Account("q", "u", None)
    )
    traits_set = e.TraitsSet("p", frozenset(("B", "A", "C")))
    replaced_json = (
        '["allocations_replaced",{"consumer":"c","before":[],"after":[["p","VCPU",1],["p","DISK_GB",2]],'
        '"account_before":null,"account_after":["q","u",null]}]'
    )
    traits_json = '["traits_set",{"provider":"p","traits":["A","B","C"]}]'
    assert encode([claimed]) == f"[{replaced_json}]"
    assert encode([claimed, traits_set]) == f"[{replaced_json},{traits_json}]"


def test_an_incomplete_line_of_an_earlier_release_decodes_to_a_reload() -> None:
    assert decode('[["allocations_replaced", {"consumer": "c", "before": [], "after": []}]]') == [e.Reload()]


def test_a_reload_is_decoded() -> None:
    assert decode('[["reload"]]') == [e.Reload()]
