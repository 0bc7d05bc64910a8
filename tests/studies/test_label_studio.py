"""Label Studio: what its own package says of config, tasks and annotations, and what comes back.

Ratings are held against those of the same answers in a CSV sheet, and against the
form's own rule.
"""

import csv
import io
import json
from pathlib import Path

import pytest
from label_studio_sdk.label_interface import LabelInterface

from metassay.core.errors import BadInput
from metassay.studies import importing, key, label_studio, sheets
from metassay.studies.export import Design, build_study, write
from metassay.studies.forms import FORMS
from metassay.studies.record import (
    Answer,
    Choice,
    Draft,
    DraftRow,
    Options,
    Question,
    SheetText,
    StudyDraft,
    Target,
    TargetQuestion,
)
from metassay.studies.sheets import parse_answer
from tests.studies import label_studio_people as people
from tests.studies.invented_tables import PLAIN, SCALES, study, tables, write_questions

# Label Studio's own package uses it.
pytestmark = pytest.mark.filterwarnings("ignore:The `dict` method is deprecated")

ROOT = Path(__file__).parents[2]
OPTIONS = {
    "claims": {"claims": "both"},
    "pairs": {"shares": True},
    "rubric": {"rubric": "vanilla"},
    "elements": {},
    "facets": {"rubric": "facets"},
    "facts": {},
    "reading": {},
}


def read(files):
    return importing.read_files(files, [label_studio.KIND])


def key_of(sent):
    return key._parse(json.loads(key.encode_key(sent.key)))


def returned(exports, folder):
    """The rows of some exports, as files."""
    for name, tasks in exports.items():
        (folder / f"{name}.json").write_text(json.dumps(tasks), encoding="utf-8")
    return read([folder / f"{name}.json" for name in exports])


def through_sheets(sent, answers, folder):
    """The same answers, given in CSV sheets."""
    write(sent, sheets.KIND, folder)
    files = [folder / f"sheets/{rater}.csv" for rater in sent.key.assignments]
    for path in files:
        header, *rows = csv.reader(io.StringIO(path.read_text("utf-8-sig"), newline=""))
        for row in rows:
            of_row, row[-1] = answers[row[0], row[1]]
            for column, answer in of_row.items():
                row[header.index(column)] = answer
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([header, *rows])
    return importing.read_files(files, [sheets.KIND])


@pytest.mark.parametrize("name", FORMS)
def test_a_form_goes_out_and_comes_back_to_exactly_the_answers_of_raters(
    tmp_path, name
):
    form = FORMS[name]
    more = OPTIONS[name]
    if name == "reading":
        more = {"questions": write_questions(tmp_path)}
    plan = form.make(tables(), Options(seed=5, root=ROOT, **more))
    sent = build_study("one", "pilot", form, plan, Design(("anna", "ben"), 1, None, 5))
    answers, exports = people.answers(sent), {}
    for rater, (tasks, interface) in people.projects(sent, tmp_path / "a").items():
        interface.validate()
        assert all(interface.validate_task(task) for task in tasks)
        exports[rater] = people.exported(tasks, interface, answers)
        for task in exports[rater]:
            assert interface.validate_annotation(task["annotations"][0])
        # Label Studio's own sample of an annotation is read.
        sample = interface.generate_sample_annotation()["result"]
        (row,) = returned({"x": [people.export_of(1, tasks[0], sample)]}, tmp_path)
        names = {result["from_name"] for result in sample}
        columns = tasks[0]["data"]["columns"]
        filled = {column for column in columns.values() if row.answers[column]}
        assert {column for name, column in columns.items() if name in names} == filled
        assert interface.generate_sample_task().keys() <= tasks[0]["data"].keys()
    known = key_of(sent)
    results = importing.unblind(returned(exports, tmp_path), known, form, partial=False)
    rows = through_sheets(sent, answers, tmp_path / "b")
    assert results == importing.unblind(rows, known, form, partial=False)
    assert len(results.comments) == sum(
        bool(comment) for _, comment in answers.values()
    )
    rated = {}
    for sheet in sent.sheets():
        for item in sheet.items:
            of_item = [
                Answer(
                    target,
                    parse_answer(question, answers[sheet.rater, row.id][0][column]),
                )
                for row in item.rows
                for column, (question, target) in sent.key.rows[
                    row.id
                ].questions.items()
            ]
            rated |= {
                (target, sheet.rater): value for target, value in form.rate(of_item)
            }
    assert {(target, rater): value for target, rater, value in results.ratings} == rated
    assert {value is None for value in rated.values()} == {True, False}


