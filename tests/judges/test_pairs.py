"""Pairs to train judges with, and the held-out claims: form, counts, and that they are apart."""

import json
import re
from collections import Counter
from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
PAIRS = ROOT / "data/judges/pairs"
HELD_OUT = {name: ROOT / "data" / name for name in ("invented_notes", "invented_notes_second")}
ROW = re.compile(r"^\| `?(\w+)`? \| (entailed|not_entailed) \| ([\d,| ]+) \|$", re.MULTILINE)
FEWEST = 4  # words of a sentence that two authors would hardly write alike
LABELS = {"entailed", "not_entailed"}


def notes(name: str) -> list[dict]:
    lines = (PAIRS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def held_out(folder: Path) -> list[dict]:
    read = {"dtype": "string", "keep_default_na": False}
    claims = pd.read_csv(folder / "claims.csv", **read)
    rows = claims.merge(pd.read_csv(folder / "labels.csv", **read), on="item", validate="1:1")
    assert len(rows) == len(claims)
    assert set(rows["rater"]) == {"author"}
    made = []
    for cluster, mine in rows.groupby("cluster"):
        (note,) = set(mine["premise"])
        triples = mine[["kind", "label", "hypothesis"]].to_numpy().tolist()
        made.append({"id": cluster, "note": note, "claims": triples})
    return made


@pytest.fixture(scope="module")
def sets() -> dict[str, list[dict]]:
    return {
        **{name: held_out(folder) for name, folder in HELD_OUT.items()},
        "training": notes("training"),
        "development": notes("development"),
    }


def counts(some: list[dict]) -> Counter:
    """Claims by kind and label, and by label alone."""
    each = [(kind, label) for one in some for kind, label, _ in one["claims"]]
    return Counter(each) + Counter(("all", label) for _, label in each)


def plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def runs(texts: list[str], length: int = 8) -> set[str]:
    """Every so many words in a row."""
    found = set()
    for words in (plain(text).split() for text in texts):
        found |= {" ".join(words[at : at + length]) for at in range(len(words) - length + 1)}
    return found


def claims_of(some: list[dict]) -> list[str]:
    return [claim for one in some for *_, claim in one["claims"]]


def sentences_of(some: list[dict]) -> list[str]:
    return [said for one in some for said in re.split(r"(?<=[.?!])\s+|\n", one["note"])]


def texts_of(some: list[dict]) -> list[str]:
    return [*(one["note"] for one in some), *claims_of(some)]


def test_lines_are_notes_with_kinds_labels_and_claims(sets: dict[str, list[dict]]) -> None:
    every = [one for some in sets.values() for one in some]
    assert len({one["id"] for one in every}) == len(every)
    assert len({plain(one["note"]) for one in every}) == len(every)
    for one in every:
        assert list(one) == ["id", "note", "claims"]
        assert one["note"] == one["note"].strip() != ""
        claims = [claim for *_, claim in one["claims"]]
        assert len({claim.lower() for claim in claims}) == len(claims), one["id"]
        assert all(claim == claim.strip() != "" and claim.isprintable() for claim in claims)
        assert {label for _, label, _ in one["claims"]} == LABELS, one["id"]


def test_no_kind_tells_of_both_labels_and_counts_are_those_of_the_readmes(
    sets: dict[str, list[dict]],
) -> None:
    labels: dict[str, str] = {}
    for some in sets.values():
        for one in some:
            for kind, label, _ in one["claims"]:
                assert labels.setdefault(kind, label) == label, kind
    for page, names in (
        (PAIRS.parent / "README.md", ["training", "development"]),
        *((folder / "README.md", [name]) for name, folder in HELD_OUT.items()),
    ):
        told = {
            (kind, label): [int(n.replace(",", "")) for n in numbers.split(" | ")]
            for kind, label, numbers in ROW.findall(page.read_text(encoding="utf-8"))
        }
        counted = [counts(sets[name]) for name in names]
        assert told == {key: [one[key] for one in counted] for key in set().union(*counted)}


def test_held_out_training_and_development_are_apart(sets: dict[str, list[dict]]) -> None:
    """What fails is counted, not shown: nobody who fits a judge should read the held-out texts."""
    for one, other in combinations(sets, 2):
        if {one, other} == HELD_OUT.keys():
            continue  # nothing is fitted to either
        mine, theirs = sets[one], sets[other]
        said, again = (
            {plain(text) for text in [*claims_of(some), *sentences_of(some)]}
            for some in (mine, theirs)
        )
        n_sentences = sum(len(text.split()) >= FEWEST for text in said & again)
        n_runs = len(runs(texts_of(mine)) & runs(texts_of(theirs)))
        assert (n_sentences, n_runs) == (0, 0), f"{one} and {other} share sentences, or eight words"


def test_no_held_out_claim_stands_within_another_text(sets: dict[str, list[dict]]) -> None:
    claims = {
        claim
        for name in HELD_OUT
        for text in claims_of(sets[name])
        if len((claim := plain(text)).split()) >= FEWEST
    }
    assert len(claims) > 900
    rest = " | ".join(plain(text) for text in texts_of(sets["training"] + sets["development"]))
    assert sum(f" {claim} " in f" {rest} " for claim in claims) == 0
