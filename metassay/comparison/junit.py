"""A comparison as JUnit XML, which every CI service reads: a test case per metric and system.

The elements and attributes are those that pytest and Ant write. A time is in none of them, so that
the same numbers make the same file.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from metassay.atomic import whole_file
from metassay.comparison.compare import Comparison
from metassay.comparison.verdicts import REGRESSED, UNKNOWN
from metassay.comparison.words import documents_behind, label, said_of
from metassay.errors import one_line
from metassay.reporting.tables import records


def write_junit(compared: Iterable[Comparison], file: Path) -> None:
    """Write one suite per benchmark: regressed is a failure, `cannot tell` is skipped."""
    suites = [_suite(one) for one in compared]
    whole = ElementTree.Element("testsuites", {"name": "metassay compare", **_total(suites)})
    whole.extend(suites)
    ElementTree.indent(whole)
    with whole_file(file) as made:
        made.write(ElementTree.tostring(whole, encoding="utf-8", xml_declaration=True))
        made.write(b"\n")


def _suite(one: Comparison) -> ElementTree.Element:
    behind = documents_behind(one)
    cases = [_case(one.benchmark, row, behind) for row in records(one.differences.changes)]
    name = one_line(f"{one.benchmark}: {one.before} -> {one.after}")
    suite = ElementTree.Element("testsuite", {"name": name, **_counts(cases)})
    suite.extend(cases)
    return suite


def _counts(cases: list[ElementTree.Element]) -> dict[str, str]:
    found = {
        tag: sum(case.find(tag) is not None for case in cases) for tag in ("failure", "skipped")
    }
    return {
        **{"tests": str(len(cases)), "failures": str(found["failure"]), "errors": "0"},
        **{"skipped": str(found["skipped"]), "time": "0"},
    }


def _total(suites: list[ElementTree.Element]) -> dict[str, str]:
    counted = ("tests", "failures", "errors", "skipped")
    sums = {name: sum(int(one.attrib[name]) for one in suites) for name in counted}
    return {**{name: str(number) for name, number in sums.items()}, "time": "0"}


def _case(benchmark: str, row: dict[str, Any], behind: dict[tuple[str, ...], list[str]]) -> Any:
    names = {"classname": f"{benchmark}.{row['author']}", "name": label(row), "time": "0"}
    case = ElementTree.Element("testcase", {key: one_line(name) for key, name in names.items()})
    said = one_line(said_of(row))
    if row["verdict"] == REGRESSED:
        failure = ElementTree.SubElement(case, "failure", {"message": said, "type": REGRESSED})
        keys = behind[row["part"], row["metric"], row["judge"], row["author"]]
        failure.text = one_line(f"documents that moved furthest: {', '.join(keys)}")
    elif row["verdict"] == UNKNOWN:
        ElementTree.SubElement(case, "skipped", {"message": said})
    return case
