"""ingest_items: raw files -> the items of a test of judges: questions, right answers, verdicts."""

from metassay.core.errors import BadInput
from metassay.core.options import GIVEN, parse
from metassay.datasets.registry import Dataset, misplaced
from metassay.labelled.ingest import ingest_items
from metassay.labelled.types import chosen_test, reader_problem
from metassay.tables.judge_tests import GIVEN_VERDICTS, GOLD
from metassay.tables.judgments import JUDGMENTS
from metassay.tables.pairs import PAIRS
from metassay.tables.parquet import empty
from metassay.tables.ratings import RATINGS
from metassay.tables.responses import RESPONSES
from stages.doorway import REGISTRY, Given, enter


def main(given: Given) -> None:
    """Read one test's raw files with its dataset's reader."""
    own, name = given.entry.own, given.own("dataset")
    dataset = parse(Dataset, given.registered(name), where=f"{REGISTRY} > datasets > {name}")
    raw, reader = given.path(given.own("raw")), str(dataset.reader)
    test = chosen_test(given.own("test"), given.own("options"), where=own)
    problems = [f"raw: {problem}" for problem in misplaced(name, dataset, raw)]
    if unfit := reader_problem(given.own("test"), reader):
        problems.append(f"dataset: {unfit}")
    if problems:
        raise BadInput(f"{own} > {problem}" for problem in problems)
    made = ingest_items(test, reader, raw, dataset=name, judges=given.own("judges"))
    given.note(made.warnings)
    given.write(GOLD, made.gold)
    given.write(RATINGS, made.ratings)
    given.write(PAIRS, made.pairs, GIVEN)
    given.write(GIVEN_VERDICTS, made.verdicts)
    # No reader brings judgments of single premises; the folders must be there for who reads them.
    given.write(JUDGMENTS, empty(JUDGMENTS), GIVEN)
    given.write(RESPONSES, empty(RESPONSES), GIVEN)


if __name__ == "__main__":
    enter(main)
