# SPDX-License-Identifier: Apache-2.0

"""Negotiation of the version of a request."""

import pytest

from plimsoll.api.placement.microversion import HEADER, HIGHEST, LOWEST, VERSIONS, negotiate
from plimsoll.http.problems import Problem


def test_no_header_means_the_lowest_version() -> None:
    assert negotiate(None) is LOWEST


def test_latest_means_the_highest_version() -> None:
    assert negotiate("placement latest") is HIGHEST


def test_a_version_is_taken_by_its_number() -> None:
    assert negotiate("placement 1.10") is VERSIONS[10]


def test_the_response_header_names_the_version_like_the_request() -> None:
    assert negotiate("placement 1.10").header == (HEADER, "placement 1.10")


@pytest.mark.parametrize("header", ["compute 2.90", "", "placement", "1.10", "compute 2.90, image 2.0"])
def test_a_header_without_placement_means_the_lowest(header: str) -> None:
    assert negotiate(header) is LOWEST


@pytest.mark.parametrize(
    "header", ["PLACEMENT 1.4", "compute 2.1, placement 1.4", "placement 1.2, placement 1.4"]
)
def test_the_last_version_of_placement_in_the_header_is_used(header: str) -> None:
    assert negotiate(header) is VERSIONS[4]


@pytest.mark.parametrize("version", ["1.40", "0.9", "2.0", "1.-1", "1.999999"])
def test_a_version_that_does_not_exist_is_a_406_with_the_supported_versions(version: str) -> None:
    with pytest.raises(Problem) as raised:
        negotiate(f"placement {version}")
    problem = raised.value
    assert problem.status == 406
    assert problem.detail == f"Invalid microversion: Unacceptable version header: {version}"
    assert dict(problem.facts) == {"min_version": "1.0", "max_version": "1.39"}


@pytest.mark.parametrize("version", ["x", "1", "2", "1.x", "1.2.3", "1,5"])
def test_a_malformed_version_is_a_bad_request(version: str) -> None:
    with pytest.raises(Problem) as raised:
        negotiate(f"placement {version}")
    assert raised.value.status == 400
    assert raised.value.detail.startswith("Invalid microversion: invalid version string: ")
    assert raised.value.detail.endswith(
        " A version has two numbers, as in 'openstack-api-version: placement 1.39'."
    )
