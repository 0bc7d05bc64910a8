"""Facets by a language model: where they stand, what it made up, and answers that fail."""

import hashlib
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from metassay.core.errors import BadInput
from metassay.core.options import parse
from metassay.llm.needs import Model, Resources, Use
from metassay.text.spans import Span
from metassay.units.llm import FACETS, LlmFacetOptions, divide, facet_requests
from metassay.units.record import Divided, Part, Text
from tests.units.fake_model import DECODING, FakeModel, unexpected

FakeAsk = partial(FakeModel, "facets")
PROMPTS = Path(__file__).parents[2] / "prompts"
BMRC = ["background", "method", "result", "conclusion"]
NOTE = (
    "Night shifts are long. We changed lamps in two wards [0]. Slips fell from 31 to 19; no nurse"
    " slept. The change was cheap. Amber light may be safe."
)
CHEAP = {"result": ["The change was cheap."]}


def options(**changes: Any) -> LlmFacetOptions:
    block = {"model": "invented", "facets": BMRC, "shots": 0, "rounds": 1}
    return parse(LlmFacetOptions, block | changes, where="test")


def text(
    full: str | None = NOTE, author: str = "reference", status: str = "ok"
) -> Text:
    pieces = [] if full is None else [Span(0, len(full))]
    return Text(
        "abstract", Part("full", full, pieces, status), [], doc_id="d1", author=author
    )


def divided(answer: Callable[[str, int], Any], *texts: Text, **changes: Any) -> Divided:
    resources = Resources(Path(), Model(FakeAsk(answer), DECODING))
    return divide(texts or [text()], options(**changes), resources)


def facets(**named: list[str]) -> dict[str, list[str]]:
    return {name: named.get(name, []) for name in BMRC}


def test_facets_are_the_text_s_words_in_its_order_with_neighbours_as_one_piece() -> (
    None
):
    answer = facets(
        background=["night shifts are long"],
        result=["The change was cheap.", "no nurse slept", "Slips fell from 31 to 19"],
        method=["We changed lamps in two wards."],
        conclusion=["Amber light may be safe.", "Night shifts are long."],
    )
    ((background, method, result, conclusion),), notes = divided(lambda *_: answer)
    assert background == Part(
        "background", "Night shifts are long", [Span(0, 21)], "ok"
    )
    assert method.text == "We changed lamps in two wards [0]."  # with what it cites
    assert (
        result.text == "Slips fell from 31 to 19; no nurse slept. The change was cheap."
    )
    (piece,) = result.pieces
    assert NOTE[slice(*piece)] == result.text
    apart = ["Night shifts are long.", "Amber light may be safe."]
    assert [NOTE[slice(*piece)] for piece in conclusion.pieces] == apart
    assert conclusion.text == " ".join(apart)
    assert notes == (
        "the model returned 7 segments for 1 text(s): 5 are in their text to the character,"
        " 2 word by word, 0 with small changes; 0 (0.0%) are made up, in whole or in part",
        "1 sentence(s) are in more than one facet, wholly or in part",
    )


def test_what_is_made_up_is_flagged_and_never_in_the_facet() -> None:
    answer = facets(
        background=["Nurses sleep badly."],
        result=["Slips fell from 31 to 18", "The change was cheap. It saved lives."],
        conclusion=[" "],  # says nothing, so it is as if it weren't there
    )
    ((background, result),), notes = divided(lambda *_: answer)
    assert background == Part("background", "", [], "ok", ("Nurses sleep badly.",))
    assert result.text == "The change was cheap."
    assert result.made_up == ("Slips fell from 31 to 18", "It saved lives.")
    assert notes[0].endswith("3 (100.0%) are made up, in whole or in part")
    assert notes[1] == "segments that are made up, by author: reference 3 of 3"
    # Notes name authors and no text.
    texts = [text(NOTE, "lead"), text(NOTE, "mini"), text("Lamps hum.", "mini")]
    assert divided(lambda *_: facets(**CHEAP), *texts).notes == (
        "the model returned 3 segments for 3 text(s): 2 are in their text to the character, 0 word"
        " by word, 0 with small changes; 1 (33.3%) are made up, in whole or in part",
        "segments that are made up, by author: mini 1 of 2",
    )


def test_what_two_facets_share_is_in_both_and_counted() -> None:
    answer = facets(
        method=[
            "We changed lamps in two wards. Slips fell from 31 to 19; no nurse slept."
        ],
        result=["Slips fell from 31 to 19", "The change was cheap."],
    )
    ((method, result),), notes = divided(lambda *_: answer)
    assert "Slips fell from 31 to 19" in str(method.text)
    assert result.text == "Slips fell from 31 to 19 The change was cheap."
    assert notes[-1] == "1 sentence(s) are in more than one facet, wholly or in part"


