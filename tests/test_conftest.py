"""The rules that conftest.py keeps for all other tests."""

import socket
from pathlib import Path

import pytest

from tests.conftest import mirror_of


def test_the_mirror_is_where_the_variable_says(tmp_path: Path) -> None:
    assert (
        mirror_of({"METASSAY_MIRROR": str(tmp_path), "CI": "true"}, tmp_path)
        == tmp_path
    )


@pytest.mark.parametrize(
    "environment", [{}, {"CI": "true"}, {"CI": ""}, {"METASSAY_MIRROR": "nowhere"}]
)
def test_without_a_mirror_a_skip_says_what_is_needed(
    tmp_path: Path, environment
) -> None:
    with pytest.raises(
        pytest.skip.Exception, match="point METASSAY_MIRROR at a folder"
    ):
        mirror_of(environment, tmp_path / "shared")


@pytest.mark.parametrize("named", [{}, {"METASSAY_MIRROR": "nowhere"}])
def test_a_mirror_that_is_there_must_be_found_in_ci(tmp_path: Path, named) -> None:
    (tmp_path / "shared").mkdir()
    with pytest.raises(
        pytest.fail.Exception, match="shared/ is there, so it may not be skipped"
    ):
        mirror_of(named | {"CI": "true"}, tmp_path / "shared")
    with pytest.raises(pytest.skip.Exception):
        mirror_of(named, tmp_path / "shared")


def test_no_test_reaches_beyond_this_machine() -> None:
    with (
        socket.socket() as connection,
        pytest.raises(AssertionError, match="a test tried to reach"),
    ):
        connection.connect(("192.0.2.1", 80))
