"""A comparison in words: regressions first, the keys of the documents behind them, and why.

JUnit XML is as pytest and Ant write it, but without a time, so that equal numbers make
equal files.
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
from metassay.format.frames import escape_markdown, format_markdown, records
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
SETTINGS = 3  # how many of those that changed are named
SHOWN = (REGRESSED, IMPROVED, CHANGED)  # in full; the others are only counted

_MEANINGS = {
    "data": "the data changed",
    "prompt": "the prompts changed",
    "model": "the model changed, or was trained again",
    "settings": "settings changed",
    "code": "code or packages changed",
    "answers": "the same questions got other answers",
}


def sort_changes(changes: pd.DataFrame) -> pd.DataFrame:
    """Sort the rows by verdict, regressions first, then by p."""
    rank = changes["verdict"].map(
        {verdict: position for position, verdict in enumerate(VERDICTS)}
    )
    keyed = changes.assign(
        _rank=rank, _p=changes["p_adjusted"].fillna(1.0), _alone=changes["p"]
    )
    return keyed.sort_values(["_rank", "_p", "_alone", *ROW], ignore_index=True)[
        changes.columns
    ]


def verdict_counts(changes: pd.DataFrame) -> str:
    """Return every verdict that occurs: `2 regressed, 1 improved, 70 same numbers`."""
    counts = changes["verdict"].value_counts()
    return ", ".join(
        f"{counts[verdict]:,} {verdict}" for verdict in VERDICTS if verdict in counts
    )


def label(row: dict[str, Any]) -> str:
    """Return a row's metric, with its judge and part where they are needed."""
    part = "" if row["part"] == FULL else f" [{row['part']}]"
    return f"{metric_label(row['metric'], row['judge'])}{part}"


def interval(row: dict[str, Any]) -> str:
    """Return the difference with its interval."""
    ends = "" if row["low"] is None else f" [{shown(row['low'])}, {shown(row['high'])}]"
    return "" if row["difference"] is None else f"{shown(row['difference'])}{ends}"


def sentence(row: dict[str, Any]) -> str:
    """Describe a row in a sentence, without names."""
    if row["verdict"] == UNKNOWN:
        return f"{UNKNOWN}: {row['why']}"
    numbers = (
        f"{shown(row['before'])} -> {shown(row['after'])}, difference {interval(row)}"
    )
    sure = (
        f", {equals(row['p_adjusted'])} adjusted"
        if row["p_adjusted"] is not None
        else ""
    )
    other = "" if row["same_recipe"] else "; measured in another way than before"
    why = f"; {row['why']}" if row["why"] else ""
    return f"{row['verdict']}: {numbers}{sure}, {row['n']:,} documents{other}{why}"


def readable_row(row: dict[str, Any], documents: str) -> dict[str, str]:
    """Return a row as Markdown has it; `documents` describes the documents behind it."""
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


def documents_behind(comparison: Comparison) -> dict[tuple[str, ...], list[str]]:
    """Return the keys of the documents that moved furthest, by part, metric, judge and author."""
    documents: dict[tuple[str, ...], list[str]] = {}
    for row in records(comparison.differences.documents):
        documents.setdefault(tuple(row[name] for name in ROW), []).append(
            document(row["doc_id"])
        )
    return documents


def document(doc_id: object) -> str:
    """Return a document's key without quotes; length and hash of a key that may be a text."""
    return key_shown(doc_id)[1:-1]


def cause_lines(causes: Sequence[Cause] | None) -> Iterator[str]:
    """Yield a line per kind of cause, with each cause and the first stage that it reaches."""
    if causes is None:
        yield "The cause is unknown: a state has no dvc.lock that lists its inputs."
        return
    for kind in KINDS:
        roots = [
            f"{cause.what} (stage {cause.stage})"
            for cause in causes
            if cause.kind == kind
        ]
        if roots:
            yield f"{kind}: {_MEANINGS[kind]}: {'; '.join(roots)}"
    if not causes:
        yield "Scores, leaderboard and certificates did not change."


def documents_of_regressed(comparison: Comparison) -> list[tuple[str, int]]:
    """Return the documents behind regressions, each with the number of such rows."""
    changes = comparison.differences.changes
    rows = set(
        changes.loc[changes["verdict"] == REGRESSED, ROW].itertuples(
            index=False, name=None
        )
    )
    counts: Counter[str] = Counter()
    for row, keys in documents_behind(comparison).items():
        counts.update(keys if row in rows else ())
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def outdated_lines(comparison: Comparison) -> Iterator[str]:
    """Yield a line per side whose settings, code or data changed since its run."""
    names = comparison.before, comparison.after
    for name, changed in zip(names, comparison.outdated, strict=True):
        if changed:
            more = (
                f" and {len(changed) - SETTINGS:,} more"
                if len(changed) > SETTINGS
                else ""
            )
            yield (
                f"{name}: {comparison.benchmark} was not run since"
                f" {', '.join(changed[:SETTINGS])}{more} changed;"
                f" `metassay run {comparison.benchmark}` there, and commit its dvc.lock"
            )


def certificate_lines(certificates: pd.DataFrame) -> Iterator[str]:
    """Yield a line per decision that has another verdict than before."""
    for row in records(certificates):
        study, criterion, part, metric, judge, level = (row[name] for name in DECISION)
        of_study = f" ({study})" if study else ""
        where = f"{criterion}{of_study}, {level}" + (
            "" if part == FULL else f", {part}"
        )
        old, new = (row[side] or "no verdict" for side in ("before", "after"))
        yield f"{metric_label(metric, judge)} for {where}: {old} -> {new}"


