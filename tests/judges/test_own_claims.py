"""A reference judged against its own claims, and against another note's: nearly all, and few."""

import csv
from pathlib import Path

import numpy as np
import pytest

from metassay.core import strict_yaml
from metassay.core.kinds import choose
from metassay.judges import JUDGES
from metassay.judges.make import make_judge
from metassay.judges.protocol import Pair
from metassay.llm.needs import Resources
from metassay.units.released_claims import FILE, read_claims

ROOT = Path(__file__).parents[2]
NOTES, CLAIMS = 3, 15  # of 40, and of each: the first ones, which take seconds


@pytest.mark.parametrize(("name", "apart"), [("lexical", 0.3), ("semantic", 0.3)])
def test_own_claims_are_entailed_and_another_note_s_are_not(
    mirror: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    apart: float,
) -> None:
    with (mirror / "aci_bench_test1/clinicalnlp_taskB_test1.csv").open(
        encoding="utf-8"
    ) as file:
        notes = {row["encounter_id"]: row["note"] for row in csv.DictReader(file)}
    claims, _ = read_claims(mirror / "doclens_aci_claims" / FILE, notes)
    of_note = {
        str(key): rows["text"].tolist() for key, rows in claims.groupby("doc_id")
    }
    chosen = list(of_note)[:NOTES]
    block = strict_yaml.load(ROOT / "params.yaml")["judges"][name]  # type: ignore[index,call-overload]
    if "coefficients" in block:
        block |= {"coefficients": str(ROOT / block["coefficients"])}
    monkeypatch.chdir(tmp_path)  # where the store of model outputs goes
    judge = make_judge(choose(JUDGES, block, where=name), lambda _: Resources(tmp_path))

    def share(shift: int) -> float:
        """Of the claims that each note entails, those of the note so many places on."""
        pairs = [
            Pair(f"{at}-{n}", "entailment", notes[key], claim)
            for at, key in enumerate(chosen)
            for n, claim in enumerate(of_note[chosen[(at + shift) % NOTES]][:CLAIMS])
        ]
        judgments = judge.judge(pairs)
        return float(
            np.mean([j is not None and j.label == "entailed" for j in judgments])
        )

    same, others = share(0), share(1)
    print(f"{name}: its {same:.3f}, another note's {others:.3f}")
    assert same > 0.9  # docs/judges.md has both
    assert others < apart
