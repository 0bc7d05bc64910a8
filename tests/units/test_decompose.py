"""decompose.py: which parts give units, and how claims hang on statements."""

from pathlib import Path

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.core.kinds import choose
from metassay.llm.endpoints import Models, parse_models
from metassay.llm.needs import Resources
from metassay.llm.prompts import load
from metassay.llm.structured import Again
from metassay.tables.documents import SOURCES
from metassay.tables.parquet import empty, read, write
from metassay.tables.parts import PARTS
from metassay.tables.units import UNITS
from metassay.units import DECOMPOSITIONS
from metassay.units.record import recipe_of

CLAUSES = choose(DECOMPOSITIONS, {"kind": "clauses"}, where="p")
Row = tuple[str, str, str, str | None, str, str]


def parts(*rows: Row) -> pd.DataFrame:
    columns = ["doc_id", "author", "part", "text", "leaf", "status"]
    return pd.DataFrame(rows, columns=columns).reindex(columns=list(PARTS.columns))


def sources(task: str = "note") -> pd.DataFrame:
    return pd.DataFrame({"doc_id": ["d"], "task": [task]}).reindex(columns=list(SOURCES.columns))


def decompose(rows: pd.DataFrame, documents: pd.DataFrame) -> pd.DataFrame:
    return CLAUSES.record.take_apart(
        rows, documents, CLAUSES.options, Resources(Path("nowhere"))
    ).units


def kind(units: pd.DataFrame, name: str) -> list[tuple[object, ...]]:
    columns = ["part", "position", "text", "citations", "statement", "start", "end"]
    rows = units.loc[units["kind"] == name, columns].astype(object)
    return [tuple(None if x is pd.NA else x for x in row) for row in rows.to_numpy()]


def test_statements_and_their_claims(tmp_path: Path) -> None:
    text = "PLAN\nRest. [1] Denies fever or chills [0-2]."
    whole: Row = ("d", "a", "full", text, "no", "ok")
    units = decompose(
        parts(whole, ("d", "a", "assessment_and_plan", text, "yes", "ok")),
        sources(),
    )
    assert kind(units, "statement") == [
        ("assessment_and_plan", 0, "Rest.", [1], None, 5, 14),
        ("assessment_and_plan", 1, "Denies fever or chills.", [0, 1, 2], None, 15, 44),
    ]
    assert kind(units, "claim") == [
        ("assessment_and_plan", 0, "Rest.", [], 0, None, None),
        ("assessment_and_plan", 1, "Denies fever.", [], 1, None, None),
        ("assessment_and_plan", 2, "Denies chills.", [], 1, None, None),
    ]
    write(UNITS, units, tmp_path / "units.parquet")
    assert len(read(UNITS, tmp_path / "units.parquet")) == 5


def test_failed_parts_and_parts_without_words_give_no_units(tmp_path: Path) -> None:
    rows = parts(
        ("d", "a", "full", None, "yes", "refused"),
        ("d", "b", "full", "RESULTS:", "yes", "ok"),
        ("d", "c", "full", "#####EMPTY#####", "yes", "ok"),
    )
    units = decompose(rows, sources())
    assert units.empty
    write(UNITS, units, tmp_path / "units.parquet")
    assert decompose(empty(PARTS), sources()).empty


def test_a_question_is_its_own_claim() -> None:
    asked = "Does it hurt, and he is well? [0]"
    units = decompose(
        parts(
            ("d", "a", "full", asked, "yes", "ok"),
            ("d", "b", "full", "It hurts. What helps?", "yes", "ok"),
            ("d", "c", "full", "?", "yes", "ok"),
        ),
        sources("question"),
    )
    assert kind(units, "claim") == [
        ("full", 0, "Does it hurt, and he is well?", [], 0, None, None),
        ("full", 0, "It hurts. What helps?", [], None, None, None),  # of two statements
    ]
    assert [row[3] for row in kind(units, "statement")] == [[0], [], []]


def test_a_part_without_its_source_is_bad_input() -> None:
    with pytest.raises(BadInput, match=r"parts: 1 .* not in sources, .* doc_id 'e'; add"):
        decompose(parts(("e", "a", "full", "Rest.", "yes", "ok")), sources())


def test_a_rule_is_printed_with_its_settings() -> None:
    assert recipe_of(CLAUSES, Models({}, {})) == "clauses"


def test_a_model_is_printed_with_how_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    block = {"kind": "llm", "model": "m", "least": 1, "most": 3, "rounds": 1, "max_tokens": 9}
    endpoint = {"kind": "openai", "base_url": "http://127.0.0.1:9/v1"}
    models = parse_models(
        {"here": endpoint}, {"m": {"endpoint": "here", "model": "m-1", "max_tokens": 99}}
    )
    chosen = choose(DECOMPOSITIONS, block, where="p")
    assert recipe_of(chosen, models) == (
        "llm_claims(model:m-1|temperature:0|seed:none|max_tokens:9"
        f"|prompt:{load('claims').signature}|claims:1-3|{Again().signature(1)})"
    )
    with pytest.raises(BadInput, match=r"model 'm' is not in params.yaml > models; known: none"):
        recipe_of(chosen, Models({}, {}))
