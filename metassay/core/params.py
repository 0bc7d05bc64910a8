"""Strict typed view of the params files: an unknown key or name, or a wrong type, is an error.

params.yaml has the named blocks that benchmarks share, benchmarks/<name>/params.yaml
the settings of one benchmark. `metassay.core.kinds.choose` checks blocks with a `kind`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from metassay.core import strict_yaml
from metassay.core.errors import BadInput, collect_problems, hint
from metassay.core.naming import FORM, name_problems, normalise, words_problem
from metassay.core.options import (
    BENCHMARKS,
    CHEAP,
    FROM_DATASET,
    JUDGED,
    MODELS,
    PARAMS,
    Block,
    Criterion,
    Design,
    Options,
    Words,
    parse,
    refuse,
)

# Not allowed as names of benchmarks: such folders are in reports/, like
# reports/<benchmark>/.
BESIDE_REPORTS = ("published", "figures", "changes")
# Reserved names by block: they have another meaning there.
_TAKEN = {
    "systems": [FROM_DATASET, "reference"],
    "questions": [FROM_DATASET],
    "judges": [FROM_DATASET, "none"],
    "costly_metrics": [FROM_DATASET, CHEAP],
    "statement_metrics": [JUDGED],
}
_LISTS = (
    "systems",
    "alignments",
    "questions",
    "judges",
    "metrics",
    "costly_metrics",
    "statement_metrics",
    "segmentations",
    "combinations",
)
# Keys of a benchmark that name metrics with models trained here, and their block.
TUNED: Final = {
    "tuned_metrics": "statement_metrics",
    "tuned_costly_metrics": "costly_metrics",
}
# Keys of a folder's settings, and the blocks of the root's params.yaml with these
# names.
_BLOCKS = {
    "few_shot": "systems",
    "released_claims": "decompositions",
    **TUNED,
    "segmentation": "segmentations",
    **{name: name for name in (*_LISTS, "decompositions")},
}
_LOOK = re.compile(r"(unseen|looked at|fitted)(: \S.*)?")
SEGMENTATION: Final = "segmentation"  # the test that is not of judges
ATTACKS: Final = "attacks"  # the test of judges that ends in their attack cards
_NAMED = (*dict.fromkeys(_BLOCKS.values()), "endpoints", "models")


_NO_LOOK = "must begin with unseen, looked at or fitted; ': ' and words may follow"
_Look = Annotated[
    str,
    refuse(
        lambda how: _NO_LOOK if not _LOOK.fullmatch(how) or words_problem(how) else None
    ),
]
# Judge or segmentation -> whether choices in its development saw these data.
Seen = dict[str, _Look]


class Benchmark(Options):
    """A dataset and its evaluation: the whole of benchmarks/<name>/params.yaml.

    Lists name blocks of the root's params.yaml; each name is a separate stage, except
    `metrics`, which are a single stage. An empty list means no such stage.
    """

    name: str  # that of the folder
    dataset: str  # a name in data/registry.yaml
    raw: str  # the folder of its raw files
    seen: Seen
    criteria: dict[str, Criterion]  # criteria of the raters; {} without ratings
    design: Design  # which documents and systems belong together; {} if none
    studies: dict[str, str]  # returned ratings: study -> their file
    systems: list[str]  # systems that write texts from the sources alone
    few_shot: dict[str, str]  # system with examples -> the folder of their raw files
    segmentation: str
    decompositions: list[str]  # one name; none if it is in released_claims
    # decomposition -> the folder of the claims that it reads
    released_claims: dict[str, str]
    alignments: Annotated[list[str], Field(min_length=1)]  # the first is the default
    questions: list[str]
    rubrics: list[str]  # names of files rubrics/<name>.yaml
    judges: list[str]
    metrics: list[str]
    costly_metrics: list[str]
    statement_metrics: list[str]  # of single statements and their aligned passages
    # the same by models trained here: name -> model folder
    tuned_metrics: dict[str, str]
    tuned_costly_metrics: dict[str, str]  # costly ones by models trained here: likewise
    combinations: list[str]  # means of standardised scores of the metrics above
    published: list[str]  # tables in reports/published/ that the report compares with

    @property
    def writers(self) -> list[str]:
        """Every system that writes texts for this benchmark."""
        return [*self.systems, *self.few_shot]

    @property
    def decomposition(self) -> str:
        """The decomposition, with or without released claims."""
        return [*self.decompositions, *self.released_claims][0]

    @property
    def measured_by(self) -> list[tuple[str, str]]:
        """All named metrics: a block of the root's params.yaml, and a name in it."""
        lists = ("metrics", "costly_metrics", "statement_metrics", *TUNED)
        return [(_BLOCKS[key], name) for key in lists for name in getattr(self, key)]


