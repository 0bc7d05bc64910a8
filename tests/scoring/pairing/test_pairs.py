"""Which questions the measures ask, and of what; citations are in test_citation_cases.py."""

import hashlib
import json
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.scoring.pairing import pairs as pairs_module
from metassay.scoring.pairing.measures import MEASURES
from metassay.scoring.pairing.pairs import build_pairs, pair_id
from metassay.scoring.pairing.questions import Questions
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import round_trip

DOCLENS = ("claim_recall", "claim_precision", "citation_recall", "citation_precision")
ALL = (*DOCLENS, "faithfulness")
FULL = Questions(measures=ALL, against="full", borrow=False)
PART = Questions(measures=ALL, against="part", borrow=False)
BORROW = Questions(measures=ALL, against="full", borrow=True)


def sources(*passages: str, doc_id: str = "d") -> pd.DataFrame:
    source = {
        "doc_id": doc_id,
        "passages": list(passages),
        "task": "note",
        "dataset": "visits",
    }
    return pd.DataFrame([source])


def parts(texts: dict[str, str | None], doc_id: str = "d") -> pd.DataFrame:
    """`author` or `author part` -> text; None: failed."""
    rows = [(*(name + " full").split()[:2], text) for name, text in texts.items()]
    frame = pd.DataFrame(rows, columns=["author", "part", "text"]).assign(doc_id=doc_id)
    status = frame["text"].isna().map({True: "refused", False: "ok"})
    return frame.assign(
        status=status, repeats=[["visits", f"shown_to_{row[0]}"] for row in rows]
    )


def units(*rows: tuple[Any, ...], doc_id: str = "d") -> pd.DataFrame:
    """author, part, kind, position, text, citations (none if left out); a text None: refused."""
    names = ["author", "part", "kind", "position", "text", "citations"]
    frame = pd.DataFrame([(*row, [])[:6] for row in rows], columns=names, dtype=object)
    status = frame["text"].isna().map({True: "refused", False: "ok"})
    return frame.assign(doc_id=doc_id, status=status, start=None, end=None)


def alignments(units: pd.DataFrame, places: list[int]) -> pd.DataFrame:
    """Every statement aligned with the same places."""
    rows = units[units["kind"] == "statement"].copy()
    return rows.assign(method="top", passages=[places] * len(rows))


def build(
    source: pd.DataFrame,
    part: pd.DataFrame,
    unit: pd.DataFrame,
    options: Questions = FULL,
    aligned: list[int] | None = None,
) -> pd.DataFrame:
    return build_pairs(
        source, part, unit, {"top": alignments(unit, aligned or [])}, options
    )


def asks(pairs: pd.DataFrame, measure: str) -> list[tuple[Any, ...]]:
    """(author, position, citation, premise or why not, hypothesis) of a measure."""
    rows = pairs[pairs["measure"] == measure]
    premise = (
        rows["premise"].astype(object).where(rows["settled"].isna(), rows["settled"])
    )
    columns = (rows[name] for name in ("author", "position", "citation"))
    return list(zip(*columns, premise, rows["hypothesis"], strict=True))


NOTE = {"reference": "ref note", "sys": "sys note", "lost": None}
REF, SYS = (
    ("reference", "full", "claim", 0, "ref claim"),
    ("sys", "full", "claim", 0, "sys claim"),
)


def test_claims_of_the_reference_are_put_to_every_system_and_back() -> None:
    unit = units(REF, ("reference", "full", "claim", 1, "second"), SYS)
    pairs = build(sources("p"), parts(NOTE), unit)
    recall = [
        ("lost", 0, -1, "no_text", "ref claim"),
        ("lost", 1, -1, "no_text", "second"),
        ("sys", 0, -1, "sys note", "ref claim"),
        ("sys", 1, -1, "sys note", "second"),
    ]
    assert asks(pairs, "claim_recall") == recall
    assert asks(pairs, "claim_precision") == [("sys", 0, -1, "ref note", "sys claim")]
    assert set(pairs["instrument"]) == {"entailment"}
    grades = Questions(measures=("claim_recall_grade",), against="full", borrow=False)
    pairs = build(sources("p"), parts(NOTE), unit, grades)
    assert asks(pairs, "claim_recall_grade") == recall
    assert set(pairs["instrument"]) == {"support_grade"}


