"""The raw files of benchmarks, read as ingest reads them, before anything runs."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from metassay.core.errors import BadInput, collect_problems, raise_problems
from metassay.core.kinds import is_path
from metassay.core.options import BENCHMARKS, PARAMS
from metassay.core.params import SEGMENTATION, Benchmark, Evaluation, JudgeTest, SegmentTest
from metassay.datasets.ingest import ingest
from metassay.datasets.readers import EVERY_READER, ITEM_READERS, SENTENCE_READERS
from metassay.datasets.registry import Dataset
from metassay.datasets.study import ingest_study
from metassay.labelled.ingest import ingest_items
from metassay.labelled.segmentations import ingest_sentences
from metassay.labelled.types import TESTS, chosen_test, reader_problem, segment_options
from metassay.scoring.catalogue import check_given
from metassay.tables.names import FULL


def raw_problems(
    benchmarks: Mapping[str, Evaluation], registry: Mapping[str, Dataset]
) -> list[str]:
    """One line for each problem of the raw files that are there, led by who reads them.

    Nothing is said of a benchmark that `not_fetched` names, nor of one whose dataset or reader is
    unknown: that is a problem of the params or the registry.
    """
    found: dict[str, list[str]] = {}
    for name, benchmark, dataset in _readable(benchmarks, registry):
        if not _absent(benchmark, dataset):
            try:
                _read(name, benchmark, str(dataset.reader))
            except BadInput as error:
                for problem in error.problems:
                    found.setdefault(problem, []).append(name)
    return [f"{', '.join(names)}: {problem}" for problem, names in found.items()]


def not_fetched(benchmarks: Mapping[str, Evaluation], registry: Mapping[str, Dataset]) -> list[str]:
    """One line for each benchmark whose raw files are not all there, so that nobody checked them.

    That is no problem: a run fetches them. A folder that no dataset fetches is left to the params.
    """
    return [
        f"{name}: raw files were not checked, {missing} of {len(dataset.files)} are not in"
        f" {benchmark.raw}; metassay run {benchmark.dataset} --only fetch brings them"
        for name, benchmark, dataset in _readable(benchmarks, registry)
        if (missing := _absent(benchmark, dataset)) and dataset.files
    ]


def unfit(one: Evaluation, reader: str) -> str | None:
    """What is wrong with a dataset's reader for a folder of this sort; None if it suits."""
    if isinstance(one, JudgeTest):
        return reader_problem(one.test, reader) if one.test in TESTS else None
    if isinstance(one, SegmentTest):
        return reader_problem(SEGMENTATION, reader)
    if reader in ITEM_READERS or reader in SENTENCE_READERS:
        of = "judges" if reader in ITEM_READERS else "segmentations"
        return f"reader {reader!r} is for tests of {of}; give this folder a `test`"
    return None


def _read(name: str, one: Evaluation, reader: str) -> None:
    if isinstance(one, JudgeTest):
        test = chosen_test(one.test, one.options, where=f"{BENCHMARKS / name / PARAMS}")
        ingest_items(test, reader, Path(one.raw), dataset=one.dataset, judges=one.judges)
    elif isinstance(one, SegmentTest):
        options = segment_options(one.options, where=f"{BENCHMARKS / name / PARAMS}")
        ingest_sentences(reader, Path(one.raw), options)
    else:
        made = ingest(reader, Path(one.raw), one.criteria)
        check_given(made.criteria)
        _read_studies(one, made.sources, made.texts)


def _read_studies(one: Benchmark, sources: pd.DataFrame, texts: pd.DataFrame) -> None:
    """Ratings that came back from people; systems that are yet to write have all their texts."""
    writing = pd.MultiIndex.from_product([sources["doc_id"], one.writers, [FULL]])
    keys = ["doc_id", "author", "part"]
    every = pd.concat([texts[keys], writing.to_frame(index=False, name=keys)], ignore_index=True)
    problems: list[str] = []
    for study, file in one.studies.items():
        with collect_problems(problems):
            ingest_study(Path(file), study, one.criteria, sources, every)
    raise_problems(problems)


def _readable(
    benchmarks: Mapping[str, Evaluation], registry: Mapping[str, Dataset]
) -> Iterator[tuple[str, Evaluation, Dataset]]:
    for name, benchmark in benchmarks.items():
        dataset = registry.get(benchmark.dataset)
        reader = None if dataset is None else dataset.reader
        if dataset is not None and reader and (reader in EVERY_READER or is_path(reader)):
            yield name, benchmark, dataset


def _absent(benchmark: Evaluation, dataset: Dataset) -> int:
    """How many raw files are not there; 1 where the folder of a dataset without files is not."""
    folder = Path(benchmark.raw)
    if not dataset.files:
        return 0 if folder.is_dir() else 1
    return sum(not (folder / file.name).is_file() for file in dataset.files)
