"""judge: pairs -> one judgment per pair of one judge."""

from metassay.judges import JUDGES
from metassay.judges.run import judge_pairs
from metassay.options import GIVEN
from metassay.tables import JUDGMENTS, PAIRS
from stages.doorway import Given, enter


def main(given: Given) -> None:
    """Let one judge read the pairs of one benchmark."""
    _, record, options = given.chosen(JUDGES, "judges", given.item)
    pairs = given.read(PAIRS, [GIVEN, *given.own("questions")])
    judgments = judge_pairs(pairs, given.item, record.make(options), record.instruments)
    given.write(JUDGMENTS, judgments, given.item)


if __name__ == "__main__":
    enter(main)
