"""Which questions the measures ask, and of what."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.scoring.pairing import pairs as pairs_module
from metassay.scoring.pairing.measures import MEASURES
from metassay.scoring.pairing.pairs import build_pairs, pair_id
from metassay.scoring.pairing.questions import Questions
from metassay.tables import parquet
from metassay.tables.pairs import PAIRS

DOCLENS = ("claim_recall", "claim_precision", "citation_recall", "citation_precision")
ALL = (*DOCLENS, "faithfulness")
FULL = Questions(measures=ALL, against="full", borrow=False)
PART = Questions(measures=ALL, against="part", borrow=False)
BORROW = Questions(measures=ALL, against="full", borrow=True)


def sources(*passages: str, doc_id: str = "d") -> pd.DataFrame:
    source = {"doc_id": doc_id, "passages": list(passages), "task": "note", "dataset": "visits"}
    return pd.DataFrame([source])


def parts(texts: dict[str, dict[str, str | None]], doc_id: str = "d") -> pd.DataFrame:
    """author -> part -> text; None: failed."""
    rows = [
        (doc_id, author, part, text, "ok" if text is not None else "refused")
        for author, by_part in texts.items()
        for part, text in by_part.items()
    ]
    frame = pd.DataFrame(rows, columns=["doc_id", "author", "part", "text", "status"])
    return frame.assign(repeats=[["visits", f"shown_to_{row[1]}"] for row in rows])


def units(*rows: tuple[str, str, str, int, str, list[int]], doc_id: str = "d") -> pd.DataFrame:
    """author, part, kind, position, text, citations."""
    names = ["author", "part", "kind", "position", "text", "citations"]
    frame = pd.DataFrame(list(rows), columns=names)
    return frame.assign(doc_id=doc_id, status="ok", start=None, end=None)


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
    return build_pairs(source, part, unit, {"top": alignments(unit, aligned or [])}, options)


def asked(pairs: pd.DataFrame, measure: str) -> list[tuple[Any, ...]]:
    """(author, position, citation, premise or why not, hypothesis) of a measure."""
    rows = pairs[pairs["measure"] == measure]
    said = rows["premise"].astype(object).where(rows["settled"].isna(), rows["settled"])
    columns = (rows[name] for name in ("author", "position", "citation"))
    return list(zip(*columns, said, rows["hypothesis"], strict=True))


NOTE: dict[str, dict[str, str | None]] = {
    "reference": {"full": "ref note"},
    "sys": {"full": "sys note"},
    "lost": {"full": None},
}


def test_claims_of_the_reference_are_put_to_every_system_and_back() -> None:
    unit = units(
        ("reference", "full", "claim", 0, "ref claim", []),
        ("reference", "full", "claim", 1, "second", []),
        ("sys", "full", "claim", 0, "sys claim", []),
    )
    pairs = build(sources("p"), parts(NOTE), unit)
    assert asked(pairs, "claim_recall") == [
        ("lost", 0, -1, "no_text", "ref claim"),
        ("lost", 1, -1, "no_text", "second"),
        ("sys", 0, -1, "sys note", "ref claim"),
        ("sys", 1, -1, "sys note", "second"),
    ]
    assert asked(pairs, "claim_precision") == [("sys", 0, -1, "ref note", "sys claim")]
    assert set(pairs["instrument"]) == {"entailment"}


def test_without_reference_there_are_no_claim_questions() -> None:
    unit = units(("sys", "full", "claim", 0, "sys claim", []))
    pairs = build(sources("p"), parts({"sys": {"full": "sys note"}}), unit)
    assert pairs.empty
    assert list(pairs.columns) == list(PAIRS.columns)


def test_without_source_nothing_is_asked_that_reads_it() -> None:
    unit = units(
        ("reference", "full", "claim", 0, "ref claim", []),
        ("sys", "full", "statement", 0, "said [0].", [0]),
    )
    written = parts({name: NOTE[name] for name in ("reference", "sys")})
    assert set(build(sources(), written, unit)["measure"]) == {"claim_recall"}
    assert "faithfulness" in set(build(sources("p"), written, unit)["measure"])


def test_a_failed_reference_leaves_precision_unknown() -> None:
    unit = units(("sys", "full", "claim", 0, "sys claim", []))
    pairs = build(sources("p"), parts({"reference": {"full": None}, "sys": {"full": "s"}}), unit)
    assert asked(pairs, "claim_precision") == [("sys", 0, -1, "no_text", "sys claim")]


def test_unknown_claims_are_one_failed_question_in_both_directions() -> None:
    unit = units(
        ("reference", "full", "claim", 0, "ref claim", []),
        ("sys", "full", "claim", 0, "", []),
    )
    unit.loc[1, ["text", "status"]] = [None, "refused"]
    note: dict[str, dict[str, str | None]] = {
        "reference": {"full": "ref note"},
        "sys": {"full": "sys note"},
    }
    pairs = build(sources("p"), parts(note), unit)
    assert asked(pairs, "claim_precision") == [("sys", 0, -1, "no_claims", "")]
    assert asked(pairs, "claim_recall") == [("sys", 0, -1, "sys note", "ref claim")]
    unit["author"] = ["sys", "reference"]
    pairs = build(sources("p"), parts(note), unit)
    assert asked(pairs, "claim_recall") == [("sys", 0, -1, "no_claims", "")]


def test_against_part() -> None:
    texts: dict[str, dict[str, str | None]] = {
        "reference": {"full": "ref note", "plan": "ref plan", "subjective": "ref subj"},
        "lost": {"full": None},
        "other": {"full": "other note", "plan": "other plan"},
        "plain": {"full": "plain note"},
    }
    unit = units(
        ("reference", "plan", "claim", 0, "p", []),
        ("reference", "subjective", "claim", 0, "s", []),
        ("other", "plan", "claim", 0, "o", []),
        ("plain", "full", "claim", 0, "n", []),
    )
    pairs = build(sources("p"), parts(texts), unit, PART)
    recall = {(r[0], r[4]): r[3] for r in asked(pairs, "claim_recall")}
    assert recall == {
        ("other", "p"): "other plan",
        ("other", "s"): "no_evidence",  # it has sections, but not this one
        ("plain", "p"): "plain note",  # it has none: the whole text
        ("plain", "s"): "plain note",
        ("lost", "p"): "no_text",
        ("lost", "s"): "no_text",
    }
    precision = {(r[0], r[4]): r[3] for r in asked(pairs, "claim_precision")}
    assert precision == {("other", "o"): "ref plan", ("plain", "n"): "ref note"}
    whole = {r[3] for r in asked(build(sources("p"), parts(texts), unit), "claim_precision")}
    assert whole == {"ref note"}


def cited(*citations: list[int], options: Questions = FULL) -> pd.DataFrame:
    """Statements s0, s1, ... with these citations of passages a, b, c."""
    rows = [("sys", "full", "statement", i, f"s{i}", c) for i, c in enumerate(citations)]
    return build(sources("a", "b", "c"), parts({"sys": {"full": "t"}}), units(*rows), options)


def test_three_citations() -> None:
    pairs = cited([2, 0, 1])
    assert asked(pairs, "citation_recall") == [("sys", 0, -1, "c\na\nb", "s0")]
    assert asked(pairs, "citation_alone") == [
        ("sys", 0, 2, "c", "s0"),
        ("sys", 0, 0, "a", "s0"),
        ("sys", 0, 1, "b", "s0"),
    ]
    assert asked(pairs, "citation_rest") == [
        ("sys", 0, 2, "a\nb", "s0"),
        ("sys", 0, 0, "c\nb", "s0"),
        ("sys", 0, 1, "c\na", "s0"),
    ]
    of = pairs.groupby("measure")
    assert {name: set(rows["instrument"]) for name, rows in of if name != "faithfulness"} == {
        "citation_recall": {"attribution"},
        "citation_alone": {"attribution_alone"},
        "citation_rest": {"attribution_rest"},
    }
    contexts = {name: set(rows["context"].astype(object).dropna()) for name, rows in of}
    whole = {"c\na\nb"}
    assert contexts == {
        **{"citation_recall": set(), "faithfulness": set()},
        **{"citation_alone": whole, "citation_rest": whole},
    }


def test_a_citation_belongs_to_its_statement() -> None:
    # The same passage beside another one is another question: with it, other answers matter.
    pairs = cited([0, 1], [0, 2])
    pairs = pairs[pairs["measure"] == "citation_alone"].assign(hypothesis="the same")
    assert pairs["pair_id"].is_unique
    (alone,) = {row.pair_id for row in pairs.itertuples() if row.citation == 2}
    assert alone == pair_id("attribution_alone", "c", "s1", "a\nc")


def test_one_citation_is_one_question() -> None:
    pairs = cited([1])
    assert set(pairs.loc[pairs["measure"] != "faithfulness", "instrument"]) == {"attribution"}
    assert pairs["context"].isna().all()
    of = pairs.set_index("measure")["pair_id"]
    assert of["citation_alone"] == of["citation_recall"]
    assert asked(pairs, "citation_rest") == []


def test_questions_say_whose_examples_they_may_repeat() -> None:
    unit = units(
        ("reference", "full", "claim", 0, "ref claim", []),
        ("sys", "full", "claim", 0, "sys claim", []),
        ("sys", "full", "statement", 0, "said", [0]),
    )
    asked = build(sources("p"), parts(NOTE), unit, aligned=[0])
    assert dict(zip(asked["measure"] + " " + asked["author"], asked["repeats"], strict=True)) == {
        "claim_recall sys": "shown_to_reference shown_to_sys visits",
        "claim_recall lost": "shown_to_lost shown_to_reference visits",
        "claim_precision sys": "shown_to_reference shown_to_sys visits",
        "citation_recall sys": "shown_to_sys visits",
        "citation_alone sys": "shown_to_sys visits",
        "faithfulness sys": "shown_to_sys visits",
    }


def test_no_citation_is_no_evidence() -> None:
    pairs = cited([], [0])
    assert asked(pairs, "citation_recall") == [
        ("sys", 0, -1, "no_evidence", "s0"),
        ("sys", 1, -1, "a", "s1"),
    ]
    assert asked(pairs, "citation_alone") == [("sys", 1, 0, "a", "s1")]


def test_borrowing_from_the_next_cited_statement() -> None:
    pairs = cited([], [], [1, 2], [], options=BORROW)
    assert asked(pairs, "citation_recall") == [
        ("sys", 0, -1, "b\nc", "s0"),
        ("sys", 1, -1, "b\nc", "s1"),
        ("sys", 2, -1, "b\nc", "s2"),
        ("sys", 3, -1, "no_evidence", "s3"),
    ]
    assert len(asked(pairs, "citation_alone")) == 6


def test_borrowing_stays_within_the_part() -> None:
    unit = units(
        ("sys", "plan", "statement", 0, "p0", []),
        ("sys", "subjective", "statement", 0, "s0", []),
        ("sys", "subjective", "statement", 1, "s1", [0]),
    )
    text = parts({"sys": {"full": "t", "plan": "p", "subjective": "s"}})
    recall = asked(build(sources("a"), text, unit, BORROW), "citation_recall")
    assert [(r[3], r[4]) for r in recall] == [("no_evidence", "p0"), ("a", "s0"), ("a", "s1")]


@pytest.mark.parametrize("wrong", [3, 99, -1])
def test_a_citation_of_no_passage_is_wrong_and_the_others_count(wrong: int) -> None:
    pairs = cited([0, wrong, 1])
    assert asked(pairs, "citation_recall") == [("sys", 0, -1, "a\nb", "s0")]
    assert asked(pairs, "citation_alone") == [
        ("sys", 0, 0, "a", "s0"),
        ("sys", 0, wrong, "no_evidence", "s0"),
        ("sys", 0, 1, "b", "s0"),
    ]
    assert asked(pairs, "citation_rest") == [("sys", 0, 0, "b", "s0"), ("sys", 0, 1, "a", "s0")]


def test_only_citations_of_no_passage() -> None:
    pairs = cited([7])
    assert asked(pairs, "citation_recall") == [("sys", 0, -1, "no_evidence", "s0")]
    assert asked(pairs, "citation_alone") == [("sys", 0, 7, "no_evidence", "s0")]
    assert asked(pairs, "citation_rest") == []


def test_a_blank_passage_is_no_evidence() -> None:
    unit = units(("sys", "full", "statement", 0, "s0", [0, 1]))
    pairs = build(sources("a", " "), parts({"sys": {"full": "t"}}), unit)
    assert asked(pairs, "citation_alone") == [
        ("sys", 0, 0, "a", "s0"),
        ("sys", 0, 1, "no_evidence", "s0"),
    ]
    assert asked(pairs, "citation_rest") == []


def test_faithfulness_reads_the_aligned_passages_in_source_order() -> None:
    unit = units(
        ("sys", "full", "statement", 0, "s0", []), ("reference", "full", "statement", 0, "r0", [])
    )
    text = parts({"sys": {"full": "t"}, "reference": {"full": "r"}})
    pairs = build(sources("a", "b", "c"), text, unit, aligned=[2, 0])
    assert asked(pairs, "faithfulness") == [
        ("reference", 0, -1, "a\nc", "r0"),
        ("sys", 0, -1, "a\nc", "s0"),
    ]
    nothing = build(sources("a", "b", "c"), text, unit)
    assert {row[3] for row in asked(nothing, "faithfulness")} == {"no_evidence"}


@settings(deadline=None)
@given(st.text(), st.text(), st.text())
def test_pair_id_is_the_hash_of_the_canonical_json(a: str, b: str, c: str) -> None:
    whole = json.dumps([a, b, c], ensure_ascii=False, separators=(",", ":"))
    assert pair_id(a, b, c) == hashlib.sha256(whole.encode()).hexdigest()[:32]
    whole = json.dumps([a, b, c, a], ensure_ascii=False, separators=(",", ":"))
    assert pair_id(a, b, c, a) == hashlib.sha256(whole.encode()).hexdigest()[:32]


def test_pair_id_depends_on_each_part_of_the_question() -> None:
    questions: list[tuple[Any, ...]] = [
        ("x", "a", "b", "c"),
        ("x", "a", "b", ""),
        ("x", "a", "b"),
        ("y", "a", "b"),
        ("x", "ab", ""),
        ("x", None, "b"),
        ("x", "", "b"),
    ]
    assert len({pair_id(*question) for question in questions}) == len(questions)


def test_equal_texts_are_held_once_and_the_table_is_valid(tmp_path: Path) -> None:
    unit = units(*[("reference", "full", "claim", i, f"claim {i}", []) for i in range(50)])
    pairs = build(sources("p"), parts(NOTE), unit)
    assert list(pairs["premise"].cat.categories) == ["sys note"]
    assert len(pairs["hypothesis"].cat.categories) == 50
    assert list(pairs["context"].cat.categories) == []
    assert list(pairs["repeats"].cat.categories) == [
        *("shown_to_lost shown_to_reference visits", "shown_to_reference shown_to_sys visits")
    ]
    parquet.write(PAIRS, pairs, tmp_path / "pairs.parquet")
    again = parquet.read(PAIRS, tmp_path / "pairs.parquet")
    assert len(again) == len(pairs) == 100
    assert (again["premise"].isna() == again["settled"].notna()).all()


def test_row_order_changes_nothing(tmp_path: Path) -> None:
    unit = units(
        ("reference", "full", "claim", 0, "c0", []),
        ("reference", "full", "claim", 1, "c1", []),
        ("sys", "full", "statement", 0, "s0", []),
        ("sys", "full", "statement", 1, "s1", [1, 0]),
    )
    straight = build(sources("a", "b"), parts(NOTE), unit, BORROW, [1])
    turned = build(sources("a", "b"), parts(NOTE).iloc[::-1], unit.iloc[::-1], BORROW, [1])
    pd.testing.assert_frame_equal(straight, turned)


def test_of_several_alignments_the_first_is_read_or_those_that_are_named() -> None:
    unit = units(("sys", "full", "statement", 0, "s", []))
    each = {
        "top": alignments(unit, [0]),
        "gain": alignments(unit, [1, 0]),
        "none": alignments(unit, []),
    }
    text = parts({"sys": {"full": "t"}})

    def asked(*names: str, **more: object) -> dict[str, str]:
        options = Questions(measures=("faithfulness",), against="full", borrow=False, **more)
        made = build_pairs(
            sources("a", "b"), text, unit, {name: each[name] for name in names}, options
        )
        premises = made["premise"].astype(object).fillna("nothing")
        return dict(zip(made["measure"], premises, strict=True))

    assert asked("gain") == {"faithfulness": "a\nb"}
    assert asked("gain", "top") == {"faithfulness@gain": "a\nb"}
    assert asked("gain", "top", alignments=["top"]) == {"faithfulness@top": "a"}
    assert asked("gain", "top", "none", alignments="all") == {
        "faithfulness@gain": "a\nb",
        "faithfulness@top": "a",
        "faithfulness@none": "nothing",
    }


@pytest.mark.parametrize(
    ("measures", "asked"),
    [
        (["claim_recall"], {"claim_recall"}),
        (["claim_precision"], {"claim_precision"}),
        (["citation_recall"], {"citation_recall"}),
        (["citation_precision"], {"citation_recall", "citation_alone", "citation_rest"}),
        (["citation_recall", "faithfulness"], {"citation_recall", "faithfulness"}),
        (["claim_recall_grade"], {"claim_recall_grade"}),
        ([], set()),
    ],
)
def test_only_what_is_to_be_measured_is_asked(measures: list[str], asked: set[str]) -> None:
    options = Questions(measures=tuple(measures), against="full", borrow=False)
    texts: dict[str, dict[str, str | None]] = {"reference": {"full": "r"}, "sys": {"full": "t"}}
    rows = [("sys", "full", kind, 0, kind, [0, 1]) for kind in ("claim", "statement")]
    rows.append(("reference", "full", "claim", 0, "c", []))
    found = build(sources("a", "b"), parts(texts), units(*rows), options)
    assert set(found["measure"]) == asked


def test_a_question_that_two_measures_share_is_there_once() -> None:
    pairs = cited([0, 1])
    assert len(asked(pairs, "citation_recall")) == 1
    alone = cited([0, 1], options=FULL.model_copy(update={"measures": ("citation_precision",)}))
    assert asked(alone, "citation_recall") == asked(pairs, "citation_recall")


def test_grades_are_asked_of_the_claims_of_the_reference() -> None:
    options = Questions(measures=("claim_recall_grade",), against="full", borrow=False)
    unit = units(("reference", "full", "claim", 0, "ref claim", []))
    pairs = build(sources("p"), parts(NOTE), unit, options)
    assert asked(pairs, "claim_recall_grade") == [
        ("lost", 0, -1, "no_text", "ref claim"),
        ("sys", 0, -1, "sys note", "ref claim"),
    ]
    assert set(pairs["instrument"]) == {"support_grade"}


def test_documents_beyond_one_chunk_keep_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs_module, "_DOCUMENTS", 2)
    names = [f"d{n}" for n in range(5)]
    tables_of = [
        (sources(f"passage {name}", doc_id=name), parts({"sys": {"full": "t"}}, name),
         units(("sys", "full", "statement", 0, f"said in {name}", [0]), doc_id=name))
        for name in names
    ]  # fmt: skip
    source, part, unit = (pd.concat(some) for some in zip(*tables_of, strict=True))
    pairs = build(source.iloc[::-1], part, unit)
    together = pairs[pairs["measure"] == "citation_recall"].set_index("doc_id")
    assert together["premise"].astype(str).to_dict() == {n: f"passage {n}" for n in names}
    assert together["hypothesis"].to_dict() == {n: f"said in {n}" for n in names}


def test_every_question_is_known_by_one_name() -> None:
    names: dict[str, object] = {}
    for measure in MEASURES.values():
        for question in measure.questions:
            assert names.setdefault(question.name, question) is question
