"""Sets of premise, hypothesis and label, as they were released: SNLI, ANLI, LLM-AggreFact."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, ConfigDict, model_validator
from pydantic_core import PydanticCustomError

from metassay.core.errors import BadInput, shown
from metassay.core.options import Options
from metassay.datasets.own_data import Filled, Key, parsed
from metassay.labelled.records import (
    CONTRADICTED,
    ENTAILED,
    NEUTRAL,
    NOT_ENTAILED,
    ItemRow,
    Items,
    Label,
    files,
    hash_of,
)
from metassay.tables.parquet_file import load
from metassay.tabular.decoding import csv_records, json_lines
from metassay.tabular.rows import Place

SEE = "docs/benchmarks.md shows how it is written"
UNDECIDED = "-"
LABELS: Mapping[str, Label] = {
    **{"entailment": ENTAILED, "neutral": NEUTRAL, "contradiction": CONTRADICTED},
    **{"e": ENTAILED, "n": NEUTRAL, "c": CONTRADICTED},
    **{"0": ENTAILED, "1": NEUTRAL, "2": CONTRADICTED},  # as the Hugging Face copies number them
}
_NEEDED = ("dataset", "doc", "claim", "label")
_FORMATS = (".jsonl", ".csv", ".parquet")


class _Line(Options):
    """A line whose other keys are not read."""

    model_config = ConfigDict(extra="ignore")


class _Snli(_Line):
    sentence1: Filled  # the premise
    sentence2: Filled
    gold_label: str
    pairID: Key | None = None  # noqa: N815 - the data's own name


class _Anli(_Line):
    context: Filled | None = None
    premise: Filled | None = None
    hypothesis: Filled
    label: str | int
    uid: Key | None = None

    @model_validator(mode="after")
    def _has_one_premise(self) -> Self:
        if (self.context is None) == (self.premise is None):
            raise PydanticCustomError(
                "premise", "has not one premise; write 'context' or 'premise'"
            )
        return self


def _number(value: object) -> object:
    return int(value) if value in ("0", "1") else value  # a CSV file has text alone


class _Claim(_Line):
    dataset: Key
    doc: Filled
    claim: Filled
    label: Annotated[Literal[0, 1], BeforeValidator(_number)]


def read_snli(folder: Path) -> Items:
    """SNLI-style JSON Lines: SNLI (Bowman et al. 2015), MultiNLI, MedNLI (Romanov, Shivade 2018).

    Each file is a subset under its own name. An item's key is its subset with its pairID, or its
    line. `gold_label` is entailment, neutral or contradiction; `-`, where the annotators did not
    agree, is no gold label.
    """
    items = Items()
    for subset, at, one in _subsets(folder, _Snli, items):
        label = None if one.gold_label == UNDECIDED else _label(one.gold_label, at, items)
        key = f"{subset}:{one.pairID or at.row}"
        items.items.append(_item(at, key, one.sentence1, one.sentence2, label, subset))
    return items


def read_anli(folder: Path) -> Items:
    """ANLI (Nie et al. 2020): JSON Lines, a folder per round, as released or on Hugging Face.

    R1/test.jsonl is the subset `R1_test`. An item's key is its subset with its uid, or its line.
    `label` is e, n or c; the words and the numbers 0 to 2 of copies are read as well.
    """
    items = Items()
    for subset, at, one in _subsets(folder, _Anli, items):
        label, premise = _label(str(one.label), at, items), one.context or one.premise or ""
        key = f"{subset}:{one.uid or at.row}"
        items.items.append(_item(at, key, premise, one.hypothesis, label, subset))
    return items


def read_llm_aggrefact(folder: Path) -> Items:
    """LLM-AggreFact (Tang et al. 2024): documents and claims of several sets, supported or not.

    JSON Lines, CSV or Parquet with `dataset`, which is the subset, `doc`, `claim` and `label` (1:
    the document supports the claim, 0: it does not). An item's key is its file's name and its row's
    number. Claims of one document are alike.
    """
    items = Items()
    paths = sorted(path for path in folder.glob("*") if path.suffix in _FORMATS)
    if not paths:
        what = f"holds no {', '.join(_FORMATS)} file"
        items.problems.add(Place(str(folder)), what, f"put it there; {SEE}")
    for path in paths:
        for at, one in parsed(_rows(path, items), _Claim, items.problems):
            label: Label = ENTAILED if one.label else NOT_ENTAILED
            key = f"{path.stem}:{at.row}"
            items.items.append(_item(at, key, one.doc, one.claim, label, one.dataset))
    return items


def _item(
    at: Place, key: str, premise: str, hypothesis: str, label: Label | None, subset: str
) -> ItemRow:
    """Items of one premise are alike; its hash is a name for it that holds no text."""
    cluster = hash_of(premise)[:16]
    return ItemRow(at, key, [premise], hypothesis, label, subset, cluster=cluster)


def _subsets(folder: Path, model: type[Any], items: Items) -> Iterator[tuple[str, Place, Any]]:
    """The sound lines of every .jsonl file, at any depth, and the subset that it is: `R1_test`.

    A file is called by its folder too: each round of ANLI has its test.jsonl.
    """
    for path in files(folder, "**/*.jsonl", items.problems, f"put it there; {SEE}"):
        name = f"{path.parent.name}/{path.name}"
        values = json_lines(path, items.problems, remedy=SEE)
        placed = ((at._replace(file=name), value) for at, value in values)
        for at, one in parsed(placed, model, items.problems):
            yield "_".join(path.relative_to(folder).with_suffix("").parts), at, one


def _label(written: str, at: Place, items: Items) -> Label | None:
    if written not in LABELS:
        fix = f"write one of {', '.join(LABELS)}"
        items.problems.add(at, "the label is not known", fix, shown(written))
    return LABELS.get(written)


def _rows(path: Path, items: Items) -> Iterator[tuple[Place, Any]]:
    problems = items.problems
    if path.suffix == ".jsonl":
        yield from json_lines(path, problems, remedy=SEE)
    elif path.suffix == ".csv":
        yield from csv_records(path, problems, required=_NEEDED, remedy=SEE)
    else:
        try:
            rows = load(path)
        except BadInput:
            problems.add(Place(path.name), "is damaged or no Parquet file", "fetch it again")
            return
        missing = [name for name in _NEEDED if name not in rows.column_names]
        for name in missing:
            problems.add(Place(path.name), f"column {name!r} is missing", SEE)
        if not missing:
            for number, row in enumerate(rows.select(list(_NEEDED)).to_pylist(), start=1):
                yield Place(path.name, number, "row"), row
