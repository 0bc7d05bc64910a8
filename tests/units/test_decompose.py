"""Statements and claims by rule: spans, citations, each rule by example, and no word is lost."""

from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metassay.core.errors import BadInput
from metassay.core.kinds import choose
from metassay.llm.needs import Resources
from metassay.tables.documents import SOURCES
from metassay.tables.parquet import empty, round_trip
from metassay.tables.parts import PARTS
from metassay.tables.units import UNITS
from metassay.text.tokens import content_tokens
from metassay.units import DECOMPOSITIONS
from metassay.units.clauses import clauses
from metassay.units.statements import Statement, statements


def decompose(
    *rows: tuple[str, str, str, str | None, str], task: str = "note", doc_id: str = "d"
) -> pd.DataFrame:
    """Units of (author, part, leaf, text, status)."""
    frame = pd.DataFrame(rows, columns=["author", "part", "leaf", "text", "status"])
    parts = frame.assign(doc_id=doc_id).reindex(columns=list(PARTS.columns))
    sources = pd.DataFrame({"doc_id": ["d"], "task": [task]})
    kind = choose(DECOMPOSITIONS, {"kind": "clauses"}, where="p")
    sources = sources.reindex(columns=list(SOURCES.columns))
    units = kind.record.take_apart(
        parts, sources, kind.options, Resources(Path("nowhere"))
    ).units
    return round_trip(UNITS, units)


def rows_of(units: pd.DataFrame, kind: str) -> list[tuple[Any, ...]]:
    columns = ["part", "position", "text", "citations", "statement", "start", "end"]
    rows = units.loc[units["kind"] == kind, columns].astype(object)
    values = rows.where(rows.notna(), None).to_numpy()
    return [
        tuple(list(x) if n == 3 else x for n, x in enumerate(row)) for row in values
    ]


def test_statements_and_their_claims() -> None:
    text = "PLAN\nRest. [1] Denies fever or chills [0-2]."
    units = decompose(("a", "full", "no", text, "ok"), ("a", "plan", "yes", text, "ok"))
    assert rows_of(units, "statement") == [
        ("plan", 0, "Rest.", [1], None, 5, 14),
        ("plan", 1, "Denies fever or chills.", [0, 1, 2], None, 15, 44),
    ]
    assert rows_of(units, "claim") == [
        ("plan", 0, "Rest.", [], 0, None, None),
        ("plan", 1, "Denies fever.", [], 1, None, None),
        ("plan", 2, "Denies chills.", [], 1, None, None),
    ]
    with pytest.raises(
        BadInput, match=r"parts: 1 .* not in sources, .* doc_id 'e'; add"
    ):
        decompose(("a", "full", "yes", "Rest.", "ok"), doc_id="e")


def test_failed_parts_and_parts_without_words_give_no_units() -> None:
    rows = [(None, "refused"), ("RESULTS:", "ok"), ("#####EMPTY#####", "ok")]
    assert decompose(*(("a", "full", "yes", *row) for row in rows)).empty
    assert decompose(*empty(PARTS).itertuples()).empty


def test_a_question_is_a_claim() -> None:
    units = decompose(
        ("a", "full", "yes", "Does it hurt, and he is well? [0]", "ok"),
        ("b", "full", "yes", "It hurts. What helps?", "ok"),
        ("c", "full", "yes", "?", "ok"),
        task="question",
    )
    assert rows_of(units, "claim") == [
        ("full", 0, "Does it hurt, and he is well?", [], 0, None, None),
        ("full", 0, "It hurts. What helps?", [], None, None, None),  # of two statements
    ]
    assert [row[3] for row in rows_of(units, "statement")] == [[0], [], []]


def test_text_citations_and_spans() -> None:
    text = "PLAN\n- Rest [0]. Drink.[2][1]\n- [4]\nWait"
    results = statements(text)
    assert results == [
        Statement("Rest.", (0,), 7, 16),
        Statement("Drink.", (2, 1), 17, 29),
        Statement("Wait", (), 36, 40),
    ]
    assert [text[s.start : s.end] for s in results] == [
        "Rest [0].",
        "Drink.[2][1]",
        "Wait",
    ]
    # Marks of Table 24 state nothing.
    for nothing in (
        "#####EMPTY#####",
        "objective_results: #####EMPTY#####.",
        "",
        "[3] [4]\n...",
    ):
        assert statements(nothing) == []
    text = "EXAM__lf1__Lungs clear.__lf1____lf1__Skin: dry__lf1__"
    for results in (
        [s.text for s in statements(text)],
        [text[s[2] : s[3]] for s in statements(text)],
    ):
        assert results == ["Lungs clear.", "Skin: dry"]


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(["He fell", ".", " ", "[1]", "\n", "- ", "!"]), max_size=12
    )
)
def test_every_statement_has_words(pieces: list[str]) -> None:
    for statement in statements("".join(pieces)):
        assert any(map(str.isalnum, statement.text))
        assert len(set(statement.citations)) == len(statement.citations)


