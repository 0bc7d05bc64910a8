"""Premise, hypothesis and label, one JSON object a line: what SNLI-style files and ANLI share."""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import ConfigDict

from metassay.core.errors import shown
from metassay.core.options import Options
from metassay.datasets.own_data import checked
from metassay.labelled.judges.items import CONTRADICTED, ENTAILED, NEUTRAL, Items, Label
from metassay.tabular.decoding import UNREAD, json_lines
from metassay.tabular.rows import Place

SEE = "docs/judge-tests.md shows how it is written"
LABELS: Mapping[str, Label] = {
    **{"entailment": ENTAILED, "neutral": NEUTRAL, "contradiction": CONTRADICTED},
    **{"e": ENTAILED, "n": NEUTRAL, "c": CONTRADICTED},
    **{"0": ENTAILED, "1": NEUTRAL, "2": CONTRADICTED},  # as the Hugging Face copies number them
}


class Line(Options):
    """A line whose other keys are not read."""

    model_config = ConfigDict(extra="ignore")


AnyLine = TypeVar("AnyLine", bound=Line)


def subsets(folder: Path, items: Items) -> Iterator[tuple[Path, str]]:
    """Every .jsonl file in the folder, at any depth, and the subset that it is: `R1_test`."""
    paths = sorted(folder.rglob("*.jsonl"))
    if not paths:
        items.problems.add(Place(str(folder)), "holds no .jsonl file", f"put it there; {SEE}")
    for path in paths:
        inside = path.relative_to(folder).with_suffix("")
        yield path, "_".join(inside.parts)


def lines(path: Path, model: type[AnyLine], items: Items) -> Iterator[tuple[Place, AnyLine]]:
    """The lines of a file that are as they should be; the others are problems.

    A file is called by its folder too: each round of ANLI has its test.jsonl.
    """
    for place, value in json_lines(path, items.problems, remedy=SEE):
        at = place._replace(file=f"{path.parent.name}/{path.name}")
        one = None if value is UNREAD else checked(model, value, at, items.problems)
        if one is not None:
            yield at, one


def label_of(written: str, at: Place, items: Items) -> Label | None:
    """The label; None, with a problem, if it is none that is known."""
    if written not in LABELS:
        fix = f"write one of {', '.join(LABELS)}"
        items.problems.add(at, "the label is not known", fix, shown(written))
    return LABELS.get(written)


def cluster_of(premise: str) -> str:
    """Items of one premise are alike: a name for it that holds no text."""
    return hashlib.sha256(premise.encode()).hexdigest()[:16]
