"""What the terminal says of certificates, at the width of a small and of a smaller terminal."""

import io
from argparse import Namespace

import pandas as pd
import pytest
from rich.console import Console

from metassay.cli.meta_eval import SHOWN, show
from metassay.cli.project import list_all
from metassay.reporting.certificates import limits_of
from metassay.reporting.headline import answers_of, artifacts, best_metrics
from tests.reporting.invented_meta import FOUND

LONG = "unieval_understandability_of_the_whole"


def _said(tables, width):
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    show(tables, 0.95, console)
    return console.file.getvalue()


def _squeezed(text):
    """Without blanks, since what is folded is broken anywhere."""
    return "".join(text.split())


@pytest.fixture
def tables(frames):
    renamed = frames["certificates"].replace({"metric": {"bleu": LONG}})
    explained = renamed["verdict"].where(
        renamed["metric"] != LONG, "explained by words_and_more_words"
    )
    more = {name: frames[name] for name in ("agreement", "designs")}
    return {"certificates": renamed.assign(verdict=explained), **more}


@pytest.mark.parametrize("width", [60, 80])
def test_nothing_is_cut_at_either_width(tables, width):
    said = _said(tables, width)
    lines = said.splitlines()
    assert max(map(len, lines)) <= width
    assert "…" not in said
    for words in ("promising", ".52 [.31, .69]", "<.001", "use"):
        assert words.split()[0] in said, words
    first = said[said.index("any two texts") : said.index("two texts of one document")]
    folded = {"metric": "", "verdict": ""}
    place = next(k for k, line in enumerate(first.splitlines()) if LONG[:8] in line)
    for line in first.splitlines()[place:]:
        if "<script" in line or "metric" in line:
            break
        folded["metric"] += line[: line.find("  ", 1) if "  " in line[1:] else None]
    assert _squeezed(folded["metric"]).startswith(LONG)
    assert "explainedbywords_and_more_words" in _squeezed(
        "".join(line[width - 22 :] if width == 80 else line[width - 15 :] for line in lines)
    )


def test_the_comparison_with_a_rater_gives_way_first(tables):
    assert "metric / rater" in _said(tables, 80)
    assert ".51 / .56" in _said(tables, 80)
    assert "metric / rater" not in _said(tables, 60)


def test_limits_stand_before_the_tables_and_sentences_after_them(tables):
    said = _said(tables, 100)
    limit = said.index(FOUND)
    table = said.index("any two texts (global level)")
    sentence = said.index("Use: for any two texts, claim_recall follows completeness.")
    assert limit < table < sentence
    squeezed = " ".join(said.split())
    assert "Corrected as best of 3 metrics: .47 [.20, .71]." in squeezed
    assert (
        "For two systems there is no metric to use yet: 1 promising, 1 explained by a confound, 1"
        " undefined. First is claim_recall (lexical) (promising: rate more systems), corrected as"
        " best of 3 metrics: .47 [.20, .71]."
    ) in squeezed
    assert "Krippendorff's alpha (interval) .65 [.50, .75], 6 texts" in squeezed


def test_of_many_metrics_the_first_are_printed(frames):
    one = frames["certificates"].iloc[[0]]
    many = pd.concat([one.assign(metric=f"m{k:02}", value=1 - k / 100) for k in range(SHOWN + 2)])
    said = _said({**frames, "certificates": many}, 80)
    assert f"m{SHOWN - 1:02}" in said
    assert f"m{SHOWN:02}" not in said
    assert "and 2 more metrics: --out writes all" in said


def test_nothing_to_certify(nothing):
    said = _said(nothing, 80)
    assert "nothing can be certified" in said


def test_headline_has_the_best_of_each_decision_corrected_or_what_to_do(folder):
    name = "claim_recall (lexical)"
    found = best_metrics(folder).to_numpy().tolist()
    best = [name, ".47 [.20, .71]", "use, best of 3 metrics"]
    assert found[:3] == [
        ["completeness", "any two texts", *best],
        ["completeness", "two texts of one document", *best],
        [
            *("completeness", "two systems", f"none yet; closest: {name}", ".47 [.20, .71]"),
            "rate more systems: 1 promising, 1 cannot tell, 1 undefined",
        ],
    ]
    assert len(found) == 6
    assert limits_of(folder, 0.95) == [FOUND]


def test_artifacts_hold_numbers_and_names_but_no_sentence(folder, frames):
    made = artifacts(folder, answers_of(folder, []))
    assert list(made) == ["leaderboard", "certificates"]
    assert len(made["certificates"]) == len(frames["certificates"])
    assert {row["p"] for row in made["certificates"]} == {0.0001, 0.0833, 0.25, None}
    assert not {"sentence", "recipe"} & set(made["certificates"][0])


@pytest.mark.parametrize("width", [50, 80])
def test_the_list_of_benchmarks_cuts_no_name(monkeypatch, capsys, width):
    monkeypatch.setenv("COLUMNS", str(width))
    list_all(Namespace(croissant=None))
    said = capsys.readouterr().out
    assert "…" not in said
    assert max(len(line) for line in said.splitlines()) <= width
