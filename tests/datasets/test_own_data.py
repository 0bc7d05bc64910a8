"""Folders of own data: good ones, and each kind of bad input with its message.

tests/fuzz/test_own_data.py damages them by chance, and writes what is read as tables.
"""

import gzip
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from metassay.core.errors import BadInput
from metassay.core.options import Criterion
from metassay.core.params import load
from metassay.datasets.ingest import Tables, ingest
from metassay.datasets.readers import reader_problems
from metassay.datasets.registry import load_registry
from metassay.metrics.describe import RELEASED
from metassay.scoring.catalogue import check_given
from metassay.scoring.rubrics.ask import rubric_descriptions
from metassay.tables.criteria import dataset_criteria, rubric_criteria
from metassay.tables.ratings import RATINGS as RATINGS_TABLE
from tests.datasets import reading
from tests.datasets.reading import ROOT, put_lines

CRITERIA = {
    "usefulness": Criterion(low=1, high=5, better="higher"),
    "preference": Criterion(low=0, high=1, better="higher", scale="ordinal"),
    "coverage": Criterion(low=0, high=1, better="higher", scale="nominal"),
}
SOURCES = [
    '{"doc_id": "d1", "task": "note", "passages": [{"text": "Any cough?", "speaker": "doctor"},'
    ' "None."], "attributes": {"b": 1, "a": "é"}}',
    '{"doc_id": "d2", "task": "impression", "passages": [{"text": "No mass.", "group": "f"}]}',
]
TEXTS = [
    '{"doc_id": "d1", "author": "reference", "text": "No cough."}',
    '{"doc_id": "d1", "author": "alpha", "text": "No cough [1].\\r\\nSecond line."}',
    '{"doc_id": "d2", "author": "reference", "text": "No mass."}',
    '{"doc_id": "d2", "author": "alpha", "status": "refused"}',
    '{"doc_id": "d1", "author": "beta", "part": "plan", "text": "Rest."}',
    '{"doc_id": "d2", "author": "beta", "text": "A mass [0]."}',
]
SEGMENTS = [
    '{"doc_id": "d1", "author": "reference", "part": "finding", "text": "No cough."}',
    '{"doc_id": "d1", "author": "alpha", "part": "finding", "text": "no cough"}',
]
HEADER = "study,doc_id,author,rater,criterion,value,unit,part"
RATINGS = [
    HEADER,
    "s,d1,alpha,ann,usefulness,4,,",
    "s,d1,alpha,ben,usefulness,,text,full",
    "s,d1,beta,ann,usefulness,1.5,text,plan",
    "s,d1,alpha,ann,preference,0.5,versus:beta,",
    "s,d1,alpha,ann,coverage,1,claim:0,",
]
SECRET = "Zanzibar"  # stands in document text; no message may show it


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    folder.mkdir()
    put_lines(folder / "sources.jsonl", *SOURCES)
    put_lines(folder / "texts.jsonl", *TEXTS)
    put_lines(folder / "ratings.csv", *RATINGS)
    return put_lines(folder / "segments.jsonl", *SEGMENTS)


def read(folder: Path) -> Tables:
    return ingest("files", folder, CRITERIA)


def problems(folder: Path) -> list[str]:
    before = {path: path.read_bytes() for path in folder.glob("*") if path.is_file()}
    lines = reading.problems("files", folder, CRITERIA)
    assert {
        path: path.read_bytes() for path in folder.glob("*") if path.is_file()
    } == before
    assert SECRET not in "".join(lines)
    return lines


