"""The one table of stages: what each reads and writes, of which all that knows of stages is made.

dvc.yaml files, names of files, what a doorway may touch, blocks of code.yaml and docs/map.md.

    python -m metassay.core.stages docs/map.md
"""

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from string import Template
from typing import Any

import yaml

from metassay.core.options import BENCHMARKS, PARAMS
from metassay.core.params import Benchmark, Folder, JudgeTest, SegmentTest

TABLES, REGISTRY, CODE, DAG = "data/tables", "data/registry.yaml", "code.yaml", "dvc.yaml"
HEADLINE = "benchmarks/${name}/headline.json"
RAW, PAGE, PUBLISHED = "${raw}", "reports/${name}", "reports/published"
ELEMENT = "${element}"  # of the list or mapping over which a stage repeats
_HOLE = re.compile(r"\$\{(\w+)\}")
_VALUE = "${value}"  # that of a mapping's element: a file or folder
_MODELS = "endpoints models"  # no answer depends on endpoints, but who may be asked does
_IN_GIT = {"cache": False}
_HEAD = """\
# {what}, in the order of the data: generated from metassay/core/stages.py by
# `metassay refresh`, and the same in every such folder. docs/tables.md says what tables mean,
# code.yaml has versions of the code, and `meta` says how Prefect runs a stage.
"""
_ROOT_HEAD = """\
# What belongs to no single benchmark: generated from metassay/core/stages.py by `metassay refresh`.
# Each benchmark's own DAG is benchmarks/<name>/dvc.yaml. `meta` says how Prefect runs a stage.
"""


@dataclass(frozen=True)
class Stage:
    """One stage of a dvc.yaml; `${key}` stands for a value of the benchmark's params.yaml.

    Words are parted by blanks. `reads` and `writes` are tables: `parts` is one file, `texts/` a
    folder whose files several stages write, `texts/given` one of these. `files` are further
    dependencies, `outs` further outputs. `kinds` are named blocks whose options and code it uses;
    `shared`, `params` and `code` further keys of the root's params.yaml (or the registry), of the
    benchmark's, and of code.yaml. `each`: the list that it repeats over; of a mapping it depends on
    the values, too. `program`: its module in stages/, if not its name. `tags`, `retries` and
    `delay` (seconds) are Prefect's. `git`: what it makes is in git, not in DVC's cache.
    """

    name: str
    _: KW_ONLY
    program: str = ""
    tags: str = "tables"
    each: str = ""
    files: str = ""
    reads: str = ""
    kinds: str = ""
    shared: str = ""
    params: str = ""
    code: str = ""
    writes: str = ""
    outs: str = ""
    argument: str = "${name}"
    git: bool = False
    retries: int = 1
    delay: int = 2

    @property
    def module(self) -> str:
        """Its module in stages/."""
        return self.program or self.name

    @property
    def over_mapping(self) -> bool:
        """Whether it repeats over names with a file or folder each."""
        return self.each in ("few_shot", "studies", "released_claims")


Stages = tuple[Stage, ...]

_SETTLED: dict[str, Any] = {"retries": 0, "delay": 1}  # trying again cannot help
_ASKED = "responses/{0} notes/{0}"
_METRICS = "metrics_of.${name} costly_metrics_of.${name}"
_DATASET, _SEGMENTATION = "datasets.${dataset}", "segmentations.${segmentation}"
_ANALYSES = (
    "designs strata correlations components significance agreement rating_summaries"
    " metric_correlations facet_weights preferences ensembles conflicts disagreements confounds"
    " corrected judge_cards calibration"
)


def _writing(name: str, each: str) -> Stage:
    return Stage(
        name,
        program="generate",
        each=each,
        reads="sources",
        kinds="systems.${element}",
        shared=_MODELS,
        writes=f"texts/{ELEMENT} {_ASKED.format('generate-${element}')}",
        tags="generate llm",
    )


def _decomposing(name: str, each: str) -> Stage:
    return Stage(
        name,
        program="decompose",
        each=each,
        reads="sources parts",
        kinds="decompositions.${element}",
        shared=_MODELS,
        writes=f"units {_ASKED.format('decompose')}",
        tags="tables llm",
    )


