"""ingest_sentences: raw files -> the texts of a test of segmentations, and their right labels."""

from metassay.core.errors import BadInput
from metassay.core.options import GIVEN, parse
from metassay.core.params import SEGMENTATION
from metassay.datasets.registry import Dataset, misplaced
from metassay.labelled.ingest_texts import ingest_sentences
from metassay.labelled.types import reader_problem, segment_options
from metassay.tables.documents import TEXTS
from metassay.tables.sentences import SENTENCES
from stages.doorway import REGISTRY, Given, enter


def main(given: Given) -> None:
    """Read one test's raw files with its dataset's reader."""
    own, name = given.entry.own, given.own("dataset")
    dataset = parse(Dataset, given.registered(name), where=f"{REGISTRY} > datasets > {name}")
    raw, reader = given.path(given.own("raw")), str(dataset.reader)
    options = segment_options(given.own("options"), where=own)
    problems = [f"raw: {problem}" for problem in misplaced(name, dataset, raw)]
    if unfit := reader_problem(SEGMENTATION, reader):
        problems.append(f"dataset: {unfit}")
    if problems:
        raise BadInput(f"{own} > {problem}" for problem in problems)
    made = ingest_sentences(reader, raw, options)
    given.note(made.warnings)
    given.write(TEXTS, made.texts, GIVEN)
    given.write(SENTENCES, made.sentences)


if __name__ == "__main__":
    enter(main)
