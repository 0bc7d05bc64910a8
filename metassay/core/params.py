"""Strict typed view of the params files: an unknown key or name, or a wrong type, is an error.

params.yaml holds what benchmarks share by name, benchmarks/<name>/params.yaml what makes one. A
block with a `kind` is checked by `metassay.core.kinds.choose`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from metassay.core import strict_yaml
from metassay.core.errors import BadInput, collect_problems, meant
from metassay.core.naming import FORM, folded, name_problems, words_problem
from metassay.core.options import (
    BENCHMARKS,
    CHEAP,
    GIVEN,
    JUDGED,
    PARAMS,
    Block,
    Criterion,
    Design,
    Options,
    Words,
    parse,
    without,
)

# No benchmark may have these names: such folders lie beside reports/<benchmark>/.
BESIDE_REPORTS = ("published", "figures", "changes")
# Names that mean something else where a block's names go.
_TAKEN = {
    "systems": [GIVEN, "reference"],
    "questions": [GIVEN],
    "judges": [GIVEN, "none"],
    "costly_metrics": [GIVEN, CHEAP],
    "statement_metrics": [JUDGED],
}
_LISTS = (
    *("systems", "alignments", "questions", "judges", "metrics", "costly_metrics"),
    *("statement_metrics", "segmentations", "combinations"),
)
# Of a benchmark, what names metrics whose models are trained here, and their block.
TUNED: Final = {"tuned_metrics": "statement_metrics", "tuned_costly_metrics": "costly_metrics"}
# What a folder's settings name, and the blocks of the root's params.yaml where it stands.
_BLOCKS = {
    **{"few_shot": "systems", "released_claims": "decompositions"},
    **TUNED,
    "segmentation": "segmentations",
    **{name: name for name in (*_LISTS, "decompositions")},
}
_LOOK = re.compile(r"(unseen|looked at|fitted)(: \S.*)?")
SEGMENTATION: Final = "segmentation"  # the test that is not of judges
_NAMED = (*dict.fromkeys(_BLOCKS.values()), "endpoints", "models")


_NO_LOOK = "must begin with unseen, looked at or fitted; ': ' and words may follow"
_Look = Annotated[
    str, without(lambda it: _NO_LOOK if not _LOOK.fullmatch(it) or words_problem(it) else None)
]
# Whether choices saw these data, in the making of a judge or a segmentation: its name -> how.
Seen = dict[str, _Look]


class Benchmark(Options):
    """A dataset and what it is put through: the whole of benchmarks/<name>/params.yaml.

    A list names blocks of the root's params.yaml, and each name is a stage of its own but for
    `metrics`, which are measured in one. An empty list means that there is no such stage.
    """

    name: str  # that of the folder
    dataset: str  # a name in data/registry.yaml
    raw: str  # the folder of its raw files
    seen: Seen
    criteria: dict[str, Criterion]  # what its raters judged; {} where nobody did
    design: Design  # which documents and systems belong together; {} where none do
    studies: dict[str, str]  # ratings that came back from people: study -> their file
    systems: list[str]  # what writes texts from the sources alone
    few_shot: dict[str, str]  # what is shown examples: system -> the folder of their raw files
    segmentation: str
    decompositions: list[str]  # one name; none if released_claims has it
    released_claims: dict[str, str]  # decomposition -> the folder of the claims that it reads
    alignments: Annotated[list[str], Field(min_length=1)]  # what reads none by name reads the first
    questions: list[str]
    rubrics: list[str]  # names of files rubrics/<name>.yaml
    judges: list[str]
    metrics: list[str]
    costly_metrics: list[str]
    statement_metrics: list[str]  # of single statements, read against what they are aligned with
    tuned_metrics: dict[str, str]  # the same by models that are trained here: name -> their folder
    tuned_costly_metrics: dict[str, str]  # costly ones by models that are trained here, likewise
    combinations: list[str]  # means of standardised scores of the metrics above
    published: list[str]  # tables in reports/published/ that the report compares with

    @property
    def writers(self) -> list[str]:
        """Every system that writes texts for this benchmark."""
        return [*self.systems, *self.few_shot]

    @property
    def decomposition(self) -> str:
        """The one decomposition, whether it reads released claims or not."""
        return [*self.decompositions, *self.released_claims][0]

    @property
    def measured_by(self) -> list[tuple[str, str]]:
        """Every block of metrics that it names: a block of the root's params.yaml, and a name."""
        lists = ("metrics", "costly_metrics", "statement_metrics", *TUNED)
        return [(_BLOCKS[each], name) for each in lists for name in getattr(self, each)]


