"""What would change numbers if it were guessed wrongly is asked for, or read as it is meant."""

from pathlib import Path

import pytest

from metassay.core.errors import BadInput
from metassay.project.spreadsheets.read import Inputs, read_all
from metassay.project.spreadsheets.summary import command
from tests.project.spreadsheets.sheets import (
    DOCS,
    LONG,
    RATERS,
    SYSTEMS,
    TEXT,
    Table,
    confirmed,
    files,
    put,
    read,
    refused,
)

TEXTS = [
    ("v1", "alba"),
    ("v1", "brise"),
    ("v2", "alba"),
    ("v2", "brise"),
    ("v3", "alba"),
]
HEAD = ["visit_id", "model", "rater"]


def by_rater(*columns: str, cells: str = "1 2 5 4 3 2 1 5 4 2") -> Table:
    """A table of ratings of five texts by two raters, by each of these columns alike."""
    keys = [(d, s, r) for d, s in TEXTS for r in RATERS]
    values = cells.split("|") if "|" in cells else cells.split()
    body = [
        [*key, *[value] * len(columns)] for key, value in zip(keys, values, strict=True)
    ]
    return [[*HEAD, *columns], *body]


def by_text(*columns: str, cells: str = "1234567") -> Table:
    body = ([d, s, *cells[: len(columns)]] for d, s in TEXTS)
    return [["visit_id", "model", *columns], *body]


def wide(*names: str) -> Table:
    return [
        ["id", *names],
        *([d, *(TEXT.format(n, d, "x") for n in names)] for d in DOCS),
    ]


@pytest.mark.parametrize(
    ("name", "better"),
    [
        ("rank", "lower"),
        ("Rang", "lower"),
        ("number of issues", "lower"),
        ("inaccuracy", "lower"),
        ("quality (1 = best, 5 = worst)", "lower"),
        ("rouge", "higher"),
        ("faithfulness", "higher"),
        ("rerank_free_text", "higher"),
    ],
)
def test_of_what_less_is_better(tmp_path, name, better):
    assert read(tmp_path, ratings=by_rater(name)).criteria[name].better == better


@pytest.mark.parametrize(
    "name", ["error_free", "'no hallucinations'", "Fehlerfreiheit", "Length"]
)
def test_a_turned_name_is_asked_for_and_either_answer_is_taken(tmp_path, name):
    table, column = by_rater(name.strip("'")), name.strip("'")
    message = refused(tmp_path, ratings=table)
    assert f"say --higher {name}" in message
    assert "neither" not in message
    for better in ("higher", "lower"):
        assert (
            read(tmp_path, ratings=table, **{better: [column]}).criteria[column].better
            == better
        )
    both = refused(tmp_path, ratings=table, higher=[column], lower=[column])
    assert "by --lower and --higher" in both


@pytest.mark.parametrize(
    ("names", "pattern"),
    [
        (["fluency_r1", "fluency_r2", "errors_r1", "errors_r2"], "{criterion}_{rater}"),
        (
            ["R1 - fluency", "R2 - fluency", "R1 - errors", "R2 - errors"],
            "{rater} - {criterion}",
        ),
        (["Annotator A - fluency", "Annotator B - fluency"], "{rater} - {criterion}"),
        (["fluency (rater 1)", "fluency (rater 2)"], "{criterion} ({rater})"),
    ],
)
def test_columns_of_a_rater_and_a_criterion(tmp_path, names, pattern):
    data = read(tmp_path, ratings=by_text(*names))
    assert data.tables["ratings"].columns.pattern == pattern
    assert len({rating.rater for rating in data.rows.ratings}) == 2
    assert {*data.criteria} <= {"fluency", "errors"}
    assert len(data.rows.ratings) == len(TEXTS) * len(names)
    again = read(tmp_path, f"ratings.wide={pattern}", ratings=by_text(*names))
    assert again.rows.ratings == data.rows.ratings


