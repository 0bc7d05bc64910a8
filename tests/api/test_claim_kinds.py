"""Kinds of claims by rule, and a card that is checked on each of them."""

from pathlib import Path

import pandas as pd
import pytest

from metassay import judge_check
from metassay.api.claim_kinds import claim_kind
from metassay.cli.main import main
from tests.api.test_card_transfer import outcomes, verdicts

CLAIMS = (
    "The dose is 20 mg.",
    "The left arm is weak.",
    "He denies pain.",
    "He smokes.",
)
USED = ("number", "side", "negation", "other")  # the kinds of these


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Blood pressure was 130/80.", "number"),
        ("She has had two strokes.", "number"),
        ("The rash is on the left thigh.", "side"),
        ("There is bilateral oedema.", "side"),
        ("She left the hospital against advice.", "other"),
        ("He wants to be seen right away.", "other"),
        ("She takes lisinopril daily.", "drug"),
        ("Rivaroxaban was stopped.", "drug"),
        ("He does not smoke.", "negation"),
        ("She denies dyspnoea.", "negation"),
        ("The wound has healed.", "other"),
    ],
)
def test_a_claim_has_the_first_kind_whose_rule_applies(text: str, kind: str) -> None:
    assert claim_kind(text) == kind


def claims(n: int, accuracy: float, seed: int) -> pd.DataFrame:
    table = verdicts(n, accuracy, seed)
    return table.assign(text=[CLAIMS[number % 4] for number in range(n)])


def test_a_card_with_kinds_is_checked_kind_by_kind(tmp_path: Path) -> None:
    judge_check(claims(1600, 0.9, 1), claim="text").save(tmp_path / "card")
    worse = claims(800, 0.55, 3)
    worse = worse[worse["text"] == CLAIMS[0]]
    good = claims(4000, 0.95, 2)
    good = good[good["text"] != CLAIMS[0]]
    table = pd.concat([worse, good], ignore_index=True)
    table["id"] = [f"n{number}" for number in range(len(table))]
    results = judge_check(table, claim="text", card=tmp_path / "card", margin=0.15)
    by_kind = outcomes(results)
    assert by_kind["kind of claim=number", "sensitivity"] == "worse"
    assert by_kind["kind of claim=side", "sensitivity"] == "holds"
    assert any("judge on kind of claim=number" in line for line in results.unmet)


def test_a_kind_with_few_labels_or_none_is_not_checked(tmp_path: Path) -> None:
    judge_check(claims(1600, 0.9, 1), claim="text").save(tmp_path / "card")
    table = claims(400, 0.9, 2)
    table = table[table["text"] != CLAIMS[1]]
    few = table["text"].eq(CLAIMS[2]) & (table.groupby("text").cumcount() >= 6)
    table = table[~few]
    results = judge_check(table, claim="text", card=tmp_path / "card", margin=0.15)
    by_kind = outcomes(results)
    assert set(by_kind["kind of claim=side"]) == {"not checked"}
    assert "not checked" in set(by_kind["kind of claim=negation"])
    (sentence,) = [line for line in results.answer if line.startswith("Not checked")]
    assert "kind of claim=side (sensitivity)" in sentence


def test_a_kind_that_is_not_checked_has_the_labels_that_would_show_that_it_holds(
    tmp_path: Path,
) -> None:
    judge_check(claims(1600, 0.9, 1), claim="text").save(tmp_path / "card")
    table = claims(400, 0.9, 2)
    table = table[table["text"] != CLAIMS[1]]
    results = judge_check(table, claim="text", card=tmp_path / "card", margin=0.15)
    rows = results.table("transfer").set_index(["slice", "statistic"])
    absent = rows.loc["kind of claim=side", "sensitivity"]
    # Kinds are of about one size on the card, and so are the labels that they need.
    there = rows.loc["kind of claim=number", "sensitivity"]
    assert there["labels"] / 3 < absent["labels"] < 3 * there["labels"]
    assert absent["more"] == absent["labels"]


def test_rows_without_a_claim_are_in_no_kind_and_counted() -> None:
    table = claims(400, 0.9, 1)
    table.loc[table.index < 8, "text"] = ""
    results = judge_check(table, claim="text")
    assert "rows without a claim, in no kind of claim: 8" in results.notes
    rows = results.card.set_index(["slice", "statistic"])["n"]
    n_of_kinds = sum(rows[f"kind of claim={kind}", "agreement"] for kind in USED)
    assert (rows["all", "agreement"], n_of_kinds) == (400, 392)
    assert rows["kind of claim=other", "agreement"] == 98


def test_a_card_with_kinds_is_checked_without_them_and_says_how_to_name_claims(
    tmp_path: Path,
) -> None:
    judge_check(claims(1600, 0.9, 1), claim="text").save(tmp_path / "card")
    table = claims(400, 0.9, 2)
    results = judge_check(table, card=tmp_path / "card", margin=0.15)
    assert not any("kind of claim" in part for part, _ in outcomes(results).index)
    assert "To check each kind of claim of the card, say claim='COLUMN'." in (
        results.answer
    )


def test_no_text_of_a_claim_is_in_the_results_or_in_their_files(tmp_path: Path) -> None:
    judge_check(claims(1600, 0.9, 1), claim="text").save(tmp_path / "card")
    results = judge_check(
        claims(400, 0.7, 2), claim="text", card=tmp_path / "card", margin=0.15
    )
    results.save(tmp_path / "out")
    for file in filter(Path.is_file, tmp_path.rglob("*")):
        written = file.read_bytes()
        assert not any(claim.encode() in written for claim in CLAIMS), file


def test_the_command_names_the_column_of_claims(tmp_path, capsys) -> None:
    claims(400, 0.9, 1).to_csv(tmp_path / "labels.csv", index=False)
    words = ["judge-check", str(tmp_path / "labels.csv"), "--columns", "claim=text"]
    assert main([*words, "--out", str(tmp_path / "out")]) == 0
    card = pd.read_csv(tmp_path / "out/card.csv")
    assert "kind of claim=number" in set(card["slice"])
    assert main([*words[:-1], "claim=txt"]) == 2
    assert "there is no column" in capsys.readouterr().err