def odd_study():
    """Markup, quotes and variables wherever there is a text; another scale in the second row."""
    odd = "a < b & \"c\" 'd' </View> $row <script>&amp;"
    word = Choice('no & "maybe" <1>', 0.0, "means < & $x \u0001\ufffe")
    question = Question(
        "one", "gra&de", "choice", f"Is it {odd}?", (word, Choice("yes", 1.0))
    )
    two = Question(
        "two", "gra&de", "choice", "How good?", (Choice("1", 1.0), Choice("2", 2.0))
    )
    other = Question("n", "n", "number", odd, low=-0.5, high=2.5)
    shown = (
        SheetText("text <b>", odd),
        SheetText("$row & more", "line one\n\tline two"),
    )
    rows = (
        DraftRow(
            shown[1:],
            (TargetQuestion(question, Target("d", "a", "full", "text", "grade")),),
        ),
        DraftRow((), (TargetQuestion(two, Target("d", "a", "x", "text", "grade")),)),
        DraftRow(
            (), (TargetQuestion(other, Target("d", "a", "full", "text", "faults")),)
        ),
    )
    plan = StudyDraft([Draft(("d", "a"), ("a",), shown[:1], rows)], SCALES, (odd,))
    return build_study("one", "pilot", PLAIN, plan, Design(("anna",), 1, None, 2))


def test_nothing_in_a_text_is_markup_and_each_task_brings_what_it_alone_asks(tmp_path):
    sent = odd_study()
    ((tasks, interface),) = people.projects(sent, tmp_path / "s").values()
    interface.validate()
    assert all(interface.validate_task(task) for task in tasks)
    first, second, third = (task["data"] for task in tasks)
    (item,) = sent.items
    assert first["text_1"] == item.texts[0].text == second["text_1"]
    assert first["text_2"] == "line one\n\tline two"
    assert (second["text_2"], second["headings"]) == ("", {"text_1": "text <b>"})
    assert first["choices_1"] == [
        {"value": 'no & "maybe" <1>', "hint": "means < & $x"},
        {"value": "yes"},
    ]
    assert [choice["value"] for choice in second["choices_1"]] == ["1", "2"]
    assert (third["choices_1"], third["asks_1"]) == ([], "(nothing is asked here)")
    assert interface.get_control("answer_1").dynamic_value
    config = (tmp_path / "s/sheets/anna.xml").read_text("utf-8")
    assert "<script>" not in config + (tmp_path / "s/sheets/anna.html").read_text(
        "utf-8"
    )
    assert '<Header value="text &lt;b&gt;" size="5" />' in config
    rows = (
        ({"gra&de": 'no & "maybe" <1>'}, "<&>"),
        ({"gra&de": "2"}, ""),
        ({"n": "-0.125"}, ""),
    )
    answers = {("anna", f"{item.id}-0{n}"): row for n, row in enumerate(rows, start=1)}
    exports = {"anna": people.exported(tasks, interface, answers)}
    results = importing.unblind(
        returned(exports, tmp_path), key_of(sent), PLAIN, partial=False
    )
    assert sorted(rating.value for rating in results.ratings) == [-0.125, 0.0, 2.0]
    assert [cells[-1] for cells in results.comments] == ["<&>"]


@pytest.fixture
def project(tmp_path):
    """A rater's project: its key, and sound exported tasks."""
    sent = study(raters=("anna",))
    ((tasks, interface),) = people.projects(sent, tmp_path / "s").values()
    return key_of(sent), people.exported(tasks, interface, people.answers(sent))


def imported(project, folder, *, partial=False):
    known, exports = project
    return importing.unblind(
        returned({"anna": exports}, folder), known, PLAIN, partial=partial
    )