def rows_in_full(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the sorted rows that are shown; of headline numbers, those that moved."""
    rows = records(sort_changes(comparison.differences.changes))
    if comparison.by_headline:
        return [row for row in rows if row["before"] != row["after"]]
    return [row for row in rows if row["verdict"] in SHOWN]


def headline_lines(comparison: Comparison) -> Iterator[str]:
    """Yield what to know of a comparison without tables."""
    if not comparison.by_headline:
        return
    if not comparison.untested:
        yield "Tables are not there; both locks name the same scores."
        return
    name = comparison.benchmark
    yield (
        "Tables are not there, so headline numbers and locks are compared: no difference"
        " is tested."
    )
    yield (
        f"To test them, bring the tables of both states: `metassay push {name} --to"
        f" REMOTE` where they were made, `dvc pull benchmarks/{name}/dvc.yaml` here"
    )


def missing_answers(changes: pd.DataFrame) -> str:
    """Say how many answers are missing on each side; empty if none is."""
    before, after = (
        int(changes["n_failed_before"].sum()),
        int(changes["n_failed_after"].sum()),
    )
    if not before and not after:
        return ""
    rows = int((changes["n_failed_before"] + changes["n_failed_after"] > 0).sum())
    return (
        f"missing answers or failed texts affect {rows:,} of {len(changes):,} rows"
        f" ({before:,} before, {after:,} after)"
    )


def markdown(comparisons: Sequence[Comparison]) -> str:
    """Return the comparisons as a Markdown page; of several, a table of their verdicts first."""
    lines: list[str] = []
    if len(comparisons) > 1:
        counts = {
            c.benchmark: c.differences.changes["verdict"].value_counts()
            for c in comparisons
        }
        rows = [
            {
                "benchmark": benchmark,
                **{name: int(count.get(name, 0)) for name in VERDICTS},
            }
            for benchmark, count in counts.items()
        ]
        lines = [format_markdown(pd.DataFrame(rows)), ""]
    for comparison in comparisons:
        lines += _page(comparison)
    return "\n".join(lines) + "\n"


def table(comparison: Comparison) -> pd.DataFrame:
    """Return table CHANGES, sorted, with benchmark, both names and documents."""
    changes = sort_changes(comparison.differences.changes)
    behind = documents_behind(comparison)
    keys = [
        " ".join(behind.get(row, ())) for row in map(tuple, changes[ROW].to_numpy())
    ]
    names = [comparison.benchmark, comparison.before, comparison.after]
    for position, column in enumerate(("benchmark", "side_before", "side_after")):
        changes.insert(position, column, names[position])
    return changes.assign(documents=keys)


def _page(comparison: Comparison) -> Iterator[str]:
    changes = sort_changes(comparison.differences.changes)
    title = f"{comparison.benchmark}: {comparison.before} → {comparison.after}"
    yield from (f"## {escape_markdown(title)}", "")
    yield from (f"{verdict_counts(changes)}.", "")
    behind = documents_behind(comparison)
    rows = [
        readable_row(row, " ".join(behind.get(tuple(row[name] for name in ROW), ())))
        for row in rows_in_full(comparison)
    ]
    yield from (f"{escape_markdown(line)}\n" for line in headline_lines(comparison))
    yield from sections(rows[:ROWS], comparison.certificates)
    if len(rows) > ROWS:
        yield from (f"And {len(rows) - ROWS:,} more rows: `--csv FILE` has all.", "")
    if text := missing_answers(changes):
        yield from (f"{text[0].upper()}{text[1:]}.", "")
    yield from (f"{escape_markdown(line)}\n" for line in outdated_lines(comparison))
    if not comparison.of_systems:
        causes = cause_lines(comparison.causes)
        yield from ("Why:", "", *(f"- {escape_markdown(line)}" for line in causes), "")


def sections(
    rows: Sequence[dict[str, str]], certificates: pd.DataFrame
) -> Iterator[str]:
    """Yield rows of `readable_row`, and the certificates that changed, in Markdown."""
    if rows:
        yield from (format_markdown(pd.DataFrame(rows)), "")
    if lines := [
        f"- {escape_markdown(line)}" for line in certificate_lines(certificates)
    ]:
        yield from ("Certificates:", "", *lines, "")


def write_junit(compared: Iterable[Comparison], file: Path) -> None:
    """Write one suite per benchmark: regressed is a failure, `cannot tell` is skipped."""
    root = ElementTree.Element("testsuites", {"name": "metassay compare"})
    for comparison in compared:
        name = one_line(
            f"{comparison.benchmark}: {comparison.before} -> {comparison.after}"
        )
        suite = ElementTree.SubElement(root, "testsuite", {"name": name})
        behind = documents_behind(comparison)
        for row in records(comparison.differences.changes):
            names = {
                "classname": f"{comparison.benchmark}.{row['author']}",
                "name": label(row),
            }
            attributes = {key: one_line(name) for key, name in names.items()}
            case = ElementTree.SubElement(
                suite, "testcase", {**attributes, "time": "0"}
            )
            message = {"message": one_line(sentence(row))}
            if row["verdict"] == REGRESSED:
                failure = ElementTree.SubElement(
                    case, "failure", {**message, "type": REGRESSED}
                )
                keys = ", ".join(behind[tuple(row[name] for name in ROW)])
                failure.text = one_line(f"documents that moved furthest: {keys}")
            elif row["verdict"] == UNKNOWN:
                ElementTree.SubElement(case, "skipped", message)
    tags = {
        "tests": "testcase",
        "failures": "failure",
        "errors": "error",
        "skipped": "skipped",
    }
    for element in (root, *root):
        element.attrib.update(
            {name: str(len([*element.iter(tag)])) for name, tag in tags.items()}
        )
        element.attrib["time"] = "0"
    ElementTree.indent(root)
    with whole_file(file) as stream:
        stream.write(
            ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"
        )
