"""Read ScholarSum (Guo et al. 2024): abstracts of papers by several systems, rated by facet.

A folder has one part of the set, as a file of JSON lines. The files have no stated licence, so use
them for local checks only.
"""

import json
from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import Any

from metassay.core.errors import shown
from metassay.datasets.own_data import json_number
from metassay.tables.names import FULL, REFERENCE
from metassay.tabular.decoding import UNREAD, json_lines, parse_json
from metassay.tabular.rows import AGAIN, Place, Rows, SegmentRow, TextRow, source_row
from metassay.text.patterns import read_pairs

FACETS = ("background", "method", "result", "conclusion")
METRICS = read_pairs(__file__, "metrics")
BY_FACET = {"gpt35_fm_list": "scholarsum_fm_gpt35", "gpt4_fm_list": "scholarsum_fm_gpt4"}
RATER = "released"

_NAMES = {"bartlarge": "bart_large"}  # other systems have the names in their keys
_ASPECT = "_aspect"
_HUMAN = "_human"


def read(folder: Path) -> Rows:
    """Read the single JSON file of a folder; each line is a paper, numbered from 0.

    Documents are named by file and number, the study `scholarsum_` and the file. Systems are those
    with a `<system>_human` in any record; a warning names other keys. Equal records are read once.

    Passages are the article's lines. Ratings: `overall`, and a criterion per facet. A facet that
    is released as 0 is null: the reference lacks it, so it was not rated. The released metrics of
    that facet are null, too, though the file has numbers: the released overall scores of people and
    metrics leave it out. Segments are the released facets; an empty facet has no row.
    """
    rows = Rows()
    path = _only_file(folder, rows)
    if path is None:
        return rows
    papers = list(_papers(path, rows))
    keys = {key for _, _, paper in papers for key in paper}
    rated = (key.removesuffix(_HUMAN) for key in keys if key.endswith(_HUMAN))
    systems = sorted(filter(None, rated))
    if papers and not systems:
        rows.wrong(Place(path.name), "has no system that people scored: no key ends in '_human'")
    for at, number, paper in papers:
        _add_paper(at, f"{path.stem}_{number:02d}", paper, keys, systems, rows)
    return rows


def _only_file(folder: Path, rows: Rows) -> Path | None:
    files = sorted(folder.glob("*.json")) if folder.is_dir() else []
    if len(files) == 1:
        return files[0]
    what = f"has {len(files)} files *.json" if folder.is_dir() else "is not a folder"
    rows.wrong(Place(str(folder)), what, remedy="put one part of ScholarSum, one file, into it")
    return None


def _papers(path: Path, rows: Rows) -> Iterator[tuple[Place, int, dict[str, Any]]]:
    """Yield every record with its place and number; other lines are problems."""
    seen: dict[str, Place] = {}
    articles: dict[str, Place] = {}
    for number, (at, value) in enumerate(json_lines(path, rows.problems, remedy=AGAIN)):
        if value is UNREAD:
            continue
        if not isinstance(value, dict):
            rows.wrong(at, "is not an object with named values")
            continue
        whole = json.dumps(value, sort_keys=True)
        first = seen.setdefault(whole, at)
        if first is not at:
            what, fix = "is the same record as an earlier line", "it is read once"
            rows.warnings.add(at, what, fix, f"as line {first.row}")
            continue
        article = json.dumps(value.get("article"))
        first = articles.setdefault(article, at)
        if first is not at:
            what = "has the article of an earlier line, and differs in something else"
            rows.warnings.add(at, what, "both are read", f"as line {first.row}")
        yield at, number, value