def test_skipped_is_empty_unsubmitted_is_absent_and_drafts_and_predictions_are_no_answers(
    tmp_path, project
):
    known, exports = project
    whole = imported(project, tmp_path)
    result = exports[0]["annotations"][0]["result"]
    # what was filled in before does not count
    exports[0]["annotations"][0]["was_cancelled"] = True
    exports[1]["annotations"] = []
    exports[1]["drafts"] = [{"id": 1, "result": result, "user": "anna"}]
    exports[1]["predictions"] = [{"id": 2, "result": result, "model_version": "m"}]
    exports[2]["annotations"].insert(
        0, exports[2]["annotations"][0] | {"was_cancelled": True}
    )
    exports[2]["annotations"][0] = exports[2]["annotations"][0] | {"result": []}
    exports.reverse()
    with pytest.raises(BadInput, match="1 of 9 rows of rater 'anna' are missing"):
        imported(project, tmp_path)
    results = imported(project, tmp_path, partial=True)
    assert (results.n_absent, whole.n_absent) == (1, 0)
    values = {rating.target: rating.value for rating in results.ratings}
    rows = (known.rows[task["data"]["row"]] for task in (exports[-1], exports[-2]))
    gone = {pair.target for row in rows for pair in row.questions.values()}
    for rating in whole.ratings:
        assert values[rating.target] == (
            None if rating.target in gone else rating.value
        )


def test_accounts_may_be_numbers_or_people_and_what_else_was_added_is_noted(
    tmp_path, project
):
    _, exports = project
    whole = imported(project, tmp_path)
    for task in exports:
        task["annotations"][0]["completed_by"] = {"id": 4, "email": "anna@example.org"}
        mood = {"from_name": "mood", "type": "choices", "value": {"choices": ["ok"]}}
        relation = {
            "from_id": "a",
            "to_id": "b",
            "type": "relation",
            "direction": "right",
        }
        task["annotations"][0]["result"] += [mood | {"to_name": "row"}, relation]
    results = imported(project, tmp_path)
    assert results.ratings == whole.ratings
    assert results.notes == [
        "anna.json: column 'mood': not of the study, and not read; what is to be kept goes into"
        " 'comment'"
    ]

    sent = study()  # two machines may use the same account numbers
    exports = {
        rater: people.exported(tasks, interface, people.answers(sent), user=1)
        for rater, (tasks, interface) in people.projects(sent, tmp_path / "t").items()
    }
    rows = returned(exports, tmp_path)
    assert (
        len(importing.unblind(rows, key_of(sent), PLAIN, partial=False).ratings) == 54
    )


def put(task, *way):
    """Put the last one at the place in a task that the others name."""
    *names, value = way
    at = task
    for name in names[:-1]:
        at = at[name]
    at[names[-1]] = value


ANNOTATION = ("annotations", 0)
RESULT = (*ANNOTATION, "result")
ODD = "task 2: is not as Label Studio exports tasks; export the project again"
GRADE = {
    "from_name": "answer_1",
    "to_name": "row",
    "type": "choices",
    "value": {"choices": ["2"]},
}
FAULTS = {
    "from_name": "answer_2",
    "to_name": "row",
    "type": "number",
    "value": {"number": 3},
}