class JudgeTest(Options):
    """Items with a gold label and the judges to test: a params.yaml with a key `test`."""

    name: str  # that of the folder
    test: str  # a name in metassay/labelled/types.py
    dataset: str  # a name in data/registry.yaml
    raw: str  # the folder of its raw files
    seen: Seen
    options: Block  # of the type of test
    judges: list[str]
    published: list[str]  # tables in reports/published/ that the report compares with


class AttackTest(JudgeTest):
    """A test of judges by attacks, which has a stage more."""

    test: Literal["attacks"]


class SegmentTest(Options):
    """Texts with labelled sentences, and the segmentations to test."""

    name: str  # that of the folder
    test: Literal["segmentation"]
    dataset: str  # a name in data/registry.yaml
    raw: str  # the folder of its raw files
    seen: Seen
    options: Block  # see metassay/labelled/types.py
    segmentations: Annotated[list[str], Field(min_length=1)]


class Tuning(Options):
    """Models to train on texts of a benchmark: the whole of its params.yaml.

    Its key `tune` distinguishes it from a benchmark's; metassay/tuning/options.py has
    the options.
    """

    name: str  # that of the folder
    tune: Literal["bartscore", "ctc", "distill", "quality"]
    benchmark: str = Field(alias="from")  # the benchmark's name
    base: Block
    training: Block

    @property
    def models(self) -> list[str]:
        """Names of the trained models' folders in data/models."""
        return [self.name]

    @property
    def trained_base(self) -> list[str]:
        """The folder in data/models that the training starts from, if another made it."""
        model = str(self.base.get("model", ""))
        return [model] if model.startswith(f"{MODELS}/") else []


class QualityTuning(Tuning):
    """A model that predicts people's ratings of quality."""

    tune: Literal["quality"]
    criterion: str  # one of the benchmark


class StatementTuning(Tuning):
    """Models trained on single statements, one per alignment."""

    alignments: Annotated[list[str], Field(min_length=1)]  # those of the benchmark

    @property
    def models(self) -> list[str]:
        """One per alignment."""
        return [f"{self.name}-{alignment}" for alignment in self.alignments]


class BartscoreTuning(StatementTuning):
    """Models that generate statements from their passages."""

    tune: Literal["bartscore"]


class CtcTuning(StatementTuning):
    """Models that detect fake words, which are put into statements once for all alignments."""

    tune: Literal["ctc"]
    corruption: Block


class Distillation(StatementTuning):
    """Models that learn the consensus of several metrics on statements."""

    tune: Literal["distill"]
    teachers: Block


_TUNINGS: Mapping[str, type[Tuning]] = {
    "bartscore": BartscoreTuning,
    "ctc": CtcTuning,
    "distill": Distillation,
    "quality": QualityTuning,
}
Evaluation = Benchmark | JudgeTest | SegmentTest  # folders with a dataset
Folder = Evaluation | Tuning  # any folder of benchmarks/


class MaxCost(Options):
    """Maximal cost of all runs of a project together, in the currency of models' prices."""

    amount: Annotated[float, Field(ge=0, le=4_000_000)]  # the ledger's maximum
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")]


