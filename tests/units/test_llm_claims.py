"""Claims by a language model: bounds, statuses, and what is never put to it."""

import hashlib
import json
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from metassay.core.errors import BadInput
from metassay.core.options import parse
from metassay.llm.needs import Model, Resources, Use
from metassay.tables.parquet import round_trip
from metassay.tables.units import UNITS
from metassay.units.llm import CLAIMS, LlmClaimOptions, claim_requests, llm_claims
from tests.units.fake_model import DECODING, FakeModel, unexpected

FakeAsk = partial(FakeModel, "claims")
PROMPTS = Path(__file__).parents[2] / "prompts"


def options(**changes: Any) -> LlmClaimOptions:
    block = {"model": "invented", "least": 1, "most": 3, "rounds": 1}
    return parse(LlmClaimOptions, block | changes, where="test")


def parts(*texts: str | None, part: str = "full", leaf: str = "yes") -> pd.DataFrame:
    """Of documents d0, d1, ...; None: failed."""
    frame = pd.DataFrame(
        {"doc_id": [f"d{n}" for n in range(len(texts))], "text": texts}
    )
    status = ["ok" if text is not None else "refused" for text in texts]
    return frame.assign(author="reference", part=part, leaf=leaf, status=status)


def sources(task: str = "note") -> pd.DataFrame:
    return pd.DataFrame({"doc_id": [f"d{n}" for n in range(6)], "task": task})


def decomposed(
    rows: pd.DataFrame, ask: FakeModel, task: str = "note", **changes: Any
) -> Any:
    units = llm_claims(rows, sources(task), options(**changes), ask, DECODING).units
    return round_trip(UNITS, units)


def claims(units: pd.DataFrame) -> list[tuple[str, int, str | None, str]]:
    """doc_id, position, text, status."""
    rows = units[["doc_id", "position", "text", "status"]].itertuples(
        index=False, name=None
    )
    return [(d, n, t if isinstance(t, str) else None, s) for d, n, t, s in rows]


@pytest.mark.parametrize(
    "lead", ["Here are the claims:", "Sure! The claims of each text:", "Claims:"]
)
def test_words_that_lead_to_claims_may_name_them(lead: str) -> None:
    answer = json.dumps({"items": [{"number": 1, "claims": ["The knee hurts."]}]})
    ask = FakeAsk(lambda text, _: f"{lead}\n{answer}")
    units = decomposed(parts("Knee pain."), ask)
    assert claims(units) == [("d0", 0, "The knee hurts.", "ok")]
    assert len(ask.requests) == 1


def test_a_request_for_each_part_and_a_row_for_each_claim() -> None:
    rows = pd.concat(
        [
            parts("HPI\n\nKnee pain, no fever [3][4].", part="subjective"),
            parts("all of it", leaf="no"),
            parts(None, "Knee pain.")[1:],
        ]
    )
    both = ["The knee hurts [3].", " BP was\n120/80 [1, 2] "]
    ask = FakeAsk(lambda text, _: both if "HPI" in text else ["Pain."])
    units = decomposed(rows, ask)
    assert claims(units) == [
        ("d0", 0, "The knee hurts.", "ok"),
        ("d0", 1, "BP was 120/80", "ok"),
        ("d1", 0, "Pain.", "ok"),
    ]
    assert ask.seen == [
        {"number": 1, "section": "subjective", "text": "HPI\n\nKnee pain, no fever."},
        {"number": 1, "text": "Knee pain."},
    ]
    about = units[["author", "kind"]].drop_duplicates().to_numpy().tolist()
    assert about == [["reference", "claim"]]
    assert units["citations"].map(len).tolist() == [0, 0, 0]
    assert units[["statement", "start", "end"]].isna().all(axis=None)
    turned = decomposed(rows[::-1], FakeAsk(ask.answer))
    pd.testing.assert_frame_equal(units, turned)
    with pytest.raises(BadInput, match="doc_id 'd0'"):
        llm_claims(rows, sources()[1:], options(), FakeAsk(unexpected), DECODING)


def test_the_request_carries_bounds_schema_and_decoding() -> None:
    rows = parts("Knee pain. No fever.", "Rest.")
    rows["doc_id"], rows["part"] = ["d1", "d2"], ["full", "plan"]
    (request, other), *_ = claim_requests(rows, sources(), options(), DECODING)
    assert (request.model, request.seed, request.max_tokens) == ("invented-1", 7, 500)
    assert "at least 1 and at most 3 claims" in request.messages[0].content
    schema = json.loads(request.schema or "")["$defs"]["Claims"]["properties"]["claims"]
    assert (schema["minItems"], schema["maxItems"]) == (1, 3)
    ask = FakeAsk(lambda *_: ["Pain."])
    decomposed(rows, ask)
    assert ask.requests == [request, other]
    # First questions keep their keys, so that nothing is paid for again.
    known = "1dcbaca4146020148f59c4582a524fe05f0df62e744446d5658a4caaf861a09e"
    assert hashlib.sha256((request.key + other.key).encode()).hexdigest() == known