def test_without_reference_or_source_nothing_is_asked_that_reads_it() -> None:
    pairs = build(sources("p"), parts({"sys": "sys note"}), units(SYS))
    assert pairs.empty
    assert list(pairs.columns) == list(PAIRS.columns)
    unit = units(REF, ("sys", "full", "statement", 0, "said [0].", [0]))
    written = parts({"reference": "ref note", "sys": "sys note"})
    assert set(build(sources(), written, unit)["measure"]) == {"claim_recall"}
    assert "faithfulness" in set(build(sources("p"), written, unit)["measure"])
    # A failed reference leaves precision unknown.
    pairs = build(sources("p"), parts({"reference": None, "sys": "s"}), units(SYS))
    assert asks(pairs, "claim_precision") == [("sys", 0, -1, "no_text", "sys claim")]


def test_unknown_claims_are_one_failed_question_in_both_directions() -> None:
    note = parts({"reference": "ref note", "sys": "sys note"})
    pairs = build(sources("p"), note, units(REF, ("sys", "full", "claim", 0, None)))
    assert asks(pairs, "claim_precision") == [("sys", 0, -1, "no_claims", "")]
    assert asks(pairs, "claim_recall") == [("sys", 0, -1, "sys note", "ref claim")]
    pairs = build(
        sources("p"), note, units(SYS, ("reference", "full", "claim", 0, None))
    )
    assert asks(pairs, "claim_recall") == [("sys", 0, -1, "no_claims", "")]


def test_against_part() -> None:
    texts = {
        "reference": "ref note",
        "reference plan": "ref plan",
        "reference subjective": "subj",
        "lost": None,
        "other": "other note",
        "other plan": "other plan",
        "plain": "plain note",
    }
    unit = units(
        ("reference", "plan", "claim", 0, "p"),
        ("reference", "subjective", "claim", 0, "s"),
        ("other", "plan", "claim", 0, "o"),
        ("plain", "full", "claim", 0, "n"),
    )
    pairs = build(sources("p"), parts(texts), unit, PART)
    assert {(r[0], r[4]): r[3] for r in asks(pairs, "claim_recall")} == {
        ("other", "p"): "other plan",
        ("other", "s"): "no_evidence",  # it has sections, but not this one
        ("plain", "p"): "plain note",  # it has none: the whole text
        ("plain", "s"): "plain note",
        ("lost", "p"): "no_text",
        ("lost", "s"): "no_text",
    }
    precision = {(r[0], r[4]): r[3] for r in asks(pairs, "claim_precision")}
    assert precision == {("other", "o"): "ref plan", ("plain", "n"): "ref note"}
    whole = asks(build(sources("p"), parts(texts), unit), "claim_precision")
    assert {row[3] for row in whole} == {"ref note"}


def cited(
    *citations: list[int], passages: str = "abc", options: Questions = FULL
) -> pd.DataFrame:
    """Statements s0, s1, ... with these citations of passages a, b, c."""
    rows = [
        ("sys", "full", "statement", i, f"s{i}", c) for i, c in enumerate(citations)
    ]
    return build(sources(*passages), parts({"sys": "t"}), units(*rows), options)


def test_three_citations() -> None:
    pairs = cited([2, 0, 1])
    assert asks(pairs, "citation_recall") == [("sys", 0, -1, "c\na\nb", "s0")]
    for measure, premises in (
        ("citation_alone", ["c", "a", "b"]),
        ("citation_rest", ["a\nb", "c\nb", "c\na"]),
    ):
        places = zip([2, 0, 1], premises, strict=True)
        assert asks(pairs, measure) == [("sys", 0, n, text, "s0") for n, text in places]
    of = pairs.groupby("measure")
    whole = {"c\na\nb"}
    assert {
        name: (set(rows["instrument"]), set(rows["context"].astype(object).dropna()))
        for name, rows in of
    } == {
        "citation_recall": ({"attribution"}, set()),
        "citation_alone": ({"attribution_alone"}, whole),
        "citation_rest": ({"attribution_rest"}, whole),
        "faithfulness": ({"entailment"}, set()),
    }
    # A question that two measures share is there once.
    alone = cited(
        [2, 0, 1], options=FULL.model_copy(update={"measures": ("citation_precision",)})
    )
    assert asks(alone, "citation_recall") == asks(pairs, "citation_recall")


