"""report_judges: tables of a test of judges -> reports/<test>/: a web page and its numbers."""

from metassay.core.file_names import asking_in_test, noting_in_test
from metassay.core.options import GIVEN, parse
from metassay.datasets.registry import Dataset
from metassay.llm.endpoints import parse_models
from metassay.reporting.headline import judge_numbers, write_numbers
from metassay.reporting.judge_test import JudgeTestReport, write_judge_test
from metassay.reporting.names import ShownAs, looks
from metassay.reporting.responses import asked_table
from metassay.tables.judge_cards import CALIBRATION, JUDGE_CARDS
from metassay.tables.judge_tests import GOLD, VERDICTS
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.notes import NOTES
from metassay.tables.pairs import PAIRS
from metassay.tables.ratings import RATINGS
from metassay.tables.responses import RESPONSES
from stages.doorway import REGISTRY, Given, enter

SHOWN = (GOLD, RATINGS, VERDICTS, JUDGE_CARDS, CALIBRATION)


def main(given: Given) -> None:
    """Write the report of one test of judges."""
    name, judges = given.own("dataset"), given.own("judges")
    dataset = parse(Dataset, given.registered(name), where=f"{REGISTRY} > datasets > {name}")
    report = JudgeTestReport(
        benchmark=given.benchmark,
        test=given.own("test"),
        options=given.own("options"),
        title=dataset.title,
        licence=dataset.licence,
        citation=dataset.citation,
        invented=dataset.invented,
        seen=looks(given.own("seen"), judges, given.shared("shown_as")),
        responses=given.read_each(RESPONSES, asking_in_test(judges)),
        notes=given.read_each(NOTES, noting_in_test(judges)),
        models=parse_models(given.shared("endpoints"), given.shared("models")).models,
        published=given.own("published"),
        published_folder=given.path("reports/published"),
        confidence=given.shared("meta_evaluation.confidence"),
        shown_as=ShownAs.of(given.shared("shown_as"), [], judges),
        tables={
            "pairs": given.read(PAIRS, [GIVEN]),
            "judgments": given.read(JUDGMENTS, [GIVEN, *judges]),
            **{table.name: given.read(table) for table in SHOWN},
        },
    )
    write_judge_test(report, given.path(f"reports/{given.benchmark}"))
    numbers = judge_numbers(report.tables["judge_cards"], asked_table(report.responses, {}))
    write_numbers(numbers, given.headline())


if __name__ == "__main__":
    enter(main)
