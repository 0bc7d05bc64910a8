"""A comparison in words: what regressed first; the documents behind it, by their keys; and why.

JUnit XML is what pytest and Ant write, without a time: the same numbers make the same file.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd

from metassay.core.atomic import whole_file
from metassay.core.errors import one_line
from metassay.core.errors import shown as key_shown
from metassay.format.frames import escaped, records, to_markdown
from metassay.format.numbers import equals, probability, shown
from metassay.tables.names import FULL, metric_label
from metassay.tracking.comparison.causes import KINDS, Cause
from metassay.tracking.comparison.differences import (
    CHANGED,
    DECISION,
    IMPROVED,
    REGRESSED,
    ROW,
    UNKNOWN,
    VERDICTS,
    Comparison,
)

ROWS = 100  # of a benchmark in Markdown: CI services show a page of 1 MiB at most
SETTINGS = 3  # so many of those that changed are named
SHOWN = (REGRESSED, IMPROVED, CHANGED)  # in full; of the others, how many there are

_MEANT = {
    "data": "the data changed",
    "prompt": "the prompts changed",
    "model": "the model changed, or was trained again",
    "settings": "settings changed",
    "code": "code or packages changed",
    "answers": "the same questions got other answers",
}


def ordered(changes: pd.DataFrame) -> pd.DataFrame:
    """The rows as people want them: what regressed first, the surest of it on top."""
    rank = changes["verdict"].map({one: at for at, one in enumerate(VERDICTS)})
    keyed = changes.assign(_rank=rank, _p=changes["p_adjusted"].fillna(1.0), _alone=changes["p"])
    return keyed.sort_values(["_rank", "_p", "_alone", *ROW], ignore_index=True)[changes.columns]


def verdict_counts(changes: pd.DataFrame) -> str:
    """`2 regressed, 1 improved, 70 same numbers`: every verdict that occurs."""
    counts = changes["verdict"].value_counts()
    return ", ".join(f"{counts[one]:,} {one}" for one in VERDICTS if one in counts)


def label(row: dict[str, Any]) -> str:
    """A row's metric, with its judge and its part where they need saying."""
    part = "" if row["part"] == FULL else f" [{row['part']}]"
    return f"{metric_label(row['metric'], row['judge'])}{part}"


def interval(row: dict[str, Any]) -> str:
    """The difference with its interval."""
    ends = "" if row["low"] is None else f" [{shown(row['low'])}, {shown(row['high'])}]"
    return "" if row["difference"] is None else f"{shown(row['difference'])}{ends}"


def sentence(row: dict[str, Any]) -> str:
    """One row in a sentence, without names."""
    if row["verdict"] == UNKNOWN:
        return f"{UNKNOWN}: {row['why']}"
    numbers = f"{shown(row['before'])} -> {shown(row['after'])}, difference {interval(row)}"
    sure = f", {equals(row['p_adjusted'])} adjusted" if row["p_adjusted"] is not None else ""
    other = "" if row["same_recipe"] else "; measured in another way than before"
    why = f"; {row['why']}" if row["why"] else ""
    return f"{row['verdict']}: {numbers}{sure}, {row['n']:,} documents{other}{why}"


def readable(row: dict[str, Any], documents: str) -> dict[str, str]:
    """One row as Markdown has it, with what is said of the documents behind it."""
    return {
        "verdict": row["verdict"],
        "metric": label(row),
        "system": row["author"],
        "before": shown(row["before"]),
        "after": shown(row["after"]),
        "difference": interval(row),
        "p adjusted": probability(row["p_adjusted"]),
        "documents": documents,
    }


def documents_behind(one: Comparison) -> dict[tuple[str, ...], list[str]]:
    """The keys of the documents that moved furthest, by part, metric, judge and author."""
    found: dict[tuple[str, ...], list[str]] = {}
    for row in records(one.differences.documents):
        found.setdefault(tuple(row[name] for name in ROW), []).append(document(row["doc_id"]))
    return found


def document(doc_id: object) -> str:
    """A document's key, without quotes; of what may be somebody's text its length and hash."""
    return key_shown(doc_id)[1:-1]


def cause_lines(causes: Sequence[Cause] | None) -> Iterator[str]:
    """A line per kind of cause, with what each is and the first stage that it reaches."""
    if causes is None:
        yield "The cause is unknown: a state has no dvc.lock that lists its inputs."
        return
    for kind in KINDS:
        some = [cause for cause in causes if cause.kind == kind]
        if some:
            named = "; ".join(f"{cause.what} (stage {cause.stage})" for cause in some)
            yield f"{kind}: {_MEANT[kind]}: {named}"
    if not causes:
        yield "Scores, leaderboard and certificates did not change."


def documents_of_regressed(one: Comparison) -> list[tuple[str, int]]:
    """The documents behind what regressed, each with the number of such rows that it is behind."""
    changes = one.differences.changes
    rows = set(changes.loc[changes["verdict"] == REGRESSED, ROW].itertuples(index=False, name=None))
    counts: Counter[str] = Counter()
    for row, keys in documents_behind(one).items():
        counts.update(keys if row in rows else ())
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def outdated_lines(one: Comparison) -> Iterator[str]:
    """A line per side whose numbers are not those of its settings and code."""
    for name, changed in zip((one.before, one.after), one.outdated, strict=True):
        if changed:
            more = f" and {len(changed) - SETTINGS:,} more" if len(changed) > SETTINGS else ""
            yield (
                f"{name}: {one.benchmark} was not run since {', '.join(changed[:SETTINGS])}{more}"
                f" changed; `metassay run {one.benchmark}` there, and commit its dvc.lock"
            )