def _add_paper(
    at: Place,
    doc_id: str,
    paper: dict[str, Any],
    keys: Set[str],
    systems: Sequence[str],
    rows: Rows,
) -> None:
    """Add a paper; `keys` and rated `systems` are those of all papers."""
    part = doc_id.rpartition("_")[0]
    article, abstract = (_text(at, paper, name, rows) for name in ("article", "human"))
    passages = [line.strip() for line in article.split("\n") if line.strip()]
    rows.sources.append(source_row(at, doc_id, "abstract", passages))
    rows.texts.append(TextRow(at, doc_id, REFERENCE, FULL, abstract))
    read = {"article", "human", f"human{_ASPECT}"}
    _add_segments(at, doc_id, REFERENCE, f"human{_ASPECT}", paper, rows)
    for system in systems:
        author = _NAMES.get(system, system)
        rows.texts.append(TextRow(at, doc_id, author, FULL, _text(at, paper, system, rows)))
        _add_segments(at, doc_id, author, f"{system}{_ASPECT}", paper, rows)
        grades = _add_ratings(at, doc_id, author, system, paper, part, rows)
        names = [name for name in (*METRICS, *BY_FACET) if f"{system}_{name}" in keys]
        for name in names:
            by = dict(_scores(at, f"{system}_{name}", name, paper, grades, rows))
            rows.score(at, (doc_id, author, FULL), by)
        endings = (_ASPECT, _HUMAN, f"{_HUMAN}_list", *(f"_{name}" for name in names))
        read |= {system, *(f"{system}{ending}" for ending in endings)}
    for key in sorted(paper.keys() - read):
        rows.warnings.add(at, f"{shown(key)} is not read", "nothing needs it; correct its spelling")


def _add_segments(
    at: Place, doc_id: str, author: str, name: str, paper: dict[str, Any], rows: Rows
) -> None:
    if name not in paper:
        rows.warnings.add(at, f"{shown(name)} is not there", "this text has no released facets")
        return
    facets = paper[name]
    if isinstance(facets, str):
        of_this = Place(at.file, f"{at.row} > {shown(name)}", at.kind)
        facets = parse_json(facets, of_this, rows.problems)
        if facets is UNREAD:
            return
    if not isinstance(facets, dict):
        rows.wrong(at, f"{shown(name)} is not an object of facets written as JSON")
        return
    for facet in FACETS:
        text = _segment(at, facets, facet, f"{name} > {facet}", rows)
        if text.strip():
            rows.segments.append(SegmentRow(at, doc_id, author, facet, text))
    for other in sorted(facets.keys() - set(FACETS)):
        what = f"{shown(name)} has another facet, {shown(other)}"
        rows.warnings.add(at, what, f"it is not read; facets are {', '.join(FACETS)}")


def _segment(at: Place, facets: dict[str, Any], facet: str, name: str, rows: Rows) -> str:
    """Return the facet's text, empty if it is absent."""
    text = facets.get(facet)
    if facet not in facets:
        rows.warnings.add(at, f"{shown(name)} is not there", "it counts as absent from the text")
    elif isinstance(text, list) and all(isinstance(piece, str) for piece in text):
        rows.warnings.add(
            at, f"{shown(name)} is a list, not a text", "its pieces are joined by blanks"
        )
        return " ".join(text)
    elif text is not None and not isinstance(text, str):
        rows.wrong(at, f"{shown(name)} is not text")
    return text if isinstance(text, str) else ""


def _add_ratings(
    at: Place, doc_id: str, author: str, system: str, paper: dict[str, Any], part: str, rows: Rows
) -> list[float | None]:
    """Add ratings; return the grades of the facets, None where not rated."""
    name = f"{system}{_HUMAN}"
    overall = json_number(at, paper.get(name), name, rows)
    grades = [value or None for value in _by_facet(at, paper, f"{name}_list", rows)]
    values = {"overall": overall, **dict(zip(FACETS, grades, strict=True))}
    rows.rate(at, (f"scholarsum_{part}", doc_id, author, FULL, "text", RATER), values)
    return grades


def _scores(
    at: Place, key: str, name: str, paper: dict[str, Any], grades: list[float | None], rows: Rows
) -> Iterator[tuple[str, float | None]]:
    if name in METRICS:
        yield METRICS[name], json_number(at, paper.get(key), key, rows)
        return
    values = _by_facet(at, paper, key, rows)
    for facet, grade, value in zip(FACETS, grades, values, strict=True):
        yield f"{BY_FACET[name]}_{facet}", None if grade is None else value


def _by_facet(at: Place, paper: dict[str, Any], name: str, rows: Rows) -> list[float | None]:
    values = paper.get(name)
    if not isinstance(values, list) or len(values) != len(FACETS):
        rows.wrong(at, f"{shown(name)} is not a list of {len(FACETS)} numbers")
        return [None] * len(FACETS)
    return [json_number(at, value, name, rows) for value in values]


def _text(at: Place, paper: dict[str, Any], name: str, rows: Rows) -> str:
    text = paper.get(name)
    if isinstance(text, str) and text.strip():
        return text
    rows.wrong(at, f"{shown(name)} is not text")
    return ""