class JudgeTest(Options):
    """Items with a gold label and the judges tried on them: a params.yaml with a key `test`."""

    name: str  # that of the folder
    test: str  # a name in metassay/labelled/types.py
    dataset: str  # a name in data/registry.yaml
    raw: str  # the folder of its raw files
    seen: Seen
    options: Block  # those of the type of test
    judges: list[str]
    published: list[str]  # tables in reports/published/ that the report compares with


class SegmentTest(Options):
    """Texts with labelled sentences, and the segmentations tried on them."""

    name: str  # that of the folder
    test: Literal["segmentation"]
    dataset: str  # a name in data/registry.yaml
    raw: str  # the folder of its raw files
    seen: Seen
    options: Block  # metassay/labelled/types.py has them
    segmentations: Annotated[list[str], Field(min_length=1)]


class Tuning(Options):
    """Models that are trained on texts of a benchmark: the whole of its params.yaml.

    Its key `tune` tells it from a benchmark's; metassay/tuning/options.py has the blocks' options.
    """

    name: str  # that of the folder
    tune: Literal["bartscore", "ctc", "distill", "quality"]
    benchmark: str = Field(alias="from")  # the benchmark's name
    base: Block
    training: Block

    @property
    def models(self) -> list[str]:
        """The models that it trains, by the names of their folders in data/models."""
        return [self.name]


class QualityTuning(Tuning):
    """A model that gives texts the quality that people do."""

    tune: Literal["quality"]
    criterion: str  # one of the benchmark


class StatementTuning(Tuning):
    """Models that are trained on single statements: one for each alignment."""

    alignments: Annotated[list[str], Field(min_length=1)]  # those of the benchmark

    @property
    def models(self) -> list[str]:
        """One for each alignment."""
        return [f"{self.name}-{alignment}" for alignment in self.alignments]


class BartscoreTuning(StatementTuning):
    """Models that write statements after their passages."""

    tune: Literal["bartscore"]


class CtcTuning(StatementTuning):
    """Models that tell fake words, which are put into statements once for all alignments."""

    tune: Literal["ctc"]
    corruption: Block


class Distillation(StatementTuning):
    """Models that give statements the value that several metrics agree on."""

    tune: Literal["distill"]
    teachers: Block


_TUNINGS: Mapping[str, type[Tuning]] = {
    "bartscore": BartscoreTuning,
    "ctc": CtcTuning,
    "distill": Distillation,
    "quality": QualityTuning,
}
Evaluation = Benchmark | JudgeTest | SegmentTest  # what has a dataset
Folder = Evaluation | Tuning  # what a folder of benchmarks/ may be


class MaxCost(Options):
    """What all runs of a project together may cost at most, in the currency of models' prices."""

    amount: Annotated[float, Field(ge=0, le=4_000_000)]  # what the ledger can count, and no more
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$")]


class ExecutorOptions(Options):
    """Who works on the pieces of stages: this machine (`local`), or a Dask cluster's workers.

    `address` is the scheduler's. `storage`: a folder that client and workers see at the same path,
    or what fsspec reads (`s3://bucket/prefix`), for shards and their answers. `sends` names the
    access classes beyond `public` whose texts may go there. A shard that a worker has for more than
    `limit_s` seconds is tried elsewhere; for `patience_s` a scheduler or workers are waited for.
    """

    kind: Literal["local", "dask"] = "local"
    address: Annotated[str, Field(pattern=r"^(tcp|tls|ucx|ws|wss)://[^\s/]+$")] | None = None
    storage: Words = ".work/shards"
    sends: list[Literal["credentialed", "private"]] = Field(default_factory=list)
    limit_s: Annotated[float, Field(gt=0, le=1_000_000)] = 3600.0
    patience_s: Annotated[float, Field(ge=0, le=1_000_000)] = 300.0

    @model_validator(mode="after")
    def _addressed(self) -> Self:
        if self.kind == "dask" and self.address is None:
            raise ValueError("dask needs the address of a scheduler; add it, or write kind: local")
        return self


