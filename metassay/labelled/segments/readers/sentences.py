"""Texts as lists of sentences, each with its label: JSON Lines of one's own, and CSAbstruct.

A line is {"doc_id": ..., "sentences": [...], "labels": [...], "confs": [...]}; `confs` says how
sure people were of each label (0 to 1) and may be left out. CSAbstruct (Cohan et al. 2019) has the
same but for `doc_id`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import ConfigDict, Field

from metassay.core.options import Options
from metassay.datasets.own_data import Filled, Key, checked
from metassay.labelled.segments.documents import Documents, of_sentences
from metassay.tabular.decoding import UNREAD, json_lines
from metassay.tabular.rows import Place

SEE = "docs/segmentation-tests.md has the format"


class _Text(Options):
    sentences: Annotated[list[Filled], Field(min_length=1)]
    labels: list[Key]
    confs: list[Annotated[float, Field(ge=0, le=1)]] | None = None


class _Own(_Text):
    doc_id: Key


class _Abstract(_Text):
    """One line of CSAbstruct; other keys are not read."""

    model_config = ConfigDict(extra="ignore")

    labels: list[Literal["background", "objective", "method", "result", "other"]]  # type: ignore[assignment]


_Any = TypeVar("_Any", bound=_Text)


def read(folder: Path) -> Documents:
    """Read every .jsonl file of one's own; labels may be any names of facets."""
    return _read(folder, _Own, lambda one, _: one.doc_id)


def read_csabstruct(folder: Path) -> Documents:
    """Read every .jsonl file of CSAbstruct; a text's key is its file's name and line.

    The data's own ids are all the same.
    """
    return _read(folder, _Abstract, lambda _, at: f"{Path(at.file).stem}:{at.row}")


def _read(folder: Path, line: type[_Any], key: Callable[[_Any, Place], str]) -> Documents:
    found = Documents()
    paths = sorted(folder.glob("*.jsonl"))
    if not paths:
        found.problems.add(Place(str(folder)), "holds no .jsonl file", f"put it there; {SEE}")
    for path in paths:
        for at, value in json_lines(path, found.problems, remedy=SEE):
            one = None if value is UNREAD else checked(line, value, at, found.problems)
            if one is not None:
                _add(key(one, at), one, at, found)
    return found


def _add(doc_id: str, one: _Text, at: Place, found: Documents) -> None:
    sure = [None] * len(one.sentences) if one.confs is None else one.confs
    for name, values in (("labels", one.labels), ("confs", sure)):
        if len(values) != len(one.sentences):
            counts = f"{len(values)} for {len(one.sentences)} sentences"
            found.problems.add(at, f"{name!r} is not as long as 'sentences'", SEE, counts)
            return
    words = [sentence.strip() for sentence in one.sentences]
    found.documents.append(of_sentences(at, doc_id, zip(words, one.labels, sure, strict=True)))