class ExecutorOptions(Options):
    """Where stages are executed: on this machine (`local`), or by workers of a Dask cluster.

    `address` is the scheduler's. `storage`: a folder with the same path for client and
    workers, or a URL of fsspec (`s3://bucket/prefix`), for shards and their answers.
    `sends` lists the access classes beyond `public` whose texts can be sent there. A
    shard that takes a worker more than `limit_s` seconds is retried elsewhere;
    `patience_s`: how long to wait for scheduler or workers.
    """

    kind: Literal["local", "dask"] = "local"
    address: (
        Annotated[str, Field(pattern=r"^(tcp|tls|ucx|ws|wss)://[^\s/]+$")] | None
    ) = None
    storage: Words = ".work/shards"
    sends: list[Literal["credentialed", "private"]] = Field(default_factory=list)
    limit_s: Annotated[float, Field(gt=0, le=1_000_000)] = 3600.0
    patience_s: Annotated[float, Field(ge=0, le=1_000_000)] = 300.0

    @model_validator(mode="after")
    def _addressed(self) -> Self:
        if self.kind == "dask" and self.address is None:
            raise ValueError(
                "dask needs the address of a scheduler; add it, or write kind: local"
            )
        return self


class Shared(Options):
    """The whole of the root's params.yaml: the named blocks that benchmarks share."""

    segmentations: dict[str, Block]
    decompositions: dict[str, Block]
    alignments: dict[str, Block]
    questions: dict[str, Block]
    systems: dict[str, Block]
    judges: dict[str, Block]
    metrics: dict[str, Block]
    costly_metrics: dict[str, Block]
    statement_metrics: dict[str, Block]
    combinations: dict[str, Block]
    endpoints: dict[str, Block]  # where language models answer
    models: dict[str, Block]
    max_cost: MaxCost | None
    # DVC's remotes -> the access classes beyond `public` whose texts can be pushed
    # there
    remotes: dict[str, list[Literal["credentialed", "private"]]] = Field(
        default_factory=dict
    )
    executor: ExecutorOptions = ExecutorOptions()
    # maximal share of a stage's answers
    max_missing: Annotated[float, Field(ge=0, le=1)]
    aggregation: Block
    meta_evaluation: Block
    certification: Block
    comparison: Block = Field(default_factory=dict)  # all keys have defaults
    sentinel: Block = Field(default_factory=dict)
    shown_as: dict[str, str]  # system or judge -> its label in reports, if not its name


class Params(Shared):
    """Shared blocks, and all folders of benchmarks/ by name, by sort."""

    benchmarks: dict[str, Benchmark]
    judge_tests: dict[str, JudgeTest]
    segment_tests: dict[str, SegmentTest]
    tunings: dict[str, Tuning]

    @property
    def evaluations(self) -> dict[str, Evaluation]:
        """All folders with a dataset, by name."""
        folders: dict[str, Evaluation] = {**self.benchmarks, **self.judge_tests}
        folders |= self.segment_tests
        return dict(sorted(folders.items()))

    @property
    def every(self) -> dict[str, Folder]:
        """All folders that can be run, by name."""
        folders: dict[str, Folder] = {**self.evaluations, **self.tunings}
        return dict(sorted(folders.items()))

    def data_of(self, name: str) -> Evaluation:
        """Return the folder with the dataset of a name: for a tuning, its benchmark."""
        tuning = self.tunings.get(name)
        return self.benchmarks[tuning.benchmark] if tuning else self.evaluations[name]