_JUDGE = Stage(
    "judge",
    each="judges",
    reads="pairs/",
    kinds="judges.${element}",
    shared=_MODELS,
    writes=f"judgments/{ELEMENT} {_ASKED.format('judge-${element}')}",
    retries=2,
    tags="judge llm",
)

EVALUATION: Stages = (
    Stage(
        "ingest",
        files=RAW,
        kinds=_DATASET,
        params="criteria",
        writes="sources segments texts/given ratings/given criteria/given pairs/given"
        " judgments/given measurements/given notes/ingest",
        **_SETTLED,
    ),
    _writing("generate", "systems"),
    _writing("generate_few_shot", "few_shot"),
    Stage(
        "ingest_study",
        each="studies",
        reads="sources texts/",
        params="criteria",
        writes="ratings/${element}",
        **_SETTLED,
    ),
    Stage(
        "segment",
        reads="sources segments texts/",
        kinds=_SEGMENTATION,
        shared=_MODELS,
        writes=f"parts {_ASKED.format('segment')}",
        tags="tables llm",
    ),
    _decomposing("decompose", "decompositions"),
    _decomposing("decompose_released", "released_claims"),
    Stage("align", reads="sources units", kinds="alignments.${alignment}", writes="alignments"),
    Stage(
        "pair",
        each="questions",
        reads="sources parts units alignments",
        shared="questions.${element}",
        writes="pairs/${element}",
    ),
    Stage(
        "pair_rubric",
        each="rubrics",
        files="rubrics/${element}.yaml",
        reads="sources parts",
        kinds=_SEGMENTATION,
        writes="pairs/rubric-${element} criteria/${element}",
    ),
    _JUDGE,
    Stage(
        "measure",
        reads="sources parts",
        kinds=_SEGMENTATION,  # recipes print it, and the model behind it
        shared=f"metrics {_MODELS}",
        params="metrics",
        code="metrics_of.${name}",
        writes="measurements/metrics notes/measure",
        tags="measure",
    ),
    Stage(
        "measure_costly",
        program="measure",
        each="costly_metrics",
        reads="sources parts",
        kinds=f"costly_metrics.{ELEMENT} {_SEGMENTATION}",
        shared=_MODELS,
        writes="measurements/${element} notes/measure-${element}",
        tags="measure models",
    ),
    Stage(
        "aggregate",
        reads="parts units pairs/ judgments/ criteria/ measurements/",
        kinds=_SEGMENTATION,  # recipes print it, the decomposition and the alignment
        shared=f"aggregation decompositions alignments.${{alignment}} questions {_MODELS}",
        params="decompositions released_claims",
        code=f"{_METRICS} decomposition_of.${{name}}",  # how metrics are described and pooled
        writes="scores leaderboard",
    ),
    Stage(
        "meta_evaluate",
        reads="sources scores leaderboard ratings/ criteria/",
        shared="meta_evaluation",
        params="criteria design",
        writes=f"{_ANALYSES} evidence notes/meta_evaluate",
    ),
    Stage(
        "certify", reads="evidence", shared="certification", code=_METRICS, writes="certificates"
    ),
    Stage(
        "report",
        files=PUBLISHED,
        reads="sources texts/ parts units alignments pairs/ judgments/ criteria/ responses/ notes/"
        f" scores leaderboard ratings/ {_ANALYSES} certificates",
        kinds=_SEGMENTATION,
        shared="meta_evaluation.resamples meta_evaluation.confidence meta_evaluation.seed"
        f" certification shown_as {_DATASET} {_MODELS}",
        params="criteria published seen",
        code=_METRICS,
        outs=PAGE,
        tags="report",
    ),
)

