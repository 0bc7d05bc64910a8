"""Facets that come with the data: those that are in their text, and those that are not."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from metassay.core.errors import BadInput
from metassay.core.options import parse
from metassay.llm.needs import Resources
from metassay.text.spans import Span
from metassay.units.facets import RELEASED, ReleasedFacetOptions, divide
from metassay.units.locate import find_all
from metassay.units.record import Divided, Part, Text

ABSTRACT = "Lamps hum . We counted the hum of 9 lamps. It was loud."
BRC = ["background", "result", "conclusion"]
LOUD = {"result": "It was loud."}


def text(released: Any, full: str | None = ABSTRACT, author: str = "reference") -> Text:
    status = "refused" if full is None else "ok"
    part = Part("full", full, [Span(0, len(full or ""))], status)
    return Text("abstract", part, [], "d1", author, tuple(released.items()))


def divided(*texts: Text, facets: Any = BRC) -> Divided:
    options = parse(ReleasedFacetOptions, {"facets": facets}, where="test")
    assert RELEASED.facets(options) == tuple(facets)
    return divide(texts, options, Resources(Path()))


def test_released_facets_are_located_and_the_rest_is_flagged() -> None:
    its = {
        "conclusion": "",
        "background": "lamps hum.",
        "result": "It was loud. Very loud.",
    }
    (parts,), notes = divided(text(its))
    assert parts == [
        Part("background", "Lamps hum .", [Span(0, 11)], "ok"),
        Part("result", "It was loud.", [Span(43, 55)], "ok", ("Very loud.",)),
    ]
    assert notes == (
        "the dataset brings 2 segments for 1 text(s): 0 are in their text to the character, 1 word"
        " by word, 0 with small changes; 1 (50.0%) are not verbatim in it, in whole or in part",
        "segments that are not verbatim in it, by author: reference 1 of 2",
    )


def test_facets_that_are_unknown_or_left_out_are_counted() -> None:
    parts, notes = divided(text(LOUD), text({}, author="mini"), text({}, None))
    assert [part.name for part in parts[0]] == ["result"]
    assert parts[1] == [Part(name, None, [], "error") for name in BRC]
    assert parts[2] == []
    assert notes[-1] == "texts without released facets, which are unknown: mini 1"
    lost = text({**LOUD, "method": "We counted.", "background": " "}, None)
    parts, notes = divided(text(LOUD, author="mini"), lost)
    assert parts[1] == []
    assert (
        notes[-1]
        == "released facets of texts that failed, which are left out: reference 2"
    )
    (parts,), notes = divided(text({**LOUD, "method": "We counted."}))
    assert [part.name for part in parts] == ["result"]
    assert notes[-1] == "released facets that the block does not name: method 1"


def test_data_without_any_such_facet_is_bad_input() -> None:
    with pytest.raises(
        BadInput, match="has no facet called background, result, conclusion"
    ):
        divided(text({"method": "We counted."}))
    with pytest.raises(BadInput, match="twice"):
        divided(facets=["result", "result"])
    assert divided().parts == []


def test_what_of_scholarsum_s_released_segments_is_in_their_abstracts(
    mirror: Path,
) -> None:
    counts: Counter[str] = Counter()
    file = mirror / "scholarsum_arxiv/arxiv.json"
    for paper in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
        for author in ("human", "gpt35", "llama2_70b", "bartlarge", "factsum"):
            for segment in filter(
                str.strip, json.loads(paper[f"{author}_aspect"]).values()
            ):
                located, made_up = find_all(segment, paper[author])
                ways = {each.how for each in located}
                way = next(
                    (how for how in ("fuzzy", "loose", "exact") if how in ways), ""
                )
                if made_up:
                    way = "in part" if ways else "not"
                counts[way] += 1
    assert counts == {"exact": 507, "loose": 331, "fuzzy": 24, "in part": 19, "not": 14}
