"""report_judges: tables of a test of judges -> reports/<test>/: a web page and its numbers."""

from metassay.core.params import ATTACKS
from metassay.core.stages import PUBLISHED
from metassay.labelled.results import cards_of
from metassay.reporting.headline import judge_numbers, judge_plots, write_numbers
from metassay.reporting.judge_test import JudgeTestReport, write_judge_test
from metassay.reporting.names import ShownAs
from metassay.reporting.published.index import compare_judges
from metassay.reporting.responses import models_table
from metassay.tables.judge_cards import CALIBRATION, JUDGE_CARDS
from metassay.tables.judge_tests import ATTACK_GAINS, GOLD, VERDICTS
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.pairs import PAIRS
from metassay.tables.ratings import RATINGS
from stages.doorway import StageIO, program
from stages.shown import report_fields

SHOWN = (PAIRS, JUDGMENTS, GOLD, RATINGS, VERDICTS, JUDGE_CARDS, CALIBRATION)


@program
def main(io: StageIO) -> None:
    judges, shown_as = io.param("judges"), io.shared("shown_as")
    attacked = [ATTACK_GAINS] if io.param("test") == ATTACKS else []
    fields = report_fields(io, [*SHOWN, *attacked], judges, shown_as)
    tables = fields["tables"]
    cards = cards_of(tables["judge_cards"], set(tables["ratings"]["rater"]))
    report = JudgeTestReport(
        **fields,
        test=io.param("test"),
        published=compare_judges(io.param("published"), io.path(PUBLISHED), cards),
        shown_as=ShownAs.choose(shown_as, [], judges),
    )
    write_judge_test(report, io.path(f"reports/{io.benchmark}"))
    table = report.tables["judge_cards"]
    numbers = judge_numbers(table, models_table(report.responses, {}))
    write_numbers(numbers, judge_plots(table), io.path_beside_params)
