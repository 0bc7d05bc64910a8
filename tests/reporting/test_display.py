"""Pages and the terminal call a system or judge as `shown_as` says; files keep its name."""

import re

import pandas as pd
import pytest

from metassay.cli.run_summary import print_summary
from metassay.cli.show import table_of
from metassay.core.errors import BadInput
from metassay.core.params import load
from metassay.core.stages import files_in
from metassay.reporting.contract_page import TABLES
from metassay.reporting.names import ShownAs, describe_seen
from metassay.reporting.report import write_report
from metassay.tables.notes import NOTES
from metassay.tables.parquet import empty, write
from metassay.tables.responses import RESPONSES
from tests.reporting import page_data

SHOWN = ShownAs.of(
    {"plain": "openai/gpt-4o [β]", "lexical": "Word overlap", "other": "x"},
    ["plain", "absent"],
    ["lexical"],
)


def test_the_page_and_its_figures_say_other_words_and_files_the_name(
    make_report, written, tmp_path
):
    report = make_report(published=["doclens_table20"], shown_as=SHOWN)
    write_report(report, tmp_path / "out")
    before, said = page_data.everything(written), page_data.everything(tmp_path / "out")
    for name, other in (("plain", "openai/gpt-4o [β]"), ("lexical", "Word overlap")):
        assert other not in before
        assert other in said
        assert re.search(rf'(?:"|\()({name})(?:"|\))', before)
        assert not re.search(rf'(?:"|\()({name})(?:"|\))', said)
    figure = (tmp_path / "out/figures/leaderboard.svg").read_text("utf-8")
    assert "openai/gpt-4o [β]" in figure
    for file in (*written.glob("*.csv"), *written.glob("*.md")):
        assert (tmp_path / "out" / file.name).read_bytes() == file.read_bytes()


def test_names_within_labels_are_others_too():
    labels = ["bleu", "claim_recall (lexical)", "claim_recall (lexical) + recall (nli)", None]
    frame = pd.DataFrame(
        {"metric_a": labels, "members": labels, "judge": ["lexical", "none", "nli", None]}
    )
    made = SHOWN.frame(frame)
    assert made["members"].tolist()[:3] == [
        "bleu",
        "claim_recall (Word overlap)",
        "claim_recall (Word overlap) + recall (nli)",
    ]
    assert made["metric_a"].equals(made["members"])
    assert made["judge"].tolist()[:3] == ["Word overlap", "none", "nli"]
    assert frame["judge"][0] == "lexical"


def test_two_authors_are_never_shown_under_one_name(make_report, tmp_path):
    report = make_report(shown_as=ShownAs({"plain": "reference"}, {}))
    with pytest.raises(BadInput, match="shown_as > plain: 'reference' is another author's name"):
        write_report(report, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_the_closing_tables_say_other_words(frames, tmp_path, monkeypatch, capsys):
    params = load()
    own = params.benchmarks["sample"].model_copy(update={"systems": ["plain"]})
    shown_as = {"plain": "openai/gpt-4o [b]", "lexical": "Word overlap"}
    changed = params.model_copy(update={"benchmarks": {"sample": own}, "shown_as": shown_as})
    for name in ("leaderboard", "certificates", "designs"):
        write(TABLES[name], frames[name], tmp_path / f"data/tables/sample/{name}.parquet")
    for table in (NOTES, RESPONSES):
        for name in files_in(own, table.name):
            write(table, empty(table), tmp_path / f"data/tables/sample/{table.name}/{name}.parquet")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    print_summary(["sample"], changed)
    said = capsys.readouterr().out
    assert "(Word overlap)" in said
    assert "lexical" not in said
    for table in ("means", "trust"):
        said += table_of("sample", table, changed)[0].to_csv()
    assert "openai/gpt-4o [b]" in said
    assert "Word overlap" in said
    assert "lexical" not in said


def test_of_each_name_it_is_said_what_choices_saw() -> None:
    said = describe_seen({"mini": "unseen"}, ["mini", "words"], {"mini": "GPT mini"})
    assert said == ["GPT mini: unseen", "words: not stated"]
