"""JSON of any size, read piece by piece: the same as read whole, and memory stays as it is."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from metassay.imports import records as reading
from metassay.imports.records import parts, records
from metassay.tabular.rows import Findings

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


def leaves(
    value: Any, steps: tuple[str, ...] = ()
) -> list[tuple[tuple[str, ...], Any]]:
    if value in ([], {}):
        return [(steps, None)]
    if isinstance(value, dict):
        return [leaf for name, v in value.items() for leaf in leaves(v, (*steps, name))]
    if isinstance(value, list):
        return [leaf for v in value for leaf in leaves(v, steps)]
    return [(steps, value)]


@given(
    value=VALUES,
    piece=st.integers(1, 9),
    ascii_=st.booleans(),
    indent=st.none() | st.just(1),
)
@example(value=[1.5, -0.25, 1e22, True, '\\"]'], piece=1, ascii_=True, indent=None)
@example(value={"a": 12345, "b": []}, piece=3, ascii_=True, indent=1)
def test_pieces_are_read_as_the_whole_is(
    tmp_path_factory, value, piece, ascii_, indent
) -> None:
    path = tmp_path_factory.mktemp("json") / "one.json"
    content = json.dumps(value, ensure_ascii=ascii_, indent=indent)
    path.write_bytes(content.encode("utf-8", "replace"))
    whole = json.loads(path.read_text("utf-8"))
    problems = Findings()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "_PIECE", piece)
        every = [(p.steps, p.value) for p in parts(path, lambda _: False, problems)]
        at_top = [
            p.value for p in parts(path, lambda s: not s, problems) if p.is_element
        ]
    assert not problems
    assert every == leaves(whole)
    assert at_top == (whole if isinstance(whole, list) else [])


CUT = [('{"a": [1, 2', 12), ("1x", 2), ("  [1, 22x", 9), ('{"a" 1}', 6), ("[1 2]", 4)]
CUT += [('{"a": tru}', 7), ('["x', 2), ("{,}", 2), ("[1,]", 4)]


@pytest.mark.parametrize(("cut", "at"), CUT)
@pytest.mark.parametrize("piece", [1, 4, 99])
def test_what_is_no_json_is_a_problem(tmp_path, monkeypatch, cut, at, piece) -> None:
    monkeypatch.setattr(reading, "_PIECE", piece)
    path = tmp_path / "one.json"
    path.write_text(cut, encoding="utf-8")
    problems = Findings()
    list(parts(path, lambda _: False, problems))
    (line,) = problems.lines()
    assert line.startswith("one.json: is not valid JSON (")
    assert f", character {at})" in line


def test_lines_that_are_no_objects_are_a_single_problem(tmp_path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\n\n[1]\n{"a": \n{"a": NaN}\n\xff\n2\n')
    problems = Findings()
    assert [at.row for at, _ in records(path, problems)] == [1, 5]
    assert problems.lines() == [
        "one.jsonl: 2 lines: is not an object with named values (first: line 3);"
        " write it again, or correct it",
        "one.jsonl: line 4: is not valid JSON (expecting value); write it again, or correct it",
        "one.jsonl: line 6: is not UTF-8; write it again, or correct it",
    ]


# ---- memory

TEXT = "word " * 60
WRITERS = {
    "lm-eval": (
        "m/samples_t.jsonl",
        lambda n: {
            "doc_id": n,
            "metrics": ["acc"],
            "acc": n % 2,
            "resps": [[TEXT]],
            "target": "4",
        },
        ("", "\n", "\n"),
    ),
    "promptfoo": (
        "r.json",
        lambda n: {
            "testIdx": n,
            "promptIdx": 0,
            "provider": "m",
            "response": {"output": TEXT},
            "success": True,
            "score": 1.0,
            "gradingResult": {"componentResults": []},
        },
        ('{"evalId": "e", "results": {"results": [', ",", "]}}"),
    ),
    "langfuse": (
        "s.json",
        lambda n: {
            "traceId": str(n),
            "name": "ok",
            "value": n % 2,
            "dataType": "NUMERIC",
            "source": "EVAL",
            "comment": TEXT,
        },
        ('{"data": [', ",", "]}"),
    ),
}
PEAK = """
import resource, sys
from metassay.cli.main import main
code = main(sys.argv[1:])
print(code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def peak(folder: Path, kind: str, count: int) -> int:
    """Import so many records in a process of its own: its greatest memory in MB."""
    name, record, (before, between, after) = WRITERS[kind]
    path = folder / str(count) / name
    path.parent.mkdir(parents=True)
    with path.open("w", encoding="utf-8") as file:
        file.write(before)
        for n in range(count):
            file.write((between if n else "") + json.dumps(record(n)))
        file.write(after)
    out = str(folder / f"out{count}")
    command = [sys.executable, "-c", PEAK, "import", kind, str(path), "--out", out]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    *lines, last = done.stdout.splitlines()
    assert lines[0].startswith(f"{count:,} records, 1 scorer")
    code, megabytes = map(int, last.split())
    assert code == 0
    return megabytes


@pytest.mark.slow
@pytest.mark.parametrize("kind", WRITERS)
def test_memory_does_not_grow_with_the_records(tmp_path, kind) -> None:
    few, many = peak(tmp_path, kind, 1_000), peak(tmp_path, kind, 30_000)
    # the file has 12 MB, and as Python's objects several times that
    assert many - few < 9
