"""What a run of a test of judges ends with, and what Prefect is told of it."""

import pandas as pd
import pytest

from metassay.cli.run_summary import print_summary
from metassay.core.params import load
from metassay.core.stages import files_in
from metassay.reporting.headline import answers_of, artifacts, cards
from metassay.reporting.names import ShownAs
from metassay.tables.judge_cards import JUDGE_CARDS
from metassay.tables.notes import NOTES
from metassay.tables.parquet import empty, write
from metassay.tables.responses import RESPONSES

NAME = "wice_dev"


def card(judge, **statistics):
    """Rows of one card: value, ends, texts and texts without a verdict by statistic."""
    key = {"study": "dev", "criterion": "entailed", "part": "full", "metric": "verdict"}
    for statistic, (value, low, high, n, missing) in statistics.items():
        yield {
            **dict.fromkeys(JUDGE_CARDS.columns),
            **key,
            **{"judge": judge, "statistic": statistic, "value": value, "low": low, "high": high},
            **{"n": n, "n_judged": n, "n_missing": missing, "n_split": 0, "n_effective": float(n)},
            "recipe": "r",
        }


@pytest.fixture
def folder(tmp_path, monkeypatch):
    test = load().judge_tests[NAME]
    made = tmp_path / "data/tables" / NAME
    rows = [
        *card("lexical", agreement=(0.74, 0.69, 0.79, 349, 0), sensitivity=(0.5, 0.4, 0.6, 9, 0)),
        *card("paper", agreement=(0.7, 0.6, 0.8, 98, 2), auroc=(0.81, 0.71, 0.89, 98, 2)),
    ]
    write(JUDGE_CARDS, pd.DataFrame(rows), made / "judge_cards.parquet")
    for table in (RESPONSES, NOTES):
        for file in files_in(test, table.name):
            write(table, empty(table), made / f"{table.name}/{file}.parquet")
    return made


def test_a_row_per_judge_with_what_it_did_not_judge(folder):
    assert cards(folder).to_numpy().tolist() == [
        ["lexical", "dev", "349", ".74 [.69, .79]", "–", "–"],
        ["paper", "dev", "98 of 100", ".70 [.60, .80]", "–", ".81 [.71, .89]"],
    ]
    shown = ShownAs({}, {"lexical": "words alone"})
    assert [*cards(folder, shown)["judge"]] == ["words alone", "paper"]


def test_artifacts_hold_numbers_and_names(folder):
    made = artifacts(folder, answers_of(folder, []), ["judge_cards"])
    assert list(made) == ["judge_cards"]
    assert {row["statistic"] for row in made["judge_cards"]} == {"agreement", "auroc"}
    assert "recipe" not in made["judge_cards"][0]


@pytest.mark.parametrize("width", [60, 80])
def test_a_run_ends_with_the_judges_and_the_page(folder, monkeypatch, capsys, width):
    params = load()
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.chdir(folder.parents[2])
    assert print_summary([NAME], params) == 0
    said = capsys.readouterr().out
    assert f"{NAME}: judges beside right answers" in said
    assert "98 of" in said
    assert f"report: reports/{NAME}/index.html" in said
    assert max(len(line) for line in said.splitlines()) <= width
