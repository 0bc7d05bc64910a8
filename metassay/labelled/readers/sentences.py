"""Texts whose sentences are labelled: JSON Lines of one's own, CSAbstruct, PubMed RCT."""

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

SEE = "docs/benchmarks.md has the format"
PUBMED_LABELS = {
    **{"BACKGROUND": "background", "OBJECTIVE": "objective", "METHODS": "method"},
    **{"RESULTS": "result", "CONCLUSIONS": "conclusion"},
}
_BEGINS = "###"


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


def read(folder: Path) -> Documents:
    """Read every .jsonl file of one's own; labels may be any names of facets.

    A line is {"doc_id": ..., "sentences": [...], "labels": [...], "confs": [...]}; `confs` says how
    sure people were of each label (0 to 1) and may be left out.
    """
    return _read(folder, _Own, lambda one, _: one.doc_id)


def read_csabstruct(folder: Path) -> Documents:
    """Read every .jsonl file of CSAbstruct (Cohan et al. 2019); a key is a file's name and line.

    The data's own ids are all the same.
    """
    return _read(folder, _Abstract, lambda _, at: f"{Path(at.file).stem}:{at.row}")


def _read(folder: Path, model: type[_Text], key: Callable[[Any, Place], str]) -> Documents:
    found = Documents()
    paths = files(folder, "*.jsonl", found.problems, f"put it there; {SEE}")
    for at, one in parsed_lines(paths, model, found.problems, SEE):
        sure = [None] * len(one.sentences) if one.confs is None else one.confs
        lengths = {"labels": len(one.labels), "confs": len(sure)}
        wrong = [name for name, length in lengths.items() if length != len(one.sentences)]
        if wrong:
            counts = f"{lengths[wrong[0]]} for {len(one.sentences)} sentences"
            found.problems.add(at, f"{wrong[0]!r} is not as long as 'sentences'", SEE, counts)
        else:
            said = zip(map(str.strip, one.sentences), one.labels, sure, strict=True)
            found.documents.append(of_sentences(at, key(one, at), said))
    return found


def read_pubmed_rct(folder: Path) -> Documents:
    """Read every .txt file of PubMed RCT (Dernoncourt and Lee 2017): abstracts of trials.

    A line `###` with the PubMed id, which is a text's key, begins an abstract; then comes a line
    per sentence, its label in capitals, a tab, and the sentence.
    """
    found = Documents()
    remedy = f"put test.txt or another split there; {SEE}"
    for path in files(folder, "*.txt", found.problems, remedy):
        text = read_text(path, found.problems, remedy=SEE)
        if text is not None:
            begun: tuple[Place, str] | None = None
            said: list[tuple[str, str, float | None]] = []
            # Not by splitlines(): a sentence may hold a line separator of Unicode.
            for number, line in enumerate([*text.split("\n"), _BEGINS], start=1):
                at, written = Place(path.name, number), line.strip()
                if written.startswith(_BEGINS):
                    if begun is not None:
                        found.documents.append(of_sentences(*begun, said))
                    begun, said = (at, written.removeprefix(_BEGINS).strip()), []
                elif written and begun is None:
                    fix = f"begin each abstract with a line {_BEGINS} and its id; {SEE}"
                    found.problems.add(at, "a sentence is before the first abstract", fix)
                elif written and (sentence := _sentence(at, written, found)) is not None:
                    said.append(sentence)
    return found


def _sentence(at: Place, line: str, found: Documents) -> tuple[str, str, float | None] | None:
    label, tab, words = line.partition("\t")
    if not tab or not words.strip():
        fix = f"write LABEL, a tab and the sentence; {SEE}"
        found.problems.add(at, "is not a label and sentence with a tab between them", fix)
    elif label not in PUBMED_LABELS:
        fix = f"write one of {', '.join(PUBMED_LABELS)}"
        found.problems.add(at, "the label is not known", fix, shown(label))
    else:
        return words.strip(), PUBMED_LABELS[label], None
    return None