def load(root: Path = Path()) -> Params:
    """Read and check the params files of a project; BadInput lists all problems at once."""
    problems: list[str] = []
    shared = None
    with collect_problems(problems):
        shared = parse(Shared, strict_yaml.load(root / PARAMS), where=str(PARAMS))
    folders: dict[str, Folder] = {}
    files = sorted((root / BENCHMARKS).glob("*/params.yaml"))
    bad_names = name_problems((file.parent.name for file in files), BESIDE_REPORTS)
    problems += [f"{BENCHMARKS}/{line}" for line in bad_names]
    for file in files:
        where, name = str(file.relative_to(root)), file.parent.name
        try:
            folder = folders[name] = parse_folder(strict_yaml.load(file), where=where)
        except BadInput as error:
            problems += error.problems
            continue
        lines = [*_inside(folder, name)]
        if shared:
            lines += _dangling(folder, shared)
        problems += [f"{where} > {line}" for line in lines]
    tunings = {
        name: folder for name, folder in folders.items() if isinstance(folder, Tuning)
    }
    for name, tuning in tunings.items():
        lines = [
            *_learns_from(tuning, folders.get(tuning.benchmark)),
            *_starts_from(tuning, tunings),
        ]
        problems += [f"{BENCHMARKS / name / PARAMS} > {line}" for line in lines]
    problems += [
        f"{PARAMS} > {line}" for line in (_bad_names(shared) if shared else ())
    ]
    if problems or shared is None:
        raise BadInput(problems)
    return Params(
        **dict(shared),
        benchmarks={name: f for name, f in folders.items() if isinstance(f, Benchmark)},
        judge_tests={
            name: f for name, f in folders.items() if isinstance(f, JudgeTest)
        },
        segment_tests={
            name: f for name, f in folders.items() if isinstance(f, SegmentTest)
        },
        tunings=tunings,
    )


def parse_folder(content: object, *, where: str) -> Folder:
    """Parse the content of benchmarks/<name>/params.yaml; BadInput, starting with `where`."""
    return parse(folder_type(content), content, where=where)


def folder_type(content: object) -> type[Folder]:
    """Return the sort of folder with this content of params.yaml."""
    if isinstance(content, dict) and "tune" in content:
        return _TUNINGS.get(str(content["tune"]), Tuning)
    if not isinstance(content, dict) or "test" not in content:
        return Benchmark
    special: Mapping[object, type[Folder]] = {
        SEGMENTATION: SegmentTest,
        ATTACKS: AttackTest,
    }
    return special.get(content["test"], JudgeTest)


def _inside(settings: Folder, folder: str) -> Iterator[str]:
    if settings.name != folder:
        yield f"name: is {settings.name!r}, but the folder is {folder!r}; make them equal"
    for key in (*_LISTS, "rubrics"):
        names = getattr(settings, key, ())
        repeated = sorted(name for name, n in Counter(names).items() if n > 1)
        yield from (
            f"{key}: {name!r} is named twice; name it once" for name in repeated
        )
    if isinstance(settings, Tuning):
        return
    tried = (
        settings.segmentations if isinstance(settings, SegmentTest) else settings.judges
    )
    for name in sorted(set(settings.seen) - set(tried)):
        yield f"seen: {name!r} is not among what it tries: {tried}; remove it, or correct its name"
    if isinstance(settings, Benchmark):
        yield from _inside_benchmark(settings)


def _inside_benchmark(benchmark: Benchmark) -> Iterator[str]:
    chosen = [*benchmark.decompositions, *benchmark.released_claims]
    if len(chosen) != 1:
        yield (
            f"decompositions: {len(chosen)} are named here and under released_claims; name one in"
            " all (under released_claims if it reads released claims)"
        )
    for list_, other in (
        ("systems", "few_shot"),
        *((block, key) for key, block in TUNED.items()),
    ):
        for name in sorted(
            set(getattr(benchmark, list_)) & set(getattr(benchmark, other))
        ):
            yield f"{list_}: {name!r} is under {other} as well; name it in one of the two"
    yield from (f"criteria > {line}" for line in bad_criteria(benchmark.criteria))
    has_questions = bool(benchmark.questions or benchmark.rubrics)
    if has_questions and not benchmark.judges:
        yield "judges: is empty, but questions or rubrics are not; name a judge, or empty them"
    if benchmark.judges and not has_questions:
        yield "questions: is empty and so is rubrics, but judges is not; name one, or empty judges"
    yield from (
        f"studies > {line}" for line in name_problems(benchmark.studies, [FROM_DATASET])
    )
    yield from (
        f"rubrics > {line}" for line in name_problems(benchmark.rubrics, [FROM_DATASET])
    )
    for name in benchmark.questions:
        if name.startswith("rubric-"):
            yield f"questions: {name!r} begins with 'rubric-', as files of rubrics do; rename it"