def test_good_data(folder: Path) -> None:
    sources, texts, segments, ratings, measurements, _, warnings = tables = read(folder)
    assert measurements.empty
    assert warnings == ()
    first, second = sources.to_dict("records")
    assert first["passages"] == ["Any cough?", "None."]
    assert (first["speaker"], first["group"]) == (["doctor", ""], ["", ""])
    assert (first["attributes"], second["group"]) == ('{"a":"é","b":1}', ["f"])
    assert texts.iloc[1]["text"] == "No cough [1].\r\nSecond line."  # verbatim
    assert texts["status"].tolist() == ["ok", "ok", "ok", "refused", "ok", "ok"]
    assert texts["text"].isna().tolist() == [False, False, False, True, False, False]
    assert set(texts["recipe"]) == {"given|reader:files"}
    assert segments.to_numpy().tolist() == [
        ["d1", "reference", "finding", "No cough."],
        ["d1", "alpha", "finding", "no cough"],  # as the data have it
    ]
    assert ratings["part"].tolist() == ["full", "full", "plan", "full", "full"]
    assert ratings["unit"].tolist() == [
        "text",
        "text",
        "text",
        "versus:beta",
        "claim:0",
    ]
    assert ratings["value"].isna().tolist() == [False, True, False, False, False]
    # byte order mark, CRLF and blank lines change nothing
    for path in folder.iterdir():
        text = path.read_text(encoding="utf-8").replace("\n", "\r\n")
        path.write_bytes(b"\xef\xbb\xbf" + text.encode() + b"\r\n")
    for before, after in zip(tables[:4], read(folder)[:4], strict=True):
        assert before.equals(after)
    (folder / "segments.jsonl").unlink()
    put_lines(folder / "ratings.csv", HEADER)
    bare = read(folder)
    assert (len(bare.ratings), list(bare.ratings)) == (0, list(RATINGS_TABLE.columns))
    (folder / "ratings.csv").unlink()
    assert (len(read(folder).ratings), len(read(folder).segments)) == (0, 0)


def test_a_document_may_be_without_its_source(folder: Path) -> None:
    bare = {"doc_id": "d1", "task": "other", "passages": []}
    put_lines(folder / "sources.jsonl", bare, SOURCES[1])
    put_lines(folder / "texts.jsonl", *(line.replace(" [1]", "") for line in TEXTS))
    assert read(folder).sources["passages"].map(len).tolist() == [0, 1]


SCORES = [
    "doc_id,author,metric,value,better,part",
    "d1,alpha,ter,0.5,lower,",
    "d1,beta,ter,,lower,",
    "d1,alpha,own,2,,",
    "d2,beta,own,-1,,full",
]


def test_scores_of_their_own_metrics_come_along(folder: Path) -> None:
    put_lines(folder / "scores.csv", *SCORES)
    scores, criteria = read(folder)[4:6]
    assert scores[["doc_id", "author", "part", "metric"]].to_numpy().tolist() == [
        [*line.split(",")[:2], "full", line.split(",")[2]] for line in SCORES[1:]
    ]
    assert scores["value"].isna().tolist() == [False, True, False, False]
    assert set(scores["judge"]) == {"none"}
    assert set(scores["recipe"]) == {"ter|given|reader:files", "own|given|reader:files"}
    known = rubric_descriptions(criteria)
    assert {name: m.better for name, m in known.items()} == {
        "ter": "lower",
        "own": "higher",
    }
    assert (known["own"].range, known["ter"].family) == ((-1.0, None), RELEASED)
    assert rubric_criteria(criteria).empty
    wrong = (
        "d1,alpha,ter,1,lower,",
        "d2,alpha,ter,1,higher,",
        "d1,gamma,ter,much,lower,",
    )
    wrong += ("d1,beta,my metric,1,,", "d1,beta,own,1,upwards,")
    put_lines(folder / "scores.csv", *SCORES, *wrong)
    lines = problems(folder)
    assert len(lines) == 6
    for start in (
        "scores.csv: line 7: 'ter' is better in two directions (other than line 2); write the same",
        "scores.csv: line 8: 'value' is not a finite number; write a number, or nothing where the",
        "scores.csv: line 9: 'metric'",
        "scores.csv: line 10: 'better' is wrong: input should be 'higher', 'lower' or 'neither'",
        "scores.csv: line 6: the key (doc_id, author, part, metric) occurs twice",
        "scores.csv: line 8: a score is of a text that is not in texts.jsonl",
    ):
        assert any(line.startswith(start) for line in lines), (start, lines)