JUDGE_TEST: Stages = (
    Stage(
        "ingest_items",
        files=RAW,
        kinds=_DATASET,
        params="test options judges",
        # No responses are given; the folder is there without a judge.
        writes="gold ratings pairs/given judgments/given responses/given given_verdicts"
        " notes/ingest_items",
        **_SETTLED,
    ),
    _JUDGE,
    Stage(
        "examine",
        reads="pairs/ judgments/ gold ratings given_verdicts",
        shared="meta_evaluation",
        writes="verdicts judge_cards calibration notes/examine",
    ),
    Stage(
        "report",
        program="report_judges",
        files=PUBLISHED,
        reads="gold ratings pairs/ judgments/ verdicts responses/ notes/ judge_cards calibration",
        shared=f"meta_evaluation.confidence shown_as {_DATASET} {_MODELS}",
        params="test options published seen",
        outs=PAGE,
        tags="report",
    ),
)

SEGMENT_TEST: Stages = (
    Stage(
        "ingest_sentences",
        files=RAW,
        kinds=_DATASET,
        params="options",
        writes="texts/given sentences notes/ingest_sentences",
        **_SETTLED,
    ),
    Stage(
        "segment_sentences",
        each="segmentations",
        reads="texts/ sentences",
        kinds="segmentations.${element}",
        shared=_MODELS,
        writes=f"segmented/{ELEMENT} {_ASKED.format('segment-${element}')}",
        retries=2,
        tags="tables llm",
    ),
    Stage(
        "examine_segmentations",
        reads="sentences segmented/",
        shared="meta_evaluation",
        writes="segment_scores confusions notes/examine_segmentations",
    ),
    Stage(
        "report",
        program="report_segmentations",
        reads="texts/ sentences segmented/ segment_scores confusions responses/ notes/",
        shared=f"{_DATASET} {_MODELS}",
        params="seen",
        outs=PAGE,
        tags="report",
    ),
)

FETCH = Stage(
    "fetch",
    each="fetched",
    argument=ELEMENT,
    shared="datasets.${element}",
    outs="data/raw/${element}",
    retries=4,
    delay=5,
    tags="network",
)
_ALONE: dict[str, Any] = {"retries": 0, "delay": 0}
TRAINING: Stages = (  # what comes trained into other projects
    Stage(
        "train",
        argument="semantic",
        files="data/raw/wice_train data/raw/aci_bench_train data/judges/pairs/training.jsonl",
        shared="judges.semantic",
        outs="data/judges/semantic.json data/judges/semantic.safetensors",
        git=True,
        tags="models",
        **_ALONE,
    ),
    Stage(
        "train_roles",
        argument="csabstruct",
        files="data/raw/csabstruct_train",
        shared="segmentations.bmrc_encoder",
        outs="data/segmenters/csabstruct_encoder.json",
        git=True,
        tags="models",
        **_ALONE,
    ),
)


def figures(paper: str, files: Iterable[str]) -> Stage:
    """The stage that draws a paper's tables and figures of these files."""
    return Stage(
        f"figures_{paper}",
        program="figures",
        argument=paper,
        files=" ".join(files),
        outs=f"reports/figures/{paper}",
        tags="figures",
        **_ALONE,
    )


# The stages of each sort of folder of benchmarks/, what it is, and the figures that DVC shows.
SORTS: Mapping[type[Folder], tuple[Stages, str, tuple[str, ...]]] = {
    Benchmark: (EVALUATION, "The evaluation of one benchmark", ("leaderboard", "forest")),
    JudgeTest: (JUDGE_TEST, "A test of judges", ("reliability",)),
    SegmentTest: (SEGMENT_TEST, "A test of segmentations", ("confusions",)),
}


def stages_of(folder: Folder) -> Stages:
    """The stages of a folder of benchmarks/."""
    return SORTS[type(folder)][0]


# ---- files and lists --------------------------------------------------------------------------


def _written(stages: Stages, table: str) -> list[tuple[str, str]]:
    """The files of a table that is a folder, each with the list that its stage repeats over."""
    outs = [(out, stage.each) for stage in stages for out in stage.writes.split()]
    return [(out.split("/")[1], each) for out, each in outs if out.startswith(f"{table}/")]


def lists_of(stages: Stages, table: str) -> list[str]:
    """The lists of a benchmark that say which files a table has that is a folder."""
    return [each for file, each in _written(stages, table) if ELEMENT in file]


