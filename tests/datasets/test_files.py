"""The reader of anybody's own data: good input, and every kind of bad input with its message."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from metassay.core.errors import BadInput
from metassay.core.options import Criterion
from metassay.datasets.ingest import Tables, ingest
from metassay.metrics.describe import RELEASED
from metassay.scoring.catalogue import check_given
from metassay.scoring.rubrics.ask import rubric_descriptions
from metassay.tables.criteria import dataset_criteria, rubric_criteria

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
OF_A_FACET = "s,d1,alpha,ann,usefulness,2,text,finding"
SECRET = "Zanzibar"  # stands in document text; no message may show it


def put(folder: Path, name: str, lines: list[str]) -> None:
    (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    put(tmp_path, "sources.jsonl", SOURCES)
    put(tmp_path, "texts.jsonl", TEXTS)
    put(tmp_path, "ratings.csv", RATINGS)
    put(tmp_path, "segments.jsonl", SEGMENTS)
    return tmp_path


def read(folder: Path) -> Tables:
    return ingest("files", folder, CRITERIA)


def problems(folder: Path) -> list[str]:
    before = {path: path.read_bytes() for path in folder.iterdir()} if folder.is_dir() else {}
    with pytest.raises(BadInput) as caught:
        read(folder)
    if before:
        assert {path: path.read_bytes() for path in folder.iterdir()} == before
    for problem in caught.value.problems:
        assert SECRET not in problem
        assert "; " in problem, f"no remedy in: {problem}"
    return list(caught.value.problems)


def test_good_data(folder: Path) -> None:
    sources, texts, segments, ratings, measurements, _, warnings = read(folder)
    assert measurements.empty
    assert warnings == ()
    first = sources.iloc[0]
    assert first["passages"] == ["Any cough?", "None."]
    assert first["speaker"] == ["doctor", ""]
    assert first["group"] == ["", ""]
    assert first["attributes"] == '{"a":"é","b":1}'
    assert sources.iloc[1]["group"] == ["f"]
    assert texts.iloc[1]["text"] == "No cough [1].\r\nSecond line."  # verbatim
    assert texts.iloc[3]["status"] == "refused"
    assert texts["text"].isna().tolist() == [False, False, False, True, False, False]
    assert set(texts["recipe"]) == {"given|reader:files"}
    assert segments.to_numpy().tolist() == [
        ["d1", "reference", "finding", "No cough."],
        ["d1", "alpha", "finding", "no cough"],  # as the data have it
    ]
    assert ratings["part"].tolist() == ["full", "full", "plan", "full", "full"]
    assert ratings["unit"].tolist() == ["text", "text", "text", "versus:beta", "claim:0"]
    assert ratings["value"].isna().tolist() == [False, True, False, False, False]


SCORES = [
    "doc_id,author,metric,value,better,part",
    "d1,alpha,ter,0.5,lower,",
    "d1,beta,ter,,lower,",
    "d1,alpha,own,2,,",
    "d2,beta,own,-1,,full",
]


def test_scores_of_their_own_metrics_come_along(folder: Path) -> None:
    put(folder, "scores.csv", SCORES)
    found = read(folder)
    scores = found.measurements
    assert scores[["doc_id", "author", "part", "metric"]].to_numpy().tolist() == [
        ["d1", "alpha", "full", "ter"],
        ["d1", "beta", "full", "ter"],
        ["d1", "alpha", "full", "own"],
        ["d2", "beta", "full", "own"],
    ]
    assert scores["value"].isna().tolist() == [False, True, False, False]
    assert set(scores["judge"]) == {"none"}
    assert set(scores["recipe"]) == {"ter|given|reader:files", "own|given|reader:files"}
    known = rubric_descriptions(found.criteria)
    assert {name: one.better for name, one in known.items()} == {"ter": "lower", "own": "higher"}
    assert known["own"].range == (-1.0, None)
    assert known["ter"].family == RELEASED
    assert rubric_criteria(found.criteria).empty


def test_what_is_wrong_with_scores(folder: Path) -> None:
    put(
        folder,
        "scores.csv",
        [
            *SCORES,
            "d1,alpha,ter,1,lower,",
            "d2,alpha,ter,1,higher,",
            "d1,gamma,ter,much,lower,",
            "d1,beta,my metric,1,,",
            "d1,beta,own,1,upwards,",
        ],
    )
    said = problems(folder)
    assert len(said) == 6
    for start in (
        "scores.csv: line 7: 'ter' is better in two directions (other than line 2); write the same",
        "scores.csv: line 8: 'value' is not a finite number; write a number, or nothing where the",
        "scores.csv: line 9: 'metric'",
        "scores.csv: line 10: 'better' is wrong: input should be 'higher', 'lower' or 'neither'",
        "scores.csv: line 6: the key (doc_id, author, part, metric) is there twice",
        "scores.csv: line 8: a score is of a text that is not in texts.jsonl",
    ):
        assert any(line.startswith(start) for line in said), (start, said)


def test_a_metric_may_not_be_called_as_one_of_ours() -> None:
    values = ("higher", [1.0])
    table = dataset_criteria({name: values for name in ("bleu", "ter", "xsum_rouge1")})
    with pytest.raises(BadInput) as caught:
        check_given(table)
    (said,) = caught.value.problems
    assert said.startswith("scores.csv: metric 'bleu' is one of Metassay's own; rename it")


def test_a_document_may_be_without_its_source(folder: Path) -> None:
    put(folder, "sources.jsonl", ['{"doc_id": "d1", "task": "other", "passages": []}', SOURCES[1]])
    put(folder, "texts.jsonl", [line.replace(" [1]", "") for line in TEXTS])
    assert read(folder).sources["passages"].map(len).tolist() == [0, 1]


def test_a_rating_may_be_of_a_facet_that_comes_with_the_data(folder: Path) -> None:
    put(folder, "ratings.csv", [*RATINGS, OF_A_FACET])
    assert "finding" in set(read(folder).ratings["part"])
    (folder / "segments.jsonl").unlink()
    with pytest.raises(BadInput, match="part 'finding' is not among the text's parts"):
        read(folder)


def test_ratings_and_segments_are_optional(folder: Path) -> None:
    (folder / "ratings.csv").unlink()
    (folder / "segments.jsonl").unlink()
    found = read(folder)
    assert (len(found.ratings), len(found.segments)) == (0, 0)


def test_byte_order_mark_crlf_and_blank_lines_change_nothing(folder: Path) -> None:
    plain = read(folder)
    for path in folder.iterdir():
        text = path.read_text(encoding="utf-8").replace("\n", "\r\n")
        path.write_bytes(b"\xef\xbb\xbf" + text.encode() + b"\r\n")
    marked = read(folder)
    for before, after in zip(plain[:4], marked[:4], strict=True):
        assert before.equals(after)


def test_a_table_of_them_can_be_written(folder: Path, tmp_path: Path) -> None:
    from metassay.tables import parquet
    from metassay.tables.documents import SOURCES as SOURCES_TABLE
    from metassay.tables.documents import TEXTS as TEXTS_TABLE
    from metassay.tables.parts import SEGMENTS as SEGMENTS_TABLE
    from metassay.tables.ratings import RATINGS as RATINGS_TABLE

    ingested = read(folder)
    for table, frame in (
        (SOURCES_TABLE, ingested.sources),
        (TEXTS_TABLE, ingested.texts),
        (SEGMENTS_TABLE, ingested.segments),
        (RATINGS_TABLE, ingested.ratings),
    ):
        path = tmp_path / "tables" / f"{table.name}.parquet"
        parquet.write(table, frame, path)
        assert len(parquet.read(table, path)) == len(frame)


# Lines (++ between two) that stand in the place of another one, or at the end, and what is said.
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
line 7: is not strict JSON (key 'doc_id' is there twice); correct it
{"author": "alpha", "text": "Zanzibar"}
line 7: 'doc_id' is missing; add it
{"doc_id": "d1", "author": "alpha", "part": "full", "text": "Zanzibar"}
line 7: the key (doc_id, author, part) is there twice (same as line 2: doc_id 'd1', author 'alpha'
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
line 7: the key (study, doc_id, author, part, unit, rater, criterion) is there twice (same as line
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
line 3: the key (doc_id, author, part) is there twice (same as line 2: doc_id 'd1', author 'alpha'
{"doc_id": "d1", "author": "alpha", "part": "aim", "text": " \n"}
line 3: 'text' is empty; write it, or remove the line if the text lacks
{"doc_id": "d1", "author": "alpha", "text": "Zanzibar"}
line 3: 'part' is missing; add it
"""