class Shared(Options):
    """The whole of the root's params.yaml: what benchmarks share by name."""

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
    # DVC's remotes -> the access classes beyond `public` whose texts may be pushed there
    remotes: dict[str, list[Literal["credentialed", "private"]]] = Field(default_factory=dict)
    executor: ExecutorOptions = ExecutorOptions()
    max_missing: Annotated[float, Field(ge=0, le=1)]  # share of a stage's answers, at most
    aggregation: Block
    meta_evaluation: Block
    certification: Block
    comparison: Block = Field(default_factory=dict)  # all of it has defaults
    sentinel: Block = Field(default_factory=dict)
    shown_as: dict[str, str]  # what reports call a system or judge, where it isn't its name


class Params(Shared):
    """What benchmarks share, and the folders of benchmarks/ by name, of all sorts."""

    benchmarks: dict[str, Benchmark]
    judge_tests: dict[str, JudgeTest]
    segment_tests: dict[str, SegmentTest]
    tunings: dict[str, Tuning]

    @property
    def evaluations(self) -> dict[str, Evaluation]:
        """All that have a dataset, by name."""
        found: dict[str, Evaluation] = {**self.benchmarks, **self.judge_tests, **self.segment_tests}
        return dict(sorted(found.items()))

    @property
    def every(self) -> dict[str, Folder]:
        """All that can be run, by name."""
        found: dict[str, Folder] = {**self.evaluations, **self.tunings}
        return dict(sorted(found.items()))

    def data_of(self, name: str) -> Evaluation:
        """The folder with the dataset behind a name: of a tuning the benchmark that it reads."""
        tuning = self.tunings.get(name)
        return self.benchmarks[tuning.benchmark] if tuning else self.evaluations[name]


def load(root: Path = Path()) -> Params:
    """Read and check the params files of a project; BadInput lists every problem at once."""
    problems: list[str] = []
    shared = None
    with collect_problems(problems):
        shared = parse(Shared, strict_yaml.load(root / PARAMS), where=str(PARAMS))
    found: dict[str, Folder] = {}
    files = sorted((root / BENCHMARKS).glob("*/params.yaml"))
    named = name_problems((file.parent.name for file in files), BESIDE_REPORTS)
    problems += [f"{BENCHMARKS}/{line}" for line in named]
    for file in files:
        where, name = str(file.relative_to(root)), file.parent.name
        try:
            one = found[name] = parsed(strict_yaml.load(file), where=where)
        except BadInput as error:
            problems += error.problems
            continue
        lines = [*_inside(one, name), *(_dangling(one, shared) if shared else ())]
        problems += [f"{where} > {line}" for line in lines]
    tunings = {name: one for name, one in found.items() if isinstance(one, Tuning)}
    for name, tuning in tunings.items():
        lines = [*_learns_from(tuning, found.get(tuning.benchmark))]
        problems += [f"{BENCHMARKS / name / PARAMS} > {line}" for line in lines]
    problems += [f"{PARAMS} > {line}" for line in (_bad_names(shared) if shared else ())]
    if problems or shared is None:
        raise BadInput(problems)
    return Params(
        **dict(shared),
        benchmarks={name: one for name, one in found.items() if isinstance(one, Benchmark)},
        judge_tests={name: one for name, one in found.items() if isinstance(one, JudgeTest)},
        segment_tests={name: one for name, one in found.items() if isinstance(one, SegmentTest)},
        tunings=tunings,
    )


def parsed(content: object, *, where: str) -> Folder:
    """What a file benchmarks/<name>/params.yaml holds; BadInput, led by `where`, if it is wrong."""
    return parse(sort_of(content), content, where=where)


def sort_of(content: object) -> type[Folder]:
    """Which sort of folder has this in its params.yaml."""
    if isinstance(content, dict) and "tune" in content:
        return _TUNINGS.get(str(content["tune"]), Tuning)
    if not isinstance(content, dict) or "test" not in content:
        return Benchmark
    return SegmentTest if content["test"] == SEGMENTATION else JudgeTest