def _starts_from(tuning: Tuning, tunings: Mapping[str, Tuning]) -> Iterator[str]:
    """Yield the problem of a base in data/models: it must be made of the same benchmark's texts.

    So a model is as private as the texts of one benchmark.
    """
    sources = {
        name: other.benchmark for other in tunings.values() for name in other.models
    }
    for model in tuning.trained_base:
        source = sources.get(model.removeprefix(f"{MODELS}/"))
        if source == tuning.benchmark:
            continue
        if source is None:
            yield (
                f"base > model: no folder of {BENCHMARKS}/ makes {model!r}; choose from"
                f" {sorted(sources)}"
            )
        else:
            yield (
                f"base > model: {model!r} was trained on {source!r}, and this model is trained on"
                f" {tuning.benchmark!r}; name one benchmark for both, or copy the base to a folder"
                " of yours, which you then keep as private as its texts"
            )


def _learns_from(tuning: Tuning, source: Folder | None) -> Iterator[str]:
    if not isinstance(source, Benchmark):
        yield f"from: {tuning.benchmark!r} is not a benchmark; name one, which evaluates texts"
        return
    if isinstance(tuning, QualityTuning):
        known = [name for name, c in source.criteria.items() if c.better == "higher"]
        if tuning.criterion not in known:
            yield (
                f"criterion: {tuning.criterion!r} is not a criterion of {tuning.benchmark!r} whose"
                f" higher end is better, which training needs; choose from {known}, or add it there"
            )
    for name in tuning.alignments if isinstance(tuning, StatementTuning) else ():
        if name not in source.alignments:
            yield (
                f"alignments: {name!r} is none of {tuning.benchmark!r}, which has"
                f" {', '.join(source.alignments)}; choose from these, or add it there"
            )


def bad_criteria(names: Iterable[str]) -> Iterator[str]:
    """Yield a line for each invalid or too similar name of a criterion; any words are valid."""
    first: dict[str, str] = {}
    for name in names:
        other = first.setdefault(normalise(name), name)
        problem = words_problem(name)
        if not problem and other != name:
            problem = f"looks like {other}; choose another name"
        if problem:
            yield f"{name}: {problem}"


def _dangling(folder: Folder, shared: Shared) -> Iterator[str]:
    for field, block in _BLOCKS.items():
        names = getattr(folder, field, [])
        known: Mapping[str, Block] = getattr(shared, block)
        for name in [names] if isinstance(names, str) else names:
            if name not in known:
                close = hint(name, known)
                choices = f"known: {sorted(known)}{close}"
                yield f"{field}: {name!r} is not in {PARAMS} > {block}; {choices}"


def _bad_names(shared: Shared) -> Iterator[str]:
    yield from (f"shown_as > {line}" for line in _shown_as(shared))
    for block in _NAMED:
        lines = name_problems(getattr(shared, block), _TAKEN.get(block, ()))
        more = (
            "; its real name goes to shown_as" if block in ("systems", "judges") else ""
        )
        yield from (
            f"{block} > {line}{more if line.endswith(FORM) else ''}" for line in lines
        )


def _shown_as(shared: Shared) -> Iterator[str]:
    for name, shown in shared.shown_as.items():
        blocks = [
            block for block in ("systems", "judges") if name in getattr(shared, block)
        ]
        if not blocks:
            yield f"{name}: is neither a system nor a judge; remove it or correct its spelling"
        elif problem := words_problem(shown):
            yield f"{name}: {problem}"
        for block in blocks:
            others = {*getattr(shared, block), *_TAKEN[block]} - {name}
            others |= {shared.shown_as.get(other, other) for other in others}
            like = sorted(
                other for other in others if normalise(other) == normalise(shown)
            )
            if like:
                yield f"{name}: looks like {like[0]}, which is of {block} too; choose other words"
