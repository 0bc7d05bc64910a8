"""Names on pages: a system or judge as `shown_as` says, and in which order metrics stand."""

import re

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.reporting import names
from metassay.reporting.report import write_report
from metassay.scoring.rubrics.ask import criteria_table
from metassay.scoring.rubrics.record import RUBRICS, load_rubric
from metassay.tables.names import sorted_authors
from tests.reporting import page_data

SHOWN = names.ShownAs.choose(
    {"plain": "openai/gpt-4o [β]", "lexical": "Word overlap", "other": "x"},
    ["plain", "absent"],
    ["lexical"],
)


def test_the_page_and_its_figures_say_other_words_and_files_the_name(
    make_report, written, tmp_path
):
    out = tmp_path / "out"
    write_report(make_report(published=["doclens_table20"], shown_as=SHOWN), out)
    before, after = page_data.everything(written), page_data.everything(out)
    for name, other in (SHOWN.authors | SHOWN.judges).items():
        as_name = rf'(?:"|\()({name})(?:"|\))'
        assert other not in before
        assert other in after
        assert re.search(as_name, before)
        assert not re.search(as_name, after)
    assert "openai/gpt-4o [β]" in (out / "figures/leaderboard.svg").read_text("utf-8")
    for file in (*written.glob("*.csv"), *written.glob("*.md")):
        assert (out / file.name).read_bytes() == file.read_bytes()


def test_names_within_labels_are_others_too():
    labels = [
        "bleu",
        "claim_recall (lexical)",
        "claim_recall (lexical) + recall (nli)",
        None,
    ]
    judges = ["lexical", "none", "nli", None]
    frame = pd.DataFrame({"metric_a": labels, "members": labels, "judge": judges})
    shown = SHOWN.frame(frame)
    assert shown["members"].tolist()[:3] == [
        "bleu",
        "claim_recall (Word overlap)",
        "claim_recall (Word overlap) + recall (nli)",
    ]
    assert shown["metric_a"].equals(shown["members"])
    assert shown["judge"].tolist()[:3] == ["Word overlap", "none", "nli"]
    assert frame["judge"][0] == "lexical"


def test_two_authors_are_never_shown_under_one_name(make_report, tmp_path):
    report = make_report(shown_as=names.ShownAs({"plain": "reference"}, {}))
    with pytest.raises(
        BadInput, match="shown_as > plain: 'reference' is another author's name"
    ):
        write_report(report, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_of_each_name_it_is_said_what_choices_saw() -> None:
    lines = names.describe_seen(
        {"mini": "unseen"}, ["mini", "words"], {"mini": "GPT mini"}
    )
    assert lines == ["GPT mini: unseen", "words: not stated"]


def test_orders() -> None:
    metrics = [
        ("zeta", "none"),
        ("rouge1_recall", "none"),
        ("claim_recall", "b"),
        ("bleu", "none"),
    ]
    in_order = [
        metric for metric, _ in names.sorted_metrics([*metrics, ("claim_recall", "a")])
    ]
    assert in_order == ["claim_recall", "claim_recall", "bleu", "rouge1_recall", "zeta"]
    assert names.headline_metrics(metrics) == [("claim_recall", "b")]
    parts = ["plan", "assessment_and_plan", "full", "subjective"]
    assert names.sorted_parts(parts) == [
        "full",
        "subjective",
        "assessment_and_plan",
        "plan",
    ]
    assert sorted_authors(["b", "reference", "a"]) == ["reference", "a", "b"]


def test_metrics_of_rubrics_and_what_people_rate_stand_in_the_order_of_their_criteria() -> (
    None
):
    rubrics = ("vanilla", "note_respiratory", "bmrc")
    criteria = pd.concat(
        criteria_table(load_rubric(RUBRICS / f"{of}.yaml")) for of in rubrics
    )
    every = ["vanilla_rating", "bmrc_overall", "bmrc_method", "bmrc_background", "mine"]
    every += ["note_respiratory_1A", "note_respiratory_penalties", "rouge1_fmeasure"]
    metrics = [(name, "m") for name in every]
    rated = ["conclusion", "background", "method", "aim"]
    frame = pd.DataFrame({"study": "s", "criterion": rated, "part": "full"})
    assert [key[1] for key, _ in names.group_by_criterion(frame)] == sorted(rated)
    with names.known_names(criteria, ["method", "conclusion"]):
        assert [name for name, _ in names.sorted_metrics(metrics)] == [
            "bmrc_background",
            "bmrc_method",
            "bmrc_overall",
            "note_respiratory_1A",
            "note_respiratory_penalties",
            "vanilla_rating",
            "rouge1_fmeasure",
            "mine",
        ]
        assert {name for name, _ in names.headline_metrics(metrics)} == {
            "bmrc_overall",
            "note_respiratory_penalties",
            "vanilla_rating",
            "rouge1_fmeasure",
        }
        ordered = [key[1] for key, _ in names.group_by_criterion(frame)]
    assert ordered == ["method", "conclusion", "aim", "background"]