def _inside(one: Folder, folder: str) -> Iterator[str]:
    """What is wrong with one benchmark or test by itself."""
    if one.name != folder:
        yield f"name: is {one.name!r}, but the folder is {folder!r}; make them equal"
    for key in (*_LISTS, "rubrics"):
        named = getattr(one, key, ())
        twice = sorted(name for name, n in Counter(named).items() if n > 1)
        yield from (f"{key}: {name!r} is named twice; name it once" for name in twice)
    if isinstance(one, Tuning):
        return
    mine = one.segmentations if isinstance(one, SegmentTest) else one.judges
    for name in sorted(set(one.seen) - set(mine)):
        yield f"seen: {name!r} is not among what it tries: {mine}; remove it, or correct its name"
    if isinstance(one, Benchmark):
        yield from _inside_benchmark(one)


def _inside_benchmark(benchmark: Benchmark) -> Iterator[str]:
    chosen = [*benchmark.decompositions, *benchmark.released_claims]
    if len(chosen) != 1:
        yield (
            f"decompositions: {len(chosen)} are named here and under released_claims; name one in"
            " all (under released_claims if it reads released claims)"
        )
    for several, one in (("systems", "few_shot"), *((block, key) for key, block in TUNED.items())):
        for name in sorted(set(getattr(benchmark, several)) & set(getattr(benchmark, one))):
            yield f"{several}: {name!r} is under {one} as well; name it in one of the two"
    yield from (f"criteria > {line}" for line in bad_criteria(benchmark.criteria))
    asks = bool(benchmark.questions or benchmark.rubrics)
    if asks and not benchmark.judges:
        yield "judges: is empty, but questions or rubrics are not; name a judge, or empty them"
    if benchmark.judges and not asks:
        yield "questions: is empty and so is rubrics, but judges is not; name one, or empty judges"
    yield from (f"studies > {line}" for line in name_problems(benchmark.studies, [GIVEN]))
    yield from (f"rubrics > {line}" for line in name_problems(benchmark.rubrics, [GIVEN]))
    for name in benchmark.questions:
        if name.startswith("rubric-"):
            yield f"questions: {name!r} begins with 'rubric-', as files of rubrics do; rename it"


def _learns_from(tuning: Tuning, source: Folder | None) -> Iterator[str]:
    if not isinstance(source, Benchmark):
        yield f"from: {tuning.benchmark!r} is not a benchmark; name one, which evaluates texts"
        return
    if isinstance(tuning, QualityTuning):
        known = [name for name, one in source.criteria.items() if one.better == "higher"]
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
    """A line for each name that no criterion may have; all words will do that differ enough."""
    first: dict[str, str] = {}
    for name in names:
        like = first.setdefault(folded(name), name)
        problem = words_problem(name)
        if not problem and like != name:
            problem = f"looks like {like}; choose another name"
        if problem:
            yield f"{name}: {problem}"


def _dangling(one: Folder, shared: Shared) -> Iterator[str]:
    for field, block in _BLOCKS.items():
        named = getattr(one, field, [])
        known: Mapping[str, Block] = getattr(shared, block)
        for name in [named] if isinstance(named, str) else named:
            if name not in known:
                close = meant(name, known)
                there = f"known: {sorted(known)}{close}"
                yield f"{field}: {name!r} is not in {PARAMS} > {block}; {there}"


def _bad_names(shared: Shared) -> Iterator[str]:
    yield from (f"shown_as > {line}" for line in _shown_as(shared))
    for block in _NAMED:
        found = name_problems(getattr(shared, block), _TAKEN.get(block, ()))
        more = "; its real name goes to shown_as" if block in ("systems", "judges") else ""
        yield from (f"{block} > {line}{more if line.endswith(FORM) else ''}" for line in found)


def _shown_as(shared: Shared) -> Iterator[str]:
    for name, shown in shared.shown_as.items():
        blocks = [block for block in ("systems", "judges") if name in getattr(shared, block)]
        if not blocks:
            yield f"{name}: is no system and no judge; remove it or correct its spelling"
        elif problem := words_problem(shown):
            yield f"{name}: {problem}"
        for block in blocks:
            others = {*getattr(shared, block), *_TAKEN[block]} - {name}
            others |= {shared.shown_as.get(other, other) for other in others}
            like = sorted(other for other in others if folded(other) == folded(shown))
            if like:
                yield f"{name}: looks like {like[0]}, which is of {block} too; choose other words"
