"""examine: judgments x gold -> verdicts on items, and each judge's card."""

from metassay.core.options import GIVEN, parse
from metassay.labelled.examine import Evidence, examine
from metassay.meta_evaluation.options import MetaOptions
from metassay.tables.judge_cards import CALIBRATION, JUDGE_CARDS
from metassay.tables.judge_tests import GIVEN_VERDICTS, GOLD, VERDICTS
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.pairs import PAIRS
from metassay.tables.ratings import RATINGS
from stages.doorway import Given, enter


def main(given: Given) -> None:
    """Hold the judges of one test, and its raters, against the right answers."""
    where = "params.yaml > meta_evaluation"
    options = parse(MetaOptions, given.shared("meta_evaluation"), where=where)
    evidence = Evidence(
        pairs=given.read(PAIRS, [GIVEN]),
        judgments=given.read(JUDGMENTS, [GIVEN, *given.own("judges")]),
        gold=given.read(GOLD),
        ratings=given.read(RATINGS),
        given=given.read(GIVEN_VERDICTS),
    )
    found = examine(evidence, options)
    given.note(found.notes)
    given.write(VERDICTS, found.verdicts)
    given.write(JUDGE_CARDS, found.cards)
    given.write(CALIBRATION, found.bins)


if __name__ == "__main__":
    enter(main)
