"""What would change numbers if it were guessed wrongly is asked for, or read as it is meant."""

import shlex
from pathlib import Path

import pytest

from metassay.core.errors import BadInput
from metassay.project.spreadsheets.read import Inputs, OwnData, read_all
from metassay.project.spreadsheets.summary import command, lines, settings_of
from tests.project.spreadsheets.sheets import DOCS, LONG, RATERS, SYSTEMS, TEXT, Table, files, put

TEXTS = [("v1", "alba"), ("v1", "brise"), ("v2", "alba"), ("v2", "brise"), ("v3", "alba")]
HEAD = ["visit_id", "model", "rater"]


def by_rater(*columns: str, cells: str = "1 2 5 4 3 2 1 5 4 2") -> Table:
    """A table of ratings of five texts by two raters, by each of these columns alike."""
    keys = [(d, s, r) for d, s in TEXTS for r in RATERS]
    values = cells.split("|") if "|" in cells else cells.split()
    body = [[*key, *[value] * len(columns)] for key, value in zip(keys, values, strict=True)]
    return [[*HEAD, *columns], *body]


def by_text(*columns: str) -> Table:
    return [
        ["visit_id", "model", *columns],
        *([d, s, *"1234567"[: len(columns)]] for d, s in TEXTS),
    ]


def read(folder: Path, tables: dict[str, Table], *columns: str, **said: object) -> OwnData:
    return read_all(Inputs(files(folder, **{"texts": LONG, **tables}), columns, **said))  # type: ignore[arg-type]


def refused(folder: Path, tables: dict[str, Table], *columns: str, **said: object) -> str:
    with pytest.raises(BadInput) as caught:
        read(folder, tables, *columns, **said)
    message = "\n".join(caught.value.problems)
    assert "cough" not in message
    return message


@pytest.mark.parametrize(
    ("name", "better"),
    [
        *(("rank", "lower"), ("Rang", "lower"), ("number of issues", "lower")),
        *(("inaccuracy", "lower"), ("quality (1 = best, 5 = worst)", "lower")),
        *(("rouge", "higher"), ("faithfulness", "higher"), ("rerank_free_text", "higher")),
    ],
)
def test_of_what_less_is_better(tmp_path: Path, name: str, better: str) -> None:
    assert read(tmp_path, {"ratings": by_rater(name)}).criteria[name].better == better


@pytest.mark.parametrize("name", ["error_free", "no hallucinations", "Fehlerfreiheit"])
def test_a_turned_name_is_asked_for_and_either_answer_is_taken(tmp_path: Path, name: str) -> None:
    tables = {"ratings": by_rater(name)}
    assert f"say --higher {shlex.quote(name)} if more is better" in refused(tmp_path, tables)
    for better in ("higher", "lower"):
        data = read(tmp_path, tables, **{better: [name]})
        assert data.criteria[name].better == better
    assert "by --lower and --higher" in refused(tmp_path, tables, higher=[name], lower=[name])


@pytest.mark.parametrize(
    ("names", "pattern"),
    [
        (["fluency_r1", "fluency_r2", "errors_r1", "errors_r2"], "{criterion}_{rater}"),
        (["R1 - fluency", "R2 - fluency", "R1 - errors", "R2 - errors"], "{rater} - {criterion}"),
        (["Annotator A - fluency", "Annotator B - fluency"], "{rater} - {criterion}"),
        (["fluency (rater 1)", "fluency (rater 2)"], "{criterion} ({rater})"),
    ],
)
def test_columns_of_a_rater_and_a_criterion(tmp_path: Path, names: list[str], pattern: str) -> None:
    data = read(tmp_path, {"ratings": by_text(*names)})
    assert data.tables["ratings"].columns.pattern == pattern
    assert len({rating.rater for rating in data.rows.ratings}) == 2
    assert {*data.criteria} <= {"fluency", "errors"}
    assert len(data.rows.ratings) == len(TEXTS) * len(names)
    again = read(tmp_path, {"ratings": by_text(*names)}, f"ratings.wide={pattern}")
    assert again.rows.ratings == data.rows.ratings