def test_a_metric_may_not_be_called_as_one_of_ours() -> None:
    table = dataset_criteria(
        {name: ("higher", [1.0]) for name in ("bleu", "ter", "xsum_rouge1")}
    )
    with pytest.raises(
        BadInput, match=r"^scores\.csv: metric 'bleu' is one of Metassay's own; r"
    ):
        check_given(table)


def test_what_may_be_rated(folder: Path) -> None:
    """Facets that come with the data, and sections before they are found; not other parts."""
    names = ("finding", "subjective", "assessment_and_plan", "full")
    rows = [
        f"s,d1,alpha,cat,usefulness,{n + 1},text,{name}" for n, name in enumerate(names)
    ]
    put_lines(folder / "ratings.csv", HEADER, *rows, "s,d1,alpha,dan,usefulness,5,,")
    ratings = read(folder).ratings
    assert ratings["part"].tolist() == [*names, "full"]
    # the ends of the scale
    assert (ratings["value"].min(), ratings["value"].max()) == (1, 5)
    (folder / "segments.jsonl").unlink()
    (line,) = problems(folder)
    assert "line 2: part 'finding' is not among the text's parts" in line
    put_lines(folder / "texts.jsonl", *TEXTS[1:])
    put_lines(folder / "ratings.csv", HEADER, "s,d1,alpha,ann,coverage,1,claim:0,")
    (line,) = problems(folder)
    assert (
        "line 2: a reference's claim is rated but the document has no reference" in line
    )