def bad() -> Iterator[tuple[str, str, str, str]]:
    for block in CASES.strip().split("## ")[1:]:
        head, *lines = block.splitlines()
        name, place = head.split()
        yield from ((name, place, *case) for case in zip(lines[::2], lines[1::2], strict=True))
    yield "sources.jsonl", "end", SOURCES[0], "line 3: the key (doc_id) is there twice (same as li"
    yield "ratings.csv", "0", HEADER.replace("part", "unit"), "line 1: column 'unit' is there twice"
    for value in ("inf", "-Infinity", "1e999", "1_0", "4;0", "٤"):
        said = "line 7: 'value' is not a finite number; write a number, or nothing"
        yield "ratings.csv", "end", f"s,d1,alpha,cat,usefulness,{value},,", said


@pytest.mark.parametrize(("name", "place", "line", "said"), list(bad()))
def test_bad_input_names_file_row_and_remedy(
    folder: Path, name: str, place: str, line: str, said: str
) -> None:
    lines = (folder / name).read_text(encoding="utf-8").splitlines()
    at = len(lines) if place == "end" else int(place)
    put(folder, name, [*lines[:at], *line.split(" ++ "), *lines[at + 1 :]])
    (found,) = problems(folder)
    assert found.startswith(f"{name}: {said}")