def test_columns_of_a_system_and_what_is_said_of_it(tmp_path: Path) -> None:
    ratings = [
        ["visit_id", "rater", "Alba_fluency", "brise_fluency"],
        *([d, "x", "1", "2"] for d in DOCS),
    ]
    scores = [["visit_id", "alba_f1", "brise_f1"], *([d, ".1", ".2"] for d in DOCS)]
    rows = read(tmp_path, {"ratings": ratings, "scores": scores}).rows
    assert {(rating.author, rating.criterion, rating.value) for rating in rows.ratings} == {
        ("alba", "fluency", 1), ("brise", "fluency", 2)
    }  # fmt: skip
    assert {(score.author, score.metric, score.value) for score in rows.scores} == {
        ("alba", "f1", 0.1), ("brise", "f1", 0.2)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (["Ann", "Ben"], "'Ann', 'Ben': raters or criteria; say which: --columns ratings.raters="),
        (["expert", "crowd"], "column 'expert' may say who rated, or be a rating itself"),
        (["a_ann", "a_ben", "b_ann", "b_ben"], "the names seem to have two parts each"),
        (["fluency1", "fluency2"], "the names seem to have two parts each"),
    ],
)
def test_raters_and_criteria_are_not_taken_for_each_other(
    tmp_path: Path, columns: list[str], words: str
) -> None:
    table = by_text(*columns)
    table = [table[0], *([*row[:2], *("2" for _ in columns)] for row in table[1:])]
    assert words in refused(tmp_path, {"ratings": table})
    data = read(tmp_path, {"ratings": table}, f"ratings.raters={','.join(columns)}")
    assert {rating.rater for rating in data.rows.ratings} == {*columns}


@pytest.mark.parametrize("winner", ["1", "B"])
def test_comparisons_of_two_texts_are_not_ratings_of_one(tmp_path: Path, winner: str) -> None:
    table = [["visit_id", "system_a", "system_b", "preference"]]
    table += [[d, *SYSTEMS, winner] for d in DOCS]
    assert "'system_a', 'system_b' all name systems" in refused(tmp_path, {"ratings": table})


def test_what_programs_add_beside_ratings_is_named_and_not_read(tmp_path: Path) -> None:
    beside = ["Unnamed: 0", "lead_time", "annotation_id", "Duration (in seconds)", "rater_age"]
    data = read(tmp_path, {"ratings": by_rater("fluency", "error_count", "up_to_date", *beside)})
    assert {*data.criteria} == {"fluency", "error_count", "up_to_date"}
    output = "\n".join(lines(data, settings_of(data.rows)))
    assert "numbers that are not read: 'Unnamed: 0', 'lead_time'" in output
    counted = [[*HEAD, "fluency", "x"]]
    counted += [[*row, str(n)] for n, row in enumerate(by_rater("fluency")[1:], start=41)]
    assert {*read(tmp_path, {"ratings": counted}).criteria} == {"fluency"}


def test_qualtrics_rows_below_the_first_one(tmp_path: Path) -> None:
    head, *body = by_rater("Q1")
    table = [head, [*HEAD, "How fluent is it?"], ['{"ImportId":"x"}'] * 4, *body]
    path = tmp_path / "q.csv"
    path.write_text(
        "\n".join(",".join(f'"{c.replace(chr(34), chr(34) * 2)}"' for c in row) for row in table)
    )
    paths = files(tmp_path, texts=LONG)
    data = read_all(Inputs({**paths, "ratings": [path]}))
    assert len(data.rows.ratings) == len(body)
    assert "2 rows below the first one" in "\n".join(lines(data, settings_of(data.rows)))


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ("1,234 2,500 3,100 4 5 6 7 8 9 9", "may mean a thousand or a fraction"),
        ("1,5 2.5 3 4 5 6 7 8 9 9", "a comma and others with a point"),
        ("1.234,5 2 3 4 5 6 7 8 9 9", "a mark between thousands"),
        ("45% 50 3 4 5 6 7 8 9 9", "a percent sign and others without"),
        ("1 2 3 4 5 good good good 1 1", "has numbers in 70% of its cells"),
        ("-99 -99 -99 -99 -99 -99 -99 -99 -99 -99", "line 2: 'ok' has the value -99, as where"),
        ("1 2 3 4 5 -99 1 1 1 -99", "has the value -99, far from all others"),
        ("5-Mar 2-Mar 1-Mar 5-Mar 5-Mar 1-Mar 2-Mar 3-Mar 4-Mar 1-Mar", "no column of numbers"),
    ],
)
def test_numbers_that_may_mean_two_things(tmp_path: Path, cells: str, words: str) -> None:
    paths = files(tmp_path, texts=LONG)
    paths["ratings"] = [put(tmp_path / "r.tsv", by_rater("ok", cells=cells), "\t")]
    with pytest.raises(BadInput) as caught:
        read_all(Inputs(paths))
    assert words in "\n".join(caught.value.problems)


def test_a_metric_s_name_of_60_000_letters_is_refused(tmp_path: Path) -> None:
    scores = [["visit_id", "model", "m" * 60_000], *([d, s, ".5"] for d, s in TEXTS)]
    message = refused(tmp_path, {"scores": scores})
    assert "cannot be a name; rename it: has 60000 characters; shorten it to 200" in message


def test_a_device_is_told_by_its_whole_path(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"^/dev/null: is a pipe or device, not a file; save its"):
        read_all(Inputs({"texts": [Path("/dev/null")]}))