# Lines (++ between two) that stand in the place of another one, or at the end, and the
# message.
CASES = r"""
## texts.jsonl 1
{"doc_id": "d1", "author": "alpha", "text": "Zanzibar}
line 2: is not valid JSON (unterminated string starting at column 45)
{"doc_id": "d1", "author": "alpha", "text": "Zanzibar", "txt": "x"}
line 2: 'txt' is unknown; remove it or correct its spelling
{"doc_id": "d1", "author": "alpha", "text": " \n"}
line 2: 'text' is empty; write it; where a system failed, leave "text" out and give a status, such
{"doc_id": "d1", "author": "alpha"}
line 2: 'text' is missing; add it; where a system failed
{"doc_id": "d1", "author": "alpha", "text": "Zanzibar", "status": "error"}
line 2: 'text' is there although 'status' is not ok; remove one of the two
{"doc_id": "d1", "author": "alpha", "status": "lazy"}
line 2: 'status' is wrong: input should be 'ok', 'unparsed'
{"doc_id": "d1", "author": "alpha", "text": "Zan\u0000zibar"}
line 2: 'text' holds a NUL character; remove it
{"doc_id": "d1", "author": "alpha", "text": "Zanzibar \ud83d"}
line 2: 'text' holds half of a surrogate pair; write the whole character
## sources.jsonl 1
{"doc_id": "d2", "task": "poem", "passages": ["Zanzibar"]}
line 2: 'task' is wrong: input should be 'note', 'impression', 'question'
{"doc_id": "d2", "task": "note", "passages": ["Zanzibar", " "]}
line 2: 'passages > text' is empty (passage 1); fill it in
{"doc_id": "d2", "task": "note", "passages": ["Zanzibar", 7]}
line 2: 'passages' is wrong: input should be
{"doc_id": "d2", "task": "note", "passages": ["x"], "attributes": {"a": "\ud83d"}}
line 2: 'attributes' holds half of a surrogate pair; write
## texts.jsonl 0
{"doc_id": "d1", "author": "reference", "text": "Zanzibar [2]."}
line 1: the reference cites a passage that does not exist (doc_id 'd1', author 'reference': [2] of
## ratings.csv 0
study,doc_id,author,rater,value,unit,part
line 1: column 'criterion' is missing; line 1 must name the columns: study,
## texts.jsonl end
["Zanzibar"]
line 7: is not an object with named values; write
{"doc_id": "d2", "doc_id": "d3", "author": "c", "text": "Zanzibar"}
line 7: is not strict JSON (key 'doc_id' occurs twice); correct it
{"author": "alpha", "text": "Zanzibar"}
line 7: 'doc_id' is missing; add it
{"doc_id": "d1", "author": "alpha", "part": "full", "text": "Zanzibar"}
line 7: the key (doc_id, author, part) occurs twice (same as line 2: doc_id 'd1', author 'alpha'
{"doc_id": "d9", "author": "alpha", "text": "Zanzibar"}
line 7: the document is not in sources.jsonl (doc_id 'd9'); correct its doc_id or add its source
{"doc_id": "d1 ", "author": "gamma", "text": "Zanzibar"}
line 7: 'doc_id' has blanks at an end or characters that do not
## sources.jsonl end
{"doc_id": "d3", "task": "note", "passages": ["Zanzibar"], "attributes": {"x": NaN}}
line 3: is not strict JSON (NaN is not a JSON number); correct it
{"doc_id": 3, "task": "note", "passages": ["Zanzibar"]}
line 3: 'doc_id' is wrong: input should be a valid string; correct it
## ratings.csv end
s,d1,alpha,ann,usefulness,5,text,full
line 7: the key (study, doc_id, author, part, unit, rater, criterion) occurs twice (same as line
s,d1,alpha,cat,usefulness,5
line 7: does not have the 8 cells of the header (6 cells); add or remove
s,d1,alpha,cat,usefulness,"5,text,full
line 7: is not readable as CSV (unexpected end of data); check its
s,d1,gpt4,ann,usefulness,5,, ++ s,d2,gpt4,ann,usefulness,5,,
2 lines: system 'gpt4' is not in texts.jsonl (first: line 7, doc_id 'd1'); rename it or add its te
s,d1,alpha,ann,preference,1,versus:gpt4,
line 7: system 'gpt4' is not in texts.jsonl (doc_id 'd1'); rename
s,d1,alpha,ann,preference,1,versus:alpha,
line 7: the author is preferred to itself (doc_id 'd1', author 'alpha');
s,d7,alpha,ann,usefulness,5,,
line 7: system 'alpha' has no text for the document in texts.jsonl (doc_id 'd7', author 'alpha');
s,d1,alpha,ann,usefulness,5,,plam
line 7: part 'plam' is not among the text's parts in texts.jsonl (doc_id
s,d1,alpha,ann,usefulness,5,claim:one,
line 7: unit 'claim:one' is not known; write text, claim:N, statement:N or versus:AUTHOR
s,d1,alpha,ann,style,5,,
line 7: criterion 'style' is not declared; declare it in benchmarks/<name>/params.yaml
s,d1,alpha,cat,usefulness,6,, ++ s,d1,alpha,dan,usefulness,0,,
2 lines: 'usefulness' is outside its scale of 1 to 5 (first: line 7, value 6); correct it, or the
s,d1,alpha,cat,usefulness,Zanzibar,,
line 7: 'value' is not a finite number; write a number, or nothing where the
s,d1,alpha,,usefulness,5,,
line 7: 'rater' is empty; fill it in
## segments.jsonl end
{"doc_id": "D1", "author": "alpha", "part": "aim", "text": "Zanzibar"}
line 3: a facet is of a text that is not in texts.jsonl (doc_id 'D1', author 'alpha'); correct
{"doc_id": "d1", "author": "alpha", "part": "finding", "text": "Zanzibar"}
line 3: the key (doc_id, author, part) occurs twice (same as line 2: doc_id 'd1', author 'alpha'
{"doc_id": "d1", "author": "alpha", "part": "aim", "text": " \n"}
line 3: 'text' is empty; write it, or remove the line if the text lacks
{"doc_id": "d1", "author": "alpha", "text": "Zanzibar"}
line 3: 'part' is missing; add it
"""


