"""Facets: counted by hand, marked in texts, named where they are absent, made up or unknown."""

import pandas as pd
import pytest

from metassay.format.frames import records, rows
from metassay.reporting import facets
from metassay.reporting.contract import Mark
from metassay.reporting.report import write_report
from metassay.statistics.document_means import Resampling
from tests.reporting import page_data
from tests.reporting.invented_report import DOC, EVIL, SCRIPT

HOW = Resampling(resamples=50, confidence=0.95, seed=1)
FACETS = ("background", "method", "result")
TEXT = "Pain hurts. We gave a drug and it helped."


def part(doc_id, author, name, spans, text=TEXT, *, status="ok", made_up=()):
    return {
        "doc_id": doc_id,
        "author": author,
        "part": name,
        "status": status,
        "text": None
        if status != "ok"
        else " ".join(text[start:end] for start, end in spans),
        "starts": [start for start, _ in spans],
        "ends": [end for _, end in spans],
        "leaf": "no" if name == "full" else "yes",
        "made_up": [*made_up],
        "repeats": ["invented"],
    }


def whole(doc_id, author, text=TEXT):
    return part(doc_id, author, "full", [(0, len(text))], text)


# The reference has all; EVIL lacks two, of which one is made up; plain's answer failed.
PARTS = pd.DataFrame(
    [
        whole(DOC, "reference"),
        part(DOC, "reference", "background", [(0, 11)]),
        part(DOC, "reference", "method", [(12, 26)]),
        part(DOC, "reference", "result", [(22, 30)]),
        whole(DOC, EVIL),
        part(DOC, EVIL, "background", [(0, 11)]),
        part(DOC, EVIL, "result", [], made_up=[f"It cured all. {SCRIPT}"]),
        whole(DOC, "plain"),
        *(part(DOC, "plain", name, [], status="refused") for name in FACETS),
        part("doc-2", EVIL, "full", [], status="truncated"),
    ]
)


def test_counts_and_shares_by_hand():
    table = facets.facets_table(PARTS, FACETS, HOW)
    columns = (
        "n_present",
        "n_absent",
        "n_wholly_made_up",
        "n_unknown",
        "n_segments",
        "n_made_up",
    )
    counts = {
        (a, f): values for a, f, *values in rows(table, "author", "facet", *columns)
    }
    assert counts["reference", "method"] == [1, 0, 0, 0, 1, 0]
    assert counts[EVIL, "background"] == [1, 0, 0, 1, 1, 0]
    assert counts[EVIL, "method"] == [0, 1, 0, 1, 0, 0]
    assert counts[EVIL, "result"] == [0, 1, 1, 1, 1, 1]
    assert counts["plain", "background"] == [0, 0, 0, 1, 0, 0]
    columns = ("author", "facet", "share", "n_shares")
    shares = {(a, f): values for a, f, *values in rows(table, *columns)}
    # Of 9 words: Pain hurts. | We gave a | drug (in two, half in each) | and | it
    # helped.
    assert shares["reference", "background"] == [2 / 9, 1]
    assert shares["reference", "method"] == [3.5 / 9, 1]
    assert shares["reference", "result"] == [1.5 / 9, 1]
    assert shares["reference", facets.NO_FACET] == [pytest.approx(2 / 9), 1]
    assert shares["plain", facets.NO_FACET] == [None, 0]
    of_evil = [share for (author, _), (share, _) in shares.items() if author == EVIL]
    assert of_evil == [2 / 9, 0, 0, pytest.approx(7 / 9)]


def test_interval_is_over_documents_and_one_document_has_none():
    half = "one two"
    parts = [
        row
        for doc_id, end in (("d1", 7), ("d2", 3))
        for row in (whole(doc_id, "a", half), part(doc_id, "a", "x", [(0, end)], half))
    ]
    table = facets.facets_table(pd.DataFrame(parts), ["x"], HOW)
    assert list(table["share"]) == [0.75, 0.25]
    # both times the second document, or the first
    assert list(table["low"]) == [0.5, 0.0]
    assert list(table["high"]) == [1.0, 0.5]
    assert facets.facets_table(pd.DataFrame(parts[:2]), ["x"], HOW)["low"].isna().all()


def test_facets_are_those_declared_and_sections_those_that_any_text_has():
    assert facets.facet_names(PARTS, ("result", "cause")) == [
        "result",
        "cause",
        "background",
        "method",
    ]
    assert facets.facet_names(PARTS[PARTS["part"] == "full"], ()) == []


def test_a_facet_whose_place_is_not_known_has_no_share():
    parts = pd.DataFrame(
        [whole("d", "a"), part("d", "a", "x", []) | {"text": "Pain hurts."}]
    )
    table = facets.facets_table(parts, ["x"], HOW)
    assert list(table["n_present"]) == [1, 0]
    assert table["share"].isna().all()


def test_marks_never_overlap_and_what_is_absent_made_up_or_unknown_is_said():
    texts = facets.divide_texts(PARTS, FACETS)
    assert facets.marks_of(texts[DOC, "reference"], FACETS) == [
        Mark(0, 11, "background"),
        Mark(12, 22, "method"),
        Mark(22, 26, "method"),
        Mark(26, 30, "result"),
    ]
    assert facets.marks_of(texts["doc-2", EVIL], FACETS) == []
    assert facets.what_lacks(texts[DOC, "reference"], FACETS) == ""
    assert facets.what_lacks(texts[DOC, EVIL], FACETS) == (
        f"Absent: method, result. Returned, but not in the text: result: “It cured all. {SCRIPT}”."
    )
    unknown = ", ".join(f"{name} (refused)" for name in FACETS)
    assert facets.what_lacks(texts[DOC, "plain"], FACETS) == f"Unknown: {unknown}."
    assert facets.what_lacks(texts["doc-2", EVIL], FACETS) == ""


@pytest.mark.usefixtures("no_figures")
def test_the_page_of_a_benchmark_with_facets_has_the_numbers_of_the_file(
    make_report, written, tmp_path
):
    write_report(make_report(parts=PARTS, facets=FACETS), tmp_path / "out")
    table = pd.read_csv(tmp_path / "out/facets.csv")
    assert page_data.table(tmp_path / "out", "facets")["share"].equals(table["share"])
    assert "facets" not in {
        table["name"] for table in page_data.head(written)["tables"]
    }
    assert not (written / "facets.csv").exists()


def test_a_text_without_sections_lacks_none():
    every = [whole(doc_id, author) for doc_id in ("d1", "d2") for author in "ab"]
    parts = pd.DataFrame([*every, part("d1", "a", "plan", [(0, 11)])])
    table = facets.facets_table(parts, (), HOW)
    by_key = {(row["author"], row["facet"]): row for row in records(table)}
    counts = (
        "n_texts",
        "n_present",
        "n_absent",
        "n_unknown",
        "n_undivided",
        "n_shares",
    )
    assert [by_key["a", "plan"][name] for name in counts] == [2, 1, 0, 0, 1, 1]
    assert [by_key["b", "plan"][name] for name in counts] == [2, 0, 0, 0, 2, 0]
    assert facets.what_lacks(facets.divide_texts(parts, ())["d2", "a"], ["plan"]) == ""
