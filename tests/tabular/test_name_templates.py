"""Names of columns that say several things: the form that they share, and what each says."""

import csv
from collections.abc import Collection
from itertools import product
from pathlib import Path

import pytest

from metassay.cli.main import main
from metassay.tabular.columns import Keys
from metassay.tabular.name_templates import Template, find_template, read_names

CASES = [f"case{n:02}" for n in range(1, 7)]
SYSTEMS = ["gpt4", "llama3", "flan"]
CRITERIA = ["Fluency", "Factual accuracy"]
ALL = ("doc", "system", "criterion", "rater")
NO_KEYS = Keys()
KEYS = Keys(CASES, SYSTEMS)
FEW = ["--resamples", "20", "--permutations", "20"]


def template_of(
    names: Collection[str], keys: Keys = NO_KEYS, allowed: Collection[str] = ALL
) -> Template:
    template = find_template(list(names), keys, allowed)
    assert template is not None
    return template


def crossed(form: str) -> list[str]:
    """Names of a column for each text and criterion."""
    return [
        form.format(doc=doc, system=system, criterion=criterion)
        for doc, system, criterion in product(CASES, SYSTEMS, CRITERIA)
    ]


@pytest.mark.parametrize(
    "form",
    [
        "Please rate summary {doc} by {system} [{criterion}]",
        "Case: {doc} System: {system} Please rate the summary - {criterion}",
        "{doc}_{system}_{criterion}",
        "{criterion} | {doc} | {system}",
        "{system}.{doc}: {criterion}",
        "How do you rate the {criterion} of {doc} ({system})?",
        "[{doc}/{system}] {criterion}",
    ],
)
def test_a_column_per_text_and_criterion(form: str) -> None:
    """The texts' keys tell what differs; each name is read as it was made."""
    names = crossed(form)
    template = template_of(names, KEYS)
    assert template.pattern == form
    assert not template.unclear
    assert [tuple(parts.values()) for parts in template.names.values()] == [
        tuple({"doc": d, "system": s, "criterion": c}[role] for role in order(form))
        for d, s, c in product(CASES, SYSTEMS, CRITERIA)
    ]


def order(form: str) -> list[str]:
    roles = ("doc", "system", "criterion")
    return sorted(roles, key=lambda role: form.index(f"{{{role}}}"))


def test_words_before_the_fields_tell_what_they_are() -> None:
    template = template_of(crossed("Case: {doc} System: {system} - {criterion}"))
    assert template.pattern == "Case: {doc} System: {system} - {criterion}"
    assert not template.unclear
    unclear = template_of(
        crossed("Please rate summary {doc} by {system} [{criterion}]")
    )
    assert unclear.unclear.keys() == {"doc", "system"}
    assert unclear.unclear["doc"] == CASES


@pytest.mark.parametrize(
    ("names", "pattern"),
    [
        (["fluency_r1", "fluency_r2", "errors_r1", "errors_r2"], "{criterion}_{rater}"),
        (["R1 - fluency", "R2 - fluency"], "{rater} - {criterion}"),
        (["Annotator A - fluency", "Annotator B - fluency"], "{rater} - {criterion}"),
        (["fluency (rater 1)", "fluency (rater 2)"], "{criterion} ({rater})"),
        (
            [f"{c} | r{n}" for c in ("fluency", "factual accuracy") for n in (1, 2)],
            "{criterion} | {rater}",
        ),
    ],
)
def test_raters_with_numbers_are_certain(names: list[str], pattern: str) -> None:
    template = template_of(names, allowed=("criterion", "rater"))
    assert template.pattern == pattern
    assert not template.unclear


@pytest.mark.parametrize(
    ("names", "pattern", "unclear"),
    [
        (
            ["Fluency - Anna", "Fluency - Ben", "Errors - Anna", "Errors - Ben"],
            "{criterion} - {rater}",
            {"rater"},
        ),
        (["a_x", "a_y", "b_x", "b_y"], "{criterion}_{rater}", {"criterion", "rater"}),
        (["fluency1", "fluency2"], "{criterion}{rater}", {"criterion", "rater"}),
        (
            [f"experts.{n}.{c}" for n in range(3) for c in ("fluency", "coherence")],
            "experts.{rater}.{criterion}",
            {"rater"},
        ),
    ],
)
def test_names_of_people_are_a_proposal(
    names: list[str], pattern: str, unclear: set[str]
) -> None:
    template = template_of(names, allowed=("criterion", "rater"))
    assert template.pattern == pattern
    assert template.unclear.keys() & unclear


