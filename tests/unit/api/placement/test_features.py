# SPDX-License-Identifier: Apache-2.0

"""The table of microversions is complete."""

from plimsoll.api.placement.features import FIRST_MINOR, LAST_MINOR, Feature
from plimsoll.api.placement.microversion import HIGHEST, LOWEST, VERSIONS


def test_every_version_after_the_first_added_a_feature() -> None:
    assert [feature.minor for feature in Feature] == list(range(FIRST_MINOR + 1, LAST_MINOR + 1))


def test_every_feature_has_its_own_line_in_the_history() -> None:
    lines = [feature.history for feature in Feature]
    assert all(lines)
    assert len(set(lines)) == len(lines)


def test_a_version_has_a_feature_from_its_minor_on() -> None:
    for feature in Feature:
        having = [version for version in VERSIONS if version.has(feature)]
        assert having == list(VERSIONS[feature.minor :])
        assert having[0].text == feature.version


def test_the_versions_are_those_of_the_api() -> None:
    assert (LOWEST.text, HIGHEST.text, len(VERSIONS)) == ("1.0", "1.39", 40)