# A statement, and its claims; "|" parts them.
CUT = """\
Lungs are clear; stop aspirin. = Lungs are clear.|Stop aspirin.
The film was normal, but the monitor showed a pause. = The film was normal.|The monitor showed a pause.
He has gout [3], and he takes iron. = He has gout.|He takes iron.
I offered a brace but the patient declined. = I offered a brace.|The patient declined.
The skin is dry and there is no rash. = The skin is dry.|There is no rash.
he walks and he swims = he walks|he swims
She takes iron and denies pain. = She takes iron.|She denies pain.
Ms. Roe walks daily, but reports no falls. = Ms. Roe walks daily.|Ms. Roe reports no falls.
Pt denies nausea, vomiting. = Pt denies nausea.|Pt denies vomiting.
Skin: He denies itching or hives over the past week. = Skin: He denies itching over the past week.|Skin: He denies hives over the past week.
Skin: He denies itching, rash, or hives. = Skin: He denies itching.|Skin: He denies rash.|Skin: He denies hives.
Denies fever and chills! = Denies fever!|Denies chills!
Negative for fever, chills. = Negative for fever.|Negative for chills.
There is no edema or redness. = There is no edema.|There is no redness.
No evidence of gout or bursitis. = No evidence of gout.|No evidence of bursitis.
Endorses cough, shortness of breath, and fatigue. = Endorses cough.|Endorses shortness of breath.|Endorses fatigue.
She has gout and she denies fever or chills. = She has gout.|She denies fever.|She denies chills.
"""  # noqa: E501

LEFT = """\
He reports nausea and vomiting.
He has nausea, vomiting, and pain.
Denies cough; fever; chills.
He took it (for a week; then a month) and rested.
She said "I am well, and I am fine."
Is he well, and he is fine?
If he coughs and he is hot, call.
She denies that she smokes and she drinks.
I do not think he coughs and he is hot.
The left knee and the right knee were tender.
He reports that his left knee, right knee, and his elbow were tender.
She has a son who is well and denies pain.
The patient and his wife agree and endorse it.
He denies chest or back pain.
He reports sharp, stabbing, and burning pain.
No cervical, axillary, or inguinal nodes.
No acute fracture or dislocation.
No tenderness in the neck, back, or hips.
No distress, alert and oriented.
No limits and return to work.
Denies fever but has chills.
He denies pain since March 3, 2021.
He denies taking 1,000 or 2,000 units.
No fever other than at night, or chills.
Neither fever nor chills are reported.
Take it between meals and it is fine.
Range 2-3, 4 to 5, and 120/80 or 7.2.
Rest
...
"""


def test_cut() -> None:
    for statement, claims in (case.split(" = ") for case in CUT.splitlines()):
        assert clauses(statement) == claims.split("|")


def test_left_whole() -> None:
    noise = ("He is well and he is " * 200).strip()
    for statement in [*LEFT.splitlines(), noise]:
        assert clauses(statement) == [statement]
    assert clauses("") == clauses("  ") == []


def some_of(pieces: str) -> st.SearchStrategy[str]:
    return st.sampled_from(pieces.split("|"))


OPENING = some_of("he |The patient |Skin: she |Mr. Roe |no |There is no |")
VERB = some_of("denies |reports |is |has no |takes |endorses any |")
ITEM = some_of(
    "fever|chest pain|7.2 mg|edema|a rash [2]|shortness of breath|he left|not|March 3, 2021"
    "|(mild; old)|120/80|gout that hurts|pain over the past week"
)
JOINT = some_of(", | and | or |, but |; |, and | and denies | and she ")
STATEMENT = st.builds(
    "{0}{1}{2}{3}{4}".format,
    OPENING,
    VERB,
    ITEM,
    st.lists(st.builds(str.__add__, JOINT, ITEM), max_size=4).map("".join),
    some_of(".||!"),
)


@settings(deadline=None)
@given(st.one_of(STATEMENT, st.text(st.characters(codec="utf-8"), max_size=60)))
def test_no_content_word_is_lost_and_none_is_invented(statement: str) -> None:
    # claims have no citations
    need = Counter(content_tokens(statement.replace("[2]", "")))
    claims = clauses(statement)
    have = Counter(
        token for claim in claims for token in content_tokens(claim.replace("[2]", ""))
    )
    assert need <= have
    assert set(have) <= set(need)
    assert all(claim.strip() == claim for claim in claims)
    if len(claims) > 1:
        assert all(any(map(str.isalpha, claim)) for claim in claims)