def files_of(stages: Stages, table: str, names: Callable[[str], Iterable[str]]) -> list[str]:
    """The files of a table that is a folder, as the data goes; `names` has the names of a list."""
    found = [
        file.replace(ELEMENT, name)
        for file, each in _written(stages, table)
        for name in (names(each) if ELEMENT in file else [""])
    ]
    return list(dict.fromkeys(found))


def files_in(folder: Folder, table: str) -> list[str]:
    """The files of a table of one benchmark or test, as the data goes."""
    return files_of(stages_of(folder), table, lambda each: getattr(folder, each))


def names_of(folder: Folder, stage: Stage, key: str) -> list[str]:
    """What a key such as `judges.${element}` names in a folder of benchmarks/."""
    found = getattr(folder, stage.each if key.endswith(ELEMENT) else key.split("${")[1][:-1])
    return [found] if isinstance(found, str) else list(found)


# ---- dvc.yaml ---------------------------------------------------------------------------------


def entry(stage: Stage, stages: Stages = ()) -> dict[str, Any]:
    """What a dvc.yaml with these stages says of one, with holes where an element's name goes."""
    own = f"{BENCHMARKS}/${{name}}/{PARAMS.name}"
    arguments = dict.fromkeys([stage.argument, *([ELEMENT] if stage.each else [])])
    words = [f"'{word}'" if "$" in word else word for word in arguments]
    keys = (*stage.kinds.split(), *stage.shared.split())
    registered = [key for key in keys if key.startswith("datasets.")]
    by_file = {
        own: _own_keys(stage, stages) if stages else [],
        REGISTRY: registered,
        CODE: [f"stages.{stage.module}", *stage.kinds.split(), *stage.code.split()],
    }
    deps = [
        *([_VALUE] if stage.over_mapping else []),
        *stage.files.split(),
        *map(_path, stage.reads.split()),
    ]
    outs = [*stage.outs.split(), *map(_path, stage.writes.split())]
    whole = {
        "wdir": "../.." if stages else "",
        "cmd": " ".join(["python", "-m", f"stages.{stage.module}", *words]),
        "deps": deps,
        "params": [
            *(key for key in keys if key not in registered),
            *({file: found} for file, found in by_file.items() if found),
        ],
        "outs": [{out: _IN_GIT} for out in outs] if stage.git else outs,
        "metrics": [{HEADLINE: _IN_GIT}] if stage.name == "report" else [],
        "meta": {"retries": stage.retries, "delay": stage.delay, "tags": stage.tags.split()},
    }
    return {key: value for key, value in whole.items() if value}


def _path(table: str) -> str:
    folder = f"{TABLES}/${{name}}/"
    return folder + (table[:-1] if table.endswith("/") else f"{table}.parquet")


def _own_keys(stage: Stage, stages: Stages) -> list[str]:
    """The keys of the benchmark's params.yaml that a stage reads."""
    said = f"{stage.files} {stage.kinds} {stage.shared}"
    keys = [key for key in _HOLE.findall(said) if key not in ("name", "element")]
    keys += [f"{stage.each}.{ELEMENT}"] if stage.over_mapping else []
    keys += [
        each for one in stage.reads.split() if one[-1] == "/" for each in lists_of(stages, one[:-1])
    ]
    return list(dict.fromkeys([*keys, *stage.params.split()]))


def filled(template: Any, values: Mapping[str, str]) -> Any:
    """A template such as `entry` gives, with values in its holes; others stay."""
    if isinstance(template, str):
        return Template(template).safe_substitute(values)
    if isinstance(template, list):
        return [filled(item, values) for item in template]
    if isinstance(template, dict):
        return {filled(key, values): filled(item, values) for key, item in template.items()}
    return template


def dvc_entry(stage: Stage, stages: Stages = ()) -> dict[str, Any]:
    """What stands in dvc.yaml: a stage, or one for each element of a list."""
    found = entry(stage, stages)
    if not stage.each:
        return found
    # DVC calls what a list has `item`; of a mapping it calls the names `key`, the values `item`.
    names = {"element": "${key}" if stage.over_mapping else "${item}", "value": "${item}"}
    return {"foreach": f"${{{stage.each}}}", "do": filled(found, names)}