def bad() -> Iterator[tuple[str, str, str, str]]:
    for block in CASES.strip().split("## ")[1:]:
        head, *lines = block.splitlines()
        name, place = head.split()
        yield from (
            (name, place, *case) for case in zip(lines[::2], lines[1::2], strict=True)
        )
    yield (
        "sources.jsonl",
        "end",
        SOURCES[0],
        "line 3: the key (doc_id) occurs twice (same as li",
    )
    yield (
        "ratings.csv",
        "0",
        HEADER.replace("part", "unit"),
        "line 1: column 'unit' occurs twice",
    )
    yield (
        "ratings.csv",
        "0",
        f"{HEADER},comment",
        "line 1: 1 column(s) are unknown (column 9)",
    )
    for value in ("inf", "1e999", "1_0", "٤"):
        start = "line 7: 'value' is not a finite number; write a number, or nothing"
        yield "ratings.csv", "end", f"s,d1,alpha,cat,usefulness,{value},,", start
    for number in ("1e309", "-1e999", "1" + "0" * 400 + ".5"):
        row = (
            SOURCES[1]
            .replace("}]", f'}}], "attributes": {{"n": {number}}}')
            .replace("d2", "d3")
        )
        start = "line 3: is not strict JSON (a number is too large); correct it"
        yield "sources.jsonl", "end", row, start


@pytest.mark.parametrize(("name", "place", "line", "start"), list(bad()))
def test_bad_input_names_file_row_and_remedy(
    folder: Path, name: str, place: str, line: str, start: str
) -> None:
    lines = (folder / name).read_text(encoding="utf-8").splitlines()
    at = len(lines) if place == "end" else int(place)
    put_lines(folder / name, *lines[:at], *line.split(" ++ "), *lines[at + 1 :])
    (problem,) = problems(folder)
    assert problem.startswith(f"{name}: {start}")


def test_every_problem_in_one_go(folder: Path) -> None:
    put_lines(folder / "sources.jsonl", *SOURCES, SOURCES[1])
    faulty = '{"doc_id": "d2", "author": "gamma", "text": ""}'
    put_lines(folder / "texts.jsonl", *TEXTS, "{", faulty)
    rows = ("s,d1,gpt4,ann,style,5,,", "s,d2,gamma,ann,usefulness,9,,")
    put_lines(folder / "ratings.csv", *RATINGS, *rows)
    # The text of gamma is faulty but there: no line says that its rating lacks it.
    assert [line.split(":")[0] for line in problems(folder)] == [
        "texts.jsonl",
        "texts.jsonl",  # problems of reading come first
        "sources.jsonl",
        "ratings.csv",
        "ratings.csv",
        "ratings.csv",
    ]


def test_a_line_that_cannot_be_read_causes_no_further_complaints(folder: Path) -> None:
    put_lines(folder / "sources.jsonl", SOURCES[0], SOURCES[1][:-1])
    (line,) = problems(folder)
    assert line.startswith("sources.jsonl: line 2: is not valid JSON")
    put_lines(folder / "sources.jsonl", *SOURCES)
    put_lines(folder / "texts.jsonl", *TEXTS[:4], TEXTS[4][:-1], TEXTS[5])
    (line,) = problems(folder)
    assert line.startswith("texts.jsonl: line 5: is not valid JSON")


@pytest.mark.parametrize(("name", "row"), [("texts.jsonl", 2), ("ratings.csv", 3)])
def test_bytes_that_are_not_utf8_are_located(folder: Path, name: str, row: int) -> None:
    lines = (folder / name).read_bytes().split(b"\n")
    before = sum(len(line) + 1 for line in lines[: row - 1])
    lines[row - 1] = lines[row - 1][:20] + b"\xe9" + lines[row - 1][20:]
    (folder / name).write_bytes(b"\n".join(lines))
    where = f"{name}: line {row}: is not UTF-8 (byte {before + 20} of the file is 0xe9); save"
    assert problems(folder)[0].startswith(where)
    # The offset counts the byte order mark, as an editor's would.
    (folder / name).write_bytes(b"\xef\xbb\xbf" + b"\n".join(lines))
    assert f"(byte {before + 23} of the file is 0xe9)" in problems(folder)[0]