@pytest.mark.parametrize(
    ("way", "problem"),
    [
        *(
            (way, ODD)
            for way in (
                ("annotations", None),
                ("annotations", ["x"]),
                ("data", []),
                ("data", "rater", None),
                ("data", "columns", "x"),
                ("data", "headings", {"text_1": "a", "text_2": "a"}),
                ("data", "headings", {"text_1": "a", "text_9": "b"}),
                (*ANNOTATION, "was_cancelled", "no"),
                (*ANNOTATION, "result", {}),
                (*RESULT, [GRADE | {"value": {}}]),
                (*RESULT, [GRADE | {"value": {"choices": ["\ud800"]}}]),
                (*RESULT, [FAULTS | {"value": {"number": True}}]),
                (*RESULT, [{"type": "number", "value": {"number": 1}}]),
            )
        ),
        (("data", "rater", "zoe"), "task 2: .*rater 'zoe' was sent nothing"),
        (("data", "row", "x-01"), "task 2: .*the row's id is not known"),
        (("data", "columns", {"answer_1": "grade"}), "column 'faults' is missing"),
        (
            ("data", "text_1", "Another text."),
            "task 2: .*is not the one that was sent out",
        ),
        (
            (*ANNOTATION, "completed_by", 9),
            "of rater 'anna' were annotated under 2 accounts.*keep",
        ),
        (
            (*RESULT, [GRADE, GRADE]),
            "task 2: has two results of control 'answer_1'.*answer the ta",
        ),
        (
            (*RESULT, [GRADE | {"value": {"choices": ["1", "2"]}}]),
            "task 2: has 2 answers of contr",
        ),
        (
            (*RESULT, [GRADE | {"value": {"choices": ["7"]}}]),
            "task 2: .*'grade': .* is not",
        ),
        (
            (*RESULT, [FAULTS | {"value": {"number": 5}}]),
            "task 2: .* is over the cap of",
        ),
        (
            (*RESULT, [FAULTS | {"value": {"number": 1.5}}]),
            "task 2: .*is not a whole number",
        ),
    ],
)
def test_what_is_wrong_is_named_with_file_task_and_remedy(
    tmp_path, project, way, problem
):
    _, exports = project
    put(exports[1], *way)
    with pytest.raises(BadInput, match=problem) as caught:
        imported(project, tmp_path)
    for line in caught.value.problems:
        assert line.startswith("anna.json")
        assert line.isprintable()
        assert "Next; line" not in line


def test_two_submitted_annotations_are_not_chosen_between(tmp_path, project):
    _, exports = project
    exports[4]["annotations"] *= 2
    with pytest.raises(
        BadInput, match=r"task 5: has 2 submitted annotations; keep the"
    ):
        imported(project, tmp_path)
    exports[4]["annotations"][1:] = []
    with pytest.raises(BadInput, match=r"task 5: .*has the row twice"):
        imported((project[0], [*exports, exports[4]]), tmp_path)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "is not valid JSON"),
        (
            '{"tasks": []}',
            "is not a list of tasks; export the project again, in the format JSON",
        ),
        (
            '[{"row": "a", "rater": "anna", "answer_1": "2"}]',
            "task 1 of the list: is not as",
        ),
        ('[{"id": 7, "data": {"row": "a"}}]', r"task 7: is not as.*not JSON-MIN"),
        ("[1]", "task 1 of the list: is not as"),
    ],
)
def test_a_file_that_is_no_export_is_refused_whole(tmp_path, content, problem):
    (tmp_path / "anna.json").write_text(content, encoding="utf-8")
    with pytest.raises(BadInput, match=f"^anna.json.*{problem}"):
        read([tmp_path / "anna.json"])


def test_the_same_seed_gives_the_same_bytes_and_no_author_is_in_them(tmp_path):
    for name in ("a", "b"):
        write(study(), label_studio.KIND, tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "a/sheets").iterdir())
    raters, endings = ("anna", "ben", "carla"), ("html", "json", "xml")
    assert files == [f"{rater}.{ending}" for rater in raters for ending in endings]
    for file in files:
        content = (tmp_path / "a/sheets" / file).read_bytes()
        assert content == (tmp_path / "b/sheets" / file).read_bytes()
        assert b"alpha" not in content
        assert b"gamma" not in content


def test_the_config_is_one_that_label_studio_parses_whatever_the_words_are():
    question = Question(
        "q", "q", "choice", "?", (Choice("\x00\ud800]]>", 1.0), Choice("b", 2.0))
    )
    asks = TargetQuestion(question, Target("d", "a", "full", "text", "grade"))
    draft = Draft(("d", "a"), ("a",), (), (DraftRow((SheetText("h", "t"),), (asks,)),))
    plan, design = StudyDraft([draft], SCALES, ()), Design(("anna",), 1, None, 1)
    (sheet,) = build_study("one", "s", PLAIN, plan, design).sheets()
    LabelInterface(label_studio.config(sheet)).validate()
