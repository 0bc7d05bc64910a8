"""PubMed RCT (Dernoncourt and Lee 2017): abstracts of trials, each sentence with its role.

Text files. A line `###` with the PubMed id begins an abstract; then comes a line per sentence, its
label in capitals, a tab, and the sentence.
"""

from pathlib import Path

from metassay.core.errors import shown
from metassay.labelled.segments.documents import Documents, of_sentences
from metassay.tabular.decoding import decode, read_bytes
from metassay.tabular.rows import Place

LABELS = {
    "BACKGROUND": "background",
    "OBJECTIVE": "objective",
    "METHODS": "method",
    "RESULTS": "result",
    "CONCLUSIONS": "conclusion",
}
SEE = "docs/segmentation-tests.md has the format"

_BEGINS = "###"


def read(folder: Path) -> Documents:
    """Read every .txt file; a text's key is its PubMed id."""
    found = Documents()
    paths = sorted(folder.glob("*.txt"))
    if not paths:
        what = "holds no .txt file"
        found.problems.add(Place(str(folder)), what, f"put test.txt or another split there; {SEE}")
    for path in paths:
        data = read_bytes(path, found.problems, remedy=SEE)
        text = None if data is None else decode(data, path, found.problems)
        if text is not None:
            _add_abstracts(path.name, text, found)
    return found


def _add_abstracts(name: str, text: str, found: Documents) -> None:
    begun: tuple[Place, str] | None = None
    said: list[tuple[str, str, float | None]] = []
    # Not by splitlines(): a sentence may hold a line separator of Unicode.
    for number, line in enumerate([*text.split("\n"), _BEGINS], start=1):
        at, written = Place(name, number), line.strip()
        if written.startswith(_BEGINS):
            if begun is not None:
                found.documents.append(of_sentences(*begun, said))
            begun, said = (at, written.removeprefix(_BEGINS).strip()), []
        elif written and begun is None:
            fix = f"begin each abstract with a line {_BEGINS} and its id; {SEE}"
            found.problems.add(at, "a sentence is before the first abstract", fix)
        elif written and (sentence := _sentence(at, written, found)) is not None:
            said.append(sentence)


def _sentence(at: Place, line: str, found: Documents) -> tuple[str, str, float | None] | None:
    label, tab, words = line.partition("\t")
    if not tab or not words.strip():
        fix = f"write LABEL, a tab and the sentence; {SEE}"
        found.problems.add(at, "is no label and sentence with a tab between them", fix)
        return None
    if label not in LABELS:
        fix = f"write one of {', '.join(LABELS)}"
        found.problems.add(at, "the label is not known", fix, shown(label))
        return None
    return words.strip(), LABELS[label], None
