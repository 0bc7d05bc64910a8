"""Find what is wrong with the raw files of a project, by reading them as ingest does."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from metassay.core.errors import BadInput, collect_problems, raise_problems
from metassay.core.kinds import is_path
from metassay.core.options import BENCHMARKS, PARAMS
from metassay.core.params import Benchmark, Evaluation, JudgeTest, SegmentTest
from metassay.datasets.ingest import ingest
from metassay.datasets.readers import EVERY_READER
from metassay.datasets.registry import Dataset
from metassay.datasets.study import ingest_study
from metassay.labelled.ingest import ingest_items
from metassay.labelled.segmentations import ingest_sentences
from metassay.labelled.types import chosen_test, segment_options
from metassay.meta_evaluation.layouts import groups_of
from metassay.scoring.catalogue import check_given
from metassay.tables.names import FULL


def raw_problems(
    folders: Mapping[str, Evaluation], registry: Mapping[str, Dataset]
) -> list[str]:
    """Read raw files as ingest does; return one line per problem, led by the benchmarks' names.

    Skips benchmarks that `not_fetched` names, and those whose dataset or reader is
    unknown: that is a problem of the params or the registry.
    """
    problems: dict[str, list[str]] = {}
    for name, benchmark, dataset in _readable(folders, registry):
        if not _count_absent(benchmark, dataset):
            try:
                _ingest(name, benchmark, str(dataset.reader))
            except BadInput as error:
                for problem in error.problems:
                    problems.setdefault(problem, []).append(name)
    return [f"{', '.join(names)}: {problem}" for problem, names in problems.items()]


def design_problems(
    folders: Mapping[str, Evaluation], registry: Mapping[str, Dataset]
) -> list[str]:
    """Read the raw files of benchmarks whose design names what only these have.

    So a design with an attribute or system that is not there costs no answer of a
    model.
    """
    designed = {
        name: folder
        for name, folder in folders.items()
        if isinstance(folder, Benchmark)
        and (
            folder.design.families
            or {folder.design.strata, folder.design.cluster} - {"", "doc_id"}
        )
    }
    return raw_problems(designed, registry)


def not_fetched(
    benchmarks: Mapping[str, Evaluation], registry: Mapping[str, Dataset]
) -> list[str]:
    """Return one line for each benchmark that lacks raw files, which were then not checked.

    That is no problem: a run fetches them. Skips folders that no dataset fetches.
    """
    return [
        f"{name}: raw files were not checked, {missing} of {len(dataset.files)} are not in"
        f" {benchmark.raw}; metassay run {benchmark.dataset} --only fetch brings them"
        for name, benchmark, dataset in _readable(benchmarks, registry)
        if (missing := _count_absent(benchmark, dataset)) and dataset.files
    ]


def _ingest(name: str, folder: Evaluation, reader: str) -> None:
    raw = Path(folder.raw)
    if isinstance(folder, JudgeTest):
        test = chosen_test(
            folder.test, folder.options, where=str(BENCHMARKS / name / PARAMS)
        )
        ingest_items(test, reader, raw, dataset=folder.dataset, judges=folder.judges)
    elif isinstance(folder, SegmentTest):
        ingest_sentences(
            reader,
            raw,
            segment_options(folder.options, where=str(BENCHMARKS / name / PARAMS)),
        )
    else:
        ingested = ingest(reader, raw, folder.criteria)
        check_given(ingested.criteria)
        studies = _ingest_studies(folder, ingested.sources, ingested.texts)
        authors = pd.concat([ingested.ratings, *studies])["author"].unique()
        where = f"{BENCHMARKS / name / PARAMS} > design"
        groups_of(folder.design, ingested.sources, authors, where)


def _ingest_studies(
    benchmark: Benchmark, sources: pd.DataFrame, texts: pd.DataFrame
) -> list[pd.DataFrame]:
    """Read ratings that came back from people; texts that systems will write count as written."""
    future = pd.MultiIndex.from_product([sources["doc_id"], benchmark.writers, [FULL]])
    keys = ["doc_id", "author", "part"]
    texts = pd.concat(
        [texts[keys], future.to_frame(index=False, name=keys)], ignore_index=True
    )
    problems: list[str] = []
    ratings = []
    for study, file in benchmark.studies.items():
        with collect_problems(problems):
            of_study, _ = ingest_study(
                Path(file), study, benchmark.criteria, sources, texts
            )
            ratings.append(of_study)
    raise_problems(problems)
    return ratings


def _readable(
    benchmarks: Mapping[str, Evaluation], registry: Mapping[str, Dataset]
) -> Iterator[tuple[str, Evaluation, Dataset]]:
    for name, benchmark in benchmarks.items():
        dataset = registry.get(benchmark.dataset)
        reader = None if dataset is None else dataset.reader
        if (
            dataset is not None
            and reader
            and (reader in EVERY_READER or is_path(reader))
        ):
            yield name, benchmark, dataset


def _count_absent(benchmark: Evaluation, dataset: Dataset) -> int:
    """Count absent raw files; 1 for an absent folder of a dataset without files."""
    folder = Path(benchmark.raw)
    if not dataset.files:
        return 0 if folder.is_dir() else 1
    return sum(not (folder / file.name).is_file() for file in dataset.files)