def test_grades_in_words_are_asked_for_in_their_order(tmp_path: Path) -> None:
    cells = "Agree|Disagree|Neutral|Agree|Agree|Agree|Disagree|Strongly agree|Agree|Agree"
    tables = {"ratings": by_rater("It is fluent", cells=cells)}
    message = refused(tmp_path, tables)
    assert "--scale 'It is fluent=disagree<neutral<agree<strongly agree'" in message
    grades = "It is fluent=Strongly disagree<Disagree<Neutral<Agree<Strongly agree"
    data = read(tmp_path, tables, scales=[grades])
    assert [rating.value for rating in data.rows.ratings][:4] == [4, 2, 3, 4]
    assert (data.criteria["It is fluent"].low, data.criteria["It is fluent"].high) == (1, 5)
    inputs = Inputs(files(tmp_path, texts=LONG, **tables), scales=[grades])
    assert f"--scale '{grades}'" in command(Path("x"), inputs, data, [])


def test_the_ends_of_a_scale_that_a_question_says(tmp_path: Path) -> None:
    table = by_rater("Is it clear, and fluent? (1-7)")
    data = read(tmp_path, {"ratings": table})
    criterion = data.criteria["Is it clear, and fluent? (1-7)"]
    assert (criterion.low, criterion.high) == (1, 7)
    columns = [*data.tables["ratings"].columns.words("ratings")]
    assert read(tmp_path, {"ratings": table}, *columns).rows.ratings == data.rows.ratings
    assert table[0][-1] in "\n".join(lines(data, settings_of(data.rows)))


def wide(*names: str) -> Table:
    return [["id", *names], *([d, *(TEXT.format(n, d, "x") for n in names)] for d in DOCS)]


@pytest.mark.parametrize(
    "name", ["ground_truth", "Gold standard", "Reference summary", "human_reference"]
)
def test_a_reference_is_no_system(tmp_path: Path, name: str) -> None:
    ratings = [["id", "system", "f"], *([d, s, "1"] for d in DOCS for s in ("alba", name))]
    data = read(tmp_path, {"texts": wide("alba", name), "ratings": ratings})
    assert {text.author for text in data.rows.texts} == {"alba", "reference"}
    assert {rating.author for rating in data.rows.ratings} == {"alba", "reference"}


def test_further_references(tmp_path: Path) -> None:
    data = read(tmp_path, {"texts": wide("reference_1", "reference_2", "alba")})
    assert {text.author for text in data.rows.texts} == {"reference", "reference:2", "alba"}
    output = "\n".join(lines(data, settings_of(data.rows)))
    assert "further references, which rubrics alone read: 'reference_2'" in output


def test_who_may_have_written_references_is_asked_for(tmp_path: Path) -> None:
    tables = {"texts": wide("alba", "reference-free model")}
    assert "or --reference '' if not" in refused(tmp_path, tables)
    assert len({text.author for text in read(tmp_path, tables, reference="").rows.texts}) == 2
    data = read(tmp_path, {"texts": wide("alba", "physician")})
    assert "'physician' is taken for a system" in "\n".join(data.rows.warnings.lines())


@pytest.mark.parametrize("name", ["impression", "note", "discharge_summary"])
def test_a_column_called_after_a_kind_of_text_may_be_no_system(tmp_path: Path, name: str) -> None:
    tables = {"texts": wide("alba", name)}
    assert f"{name!r} may be a system's text" in refused(tmp_path, tables)
    data = read(tmp_path, tables, f"texts.reference={name}")
    assert {text.author for text in data.rows.texts} == {"alba", "reference"}
    assert {
        text.author for text in read(tmp_path, {"texts": wide("note", "comments")}).rows.texts
    } == {"note"}


def test_one_file_of_texts_and_their_ratings(tmp_path: Path) -> None:
    table = [[*HEAD, "note", "fluency"]]
    table += [[d, s, r, f"{s} writes of {d} here", "3"] for d, s in TEXTS for r in RATERS]
    path = put(tmp_path / "all.csv", table)
    rows = read_all(Inputs({"texts": [path], "ratings": [path]})).rows
    assert (len(rows.texts), len(rows.ratings)) == (5, 10)


def test_ids_that_a_program_changed_are_told(tmp_path: Path) -> None:
    texts = [["id", "model", "text"], *([f"00{n}", s, "It is."] for n in (1, 2) for s in SYSTEMS)]
    ratings = [["id", "model", "f"], *([f"{n}", s, "1"] for n in (1, 2) for s in SYSTEMS)]
    assert "but for zeros, case or .0" in refused(tmp_path, {"texts": texts, "ratings": ratings})