def test_columns_of_a_system_and_what_is_said_of_it(tmp_path):
    ratings = [["visit_id", "rater", "Alba_fluency", "brise_fluency"]]
    ratings += [[d, "x", "1", "2"] for d in DOCS]
    scores = [["visit_id", "alba_f1", "brise_f1"], *([d, ".1", ".2"] for d in DOCS)]
    rows = read(tmp_path, ratings=ratings, scores=scores).rows
    assert {(rating.author, rating.criterion, rating.value) for rating in rows.ratings} == {
        ("alba", "fluency", 1), ("brise", "fluency", 2)
    }  # fmt: skip
    assert {(score.author, score.metric, score.value) for score in rows.scores} == {
        ("alba", "f1", 0.1), ("brise", "f1", 0.2)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (
            ["Ann", "Ben"],
            "'Ann', 'Ben': raters or criteria; say which: --columns ratings.raters=",
        ),
        (
            ["expert", "crowd"],
            "column 'expert' may say who rated, or be a rating itself",
        ),
        (["a_ann", "a_ben", "b_ann", "b_ben"], "seem to say several things each"),
        (["fluency1", "fluency2"], "seem to say several things each"),
    ],
)
def test_raters_and_criteria_are_not_taken_for_each_other(tmp_path, columns, words):
    table = by_text(*columns, cells="2222")
    assert words in refused(tmp_path, ratings=table)
    data = read(tmp_path, f"ratings.raters={','.join(columns)}", ratings=table)
    assert {rating.rater for rating in data.rows.ratings} == {*columns}


def test_what_programs_add_beside_ratings_is_named_and_not_read(tmp_path):
    beside = [
        "Unnamed: 0",
        "lead_time",
        "annotation_id",
        "Duration (in seconds)",
        "rater_age",
    ]
    data = read(
        tmp_path, ratings=by_rater("fluency", "error_count", "up_to_date", *beside)
    )
    assert {*data.criteria} == {"fluency", "error_count", "up_to_date"}
    assert "numbers that are not read: 'Unnamed: 0', 'lead_time'" in confirmed(data)
    counted = [[*HEAD, "fluency", "x"]]
    counted += [
        [*row, str(n)] for n, row in enumerate(by_rater("fluency")[1:], start=41)
    ]
    assert {*read(tmp_path, ratings=counted).criteria} == {"fluency"}


def test_qualtrics_rows_below_the_first_one(tmp_path):
    head, *body = by_rater("Q1")
    table = [head, [*HEAD, "How fluent is it?"], ['{"ImportId":"x"}'] * 4, *body]
    quoted = [
        [f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in row] for row in table
    ]
    path = tmp_path / "q.csv"
    path.write_text("\n".join(map(",".join, quoted)))
    data = read_all(Inputs({**files(tmp_path, texts=LONG), "ratings": [path]}))
    assert len(data.rows.ratings) == len(body)
    assert "2 rows below the first one" in confirmed(data)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ("1,234 2,500 3,100 4 5 6 7 8 9 9", "may mean a thousand or a fraction"),
        ("1,5 2.5 3 4 5 6 7 8 9 9", "a comma and others with a point"),
        ("1.234,5 2 3 4 5 6 7 8 9 9", "a mark between thousands"),
        ("45% 50 3 4 5 6 7 8 9 9", "a percent sign and others without"),
        ("1 2 3 4 5 good good good 1 1", "has numbers in 70% of its cells"),
        (
            "-99 -99 -99 -99 -99 -99 -99 -99 -99 -99",
            "line 2: 'ok' has the value -99, as where",
        ),
        ("1 2 3 4 5 -99 1 1 1 -99", "has the value -99, far from all others"),
        ("5 99 1 2 3 4 5 1 2 3", "has the value 99, far from all others"),
        (
            "5-Mar 2-Mar 1-Mar 5-Mar 5-Mar 1-Mar 2-Mar 3-Mar 4-Mar 1-Mar",
            "no column of numbers",
        ),
        ("95 99 90 91 92 93 94 95 96 97", ""),  # all are grades
    ],
)
def test_numbers_that_may_mean_two_things(tmp_path, cells, words):
    ratings = put(tmp_path / "r.tsv", by_rater("ok", cells=cells), "\t")
    inputs = Inputs({**files(tmp_path, texts=LONG), "ratings": [ratings]})
    if not words:
        assert len(read_all(inputs).rows.ratings) == 10
        return
    with pytest.raises(BadInput) as caught:
        read_all(inputs)
    assert words in "\n".join(caught.value.problems)


ENGINE = [["engine used" if name == "model" else name for name in LONG[0]], *LONG[1:]]


