"""released_claims.py: released claims in the place of the references'."""

from pathlib import Path

import pytest

from metassay.core.errors import BadInput
from metassay.core.kinds import choose
from metassay.datasets.ingest import ingest
from metassay.llm.needs import Resources
from metassay.tables.parquet import read, write
from metassay.tables.units import UNITS
from metassay.units import DECOMPOSITIONS, SEGMENTATIONS
from tests.units.dividing import parts_of

SOAP = choose(SEGMENTATIONS, {"kind": "soap", "compat": "none"}, where="params")
WHOLE = choose(SEGMENTATIONS, {"kind": "whole"}, where="params")
RELEASED = choose(DECOMPOSITIONS, {"kind": "doclens_claims"}, where="params")


def test_the_released_claims_are_the_references_and_only_theirs(
    mirror: Path, tmp_path: Path
) -> None:
    given = ingest("aci_bench", mirror / "aci_bench_test1", {})
    texts = given.texts[given.texts["author"].isin(["reference", "gpt4"])]
    parts = parts_of(texts, given.sources, SOAP)
    apart = RELEASED.record.take_apart(parts, given.sources, RELEASED.options, Resources(mirror))
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

    whole = parts_of(texts, given.sources, WHOLE)
    with pytest.raises(BadInput, match="segmentation of kind soap"):
        RELEASED.record.take_apart(whole, given.sources, RELEASED.options, Resources(mirror))
