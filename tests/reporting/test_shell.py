"""What is written for the page reads back as it was, in files of at most 2 MB."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from metassay.reporting.contract import Document, Head, Passage, Text
from metassay.reporting.shell import PageFolder, Shards, encode
from tests.reporting import page_data

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    'quote " and \\ and \u2028 and \u2029',
    "__proto__",
    "😀 👩‍⚕️ é",
    "a lone \ud800 surrogate",
]


def read(content: bytes) -> object:
    return json.loads(content.decode())


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_survive(text: str) -> None:
    assert read(encode({"text": [text]})) == {"text": [text]}


def test_what_nobody_sees_or_turns_what_follows_round_is_made_visible() -> None:
    assert read(encode("NUL \0, is \u202eeurt\u202c")) == "NUL \u2400, is \\u202eeurt\\u202c"


def test_reals_keep_every_digit_and_what_is_no_number_is_null() -> None:
    values = [0.1 + 0.2, 1e-300, -0.0, 5e-324, math.nan, math.inf, 3, True, None]
    assert read(encode(values)) == [*values[:4], None, None, 3, True, None]


def test_shards_one_after_the_other_are_the_table_and_none_is_large(tmp_path) -> None:
    rng = np.random.default_rng(0)
    n = 30_000
    frame = pd.DataFrame(
        {
            "metric": pd.Series(rng.choice(["bleu", *HOSTILE[:4]], n), dtype="str"),
            # Long ones first, and of more bytes than letters: sizes are counted, not guessed.
            "text": pd.Series([f"text {k} " + "é" * (300 if k < n / 5 else 1) for k in range(n)]),
            "value": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "n": pd.array([None if k % 7 == 0 else k for k in range(n)], dtype="Int64"),
            "trusted": rng.random(n) < 0.5,
        }
    )
    page = PageFolder(tmp_path)
    shown = {"title": "", "group": "", "says": [], "csv": "", "command": ""}
    info = page.put_evidence("large", frame, means={"n": "a number"}, **shown)
    page.finish(Head("benchmark", "x", "", "", tables=[info]))
    sizes = [file.stat().st_size for file in (tmp_path / "page/data").rglob("*.js")]
    assert sum(sizes) > 3_000_000
    assert max(sizes) < 2_000_000
    again = page_data.table(tmp_path, "large")
    assert again["value"].equals(frame["value"])
    for name in ("metric", "text", "trusted"):
        assert again[name].tolist() == frame[name].tolist()
    assert again["n"].astype("Int64").equals(frame["n"])
    columns = page_data.head(tmp_path)["tables"][0]["columns"]
    types = ["text", "text", "number", "integer", "boolean"]
    assert [column["type"] for column in columns] == types
    assert columns[3]["means"] == "a number"


def test_documents_are_written_one_by_one_into_shards(tmp_path) -> None:
    def document(number: int) -> Document:
        text = Text("a", [], f"{number} " + "word " * 60_000)
        return Document(f"d{number}", "note", [], [Passage("", "", HOSTILE[0])], [text])

    shards = Shards(PageFolder(tmp_path), "documents", "documents")
    places = [shards.add(document(number)) for number in range(10)]
    assert shards.finish() == [f"documents/{place}" for place in range(4)]
    assert places == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3]
    files = sorted((tmp_path / "page/data/documents").iterdir())
    assert max(file.stat().st_size for file in files) < 2_000_000
    ids = [
        one["id"]
        for place in range(4)
        for one in page_data.value(tmp_path, f"documents/{place}")["documents"]
    ]
    assert ids == [f"d{number}" for number in range(10)]


def test_a_document_larger_than_a_file_may_be_is_whole_again(tmp_path) -> None:
    hostile = '\\"é😀\ud800' * 120_000
    text = Text("a", [], hostile)
    page = PageFolder(tmp_path)
    document = Document("d", "note", [], [Passage("", "", "p")], [text, text])
    shards = Shards(page, "documents", "documents")
    places = [shards.add(document) for _ in range(2)]
    shards.finish()
    page.finish(Head("benchmark", "x", "", ""))
    assert max(file.stat().st_size for file in tmp_path.rglob("*.js")) < 2_000_000
    for place in places:
        (again,) = page_data.value(tmp_path, f"documents/{place}")["documents"]
        assert [of["text"] for of in again["texts"]] == [hostile, hostile]


def test_the_shell_names_no_text_but_its_title_and_loads_nothing_from_elsewhere(tmp_path) -> None:
    PageFolder(tmp_path).finish(Head("benchmark", HOSTILE[0], "", ""))
    shell = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "<script>alert" not in shell
    assert "default-src 'none'" in shell
    assert "unsafe" not in shell
    assert "http" not in shell.replace("http-equiv", "")
    for file in ("app.js", "app.css"):
        assert f'"page/{file}"' in shell
        assert (tmp_path / "page" / file).is_file()