QUALITIES = "good|poor|fair|good|poor|good|fair|fair|ok|ok"
KEYS = [(n, s) for n in (1, 2) for s in SYSTEMS]
ZEROS = {
    "texts": [["id", "model", "text"], *([f"00{n}", s, "It is."] for n, s in KEYS)],
    "ratings": [["id", "model", "f"], *([f"{n}", s, "1"] for n, s in KEYS)],
}


def pairs(winner: str) -> Table:
    head = ["visit_id", "system_a", "system_b", "preference"]
    return [head, *([d, *SYSTEMS, winner] for d in DOCS)]


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"ratings": pairs("1")}, "'system_a', 'system_b' all name systems"),
        ({"ratings": pairs("B")}, "'system_a', 'system_b' all name systems"),
        ({"ratings": by_rater("quality", cells=QUALITIES)}, "no column of numbers"),
        (ZEROS, "except for zeros, case or .0"),
        (
            {"texts": ENGINE, "ratings": by_rater("fluency")},
            "clearly names the system of each",
        ),
        (
            {"texts": ENGINE, "ratings": by_rater("fluency")},
            "--columns texts.system=COLUMN",
        ),
    ],
)
def test_what_is_refused(tmp_path, tables, words):
    message = refused(tmp_path, **tables)
    assert words in message
    assert "twice" not in message, "which only follows from it"


def test_a_metric_s_name_of_60_000_letters_is_refused(tmp_path):
    scores = [["visit_id", "model", "m" * 60_000], *([d, s, ".5"] for d, s in TEXTS)]
    message = refused(tmp_path, scores=scores)
    assert (
        "cannot be a name; rename it: has 60000 characters; shorten it to 200"
        in message
    )


def test_a_device_is_told_by_its_whole_path(tmp_path):
    with pytest.raises(
        BadInput, match=r"^/dev/null: is a pipe or device, not a file; save its"
    ):
        read_all(Inputs({"texts": [Path("/dev/null")]}))


AGREE = "Agree|Disagree|Neutral|Agree|Agree|Agree|Disagree|Strongly agree|Agree|Agree"


@pytest.mark.parametrize(
    ("name", "cells", "words", "scale", "first"),
    [
        (
            "It is fluent",
            AGREE,
            "--scale 'It is fluent=disagree<neutral<agree<strongly agree'",
            "Strongly disagree<Disagree<Neutral<Agree<Strongly agree",
            [4, 2, 3, 4],
        ),
        (
            "quality",
            "good|poor|" * 4 + "fair|good",
            "--scale 'quality=poor<fair<good'",
            "poor<fair<good",
            [3, 1, 3, 1],
        ),
        (
            "verdict",
            "keep|drop|" * 4 + "keep|drop",
            "--scale 'COLUMN=WORST<...<BEST'",
            "drop<keep",
            [2, 1, 2, 1],
        ),
    ],
)
def test_grades_in_words_are_asked_for_in_their_order(
    tmp_path, name, cells, words, scale, first
):
    ratings = by_rater(name, cells=cells)
    assert words in refused(tmp_path, ratings=ratings)
    data = read(tmp_path, ratings=ratings, scales=[f"{name}={scale}"])
    assert [rating.value for rating in data.rows.ratings][:4] == first
    assert (data.criteria[name].low, data.criteria[name].high) == (
        1,
        scale.count("<") + 1,
    )
    inputs = Inputs(
        files(tmp_path, texts=LONG, ratings=ratings), scales=[f"{name}={scale}"]
    )
    assert f"--scale '{name}={scale}'" in command(Path("x"), inputs, data, [])


def test_the_ends_of_a_scale_that_a_question_says(tmp_path):
    name = "Is it clear, and fluent? (1-7)"
    data = read(tmp_path, ratings=by_rater(name))
    assert (data.criteria[name].low, data.criteria[name].high) == (1, 7)
    columns = [*data.tables["ratings"].columns.words("ratings")]
    again = read(tmp_path, *columns, ratings=by_rater(name))
    assert again.rows.ratings == data.rows.ratings
    assert name in confirmed(data)


@pytest.mark.parametrize(
    "name", ["ground_truth", "Gold standard", "Reference summary", "human_reference"]
)
def test_a_reference_is_no_system(tmp_path, name):
    ratings = [
        ["id", "system", "f"],
        *([d, s, "1"] for d in DOCS for s in ("alba", name)),
    ]
    rows = read(tmp_path, texts=wide("alba", name), ratings=ratings).rows
    for of_kind in (rows.texts, rows.ratings):
        assert {row.author for row in of_kind} == {"alba", "reference"}