def test_a_header_that_is_not_there_or_names_too_much(folder: Path) -> None:
    put(folder, "ratings.csv", RATINGS[1:])
    assert problems(folder)[0].startswith("ratings.csv: line 1: column 7 has no name; name it in")
    put(folder, "ratings.csv", [f"{line},comment" for line in RATINGS])
    assert problems(folder)[0].startswith("ratings.csv: line 1: 1 column(s) are unknown (column 9)")


def test_every_problem_in_one_go(folder: Path) -> None:
    put(folder, "sources.jsonl", [*SOURCES, SOURCES[1]])
    put(folder, "texts.jsonl", [*TEXTS, "{", '{"doc_id": "d2", "author": "gamma", "text": ""}'])
    put(
        folder,
        "ratings.csv",
        [*RATINGS, "s,d1,gpt4,ann,style,5,,", "s,d2,gamma,ann,usefulness,9,,"],
    )
    found = problems(folder)
    # The text of gamma is faulty but there: its rating is not said to lack it.
    assert [problem.split(":")[0] for problem in found] == [
        *("texts.jsonl", "texts.jsonl"),  # what reading found comes first
        *("sources.jsonl", "ratings.csv", "ratings.csv", "ratings.csv"),
    ]


def test_a_line_that_cannot_be_read_causes_no_further_complaints(folder: Path) -> None:
    put(folder, "sources.jsonl", [SOURCES[0], SOURCES[1][:-1]])
    found = problems(folder)
    assert len(found) == 1
    assert found[0].startswith("sources.jsonl: line 2: is not valid JSON")
    put(folder, "sources.jsonl", SOURCES)
    put(folder, "texts.jsonl", [*TEXTS[:4], TEXTS[4][:-1], TEXTS[5]])
    found = problems(folder)
    assert len(found) == 1
    assert found[0].startswith("texts.jsonl: line 5: is not valid JSON")


@pytest.mark.parametrize(("name", "line"), [("texts.jsonl", 2), ("ratings.csv", 3)])
def test_bytes_that_are_not_utf8_are_located(folder: Path, name: str, line: int) -> None:
    lines = (folder / name).read_bytes().split(b"\n")
    before = sum(len(row) + 1 for row in lines[: line - 1])
    lines[line - 1] = lines[line - 1][:20] + b"\xe9" + lines[line - 1][20:]
    (folder / name).write_bytes(b"\n".join(lines))
    where = f"{name}: line {line}: is not UTF-8 (byte {before + 20} of the file is 0xe9); save"
    assert problems(folder)[0].startswith(where)
    # The offset counts the byte order mark, as an editor's would.
    (folder / name).write_bytes(b"\xef\xbb\xbf" + b"\n".join(lines))
    assert f"(byte {before + 23} of the file is 0xe9)" in problems(folder)[0]


