"""Rubrics: every problem of a file is named, and what is taken makes pairs and scores."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given

from metassay.judges.criteria import criterion_of
from metassay.judges.protocol import Pair
from metassay.scoring.rubrics.ask import (
    criteria_table,
    expand_facets,
    question,
    rubric_descriptions,
)
from metassay.scoring.rubrics.record import RUBRICS, load_rubric
from metassay.tables.criteria import CRITERIA
from tests.fuzz.mutations import ACCIDENTS, CHANGES, changed, damaged
from tests.fuzz.rule import EXAMPLES, examples, handled

NAMES = ("bmrc", "facets", "note_respiratory")
ALL = examples(EXAMPLES)


def tried(folder: Path, name: str, content: bytes) -> None:
    path = folder / f"{name}.yaml"
    path.write_bytes(content)
    ended = handled(lambda: load_rubric(path))
    if ended.problems:
        return
    whole = handled(lambda: expand_facets(ended.value, ("one", "two")))
    if whole.problems:
        return
    rubric_descriptions(criteria_table(whole.value)[list(CRITERIA.columns)])
    attributes = {one.items_from: ["a", "b"] for one in whole.value.criteria if one.items_from}
    for one in whole.value.criteria:
        asked = question(one, attributes)
        criterion_of(Pair("p", one.kind, "premise", "text", context=asked))
        assert json.loads(asked)["criterion"] == one.name


@pytest.mark.parametrize("name", NAMES)
def test_bytes(name: str, tmp_path: Path) -> None:
    sound = (RUBRICS / f"{name}.yaml").read_bytes()

    @ALL
    @given(ACCIDENTS)
    def run(accidents: Any) -> None:
        tried(tmp_path, name, damaged(sound, accidents))

    run()


@pytest.mark.parametrize("name", NAMES)
def test_values(name: str, tmp_path: Path) -> None:
    sound = yaml.safe_load((RUBRICS / f"{name}.yaml").read_text("utf-8"))

    @ALL
    @given(CHANGES)
    def run(changes: Any) -> None:
        value = changed(json.loads(json.dumps(sound)), changes)
        dumped = yaml.safe_dump(value, allow_unicode=False)
        tried(tmp_path, name, dumped.encode("utf-8", "surrogatepass"))

    run()