def test_nul_bytes_as_they_are(folder: Path) -> None:
    for name in ("texts.jsonl", "ratings.csv"):
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data.replace(b"alpha", b"al\0pha", 1))
    first, second, *_ = problems(folder)
    assert first.startswith(
        "texts.jsonl: line 2: is not valid JSON (invalid control character"
    )
    assert second.startswith(
        "ratings.csv: line 2: 'author' holds a NUL character; remove it"
    )


_EMPTY = "is empty; docs/data-files.md shows how it is written"
CONTENTS: list[tuple[Callable[[bytes], bytes], str]] = [
    (gzip.compress, "is compressed by gzip; unpack it"),
    (
        lambda _: b"PK\x03\x04...",
        "is an Excel or zip file; save its content as text in UTF-8",
    ),
    (lambda _: b"PAR1\x15\x04", "is a Parquet file; save its content as text"),
    (
        lambda b: b.decode().encode("utf-16"),
        "is UTF-16 or UTF-32; save the file as UTF-8",
    ),
    (lambda b: b.decode().encode("utf-16-le"), "is UTF-16, or no text; save the file"),
    (lambda b: bytes(len(b)), "is UTF-16, or no text; save the file as UTF-8"),
    *(
        (lambda _, blank=blank: blank, _EMPTY)
        for blank in (b"", b"\n \n", b"\xef\xbb\xbf")
    ),
]


@pytest.mark.parametrize(("change", "start"), CONTENTS)
@pytest.mark.parametrize("name", ["texts.jsonl", "ratings.csv"])
def test_what_is_no_text_file_is_named_once(
    folder: Path, name: str, change: Callable[[bytes], bytes], start: str
) -> None:
    (folder / name).write_bytes(change((folder / name).read_bytes()))
    (line,) = [line for line in problems(folder) if line.startswith(f"{name}: ")]
    assert line.startswith(f"{name}: {start}")


@pytest.mark.parametrize("name", ["texts.jsonl", "ratings.csv"])
def test_what_is_no_file_is_named_and_never_waited_for(folder: Path, name: str) -> None:
    path = folder / name
    for put, start in (
        (os.mkfifo, "is a pipe or device, not a file; save its content in a file"),
        (os.mkdir, "is a folder, not a file; "),
        (lambda path: path.symlink_to(name), "cannot be read: too many levels"),
        (lambda path: path.symlink_to("nowhere"), f"is not in {folder}; "),
    ):
        path.rmdir() if path.is_dir() else path.unlink()
        put(path)
        assert any(line.startswith(f"{name}: {start}") for line in problems(folder))


def test_folders_without_data(tmp_path: Path) -> None:
    assert [line.split(";")[0] for line in problems(tmp_path)] == [
        f"{name}.jsonl: is not in {tmp_path}" for name in ("sources", "texts")
    ]
    (line,) = problems(tmp_path / "none")
    assert line.startswith(f"{tmp_path / 'none'}: is not a folder; create it")
    with pytest.raises(
        BadInput, match=r"reader 'file' is not known; choose from \['aci_bench', "
    ):
        ingest("file", tmp_path, {})


def test_warnings(folder: Path) -> None:
    """A system that cites too far; files with other names; a text that is not there."""
    beyond = '{"doc_id": "d1", "author": "alpha", "text": "Zanzibar [0, 9]."}'
    put_lines(folder / "texts.jsonl", TEXTS[0], beyond, *TEXTS[2:5])
    put_lines(folder / "segments.jsonl", SEGMENTS[0])
    (folder / "ratings.csv").rename(folder / "rating.csv")
    endings = (".CSV", ".csv.gz", ".parquet", ".tsv", ".xlsx")
    for ending in endings:
        (folder / f"ratings{ending}").touch()
    warnings = list(read(folder).warnings)
    assert [line.split(":")[0] for line in warnings[1:-1]] == [
        "rating.csv",
        *(f"ratings{ending}" for ending in endings),
    ]
    assert [warnings[0], warnings[1], warnings[-1]] == [
        "texts.jsonl: line 2: a citation names a passage that does not exist (doc_id 'd1', author"
        " 'alpha': [9] of 2 passages, counted from 0); it counts as a wrong citation; correct it if"
        " the system did not write it so",
        "rating.csv: is not read; rename it if it is one of ratings.csv, scores.csv,"
        " segments.jsonl, sources.jsonl, texts.jsonl",
        "texts.jsonl: 'beta' has no text for 1 of 2 documents (first: doc_id 'd2'); if it failed on"
        " them, add rows with a status, so that they count",
    ]