def test_keys_with_marks_in_them_are_whole() -> None:
    systems = ["gpt-4o", "gpt-3.5", "llama-2"]
    names = [f"{system}_{metric}" for system in systems for metric in ("rouge", "bleu")]
    template = template_of(names, Keys(["d1"], systems), ("system", "metric"))
    assert template.pattern == "{system}_{metric}"
    assert {parts["system"] for parts in template.names.values()} == {*systems}


@pytest.mark.parametrize(
    "names",
    [
        ["fluency", "coherence", "relevance"],
        ["factual_accuracy", "factual_consistency"],
        ["gpt4", "llama3", "flan"],
        ["rouge1", "bleu"],
        ["one name {with} braces", "another {with} braces"],
        ["alone"],
    ],
)
def test_names_that_say_a_single_thing_have_no_form(names: list[str]) -> None:
    assert find_template(names, NO_KEYS, ("criterion", "rater", "system")) is None


def test_a_name_that_fits_in_two_ways_is_read_as_the_others_are() -> None:
    names = ["a_b_r1", "a_b_r2", "c_r1", "c_r2", "accuracy_overall_r1"]
    read = read_names("{criterion}_{rater}", names, NO_KEYS)
    assert read["a_b_r1"] == {"criterion": "a_b", "rater": "r1"}
    people = ["factual_accuracy_anna", "factual_accuracy_ben", "tone_anna", "tone_ben"]
    read = read_names("{criterion}_{rater}", people, NO_KEYS)
    assert {parts["criterion"] for parts in read.values()} == {
        "factual_accuracy",
        "tone",
    }
    assert read_names("{criterion} by {rater}", people, NO_KEYS) == {}


# ---- from a survey to numbers


def survey(path: Path, names: list[str], *, keys: list[str], rows: int = 3) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*keys, *names])
        for row in range(rows):
            cells = [(7 * n + row) % 5 + 1 for n in range(len(names))]
            writer.writerow([*(f"{key[:1]}{row}" for key in keys), *cells])


def test_a_google_form_takes_two_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names = crossed("Please rate summary {doc} by {system} [{criterion}]")
    survey(tmp_path / "form.csv", names, keys=["Timestamp", "Email Address"])
    assert main(["meta-eval", "form.csv", *FEW]) == 2
    error = capsys.readouterr().err
    option = "ratings.wide=Please rate summary {doc} by {system} [{criterion}]"
    assert f"--columns '{option}'" in error
    assert "1 in line 2 is of doc 'case01', system 'gpt4', criterion 'Fluency'" in error
    assert error.count(" in line 2 is of ") == 3
    assert main(["meta-eval", "form.csv", *FEW, "--columns", option]) == 0
    output = capsys.readouterr().out
    assert "Factual accuracy" in output
    assert "E2" in output  # the third rater's address


def test_qualtrics_loop_and_merge_takes_one_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first row numbers the columns, the second has the questions, the third ids."""
    monkeypatch.chdir(tmp_path)
    questions = crossed("Case: {doc} System: {system} Please rate - {criterion}")
    numbered = [f"{n // 2 + 1}_Q2_{n % 2 + 1}" for n in range(len(questions))]
    beside = ["StartDate", "Progress", "ResponseId"]
    ids = [f'{{"ImportId":"QID{n}"}}' for n in range(len(beside) + len(questions))]
    rows = [["2026-03-01", 100, f"R_{n}", *[n + 1] * len(questions)] for n in range(3)]
    with Path("survey.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([beside + numbered, beside + questions, ids, *rows])
    assert main(["meta-eval", "survey.csv", *FEW]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "rater = 'ResponseId'" in output
    assert f"{len(questions)} columns called Case: {{doc}} System: {{system}}" in output
    assert "R_2" in output


def test_a_column_of_the_form_without_numbers_is_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names = crossed("Case: {doc} System: {system} - {criterion}")
    survey(tmp_path / "form.csv", names, keys=["Name"])
    lines = Path("form.csv").read_text().splitlines()
    changed = [line.split(",") for line in lines]
    for row in changed[1:]:
        row[4] = "cannot say"
    Path("form.csv").write_text("\n".join(map(",".join, changed)))
    assert main(["meta-eval", "form.csv", *FEW]) == 2
    assert f"column {names[3]!r} has the form" in capsys.readouterr().err
