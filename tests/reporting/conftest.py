"""The invented benchmark as stages leave it, and reports made from it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
import pytest

from metassay.core.options import Criterion
from metassay.core.params import load
from metassay.core.stages import files_in
from metassay.meta_evaluation.options import CertificationOptions
from metassay.reporting.contract_page import TABLES
from metassay.reporting.page import Report
from metassay.reporting.published.cells import Ours
from metassay.reporting.published.index import compare_all
from metassay.reporting.report import ReportInput, write_report
from metassay.statistics.document_means import Resampling
from metassay.tables.notes import NOTES
from metassay.tables.parquet import empty, round_trip, write
from metassay.tables.responses import RESPONSES
from tests.reporting import page_data
from tests.reporting.invented_report import NAMES, PUBLISHED, SCRIPT, Frames, rows

AnyReport = TypeVar("AnyReport", bound=Report)
SCALES = {
    name: Criterion(low=0, high=high, better="higher")
    for name, high in (("completeness", 100), ("coverage", 1), ("preference", 1))
}


@pytest.fixture(scope="session")
def frames() -> Frames:
    """The invented tables as stages leave them: validated, sorted, rounded."""
    return {
        name: round_trip(
            TABLES[name], pd.DataFrame(of, columns=list(TABLES[name].columns))
        )
        for name, of in rows().items()
    }


def changed(report: AnyReport, **changes: Any) -> AnyReport:
    """The report with these fields, and of its tables those that are named, changed."""
    fields = {
        name: changes.pop(name) for name in list(changes) if hasattr(report, name)
    }
    return replace(report, tables={**report.tables, **changes}, **fields)


@pytest.fixture(scope="session")
def make_report(frames: Frames) -> Callable[..., ReportInput]:
    """The invented report, with the named fields changed; `published` names comparisons."""
    report = ReportInput(
        benchmark="tiny",
        title=f"Tiny {SCRIPT}",
        licence="CC0 & none",
        citation="Nobody 2026, https://example.org/tiny",
        invented=True,
        seen=["words: looked at & noted"],
        scales=SCALES,
        tables=frames,
        certification=CertificationOptions(),
        resampling=Resampling(resamples=50, confidence=0.95, seed=1),
    )
    ours = Ours(*(frames[name] for name in Ours._fields))

    def make(published: list[str] | None = None, **changes: Any) -> ReportInput:
        if published:
            changes["published"] = compare_all(published, PUBLISHED, ours)
        return changed(report, **changes)

    return make


@pytest.fixture(scope="session")
def nothing() -> Frames:
    """Every table without a row."""
    return {name: empty(TABLES[name]) for name in NAMES}


@pytest.fixture(scope="session")
def written(
    make_report: Callable[..., ReportInput], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The folder of the invented report with one comparison, written once; not to be changed."""
    out = tmp_path_factory.mktemp("report") / "out"
    write_report(make_report(published=["doclens_table20"]), out)
    return out


@pytest.fixture(scope="session")
def head(written: Path) -> Any:
    """What the invented report's page hands over first."""
    return page_data.value(written, "head")


@pytest.fixture
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures take most of the time; most tests aren't about them."""
    monkeypatch.setattr("metassay.reporting.figures.draw", lambda *_: None)


def ask_nobody(evaluation: Any, tables: Path) -> None:
    """Write the answers of models and notes of a benchmark's or test's stages, without a row."""
    for table in (RESPONSES, NOTES):
        for file in files_in(evaluation, table.name):
            write(table, empty(table), tables / f"{table.name}/{file}.parquet")


@pytest.fixture
def folder(frames: Frames, tmp_path: Path) -> Path:
    """The invented tables as those of the sample, which asked nobody and noted nothing."""
    tables = tmp_path / "data/tables/sample"
    for name in ("certificates", "leaderboard", "designs", "warnings"):
        write(TABLES[name], frames[name], tables / f"{name}.parquet")
    ask_nobody(load().benchmarks["sample"], tables)
    return tables