def test_messages_are_short(folder: Path) -> None:
    """Long keys are cut; a fault of many lines is one problem; quoted line breaks are counted."""
    put_lines(
        folder / "ratings.csv",
        *RATINGS,
        f"s,d1,{'word ' * 100 + 'end'},ann,usefulness,5,,",
    )
    (line,) = problems(folder)
    assert "end" not in line
    assert len(line) < 200
    rows = ('s,d1,alpha,"an\nn",usefulness,4,,', "s,d1,x,b,usefulness,4,,")
    put_lines(folder / "ratings.csv", HEADER, *rows)
    assert [line[:20] for line in problems(folder)] == [
        f"ratings.csv: line {n}:" for n in (2, 4)
    ]
    names = ",".join(f"c{number}" for number in range(100_000))
    put_lines(folder / "ratings.csv", f"{HEADER},{names}")
    assert any(
        "has 100,008 columns, more than 2,000" in line for line in problems(folder)
    )
    put_lines(folder / "ratings.csv", *RATINGS[1:])
    assert problems(folder)[0].startswith(
        "ratings.csv: line 1: column 7 has no name; name it in"
    )
    texts = [
        {"doc_id": f"d{n}", "author": "alpha", "text": "Word."} for n in range(3, 3_000)
    ]
    put_lines(folder / "texts.jsonl", TEXTS[0], *texts)
    lines = [line for line in problems(folder) if line.startswith("texts.jsonl")]
    assert lines[0].startswith(
        "texts.jsonl: 2997 lines: the document is not in sources.jsonl"
    )
    assert len(lines) <= 3


KEYS = {"sources.jsonl": "doc_id task", "texts.jsonl": "doc_id author part status"}
KEYS |= {"ratings.csv": "study doc_id author rater criterion value"}


@pytest.mark.parametrize(
    ("name", "key"), [(n, k) for n, ks in KEYS.items() for k in ks.split()]
)
def test_a_text_in_the_place_of_a_key_is_in_no_message(
    folder: Path, name: str, key: str
) -> None:
    """In a row, and as the name of the key itself."""
    private = f"{SECRET} has had a cough since the week before last, and no fever"
    first, *others = (folder / name).read_text("utf-8").splitlines()
    if name == "ratings.csv":
        cells = dict(zip(HEADER.split(","), others[0].split(","), strict=True)) | {
            key: private
        }
        quoted = ",".join(f'"{value}"' for value in cells.values())
        variants = [
            [first, quoted, *others[1:]],
            [first.replace(key, f'"{private}"'), *others],
        ]
    else:
        row = json.loads(first)
        row.pop(key, None)
        variants = [
            [{**row, k: v}, *others] for k, v in ((key, private), (private, "v"))
        ]
    for variant in variants:
        put_lines(folder / name, *variant)
        try:
            lines = read(folder).warnings
        except BadInput as error:
            lines = error.problems
        assert SECRET not in "".join(lines)


# ---- docs/data-files.md: its examples are taken from the page, and ingested as they stand