def certificate_lines(certificates: pd.DataFrame) -> Iterator[str]:
    """A line per decision for which another verdict is given than before."""
    for row in records(certificates):
        study, criterion, part, metric, judge, level = (row[name] for name in DECISION)
        where = f"{criterion} ({study}), {level}" + ("" if part == FULL else f", {part}")
        was, now = (row[side] or "no verdict" for side in ("before", "after"))
        yield f"{metric_label(metric, judge)} for {where}: {was} -> {now}"


def missing(changes: pd.DataFrame) -> str:
    """How many answers are missing on each side; empty where none is."""
    before, after = int(changes["n_failed_before"].sum()), int(changes["n_failed_after"].sum())
    if not before and not after:
        return ""
    rows = int((changes["n_failed_before"] + changes["n_failed_after"] > 0).sum())
    return (
        f"missing answers or failed texts affect {rows:,} of {len(changes):,} rows"
        f" ({before:,} before, {after:,} after)"
    )


def markdown(compared: Iterable[Comparison]) -> str:
    """The comparisons as a Markdown page; of several benchmarks with a table of them first."""
    every = list(compared)
    overview: list[str] = []
    if len(every) > 1:
        counts = [one.differences.changes["verdict"].value_counts() for one in every]
        rows = [
            {"benchmark": one.benchmark, **{name: int(count.get(name, 0)) for name in VERDICTS}}
            for one, count in zip(every, counts, strict=True)
        ]
        overview = [to_markdown(pd.DataFrame(rows)), ""]
    return "\n".join([*overview, *(line for one in every for line in _page(one))]) + "\n"


def table(one: Comparison) -> pd.DataFrame:
    """Table CHANGES in the order of `ordered`, with benchmark, both names and documents."""
    changes = ordered(one.differences.changes)
    behind = documents_behind(one)
    keys = [" ".join(behind.get(row, ())) for row in map(tuple, changes[ROW].to_numpy())]
    made = changes.assign(documents=keys)
    for at, name in enumerate(("benchmark", "before", "after")):
        made.insert(at, {"benchmark": name}.get(name, f"side_{name}"), getattr(one, name))
    return made


def _page(one: Comparison) -> Iterator[str]:
    changes = ordered(one.differences.changes)
    yield from (f"## {escaped(f'{one.benchmark}: {one.before} → {one.after}')}", "")
    yield from (f"{verdict_counts(changes)}.", "")
    behind = documents_behind(one)
    rows = [
        readable(row, " ".join(behind.get(tuple(row[name] for name in ROW), ())))
        for row in records(changes)
        if row["verdict"] in SHOWN
    ]
    yield from sections(rows[:ROWS], one.certificates)
    if len(rows) > ROWS:
        yield from (f"And {len(rows) - ROWS:,} more rows: `--csv FILE` has all.", "")
    if said := missing(changes):
        yield from (f"{said[0].upper()}{said[1:]}.", "")
    yield from (f"{escaped(line)}\n" for line in outdated_lines(one))
    if not one.of_systems:
        yield from ("Why:", "", *(f"- {escaped(line)}" for line in cause_lines(one.causes)), "")


def sections(rows: Sequence[dict[str, str]], certificates: pd.DataFrame) -> Iterator[str]:
    """Rows of `readable`, and the certificates that changed, in Markdown."""
    if rows:
        yield from (to_markdown(pd.DataFrame(rows)), "")
    if lines := [f"- {escaped(line)}" for line in certificate_lines(certificates)]:
        yield from ("Certificates:", "", *lines, "")


def write_junit(compared: Iterable[Comparison], file: Path) -> None:
    """Write one suite per benchmark: regressed is a failure, `cannot tell` is skipped."""
    whole = ElementTree.Element("testsuites", {"name": "metassay compare"})
    for one in compared:
        name = one_line(f"{one.benchmark}: {one.before} -> {one.after}")
        suite = ElementTree.SubElement(whole, "testsuite", {"name": name})
        behind = documents_behind(one)
        for row in records(one.differences.changes):
            names = {"classname": f"{one.benchmark}.{row['author']}", "name": label(row)}
            named = {key: one_line(name) for key, name in names.items()}
            case = ElementTree.SubElement(suite, "testcase", {**named, "time": "0"})
            said = {"message": one_line(sentence(row))}
            if row["verdict"] == REGRESSED:
                failure = ElementTree.SubElement(case, "failure", {**said, "type": REGRESSED})
                keys = ", ".join(behind[tuple(row[name] for name in ROW)])
                failure.text = one_line(f"documents that moved furthest: {keys}")
            elif row["verdict"] == UNKNOWN:
                ElementTree.SubElement(case, "skipped", said)
    tags = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
    for around in (whole, *whole):
        around.attrib.update({name: str(len([*around.iter(tag)])) for name, tag in tags.items()})
        around.attrib["time"] = "0"
    ElementTree.indent(whole)
    with whole_file(file) as made:
        made.write(ElementTree.tostring(whole, encoding="utf-8", xml_declaration=True) + b"\n")
