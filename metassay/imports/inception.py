"""INCEpTION: marked spans, as WebAnno TSV 3 or UIMA CAS JSON, counted per label.

A project's export has a folder per document and a file per annotator,
`annotation/DOCUMENT/ANNOTATOR.tsv`. A single document's export has neither name inside.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from metassay.imports.answers import count_spans
from metassay.imports.items import TEXTS, Item, Object, Task, Tool, objects
from metassay.imports.records import FIX
from metassay.tabular.decoding import read_text
from metassay.tabular.rows import Place

_FOLDERS = ("annotation", "annotations", "curation", "curations")
_ENDING = re.compile(r"\.\w{2,4}")  # of a document, in the name of its folder
# Types of UIMA that tools add: tokens, sentences and descriptions of the document.
_BUILT_IN = re.compile(
    r"uima\..*|.*\.(Token|Sentence|DocumentMetaData|TagsetDescription|Sofa)"
)


def read(task: Task) -> Iterator[Item]:
    """Yield the document of a file, with its spans."""
    content = read_text(task.path, task.problems, remedy=FIX)
    if content is None:
        return
    if task.path.suffix.lower() == ".json":
        text, spans = _cas(json.loads(content))
    else:
        text, spans = _tsv(content)
    document, rater = _names(task.path)
    yield Item(
        place=Place(task.path.name),
        record={"document": document, "annotator": rater},
        judgments=[count_spans(spans, rater)],
        doc=document,
        system=TEXTS,
        text=text,
    )


def _names(path: Path) -> tuple[str, str]:
    """Return the names of the document and of the annotator that a path tells."""
    parent = path.resolve().parent
    if parent.parent.name in _FOLDERS or _ENDING.fullmatch(Path(parent.name).suffix):
        return parent.name, path.stem
    return path.stem, ""


# ---- WebAnno TSV 3: a line per token, with a column per feature of each layer. A span of several
# tokens has a number, `label[2]`; spans of the same token are separated by bars.

_NUMBERED = re.compile(r"(.*?)(?:\[(\d+)\])?", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)")
_BAR = re.compile(r"(?<!\\)\|")


def _tsv(content: str) -> tuple[str, list[Object]]:
    layers: list[
        tuple[str, int, bool]
    ] = []  # name, columns, whether its annotations are spans
    sentences: list[str] = []
    spans: dict[tuple[str, str, str], Object] = {}
    for number, line in enumerate(content.splitlines()):
        if line.startswith(("#T_SP=", "#T_RL=", "#T_CH=")):
            layers.append(_layer(line))
        elif line.startswith("#Text="):
            sentences.append(_unescape(line.removeprefix("#Text=")))
        elif line and not line.startswith("#"):
            cells = line.split("\t")[3:]
            start = 0
            for name, width, is_span in layers:
                if is_span and start < len(cells):
                    _add_spans(spans, name, cells[start], str(number))
                start += width
    return "\n".join(sentences), list(spans.values())


def _layer(line: str) -> tuple[str, int, bool]:
    kind, _, description = line.partition("=")
    name, *features = description.split("|")
    # A slot has a column for its target; of a relation, BT_ is the column of its source.
    columns = sum(2 if feature.startswith("ROLE_") else 1 for feature in features) or 1
    return name.rpartition(".")[2], columns, kind == "#T_SP"


def _add_spans(
    spans: dict[tuple[str, str, str], Object], layer: str, cell: str, line: str
) -> None:
    """Add the spans that a token belongs to, each once."""
    for place, part in enumerate(_BAR.split(cell)):
        matched = _NUMBERED.fullmatch(part)
        if part in ("", "_") or matched is None:
            continue
        label = _unescape(matched[1])
        if label == "_":
            continue
        # A span without a number is this token alone.
        number = matched[2] or f"{line}.{place}"
        name = layer if label == "*" else label
        spans[layer, number, name] = {"start": line, "label": name}


def _unescape(cell: str) -> str:
    return _ESCAPED.sub(
        lambda match: {"n": "\n", "t": "\t", "r": "\r"}.get(match[1], match[1]), cell
    )


# ---- UIMA CAS JSON: a list of annotations, each with its type, and the text


def _cas(value: object) -> tuple[str | None, list[Object]]:
    structures = (
        value.get("%FEATURE_STRUCTURES") if isinstance(value, Mapping) else None
    )
    text = None
    spans: list[Object] = []
    for structure in objects(structures):
        kind = str(structure.get("%TYPE") or "")
        if "sofaString" in structure:
            text = structure["sofaString"]
        elif "begin" in structure and not _BUILT_IN.fullmatch(kind):
            spans.append(
                {"start": structure["begin"], "label": _cas_label(structure, kind)}
            )
    return text, spans


def _cas_label(structure: Object, kind: str) -> str:
    """Return the first feature in words, or the type where it has none."""
    for name, value in structure.items():
        if not name.startswith(("%", "@")) and isinstance(value, str) and value:
            return value
    return kind.rpartition(".")[2]


TOOL = Tool(
    name="inception",
    what="annotations of INCEpTION",
    read=read,
    patterns=("*.tsv", "*.json"),
    marks=(("#FORMAT=WebAnno TSV*",), ("%FEATURE_STRUCTURES",)),
)