def test_a_citation_belongs_to_its_statement() -> None:
    # The same passage beside another one is another question: with it, other answers
    # matter.
    pairs = cited([0, 1], [0, 2])
    pairs = pairs[pairs["measure"] == "citation_alone"].assign(hypothesis="the same")
    assert pairs["pair_id"].is_unique
    (alone,) = {row.pair_id for row in pairs.itertuples() if row.citation == 2}
    assert alone == pair_id("attribution_alone", "c", "s1", "a\nc")
    # A single citation is one question.
    pairs = cited([1])
    assert set(pairs.loc[pairs["measure"] != "faithfulness", "instrument"]) == {
        "attribution"
    }
    assert pairs["context"].isna().all()
    of = pairs.set_index("measure")["pair_id"]
    assert of["citation_alone"] == of["citation_recall"]
    assert asks(pairs, "citation_rest") == []


@pytest.mark.parametrize("wrong", [3, 99, -1, 2])
def test_a_citation_of_no_passage_is_wrong_and_the_others_count(wrong: int) -> None:
    """Passage 2 is blank."""
    pairs = cited([0, wrong, 1], passages="ab ")
    assert asks(pairs, "citation_recall") == [("sys", 0, -1, "a\nb", "s0")]
    alone = [(0, "a"), (wrong, "no_evidence"), (1, "b")]
    assert asks(pairs, "citation_alone") == [
        ("sys", 0, n, why, "s0") for n, why in alone
    ]
    assert asks(pairs, "citation_rest") == [
        ("sys", 0, 0, "b", "s0"),
        ("sys", 0, 1, "a", "s0"),
    ]


def test_borrowing_stays_within_the_part() -> None:
    unit = units(
        ("sys", "plan", "statement", 0, "p0"),
        ("sys", "subjective", "statement", 0, "s0"),
        ("sys", "subjective", "statement", 1, "s1", [0]),
    )
    text = parts({"sys": "t", "sys plan": "p", "sys subjective": "s"})
    recall = asks(build(sources("a"), text, unit, BORROW), "citation_recall")
    assert [(r[3], r[4]) for r in recall] == [
        ("no_evidence", "p0"),
        ("a", "s0"),
        ("a", "s1"),
    ]


def test_questions_say_whose_examples_they_may_repeat() -> None:
    unit = units(REF, SYS, ("sys", "full", "statement", 0, "said", [0]))
    pairs = build(sources("p"), parts(NOTE), unit, aligned=[0])
    assert dict(
        zip(pairs["measure"] + " " + pairs["author"], pairs["repeats"], strict=True)
    ) == {
        "claim_recall sys": "shown_to_reference shown_to_sys visits",
        "claim_recall lost": "shown_to_lost shown_to_reference visits",
        "claim_precision sys": "shown_to_reference shown_to_sys visits",
        "citation_recall sys": "shown_to_sys visits",
        "citation_alone sys": "shown_to_sys visits",
        "faithfulness sys": "shown_to_sys visits",
    }


def test_faithfulness_reads_the_aligned_passages_in_source_order() -> None:
    unit = units(
        ("sys", "full", "statement", 0, "s0"),
        ("reference", "full", "statement", 0, "r0"),
    )
    text = parts({"sys": "t", "reference": "r"})
    for aligned, premise in (([2, 0], "a\nc"), ([], "no_evidence")):
        assert asks(
            build(sources(*"abc"), text, unit, aligned=aligned), "faithfulness"
        ) == [
            ("reference", 0, -1, premise, "r0"),
            ("sys", 0, -1, premise, "s0"),
        ]


