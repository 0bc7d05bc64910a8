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


def test_hostile_texts_and_every_digit_survive_and_what_nobody_sees_is_made_visible() -> (
    None
):
    reals = [0.1 + 0.2, 1e-300, -0.0, 5e-324, math.nan, math.inf, 3, True, None]
    again = json.loads(encode({"texts": HOSTILE, "reals": reals}).decode())
    assert again == {"texts": HOSTILE, "reals": [*reals[:4], None, None, 3, True, None]}
    hidden = json.loads(encode("NUL \0, is \u202eeurt\u202c").decode())
    assert hidden == "NUL \u2400, is \\u202eeurt\\u202c"


def largest(folder) -> int:
    return max(file.stat().st_size for file in folder.rglob("*.js"))


def test_shards_one_after_the_other_are_the_table_and_none_is_large(tmp_path) -> None:
    rng, n = np.random.default_rng(0), 30_000
    frame = pd.DataFrame(
        {
            "metric": pd.Series(rng.choice(["bleu", *HOSTILE[:4]], n), dtype="str"),
            # Long ones first, and of more bytes than letters: sizes are counted, not
            # guessed.
            "text": pd.Series(
                [f"text {k} " + "é" * (300 if k < n / 5 else 1) for k in range(n)]
            ),
            "value": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "n": pd.array([None if k % 7 == 0 else k for k in range(n)], dtype="Int64"),
            "trusted": rng.random(n) < 0.5,
        }
    )
    page = PageFolder(tmp_path)
    shown = {"title": "", "group": "", "says": [], "csv": "", "command": ""}
    info = page.put_evidence("large", frame, means={"n": "a number"}, **shown)
    page.finish(Head("benchmark", "x", "", "", tables=[info]))
    data = tmp_path / "page/data"
    assert sum(file.stat().st_size for file in data.rglob("*.js")) > 3_000_000
    assert largest(data) < 2_000_000
    again = page_data.table(tmp_path, "large").astype({"n": "Int64"})
    pd.testing.assert_frame_equal(again, frame, check_dtype=False, check_exact=True)
    columns = page_data.head(tmp_path)["tables"][0]["columns"]
    types = ["text", "text", "number", "integer", "boolean"]
    assert [column["type"] for column in columns] == types
    assert columns[3]["means"] == "a number"


def test_documents_are_written_one_by_one_into_shards(tmp_path) -> None:
    shards = Shards(PageFolder(tmp_path), "documents", "documents")
    text = Text("a", [], "word " * 60_000)
    places = [shards.add(Document(f"d{n}", "note", [], [], [text])) for n in range(10)]
    assert shards.finish() == [f"documents/{place}" for place in range(4)]
    assert places == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3]
    assert largest(tmp_path) < 2_000_000
    values = [page_data.value(tmp_path, f"documents/{place}") for place in range(4)]
    ids = [document["id"] for value in values for document in value["documents"]]
    assert ids == [f"d{n}" for n in range(10)]


def test_a_document_larger_than_a_file_may_be_is_whole_again(tmp_path) -> None:
    hostile = '\\"é😀\ud800' * 120_000
    text = Text("a", [], hostile)
    document = Document("d", "note", [], [Passage("", "", "p")], [text, text])
    shards = Shards(PageFolder(tmp_path), "documents", "documents")
    places = [shards.add(document) for _ in range(2)]
    shards.finish()
    assert largest(tmp_path) < 2_000_000
    for place in places:
        (again,) = page_data.value(tmp_path, f"documents/{place}")["documents"]
        assert [of["text"] for of in again["texts"]] == [hostile, hostile]


@pytest.mark.parametrize("file", ["app.js", "app.css"])
def test_the_shell_names_no_text_but_its_title_and_loads_nothing_from_elsewhere(
    tmp_path, file
) -> None:
    PageFolder(tmp_path).finish(Head("benchmark", HOSTILE[0], "", ""))
    shell = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "<script>alert" not in shell
    assert "default-src 'none'" in shell
    assert "unsafe" not in shell
    assert "http" not in shell.replace("http-equiv", "")
    assert f'"page/{file}"' in shell
    assert (tmp_path / "page" / file).is_file()
