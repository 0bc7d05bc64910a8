"""Rubrics: every problem of a file is named, and what is taken makes pairs and scores."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

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
from tests.fuzz.rule import fuzz, handled


def check(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    ended = handled(lambda: load_rubric(path))
    if ended.problems:
        return
    whole = handled(lambda: expand_facets(ended.value, ("one", "two")))
    if whole.problems:
        return
    rubric_descriptions(criteria_table(whole.value)[list(CRITERIA.columns)])
    criteria = whole.value.criteria
    attributes = {each.items_from: ["a", "b"] for each in criteria if each.items_from}
    for criterion in criteria:
        context = question(criterion, attributes)
        criterion_of(Pair("p", criterion.kind, "premise", "text", context=context))
        assert json.loads(context)["criterion"] == criterion.name


@pytest.mark.parametrize("name", ["bmrc", "facets", "note_respiratory"])
def test_bytes_and_values(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.yaml"
    sound = (RUBRICS / path.name).read_bytes()
    values = json.loads(json.dumps(yaml.safe_load(sound)))

    def change(changes: Any) -> None:
        dumped = yaml.safe_dump(changed(values, changes), allow_unicode=False)
        check(path, dumped.encode("utf-8", "surrogatepass"))

    fuzz(lambda accidents: check(path, damaged(sound, accidents)), ACCIDENTS)
    fuzz(change, CHANGES)