def test_nul_bytes_as_they_are(folder: Path) -> None:
    for name in ("texts.jsonl", "ratings.csv"):
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data.replace(b"alpha", b"al\0pha", 1))
    found = problems(folder)
    assert found[0].startswith("texts.jsonl: line 2: is not valid JSON (invalid control character")
    assert found[1].startswith("ratings.csv: line 2: 'author' holds a NUL character; remove it")


@pytest.mark.parametrize("name", ["sources.jsonl", "texts.jsonl", "ratings.csv", "segments.jsonl"])
@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xef\xbb\xbf"])
def test_empty_file(folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)
    found = problems(folder)
    assert found == [f"{name}: is empty; docs/own-data.md shows how it is written"]


def test_empty_folder_and_none(tmp_path: Path) -> None:
    found = problems(tmp_path)
    assert [problem.split(";")[0] for problem in found] == [
        f"sources.jsonl: is not in {tmp_path}",
        f"texts.jsonl: is not in {tmp_path}",
    ]
    assert problems(tmp_path / "none")[0].startswith(
        f"{tmp_path / 'none'}: is not a folder; create it"
    )


def test_a_folder_in_place_of_a_file(folder: Path) -> None:
    (folder / "texts.jsonl").unlink()
    (folder / "texts.jsonl").mkdir()
    with pytest.raises(BadInput, match=r"texts\.jsonl: is a folder, not a file"):
        read(folder)


def test_system_that_cites_too_far_is_a_warning(folder: Path) -> None:
    lines = [
        TEXTS[0],
        '{"doc_id": "d1", "author": "alpha", "text": "Zanzibar [0, 9]."}',
        *TEXTS[2:],
    ]
    put(folder, "texts.jsonl", lines)
    (warning,) = read(folder).warnings
    assert warning == (
        "texts.jsonl: line 2: a citation names a passage that does not exist (doc_id 'd1', author"
        " 'alpha': [9] of 2 passages, counted from 0); it counts as a wrong citation; correct it if"
        " the system did not write it so"
    )


def test_misspelt_file_and_absent_text_are_warnings(folder: Path) -> None:
    put(folder, "texts.jsonl", TEXTS[:5])
    (folder / "ratings.csv").rename(folder / "rating.csv")
    put(folder, "segments.jsonl", SEGMENTS[:1])
    assert list(read(folder).warnings) == [
        "rating.csv: is not read; rename it if it is one of ratings.csv, scores.csv,"
        " segments.jsonl, sources.jsonl, texts.jsonl",
        "texts.jsonl: 'beta' has no text for 1 of 2 documents (first: doc_id 'd2'); if it failed on"
        " them, add rows with a status, so that they count",
    ]


def test_long_keys_are_cut_in_messages(folder: Path) -> None:
    whole = "word " * 100 + "end"
    put(folder, "ratings.csv", [*RATINGS, f"s,d1,{whole},ann,usefulness,5,,"])
    (problem,) = problems(folder)
    assert "end" not in problem
    assert len(problem) < 200


def test_fields_with_line_breaks_keep_line_numbers_right(folder: Path) -> None:
    put(
        folder,
        "ratings.csv",
        [HEADER, 's,d1,alpha,"an\nn",usefulness,4,,', "s,d1,x,b,usefulness,4,,"],
    )
    assert [problem[:20] for problem in problems(folder)] == [
        "ratings.csv: line 2:",
        "ratings.csv: line 4:",
    ]


def test_one_fault_in_many_lines_is_one_problem(folder: Path) -> None:
    rows = [
        json.dumps({"doc_id": f"d{n}", "author": "alpha", "text": "Word."}) for n in range(3_000)
    ]
    put(folder, "texts.jsonl", [*TEXTS[:1], *rows[3:]])
    found = problems(folder)
    # Grouped by kind: 2,997 texts without a source are one line.
    assert found[0].startswith("texts.jsonl: 2997 lines: the document is not in sources.jsonl")
    assert len(found) <= 5