# What else a reply may be is in tests/llm/test_structured.py.
@pytest.mark.parametrize(
    "wrong", [[], list("abcd"), ["a", " "], ["a", "[3]."], ["a", 1], "no JSON"]
)
def test_an_unsound_list_is_asked_for_again_and_then_unknown(wrong: Any) -> None:
    rows = parts("Knee pain.", "Cough.")
    ask = FakeAsk(
        lambda text, repeat: ["Pain."] if repeat or text == "Cough." else wrong
    )
    assert claims(decomposed(rows, ask)) == [
        ("d0", 0, "Pain.", "ok"),
        ("d1", 0, "Pain.", "ok"),
    ]
    assert [request.repeat for request in ask.requests] == [0, 0, 1]
    ask = FakeAsk(lambda text, _: ["Pain."] if text == "Cough." else wrong)
    assert claims(decomposed(rows, ask)) == [
        ("d0", 0, None, "unparsed"),
        ("d1", 0, "Pain.", "ok"),
    ]


@pytest.mark.parametrize("status", ["refused", "truncated", "error"])
def test_a_failed_request_is_a_row_with_its_status(status: str) -> None:
    ask = FakeAsk(lambda *_: status)
    assert claims(decomposed(parts("Knee pain."), ask)) == [("d0", 0, None, status)]
    assert len(ask.requests) == 1


@pytest.mark.parametrize("text", [None, "", " \n", "#####EMPTY#####", "...", "[3]"])
def test_parts_that_failed_or_say_nothing_are_not_asked_about(text: str | None) -> None:
    for task in ("note", "question"):
        assert decomposed(parts(text), FakeAsk(unexpected), task).empty


def test_a_question_is_a_claim_and_a_list_may_be_empty_where_that_is_allowed() -> None:
    units = decomposed(
        parts("What causes gout [0]? Is it serious?"), FakeAsk(unexpected), "question"
    )
    assert claims(units) == [("d0", 0, "What causes gout? Is it serious?", "ok")]
    assert decomposed(parts("Nothing to say."), FakeAsk(lambda *_: []), least=0).empty
    with pytest.raises(BadInput, match="least is larger than most"):
        options(least=4)


def test_the_record_says_what_the_options_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = options(max_tokens=9, prompt="other")
    assert (CLAIMS.model(used), CLAIMS.datasets(used)) == (Use("invented", 9), ())
    assert [each.path.stem for each in CLAIMS.files(used)] == ["other", "answer-again"]
    monkeypatch.chdir(PROMPTS.parent)
    rows, ask = (
        parts("It hurts. It swells.", "It is red."),
        FakeAsk(lambda text, _: [text]),
    )
    assert CLAIMS.requests is not None
    requests = CLAIMS.requests(rows, sources(), options(), DECODING)
    assert (requests.most, requests.answer_length) == ([2, 2], 1.3)
    resources = Resources(tmp_path, Model(ask, DECODING))
    units, warnings = CLAIMS.take_apart(rows, sources(), options(), resources)
    assert (ask.requests, warnings) == (requests.requests, ())
    units = round_trip(UNITS, units)
    assert units["kind"].value_counts().to_dict() == {"statement": 3, "claim": 2}


SHOTS = {"prompt": "doclens-claims", "shots": 2, "most": 30}


def turns(part: str, **changes: Any) -> list[str]:
    """The roles and texts of a request about a part, its own text last."""
    rows = parts("Knee pain.", part=part)
    (request,) = claim_requests(rows, sources(), options(**changes), DECODING).requests
    return [message.content for message in request.messages]


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("subjective", "Left shoulder pain."),
        ("objective_exam", "Blood pressure 142/86."),
        ("objective_results", "X-ray of the right wrist"),
        ("assessment_and_plan", "Type 2 diabetes, not controlled."),
        ("full", "Ms. Ria Soll came for her cough."),
        ("finding", "Ms. Ria Soll came for her cough."),
    ],
)
def test_two_solved_examples_of_the_same_section_come_first(
    part: str, words: str
) -> None:
    system, first, reply, _, second_reply, last = turns(part, **SHOTS)
    assert words in first
    assert '"section"' not in first or f'"section":"{part}"' in first
    for solved in (reply, second_reply):
        (item,) = json.loads(solved)["items"]
        assert item["number"] == 1
        assert len(item["claims"]) >= 2
    assert "Knee pain." in last
    assert turns(part, **SHOTS | {"shots": 0}) == [system, last]


def test_shots_are_in_the_recipe_and_none_leave_it_as_it_was() -> None:
    recipe = CLAIMS.recipe(options(), DECODING)
    assert "shots" not in recipe
    assert recipe == CLAIMS.recipe(options(shots=0), DECODING)
    assert "|shots:2#" in CLAIMS.recipe(options(**SHOTS), DECODING)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"prompt": "claims"}, "has 0 without a section, but shots is 2"),
        ({"shots": 3}, "has 2 of subjective, but shots is 3"),
        (
            {"most": 3},
            "claims must be a list of claims, as many as least and most allow",
        ),
    ],
)
def test_examples_that_do_not_fit_are_named(
    changes: dict[str, Any], problem: str
) -> None:
    with pytest.raises(BadInput) as raised:
        turns("subjective", **SHOTS | changes)
    assert any(problem in line for line in raised.value.problems)
