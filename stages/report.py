"""report: tables -> reports/<benchmark>/: a web page, its numbers as CSV and Markdown, figures."""

from pathlib import Path

from metassay.datasets.registry import find, load_registry
from metassay.llm.endpoints import parse_models
from metassay.meta_evaluation.options import MetaOptions
from metassay.params import load, parse
from metassay.reporting.report import ReportInput, write_report
from metassay.tables import RESPONSES, TABLES, read
from stages.doorway import enter, table

SHOWN = [
    "sources",
    "texts",
    "parts",
    "units",
    "alignments",
    "pairs",
    "judgments",
    "scores",
    "leaderboard",
    "ratings",
    "correlations",
    "components",
    "agreement",
    "certificates",
    "significance",
    "preferences",
    "ensembles",
    "conflicts",
    "disagreements",
    "confounds",
    "corrected",
    "judge_cards",
    "calibration",
]


def main(key: str) -> None:
    """Write the report of one benchmark."""
    params = load()
    benchmark = params.benchmarks[key]
    dataset = find(load_registry(), benchmark.dataset)
    report = ReportInput(
        benchmark=key,
        title=dataset.title,
        licence=dataset.licence,
        citation=dataset.citation,
        invented=dataset.invented,
        published=benchmark.published,
        published_folder=Path("reports/published"),
        responses={f.stem: read(RESPONSES, f) for f in table(key, "responses").glob("*.parquet")},
        options=parse(MetaOptions, params.meta_evaluation, where="params.yaml > meta_evaluation"),
        models=parse_models(params.endpoints, params.models).models,
        **{name: read(TABLES[name], table(key, name)) for name in SHOWN},
    )
    write_report(report, Path("reports") / key)


if __name__ == "__main__":
    enter(main)