PAGE = (ROOT / "docs/data-files.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def block(language: str, number: int) -> str:
    return [text for name, text in BLOCKS if name == language][number]


@pytest.fixture
def example(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    folder.mkdir()
    for n, name in enumerate(("sources.jsonl", "texts.jsonl", "segments.jsonl")):
        (folder / name).write_text(block("json", n), encoding="utf-8")
    for n, name in enumerate(("ratings.csv", "scores.csv")):
        (folder / name).write_text(block("csv", n), encoding="utf-8")
    return folder


def test_the_example_is_ingested(example: Path) -> None:
    """By this project's params and registry, with the page's entry and its benchmark."""
    project = example.parent / "project"
    (project / "data").mkdir(parents=True)
    (project / "benchmarks/mine").mkdir(parents=True)
    shutil.copy(ROOT / "params.yaml", project)
    entries = yaml.safe_load((ROOT / "data/registry.yaml").read_text(encoding="utf-8"))
    entries["datasets"] |= yaml.safe_load(block("yaml", 0))["datasets"]
    file = project / "data/registry.yaml"
    file.write_text(yaml.safe_dump(entries, sort_keys=False), encoding="utf-8")
    (project / "benchmarks/mine/params.yaml").write_text(
        block("yaml", 1), encoding="utf-8"
    )
    benchmark, registry = load(project).benchmarks["mine"], load_registry(file)
    assert not reader_problems(registry)
    dataset = registry[benchmark.dataset]
    assert dataset.access == "private"
    assert (project / benchmark.raw).resolve() == example
    before = {path.name: path.read_bytes() for path in example.iterdir()}
    tables = ingest(dataset.reader, example, benchmark.criteria)
    assert tables.warnings == ()
    assert [len(table) for table in tables[:4]] == [2, 6, 2, 10]
    assert set(tables.measurements["metric"]) == {"our_recall", "ter"}
    assert set(tables.texts["author"]) == {"reference", "terse", "chatty"}
    assert set(tables.ratings["criterion"]) == set(benchmark.criteria)
    # Read in place: nothing is added, changed or taken away.
    assert {path.name: path.read_bytes() for path in example.iterdir()} == before


def test_the_messages_on_the_page_are_the_real_ones(example: Path) -> None:
    texts = (example / "texts.jsonl").read_text(encoding="utf-8")
    texts = texts.replace('"status": "truncated"', '"text": ""')
    (example / "texts.jsonl").write_text(texts, encoding="utf-8")
    header, first, *_ = (
        (example / "ratings.csv").read_text(encoding="utf-8").splitlines()
    )
    strangers = [f"pilot,visit-1,gpt4,r{n},usefulness,3,text" for n in range(12)]
    put_lines(example / "ratings.csv", header, first, *strangers)
    scale = load(ROOT).benchmarks["sample"].criteria["usefulness"]
    lines = reading.problems("files", example, {"usefulness": scale})
    assert block("", 0).splitlines() == lines


@pytest.mark.parametrize("reader", ["note", "impression", "question", "abstract"])
def test_the_doclens_example_is_ingested(tmp_path: Path, reader: str) -> None:
    (tmp_path / "terse.json").write_text(block("json", 3), encoding="utf-8")
    assert f"doclens_{reader}" in PAGE
    tables = ingest(f"doclens_{reader}", tmp_path, {})
    assert tables.warnings == ()
    assert tables.sources["passages"].map(len).tolist() == [3]
    assert set(tables.texts["author"]) == {"reference", "terse"}


def test_sheets_of_raters_are_ingested(tmp_path: Path) -> None:
    page = (ROOT / "docs/datasets.md").read_text(encoding="utf-8")
    section = page.partition("\n## Grades of several raters")[2].partition("\n## ")[0]
    sheet, written = re.findall(r"^```\w+\n(.*?)^```$", section, re.M | re.S)
    for rater in ("ann", "ben"):
        (tmp_path / f"{rater}.csv").write_text(sheet, encoding="utf-8")
    scales = yaml.safe_load(written)["criteria"]
    criteria = {name: Criterion.model_validate(scale) for name, scale in scales.items()}
    ratings = ingest("simsum", tmp_path, criteria).ratings
    assert (len(ratings), ratings["value"].isna().sum()) == (2 * 2 * 6, 2)