def test_what_goes_against_people_is_warned_of(tmp_path: Path) -> None:
    docs = [f"d{n}" for n in range(12)]
    texts = [["id", "model", "text"], *([d, s, "It is."] for d in docs for s in SYSTEMS)]
    keys = [[d, s] for d in docs for s in SYSTEMS]
    ratings = [["id", "model", "fluency"], *([*key, str(n % 5)] for n, key in enumerate(keys))]
    scores = [["id", "model", "good", "bad"]]
    scores += [[*key, str(n % 5 + n / 99), str(9 - n % 5)] for n, key in enumerate(keys)]
    tables = {"texts": texts, "ratings": ratings, "scores": scores}
    (line,) = read(tmp_path, tables).rows.warnings.lines()
    assert "metric 'bad' disagrees with people" in line
    assert not read(tmp_path, tables, lower=["bad"]).rows.warnings
    assert not read(tmp_path, tables, higher=["bad"]).rows.warnings


def test_texts_of_several_systems_whose_column_cannot_be_told(tmp_path: Path) -> None:
    """It is asked for, and nothing else is said that only follows from it."""
    head, *body = LONG
    named = [["engine used" if name == "model" else name for name in head], *body]
    message = refused(tmp_path, {"texts": named, "ratings": by_rater("fluency")})
    assert "no column clearly names the system of each" in message
    assert "--columns texts.system=COLUMN" in message
    assert "engine used" in message
    assert "twice" not in message
    data = read(tmp_path, {"texts": named}, "texts.system=engine used")
    assert {text.author for text in data.rows.texts} == {*SYSTEMS, "reference"}


def test_scores_of_one_metric_by_system_need_no_name(tmp_path: Path) -> None:
    wide = [["visit_id", *SYSTEMS], *([doc, ".25", ".5"] for doc in DOCS)]
    data = read(tmp_path, {"scores": wide})
    first = {score.author: score.value for score in data.rows.scores if score.doc_id == DOCS[0]}
    assert first == dict(zip(SYSTEMS, (0.25, 0.5), strict=True))
    assert {score.metric for score in data.rows.scores} == {"score"}


@pytest.mark.parametrize(
    ("cells", "code"),
    [("95 99 90 91 92 93 94 95 96 97", None), ("5 99 1 2 3 4 5 1 2 3", "99")],
)
def test_a_code_is_far_from_all_grades(tmp_path: Path, cells: str, code: str | None) -> None:
    tables = {"ratings": by_rater("overall", cells=cells)}
    if code is None:
        assert len(read(tmp_path, tables).rows.ratings) == 10
    else:
        assert f"has the value {code}, far from all others" in refused(tmp_path, tables)


def test_a_metric_whose_column_is_said_is_called_as_it(tmp_path: Path) -> None:
    table = [["visit_id", "model", "align", "n"], *([d, s, ".5", "7"] for d, s in TEXTS)]
    data = read(tmp_path, {"scores": table}, "scores.value=align")
    assert {(score.metric, score.value) for score in data.rows.scores} == {("align", 0.5)}


@pytest.mark.parametrize("name", ["rater", "annotator", "rater_id", "participant"])
def test_numbered_raters_who_share_the_texts(tmp_path: Path, name: str) -> None:
    table = [["visit_id", "model", name, "fluency"]]
    table += [[d, s, str(n % 2), "4"] for n, (d, s) in enumerate(TEXTS)]
    data = read(tmp_path, {"ratings": table})
    assert {rating.rater for rating in data.rows.ratings} == {"0", "1"}
    assert {*data.criteria} == {"fluency"}


def test_a_criterion_called_as_an_amount_is_asked_for(tmp_path: Path) -> None:
    message = refused(tmp_path, {"ratings": by_rater("Length")})
    assert "say --higher Length or --lower Length" in message
    assert "neither" not in message
    assert read(tmp_path, {"ratings": by_rater("Length")}, higher=["Length"]).criteria


def test_words_as_grades_of_quality_name_no_criteria(tmp_path: Path) -> None:
    tables = {"ratings": by_rater("quality", cells="good|poor|fair|good|poor|good|fair|fair|ok|ok")}
    assert "no column of numbers" in refused(tmp_path, tables)
    tables = {"ratings": by_rater("quality", cells="good|poor|" * 4 + "fair|good")}
    assert "--scale 'quality=poor<fair<good'" in refused(tmp_path, tables)
    data = read(tmp_path, tables, scales=["quality=poor<fair<good"])
    assert {rating.value for rating in data.rows.ratings} == {1, 2, 3}


def test_grades_in_words_that_are_unknown(tmp_path: Path) -> None:
    tables = {"ratings": by_rater("verdict", cells="keep|drop|" * 4 + "keep|drop")}
    assert "--scale COLUMN=WORST<...<BEST" in refused(tmp_path, tables)
    data = read(tmp_path, tables, scales=["verdict=drop<keep"])
    assert [rating.value for rating in data.rows.ratings][:2] == [2, 1]