# What else a reply may be is in tests/llm/test_structured.py.
@pytest.mark.parametrize(
    "wrong",
    [
        "no JSON",
        {"background": []},  # one facet of four
        *(
            facets() | its
            for its in ({"outcome": ["a"]}, {"result": "a"}, {"result": [1]})
        ),
    ],
)
def test_an_unsound_answer_is_asked_for_again_and_then_unknown(wrong: Any) -> None:
    ((result,),), _ = divided(lambda _, repeat: facets(**CHEAP) if repeat else wrong)
    assert (result.name, result.text) == ("result", "The change was cheap.")
    (parts,), notes = divided(lambda *_: wrong)
    assert parts == [Part(name, None, [], "unparsed") for name in BMRC]
    rounds, reasons = notes
    assert rounds == "questions that were answered: at first 0 of 1, in round 1 0 of 1"
    assert reasons.startswith("1 answer could not be read: ")


@pytest.mark.parametrize("status", ["refused", "truncated", "error"])
def test_of_a_failed_answer_every_facet_is_unknown_which_is_not_absent(
    status: str,
) -> None:
    texts = text(), text(NOTE + " It was known to all.")
    answer = divided(
        lambda full, _: facets(**CHEAP) if "known" in full else status, *texts
    )
    failed, other = answer.parts
    assert failed == [Part(name, None, [], status) for name in BMRC]
    assert [part.name for part in other] == ["result"]


@pytest.mark.parametrize("full", ["", " \n", "...", "[3]", None])
def test_nothing_is_asked_about_a_text_that_says_nothing_or_failed(
    full: str | None,
) -> None:
    status = "refused" if full is None else "ok"
    assert divided(unexpected, text(full, status=status)).parts == [[]]


def test_the_request_has_the_facets_their_meaning_and_a_schema_of_them() -> None:
    meanings = {
        "population": "who was studied",
        "number": "",
        "copy": "what was copied",
    }
    (request,), most, length, _ = facet_requests(
        [text()], options(facets=meanings), DECODING
    )
    assert (most, length) == ([2], 1.2)
    system, user = (message.content for message in request.messages)
    assert "- population: who was studied\n  - number\n" in system.replace(
        "\n- ", "\n  - "
    )
    assert "two wards." in user
    assert "[0]" not in user  # the model reads no citations
    names = json.loads(request.schema or "")["$defs"]["Returned"]["properties"]
    assert list(names) == ["population", "number", "copy"]
    answer = {"population": ["two wards"], "number": [], "copy": []}
    ((population,),), _ = divided(lambda *_: answer, facets=meanings)
    assert (population.name, population.text) == ("population", "two wards [0].")


def test_examples_are_shown_as_turns_and_belong_to_their_facets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # First questions keep their keys, so that nothing is paid for again.
    (request,), *_ = facet_requests([text()], options(shots=1), DECODING)
    known = "e525effb12cd6975ff5c131f6695753c8904aef3ca67bd13ad3cf7616838f8a9"
    assert hashlib.sha256(request.key.encode()).hexdigest() == known
    (request,), *_ = facet_requests([text()], options(shots=2), DECODING)
    roles = [message.role for message in request.messages]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]
    solved = json.loads(request.messages[2].content)["items"][0]
    assert list(solved["facets"]) == BMRC
    pico = ["population", "intervention", "comparison", "outcome"]
    with pytest.raises(
        BadInput, match=r"examples > 1 > items: .* show none \(shots: 0\)"
    ):
        facet_requests([], options(facets=pico, shots=1), DECODING)
    with pytest.raises(BadInput, match="has 2, but shots is 3"):
        facet_requests([], options(shots=3), DECODING)
    (tmp_path / "prompts").mkdir()
    monkeypatch.chdir(tmp_path)
    for change, problem in (
        (
            {"facets": facets(result=["Something else."])},
            "in its text, character by character",
        ),
        ({"more": 1}, "each has a text and its facets, and nothing else"),
        (None, "must be a list of solved texts"),
    ):
        file = yaml.safe_load((PROMPTS / "facets.yaml").read_text(encoding="utf-8"))
        if change is None:
            file["examples"][0]["items"] = []
        else:
            file["examples"][0]["items"][0] |= change
        Path("prompts/facets.yaml").write_text(yaml.safe_dump(file), encoding="utf-8")
        with pytest.raises(BadInput, match=problem):
            facet_requests([], options(shots=1), DECODING)


@pytest.mark.parametrize(
    ("facets", "problem"),
    [
        ([], "at least 1"),
        (["result", "result"], "a facet occurs twice"),
        (["full"], "is the whole text"),
        (["a result"], "use letters, digits"),
    ],
)
def test_names_of_facets(facets: list[str], problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        options(facets=facets)


def test_the_record_says_what_the_options_need() -> None:
    used = options(max_tokens=9, prompt="other")
    assert FACETS.model(used) == Use("invented", 9)
    assert FACETS.facets(used) == tuple(BMRC)
    assert [each.path.stem for each in FACETS.files(used)] == ["other", "answer-again"]
