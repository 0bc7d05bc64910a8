"""decompositions.py: released claims in the place of the references', and what recipes say."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from metassay.datasets.ingest import ingest
from metassay.errors import BadInput
from metassay.llm.messages import Ask
from metassay.llm.prompts import Decoding
from metassay.params import load
from metassay.tables import UNITS, read, write
from metassay.units import segment
from metassay.units.decompositions import ReleasedOptions, recipe_of, take_apart
from metassay.units.parts import SoapOptions, WholeOptions

ROOT = Path(__file__).parents[2]


class Mirror:
    """A desk that asks nobody."""

    def __init__(self, raw: Path) -> None:
        self.raw = raw

    def model(
        self, name: str, length: int | None, sets: Sequence[str] = ()
    ) -> tuple[Ask, Decoding]:
        raise AssertionError(name)


def test_the_released_claims_are_the_references_and_only_theirs(
    mirror: Path, tmp_path: Path
) -> None:
    given = ingest("aci_bench", mirror / "aci_bench_test1", {})
    texts = given.texts[given.texts["author"].isin(["reference", "gpt4"])]
    desk, options = Mirror(mirror), ReleasedOptions()
    parts = segment(texts, given.sources, SoapOptions(compat="none"))
    apart = take_apart(parts, given.sources, options, desk)
    write(UNITS, apart.units, tmp_path / "units.parquet")
    units = read(UNITS, tmp_path / "units.parquet").query("kind == 'claim'")
    theirs = units[units["author"] == "reference"]
    assert theirs.groupby("part").size().to_dict() == {
        "assessment_and_plan": 460,
        "objective_exam": 209,
        "objective_results": 88,
        "subjective": 530,
    }
    assert not units[units["author"] == "gpt4"].empty
    assert "40 of 40" in apart.warnings[0]

    whole = segment(texts, given.sources, WholeOptions())
    with pytest.raises(BadInput, match="segmentation of kind soap"):
        take_apart(whole, given.sources, options, desk)


def test_a_rule_is_printed_with_its_settings() -> None:
    assert recipe_of(load(ROOT / "params.yaml"), "clauses") == "clauses"
