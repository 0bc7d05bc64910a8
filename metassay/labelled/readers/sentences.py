"""Texts with labelled sentences: a user's JSON Lines, CSAbstruct, PubMed RCT."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from metassay.core.errors import shown
from metassay.core.options import Options
from metassay.datasets.own_data import Filled, Key
from metassay.labelled.records import Documents, files, of_sentences, parsed_lines
from metassay.tabular.decoding import read_text
from metassay.tabular.rows import Place

VERSION = 1  # raised by whoever changes results of this module's kinds

SEE = "docs/segmentations.md has the format"
PUBMED_LABELS = {
    "BACKGROUND": "background",
    "OBJECTIVE": "objective",
    "METHODS": "method",
    "RESULTS": "result",
    "CONCLUSIONS": "conclusion",
}
_BEGINS = "###"


class _Text(Options):
    sentences: Annotated[list[Filled], Field(min_length=1)]
    labels: list[Key]
    confs: list[Annotated[float, Field(ge=0, le=1)]] | None = None


class _WithId(_Text):
    doc_id: Key


class _Abstract(_Text):
    """A line of CSAbstruct; other keys are not read."""

    model_config = ConfigDict(extra="ignore")

    labels: list[Literal["background", "objective", "method", "result", "other"]]  # type: ignore[assignment]


def read(folder: Path) -> Documents:
    """Read every .jsonl file of a user; labels may be any names of facets.

    A line is {"doc_id": ..., "sentences": [...], "labels": [...], "confs": [...]};
    `confs` says how sure people were of each label (0 to 1) and may be left out.
    """
    return _read(folder, _WithId, lambda text, _: text.doc_id)


def read_csabstruct(folder: Path) -> Documents:
    """Read every .jsonl file of CSAbstruct (Cohan et al. 2019); a key is a file's name and line.

    The ids in the data are all the same.
    """
    return _read(folder, _Abstract, lambda _, at: f"{Path(at.file).stem}:{at.row}")


def _read(
    folder: Path, model: type[_Text], key: Callable[[Any, Place], str]
) -> Documents:
    data = Documents()
    paths = files(folder, "*.jsonl", data.problems, f"put it there; {SEE}")
    for at, text in parsed_lines(paths, model, data.problems, SEE):
        confidences = [None] * len(text.sentences) if text.confs is None else text.confs
        lengths = {"labels": len(text.labels), "confs": len(confidences)}
        unequal = [
            name for name, length in lengths.items() if length != len(text.sentences)
        ]
        if unequal:
            counts = f"{lengths[unequal[0]]} for {len(text.sentences)} sentences"
            data.problems.add(
                at, f"{unequal[0]!r} is not as long as 'sentences'", SEE, counts
            )
        else:
            sentences = zip(
                map(str.strip, text.sentences), text.labels, confidences, strict=True
            )
            data.documents.append(of_sentences(at, key(text, at), sentences))
    return data


def read_pubmed_rct(folder: Path) -> Documents:
    """Read every .txt file of PubMed RCT (Dernoncourt and Lee 2017): abstracts of trials.

    An abstract begins with a line of `###` and the PubMed id, which is its key; then
    comes a line per sentence: its label in capitals, a tab, and the sentence.
    """
    data = Documents()
    remedy = f"put test.txt or another split there; {SEE}"
    for path in files(folder, "*.txt", data.problems, remedy):
        text = read_text(path, data.problems, remedy=SEE)
        if text is not None:
            header: tuple[Place, str] | None = None
            sentences: list[tuple[str, str, float | None]] = []
            # Not splitlines(): a sentence may contain a Unicode line separator.
            for number, line in enumerate([*text.split("\n"), _BEGINS], start=1):
                place, stripped = Place(path.name, number), line.strip()
                if stripped.startswith(_BEGINS):
                    if header is not None:
                        data.documents.append(of_sentences(*header, sentences))
                    header, sentences = (
                        (place, stripped.removeprefix(_BEGINS).strip()),
                        [],
                    )
                elif stripped and header is None:
                    fix = f"begin each abstract with a line {_BEGINS} and its id; {SEE}"
                    data.problems.add(
                        place, "a sentence is before the first abstract", fix
                    )
                elif (
                    stripped
                    and (sentence := _sentence(place, stripped, data)) is not None
                ):
                    sentences.append(sentence)
    return data


def _sentence(
    at: Place, line: str, data: Documents
) -> tuple[str, str, float | None] | None:
    label, tab, words = line.partition("\t")
    if not tab or not words.strip():
        fix = f"write LABEL, a tab and the sentence; {SEE}"
        data.problems.add(
            at, "is not a label and sentence with a tab between them", fix
        )
    elif label not in PUBMED_LABELS:
        fix = f"write one of {', '.join(PUBMED_LABELS)}"
        data.problems.add(at, "the label is not known", fix, shown(label))
    else:
        return words.strip(), PUBMED_LABELS[label], None
    return None