def dag(sort: type[Folder]) -> str:
    """The dvc.yaml that all folders of benchmarks/ of this sort have."""
    stages, what, plots = SORTS[sort]
    shown = [f"../../reports/${{name}}/figures/{plot}.svg" for plot in plots]
    blocks = {stage.name: dvc_entry(stage, stages) for stage in stages}
    return _HEAD.format(what=what) + _text({"stages": blocks, "plots": shown})


def root_dag(more: Iterable[Stage] = ()) -> str:
    """The root's dvc.yaml, which fetches datasets; `more` are stages of our own repository."""
    blocks = {stage.name: dvc_entry(stage) for stage in (FETCH, *more)}
    return _ROOT_HEAD + _text({"vars": [f"{REGISTRY}:{FETCH.each}"], "stages": blocks})


def _text(whole: dict[str, Any]) -> str:
    text: str = yaml.safe_dump(whole, sort_keys=False, width=1000)
    return re.sub(r"^(?=  \w+:$)", "\n", text, flags=re.MULTILINE)


def dag_problem(file: str, whole: object, stage: Stage, stages: Stages = ()) -> str:
    """What is wrong with a dvc.yaml's entry of a stage, or nothing: only `meta` is its owner's."""
    there = whole.get("stages") if isinstance(whole, dict) else None
    found = there.get(stage.name) if isinstance(there, dict) else None
    if _plain(found) == _plain(dvc_entry(stage, stages)):
        return ""
    return (
        f"{file} > stages > {stage.name}: is not what this version of Metassay runs; bring it up to"
        " date (`metassay upgrade`, in Metassay's own repository `metassay refresh`)"
    )


def _plain(template: Any) -> Any:
    """What a stage does, whatever the order in which it is written."""
    if isinstance(template, list):
        return sorted(str(_plain(item)) for item in template)
    if isinstance(template, dict):
        return {key: _plain(item) for key, item in template.items() if key != "meta"}
    return template


# ---- docs/map.md ------------------------------------------------------------------------------


def diagram(stages: Stages) -> str:
    """The way of the data in Mermaid: stages, and tables but for `responses` and `notes`."""
    modules = {stage.module: stage for stage in stages}  # some stages share one
    made = {name: _names(stage.writes.split()) for name, stage in modules.items()}
    read = {name: _names(stage.reads.split()) for name, stage in modules.items()}
    *_, report = modules
    used = {table for name in modules if name != report for table in read[name]}
    lines, drawn = ["flowchart TD"], dict[str, str]()
    for name, stage in modules.items():
        into = [drawn[table] for table in read[name] if (table in used) != (name == report)]
        first = ['raw[("data/raw/")]'] if stage.files == RAW else []
        left = [table for table in made[name] if table not in used]
        if len(left) > 3:  # they are shown, and nothing else reads them
            rest = f'{name}_tables[("{", ".join(left[:3])} and {len(left) - 3} more")]'
            drawn |= dict.fromkeys(left, rest)
        for table in made[name]:
            drawn.setdefault(table, f"{table}[({table})]")
        outs = dict.fromkeys(drawn[table] for table in made[name])
        after = " & ".join(outs) if outs else 'page["reports/NAME/"]'
        lines.append(f"  {' & '.join(dict.fromkeys([*first, *into]))} --> {name} --> {after}")
    nodes = set[str]()

    def once(node: re.Match[str]) -> str:
        new = node[1] not in nodes
        nodes.add(node[1])
        return node[0] if new else node[1]

    return re.sub(r"(\w+)\[[^]]+\]", once, "\n".join(lines))


def _names(tables: Iterable[str]) -> list[str]:
    found = dict.fromkeys(table.partition("/")[0] for table in tables)
    return [table for table in found if table not in ("responses", "notes")]


def with_diagrams(page: str) -> str:
    """A page whose first diagrams are those of the sorts of folders of benchmarks/, in order."""
    every = iter([diagram(stages) for stages, _, _ in SORTS.values()])
    fence = re.compile(r"(?<=^```mermaid\n).*?(?=\n```)", re.MULTILINE | re.DOTALL)
    return fence.sub(lambda found: next(every, found[0]), page)


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(with_diagrams(page.read_text(encoding="utf-8")), encoding="utf-8")
