"""Commands that read tables name the tool of another file; the command that they print works."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.imports.test_annotation_tools import ARGILLA, MIN, TSV, prodigy
from tests.imports.test_corrections import PROMPTFOO, TRACES, log
from tests.imports.test_corrections import sample as inspect_sample
from tests.imports.test_missing_answers import annotation
from tests.imports.test_preferences import alpaca, bench
from tests.imports.test_tools import CASES, GENERATED, SCORES, SPANS, TASKS
from tests.remedies.following import Terminal

RAGAS = "user_input,response,faithfulness,human_label\n" + "".join(
    f"q{n},r{n},{n % 2},{int(n % 3 == 0)}\n" for n in range(12)
)
DOCCANO = [
    {"id": n, "text": f"Text {n}", "label": [[0, 2, "error"]], "Comments": []}
    for n in (1, 2)
]
FILES: dict[str, tuple[str, object]] = {
    "inspect": ("log.json", log(inspect_sample(1))),
    "lm-eval": ("samples_t.jsonl", [GENERATED]),
    "ragas": ("annotations.json", {"correct": [annotation(1, accepted=False)]}),
    "deepeval": ("test_run_1.json", {"testCases": CASES, "identifier": "r"}),
    "promptfoo": ("r.json", {"evalId": "e", "results": {"results": PROMPTFOO[:3]}}),
    "langfuse": ("scores.json", {"data": SCORES, "meta": {}}),
    "phoenix": ("a.json", {"data": [{"span_id": name, **row} for name, row in SPANS]}),
    "mlflow": ("traces.json", TRACES),
    "label-studio": ("export.json", TASKS),
    "argilla": ("a.jsonl", ARGILLA),
    "prodigy": ("db.jsonl", [prodigy(1, "ann", label="FAITHFUL")]),
    "doccano": ("ann.jsonl", DOCCANO),
    "inception": ("note.tsv", TSV),
    "preferences": ("annotations.json", [alpaca("a", 1.0, 3), alpaca("b", 2.0, 3)]),
}


def write(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    lines = content if isinstance(content, list) and name.endswith("l") else None
    text = content if isinstance(content, str) else json.dumps(content, indent=1)
    if lines is not None:
        text = "".join(json.dumps(line) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def terminal(tmp_path, monkeypatch, capsys) -> Terminal:
    monkeypatch.chdir(tmp_path)
    texts = "doc_id,system,text\nd1,m,Cough.\nd1,n,Fever.\n"
    (tmp_path / "texts.csv").write_text(texts, encoding="utf-8")
    return Terminal(capsys)


COMMANDS: dict[str, Callable[[str], str]] = {
    "meta-eval": "meta-eval {}".format,
    "init": "init study --texts texts.csv --ratings {} --yes".format,
    "judge-check": "judge-check {}".format,
    "import": "import {} --out imported".format,
}


@pytest.mark.parametrize("kind", FILES)
def test_the_printed_command_reads_the_file(terminal, tmp_path, kind) -> None:
    name, content = FILES[kind]
    write(tmp_path, name, content)
    for word, command in COMMANDS.items():
        if word == "judge-check" and kind == "preferences":
            assert terminal.type(command(name)).code == 0  # answered as it is
            continue
        refused = terminal.type(command(name))
        assert refused.code == 2
        assert name in refused.err
        # Where the command itself fails to read a table, its own problem comes first.
        assert refused.commands == [["import", kind, name, "--out", "imported"]]
    done = terminal.follow_commands(refused)
    assert "written to imported: " in done.out


def test_a_table_of_judge_and_person_is_read_as_it_is_where_that_is_right(
    terminal, tmp_path
) -> None:
    write(tmp_path, "r.csv", RAGAS)
    assert terminal.type("judge-check r.csv").code == 0
    assert terminal.type("init scored --texts texts.csv --scores r.csv --yes").code == 2
    refused = terminal.type("meta-eval r.csv")  # the judge's column would be a rater's
    assert refused.commands == [["import", "ragas", "r.csv", "--out", "imported"]]
    # Who names the columns is not asked for another command.
    columns = "--columns doc=user_input ratings.criteria=human_label"
    assert terminal.type(f"meta-eval r.csv {columns}").code == 0


def test_a_judge_and_a_person_of_other_names_are_compared(terminal, tmp_path) -> None:
    write(tmp_path, "r.csv", RAGAS)
    done = terminal.type("import ragas r.csv --out imported")
    options = ["--judge", "faithfulness", "--human", "human_label"]
    assert ["judge-check", "imported/verdicts.csv", *options] in done.commands
    assert terminal.follow_commands(done).code == 0


def test_annotations_in_a_table_are_read_as_they_are(terminal, tmp_path) -> None:
    added = ("marks", "faults", "year")
    rows = [
        {name: value for name, value in row.items() if name not in added} for row in MIN
    ]
    write(tmp_path, "min.json", [{**row, "annotator": 1} for row in rows])
    assert "quality" in terminal.type("meta-eval min.json").out


def test_the_folder_in_the_command_is_not_there_yet(terminal, tmp_path) -> None:
    write(tmp_path, "votes.jsonl", [bench(1, "ann", "model_a")])
    (tmp_path / "imported").mkdir()
    refused = terminal.type("meta-eval votes.jsonl")
    assert refused.commands == [
        ["import", "preferences", "votes.jsonl", "--out", "imported2"]
    ]


def scores_and_ratings(number: int) -> dict[str, Any]:
    grading = {
        "componentResults": [
            {
                "pass": number % 3 > 0,
                "score": float(number % 3 > 0),
                "assertion": {"type": "cost"},
            },
            {
                "pass": number % 4 > 0,
                "score": float(number % 4 > 0),
                "assertion": {"type": "human"},
            },
        ]
    }
    return {
        "testIdx": number // 2,
        "promptIdx": 0,
        "provider": f"m{number % 2}",
        "response": {"output": f"Text {number}."},
        "gradingResult": grading,
    }


def test_every_command_that_an_import_prints_ends_well(terminal, tmp_path) -> None:
    """Of promptfoo's `cost` more is better: 1 is a pass, whatever the name."""
    results = [scores_and_ratings(number) for number in range(24)]
    write(tmp_path, "r.json", {"evalId": "e", "results": {"results": results}})
    done = terminal.type("import promptfoo r.json --out imported")
    assert [words[0] for words in done.commands] == ["judge-check", "meta-eval"]
    last = terminal.follow_commands(done)
    assert "metrics, more is better (as the file says): 'cost', 'overall'" in last.out
    words = (
        "--scores imported/data/scores.csv --ratings imported/data/ratings.csv --yes"
    )
    done = terminal.type(f"init study --texts imported/texts.csv {words}")
    assert done.code == 0, done.err
    assert "metrics, more is better (as the file says): 'cost', 'overall'" in done.out


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        (
            ("up", "higher"),
            "line 2: column 'better' has 'up'; write higher, lower, neither",
        ),
        (
            ("higher", "lower"),
            "line 3: column 'better' says of 'cost' lower, and before higher",
        ),
    ],
)
def test_directions_in_a_file_that_cannot_be_read_are_refused(
    terminal, tmp_path, cells, problem
) -> None:
    rows = [f"d{n},a,cost,{n},{end}" for n, end in enumerate(cells, start=1)]
    scores = "\n".join(["doc_id,system,metric,value,better", *rows]) + "\n"
    (tmp_path / "s.csv").write_text(scores, encoding="utf-8")
    ratings = "doc_id,system,fluency\nd1,a,1\nd2,a,2\n"
    (tmp_path / "r.csv").write_text(ratings, encoding="utf-8")
    done = terminal.type("meta-eval s.csv r.csv")
    assert done.code == 2
    assert problem in done.err