def test_of_several_alignments_the_first_is_read_or_those_that_are_named() -> None:
    unit = units(("sys", "full", "statement", 0, "s"))
    each = {
        name: alignments(unit, its)
        for name, its in (("top", [0]), ("gain", [1, 0]), ("no", []))
    }

    def premises(*names: str, **more: Any) -> dict[str, str]:
        options = Questions(
            measures=("faithfulness",), against="full", borrow=False, **more
        )
        read = {name: each[name] for name in names}
        pairs = build_pairs(sources("a", "b"), parts({"sys": "t"}), unit, read, options)
        return dict(
            zip(
                pairs["measure"],
                pairs["premise"].astype(object).fillna("-"),
                strict=True,
            )
        )

    assert premises("gain") == {"faithfulness": "a\nb"}
    assert premises("gain", "top") == {"faithfulness@gain": "a\nb"}
    assert premises("gain", "top", alignments=["top"]) == {"faithfulness@top": "a"}
    every = {
        "faithfulness@gain": "a\nb",
        "faithfulness@top": "a",
        "faithfulness@no": "-",
    }
    assert premises("gain", "top", "no", alignments="all") == every


@settings(deadline=None)
@given(st.text(), st.text(), st.text())
def test_pair_id_is_the_hash_of_the_canonical_json(a: str, b: str, c: str) -> None:
    for question in ((a, b, c), (a, b, c, a), (a, None, c)):
        whole = json.dumps(question, ensure_ascii=False, separators=(",", ":"))
        assert pair_id(*question) == hashlib.sha256(whole.encode()).hexdigest()[:32]


def test_equal_texts_are_stored_once_and_the_table_is_valid() -> None:
    unit = units(*[("reference", "full", "claim", i, f"claim {i}") for i in range(50)])
    pairs = build(sources("p"), parts(NOTE), unit)
    shared = {
        name: list(pairs[name].cat.categories)
        for name in ("premise", "context", "repeats")
    }
    shown = [
        f"shown_to_{both} visits"
        for both in ("lost shown_to_reference", "reference shown_to_sys")
    ]
    assert shared == {"premise": ["sys note"], "context": [], "repeats": shown}
    assert len(pairs["hypothesis"].cat.categories) == 50
    again = round_trip(PAIRS, pairs)
    assert len(again) == len(pairs) == 100
    assert (again["premise"].isna() == again["settled"].notna()).all()


def test_row_order_changes_nothing() -> None:
    unit = units(
        REF,
        ("reference", "full", "claim", 1, "c1"),
        ("sys", "full", "statement", 0, "s0"),
        ("sys", "full", "statement", 1, "s1", [1, 0]),
    )
    straight = build(sources("a", "b"), parts(NOTE), unit, BORROW, [1])
    turned = build(
        sources("a", "b"), parts(NOTE).iloc[::-1], unit.iloc[::-1], BORROW, [1]
    )
    pd.testing.assert_frame_equal(straight, turned)


@pytest.mark.parametrize(
    ("measures", "names"),
    [
        *[([name], {name}) for name in (*DOCLENS[:3], "claim_recall_grade")],
        (
            ["citation_precision"],
            {"citation_recall", "citation_alone", "citation_rest"},
        ),
        (["citation_recall", "faithfulness"], {"citation_recall", "faithfulness"}),
        ([], set()),
    ],
)
def test_only_what_is_to_be_measured_is_asked(
    measures: list[str], names: set[str]
) -> None:
    options = Questions(measures=tuple(measures), against="full", borrow=False)
    rows = [("sys", "full", kind, 0, kind, [0, 1]) for kind in ("claim", "statement")]
    texts = parts({"reference": "r", "sys": "t"})
    assert (
        set(build(sources("a", "b"), texts, units(*rows, REF), options)["measure"])
        == names
    )


def test_documents_beyond_one_chunk_are_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs_module, "_DOCUMENTS", 2)
    names = [f"d{n}" for n in range(5)]
    source, part, unit = (
        pd.concat(tables)
        for tables in (
            [sources(f"passage {name}", doc_id=name) for name in names],
            [parts({"sys": "t"}, name) for name in names],
            [
                units(("sys", "full", "statement", 0, f"in {n}", [0]), doc_id=n)
                for n in names
            ],
        )
    )
    pairs = build(source.iloc[::-1], part, unit)
    together = pairs[pairs["measure"] == "citation_recall"].set_index("doc_id")
    assert together["premise"].astype(str).to_dict() == {
        n: f"passage {n}" for n in names
    }
    assert together["hypothesis"].to_dict() == {n: f"in {n}" for n in names}


def test_every_question_is_known_by_one_name() -> None:
    names: dict[str, object] = {}
    for measure in MEASURES.values():
        for question in measure.questions:
            assert names.setdefault(question.name, question) is question