def authors(folder: Path, *names: str, **options: str) -> set[str]:
    return {
        text.author for text in read(folder, texts=wide(*names), **options).rows.texts
    }


def test_who_may_have_written_references_is_asked_for(tmp_path):
    two = ("reference_1", "reference_2", "alba")
    assert authors(tmp_path, *two) == {"reference", "reference:2", "alba"}
    output = confirmed(read(tmp_path, texts=wide(*two)))
    assert "further references, which rubrics alone read: 'reference_2'" in output
    doubtful = ("alba", "reference-free model")
    assert "or --reference '' if not" in refused(tmp_path, texts=wide(*doubtful))
    assert authors(tmp_path, *doubtful, reference="") == {*doubtful}
    data = read(tmp_path, texts=wide("alba", "physician"))
    assert "'physician' is taken for a system" in "\n".join(data.rows.warnings.lines())


@pytest.mark.parametrize("name", ["impression", "note", "discharge_summary"])
def test_a_column_called_after_a_kind_of_text_may_be_no_system(tmp_path, name):
    texts = wide("alba", name)
    assert f"{name!r} may be a system's text" in refused(tmp_path, texts=texts)
    data = read(tmp_path, f"texts.reference={name}", texts=texts)
    assert {text.author for text in data.rows.texts} == {"alba", "reference"}
    assert authors(tmp_path, "note", "comments") == {"note"}


def test_one_file_of_texts_and_their_ratings(tmp_path):
    table = [[*HEAD, "note", "fluency"]]
    table += [
        [d, s, r, f"{s} writes of {d} here", "3"] for d, s in TEXTS for r in RATERS
    ]
    path = put(tmp_path / "all.csv", table)
    rows = read_all(Inputs({"texts": [path], "ratings": [path]})).rows
    assert (len(rows.texts), len(rows.ratings)) == (5, 10)


def test_what_goes_against_people_is_warned_of(tmp_path):
    keys = [[f"d{n}", s] for n in range(12) for s in SYSTEMS]
    texts = [["id", "model", "text"], *([*key, "It is."] for key in keys)]
    ratings = [
        ["id", "model", "fluency"],
        *([*key, str(n % 5)] for n, key in enumerate(keys)),
    ]
    scores = [["id", "model", "good", "bad"]]
    scores += [
        [*key, str(n % 5 + n / 99), str(9 - n % 5)] for n, key in enumerate(keys)
    ]
    tables = {"texts": texts, "ratings": ratings, "scores": scores}
    (line,) = read(tmp_path, **tables).rows.warnings.lines()
    assert "metric 'bad' disagrees with people" in line
    for better in ("lower", "higher"):
        assert not read(tmp_path, **tables, **{better: ["bad"]}).rows.warnings


def test_columns_that_are_named_are_taken(tmp_path):
    data = read(tmp_path, "texts.system=engine used", texts=ENGINE)
    assert {text.author for text in data.rows.texts} == {*SYSTEMS, "reference"}
    scores = [
        ["visit_id", "model", "align", "n"],
        *([d, s, ".5", "7"] for d, s in TEXTS),
    ]
    data = read(tmp_path, "scores.value=align", scores=scores)
    assert {(score.metric, score.value) for score in data.rows.scores} == {
        ("align", 0.5)
    }
    data = read(
        tmp_path, scores=[["visit_id", *SYSTEMS], *([doc, ".25", ".5"] for doc in DOCS)]
    )
    first = {
        score.author: score.value
        for score in data.rows.scores
        if score.doc_id == DOCS[0]
    }
    assert first == dict(zip(SYSTEMS, (0.25, 0.5), strict=True))
    assert {score.metric for score in data.rows.scores} == {"score"}


@pytest.mark.parametrize("name", ["rater", "annotator", "rater_id", "participant"])
def test_numbered_raters_who_share_the_texts(tmp_path, name):
    table = [["visit_id", "model", name, "fluency"]]
    table += [[d, s, str(n % 2), "4"] for n, (d, s) in enumerate(TEXTS)]
    data = read(tmp_path, ratings=table)
    assert {rating.rater for rating in data.rows.ratings} == {"0", "1"}
    assert {*data.criteria} == {"fluency"}
