"""Pairs to train judges with, and the held-out claims: form, counts, and that they are apart."""

import json
import re
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
PAIRS = ROOT / "data/judges/pairs"
HELD_OUT = {
    name: ROOT / "data" / name for name in ("invented_notes", "invented_notes_second")
}
ROW = re.compile(
    r"^\| `?(\w+)`? \| (entailed|not_entailed) \| ([\d,| ]+) \|$", re.MULTILINE
)
FEWEST = 4  # words of a sentence that two authors would hardly write alike
Notes = list[dict[str, Any]]


def notes(name: str) -> Notes:
    lines = (PAIRS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def held_out(folder: Path) -> Notes:
    claims, labels = (
        pd.read_csv(folder / f"{name}.csv", dtype="string", keep_default_na=False)
        for name in ("claims", "labels")
    )
    rows = claims.merge(labels, on="item", validate="1:1")
    assert len(rows) == len(claims)
    assert set(rows["rater"]) == {"author"}
    clusters = []
    for cluster, of_cluster in rows.groupby("cluster"):
        (note,) = set(of_cluster["premise"])
        triples = of_cluster[["kind", "label", "hypothesis"]].to_numpy().tolist()
        clusters.append({"id": cluster, "note": note, "claims": triples})
    return clusters


@pytest.fixture(scope="module")
def sets() -> dict[str, Notes]:
    written = {name: notes(name) for name in ("training", "development")}
    return {name: held_out(folder) for name, folder in HELD_OUT.items()} | written


def plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def claims_of(some: Notes) -> list[str]:
    return [claim for note in some for *_, claim in note["claims"]]


def texts_of(some: Notes) -> list[str]:
    return [*(note["note"] for note in some), *claims_of(some)]


def sentences_of(some: Notes) -> set[str]:
    """Claims and sentences of notes that are not too short."""
    parts = [
        part for note in some for part in re.split(r"(?<=[.?!])\s+|\n", note["note"])
    ]
    return {
        text
        for text in map(plain, [*claims_of(some), *parts])
        if len(text.split()) >= FEWEST
    }


def runs(some: Notes, length: int = 8) -> set[str]:
    """Every so many words in a row."""
    words = [plain(text).split() for text in texts_of(some)]
    return {
        " ".join(w[at : at + length])
        for w in words
        for at in range(len(w) - length + 1)
    }


def test_lines_are_notes_with_kinds_labels_and_claims(sets: dict[str, Notes]) -> None:
    every = [note for some in sets.values() for note in some]
    assert len({note["id"] for note in every}) == len(every)
    assert len({plain(note["note"]) for note in every}) == len(every)
    for note in every:
        assert list(note) == ["id", "note", "claims"]
        assert note["note"] == note["note"].strip() != ""
        claims = claims_of([note])
        assert len({claim.lower() for claim in claims}) == len(claims), note["id"]
        assert all(
            claim == claim.strip() != "" and claim.isprintable() for claim in claims
        )
        labels = {label for _, label, _ in note["claims"]}
        assert labels == {"entailed", "not_entailed"}, note["id"]


def test_no_kind_has_both_labels_and_counts_are_those_of_the_readmes(
    sets: dict[str, Notes],
) -> None:
    counts = {
        name: Counter(
            key
            for note in some
            for kind, label, _ in note["claims"]
            for key in ((kind, label), ("all", label))
        )
        for name, some in sets.items()
    }
    kinds = {key for each in counts.values() for key in each if key[0] != "all"}
    assert len(dict(kinds)) == len(kinds)
    pages = {PAIRS.parent: ["training", "development"]}
    for folder, names in (
        pages | {folder: [name] for name, folder in HELD_OUT.items()}
    ).items():
        page = (folder / "README.md").read_text(encoding="utf-8")
        printed = {
            (kind, label): [int(n.replace(",", "")) for n in numbers.split(" | ")]
            for kind, label, numbers in ROW.findall(page)
        }
        keys = {key for name in names for key in counts[name]}
        assert printed == {key: [counts[name][key] for name in names] for key in keys}


def test_held_out_training_and_development_are_apart(sets: dict[str, Notes]) -> None:
    """What fails is counted, not shown: nobody who fits a judge should read the held-out texts."""
    known = {name: (sentences_of(some), runs(some)) for name, some in sets.items()}
    for first, other in combinations(sets, 2):
        if {first, other} != HELD_OUT.keys():  # nothing is fitted to either of those
            shared = [
                len(a & b) for a, b in zip(known[first], known[other], strict=True)
            ]
            assert shared == [0, 0], (
                f"{first} and {other} share sentences, or eight words"
            )


def test_no_held_out_claim_stands_within_another_text(sets: dict[str, Notes]) -> None:
    claims = {plain(text) for name in HELD_OUT for text in claims_of(sets[name])}
    claims = {claim for claim in claims if len(claim.split()) >= FEWEST}
    assert len(claims) > 900
    rest = " | ".join(
        plain(text) for text in texts_of(sets["training"] + sets["development"])
    )
    assert sum(f" {claim} " in f" {rest} " for claim in claims) == 0
