"""examine: judgments x gold -> verdicts on items, and each judge's card."""

from metassay.labelled.examine import examine
from metassay.meta_evaluation.options import MetaOptions
from metassay.tables.judge_cards import CALIBRATION, JUDGE_CARDS
from metassay.tables.judge_tests import GIVEN_VERDICTS, GOLD, VERDICTS
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.pairs import PAIRS
from metassay.tables.ratings import RATINGS
from stages.doorway import StageIO, program


@program
def main(io: StageIO) -> None:
    options = io.options(MetaOptions, "meta_evaluation")
    tables = (
        io.read(table) for table in (PAIRS, JUDGMENTS, GOLD, RATINGS, GIVEN_VERDICTS)
    )
    examination = examine(*tables, options)
    io.note(examination.notes)
    io.write(VERDICTS, examination.verdicts)
    io.write(JUDGE_CARDS, examination.cards)
    io.write(CALIBRATION, examination.bins)
