"""Pages call a system or judge as `shown_as` says; files keep its name."""

import re

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.reporting.names import ShownAs, describe_seen
from metassay.reporting.report import write_report
from tests.reporting import page_data

SHOWN = ShownAs.of(
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
    labels = ["bleu", "claim_recall (lexical)", "claim_recall (lexical) + recall (nli)", None]
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
    report = make_report(shown_as=ShownAs({"plain": "reference"}, {}))
    with pytest.raises(BadInput, match="shown_as > plain: 'reference' is another author's name"):
        write_report(report, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_of_each_name_it_is_said_what_choices_saw() -> None:
    lines = describe_seen({"mini": "unseen"}, ["mini", "words"], {"mini": "GPT mini"})
    assert lines == ["GPT mini: unseen", "words: not stated"]
