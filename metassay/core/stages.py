"""The table of stages: what each reads and writes.

It determines dvc.yaml files, file names, what a stage may access, versions and
docs/map.md.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from string import Template
from typing import Any

import yaml

from metassay.core.options import BENCHMARKS, PARAMS
from metassay.core.params import (
    AttackTest,
    BartscoreTuning,
    Benchmark,
    CtcTuning,
    Distillation,
    Folder,
    JudgeTest,
    QualityTuning,
    SegmentTest,
    Tuning,
)
from metassay.core.stage_table import (
    ATTACK_TEST,
    BARTSCORE_TUNING,
    CTC_TUNING,
    DISTILLATION,
    EVALUATION,
    JUDGE_TEST,
    QUALITY_TUNING,
    ROOT,
    SEGMENT_TEST,
    TABLE,
    Names,
    Stage,
    Stages,
)

TABLES = "data/tables"
# Both write the same bytes; the C dumper is four times as fast, but not always there.
_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
REGISTRY = "data/registry.yaml"
DAG = "dvc.yaml"
VERSIONS = "versions.yaml"  # what stages and kinds declare (versions.py)
HEADLINE = "benchmarks/${name}/headline.json"
METRICS = "benchmarks/${name}/metrics.json"  # the few of them that DVC's table shows
PLOTS = "benchmarks/${name}/plots"
PUBLISHED = "reports/published"
ELEMENT = "${element}"  # the current element of a stage's list or mapping
_HOLE = re.compile(r"\$\{(\w+)\}")
_OF_ENTRY = ("name", "element")  # known before the benchmark's lists are
_VALUE = "${value}"  # the value of a mapping's element: a file or folder
_IN_GIT = {"cache": False}
_HEAD = """\
# {what}, in the order of the data: `metassay update` writes it from
# metassay/core/stage_table.py and the params.yaml beside it. docs/tables.md says what
# tables mean, versions.yaml has declared versions, and `meta`, which stays as you write
# it, says how Prefect runs a stage.
"""
_ROOT_HEAD = """\
# What belongs to no single benchmark; each one's own DAG is benchmarks/<name>/dvc.yaml.
# Generated from metassay/core/stage_table.py by `metassay update`. `meta` says how
# Prefect runs a stage.
"""


FETCH, *TRAINING = ROOT  # other projects get trained models


# Stages, title and plots for DVC of each sort of folder of benchmarks/.
SORTS: Mapping[type[Folder], tuple[Stages, str, tuple[str, ...]]] = {
    Benchmark: (
        EVALUATION,
        "The evaluation of one benchmark",
        ("leaderboard", "forest"),
    ),
    JudgeTest: (JUDGE_TEST, "A test of judges", ("judges",)),
    AttackTest: (ATTACK_TEST, "A test of judges by attacks", ("judges",)),
    SegmentTest: (
        SEGMENT_TEST,
        "A test of segmentations",
        ("segmentations",),
    ),
    BartscoreTuning: (BARTSCORE_TUNING, "Tuning of BARTScore", ()),
    CtcTuning: (CTC_TUNING, "Tuning of CTC", ()),
    QualityTuning: (QUALITY_TUNING, "Tuning on quality", ()),
    Distillation: (DISTILLATION, "A distillation", ()),
}


def stages_of(folder: Folder) -> Stages:
    """Return the stages of a folder of benchmarks/."""
    return SORTS[type(folder)][0]


def stage_versions() -> dict[str, int]:
    """Return the version of each stage, by its module in stages/."""
    stages = [stage for stages in TABLE.values() for stage in stages]
    return dict(sorted((stage.module, stage.version) for stage in stages))


# ---- files and lists --------------------------------------------------------------------------


def _written_files(stages: Stages, table: str) -> list[tuple[str, str]]:
    """Return the files of a table that is a folder, each with the list of its stage."""
    outs = [(out, stage.each) for stage in stages for out in stage.writes]
    return [
        (out.split("/")[1], name) for out, name in outs if out.startswith(f"{table}/")
    ]


def files_of(
    stages: Stages, table: str, names: Callable[[str], Iterable[str]]
) -> list[str]:
    """Return the files of a table that is a folder, in stage order; `names` looks up a list."""
    files = [
        file.replace(ELEMENT, name)
        for file, list_name in _written_files(stages, table)
        for name in (names(list_name) if ELEMENT in file else [""])
    ]
    return list(dict.fromkeys(files))


def files_in(folder: Folder, table: str) -> list[str]:
    """Return the files of a table of a benchmark or test, in stage order."""
    return files_of(stages_of(folder), table, lambda each: getattr(folder, each))


def names_of(folder: Folder, stage: Stage, key: str) -> list[str]:
    """Return the names that a key such as `judges.${element}` has in a folder of benchmarks/."""
    names = getattr(
        folder, stage.each if key.endswith(ELEMENT) else _HOLE.findall(key)[0]
    )
    return [names] if isinstance(names, str) else list(names)


def used_blocks(folder: Folder) -> dict[str, list[str]]:
    """Return the named blocks whose kinds the stages of a folder use: block -> sorted names."""
    used: dict[str, set[str]] = {}
    for stage in stages_of(folder):
        for key in (*stage.kinds, *stage.versions):
            used.setdefault(key.partition(".")[0], set()).update(
                names_of(folder, stage, key)
            )
    return {block: sorted(names) for block, names in sorted(used.items())}


# ---- dvc.yaml ---------------------------------------------------------------------------------


def entry(stage: Stage, folder: Folder | None = None) -> dict[str, Any]:
    """Return the entry of a stage in a dvc.yaml, with placeholders for the element's name.

    `folder` is that of benchmarks/ which the stage belongs to; None: it belongs to no
    benchmark.
    """
    stages = stages_of(folder) if folder else ()
    arguments = [stage.argument]
    if stage.each and stage.argument != ELEMENT:
        arguments.append(ELEMENT)
    quoted = [f"'{word}'" if "$" in word else word for word in arguments]
    kinds = _name_lists(stage.kinds, folder)
    keys = [*kinds, *_name_lists(stage.shared, folder)]
    # Of a dataset whose files are read, only the reader changes what the stage writes.
    registered = [
        f"{key}.reader" if key in kinds else key for key in keys if _is_dataset(key)
    ]
    settings = f"{BENCHMARKS}/${{name}}/{PARAMS.name}"
    by_file = {
        settings: _settings_keys(stage, stages) if stages else [],
        REGISTRY: registered,
        VERSIONS: [
            f"stages.{stage.module}",
            *kinds,
            *_name_lists(stage.versions, folder),
        ],
    }
    deps = [
        *stage.files,
        *_trained_base(stage, folder),
        *map(_path, stage.reads),
    ]
    if stage.repeats_over_mapping:
        deps.insert(0, _VALUE)
    outs = [*stage.outs, *map(_path, stage.writes)]
    listed_outs = [{out: dict(_IN_GIT)} for out in outs] if stage.git else list(outs)
    is_report = folder is not None and stage.name == "report"
    plots = SORTS[type(folder)][2] if folder else ()
    in_git = [HEADLINE, *(f"{PLOTS}/{plot}.csv" for plot in plots)] if is_report else []
    block = {
        "wdir": "../.." if stages else "",
        "cmd": " ".join(["python", "-m", f"stages.{stage.module}", *quoted]),
        "deps": deps,
        "params": [
            *(key for key in keys if not _is_dataset(key)),
            *({file: names} for file, names in by_file.items() if names),
        ],
        "outs": [
            *listed_outs,
            *({file: dict(_IN_GIT)} for file in in_git),  # a copy each: no YAML anchors
        ],
        "metrics": [{METRICS: dict(_IN_GIT)}] if is_report else [],
        "meta": {
            "retries": stage.retries,
            "delay": stage.delay,
            "tags": list(stage.tags),
        },
    }
    return {key: value for key, value in block.items() if value}


def _trained_base(stage: Stage, folder: Folder | None) -> list[str]:
    """Return the model that a training starts from, if another training made it."""
    if isinstance(folder, Tuning) and "base" in stage.params:
        return folder.trained_base
    return []


def _is_dataset(key: str) -> bool:
    return key.startswith("datasets.")


def _name_lists(keys: Names, folder: Folder | None) -> list[str]:
    """Return keys, with one for each name where a list of the folder is meant."""
    named = list[str]()
    for key in keys:
        holes = [hole for hole in _HOLE.findall(key) if hole not in _OF_ENTRY]
        value = getattr(folder, holes[0]) if holes else ""
        if isinstance(value, str):  # DVC fills it in
            named.append(key)
        else:
            named += [key.replace(f"${{{holes[0]}}}", name) for name in value]
    return list(dict.fromkeys(named))


def _path(table: str) -> str:
    folder = f"{TABLES}/${{name}}/"
    return folder + (table[:-1] if table.endswith("/") else f"{table}.parquet")


def _settings_keys(stage: Stage, stages: Stages) -> list[str]:
    fields = " ".join([*stage.files, *stage.kinds, *stage.shared])
    keys = [key for key in _HOLE.findall(fields) if key not in _OF_ENTRY]
    keys += [f"{stage.each}.{ELEMENT}"] if stage.repeats_over_mapping else []
    for folder in (table[:-1] for table in stage.reads if table.endswith("/")):
        keys += [
            list_name
            for file, list_name in _written_files(stages, folder)
            if ELEMENT in file
        ]
    return list(dict.fromkeys([*keys, *stage.params]))


def fill_template(template: Any, values: Mapping[str, str]) -> Any:
    """Fill the placeholders of a template such as `entry` returns; unknown ones stay."""
    if isinstance(template, str):
        return Template(template).safe_substitute(values)
    if isinstance(template, list):
        return [fill_template(item, values) for item in template]
    if isinstance(template, dict):
        return {
            fill_template(key, values): fill_template(item, values)
            for key, item in template.items()
        }
    return template


def dvc_entry(stage: Stage, folder: Folder | None = None) -> dict[str, Any]:
    """Return the entry of dvc.yaml: a stage, or a loop over the elements of its list."""
    block = entry(stage, folder)
    if not stage.each:
        return block
    # DVC calls elements of a list `item`; keys of a mapping `key` and its values
    # `item`.
    names = {
        "element": "${key}" if stage.repeats_over_mapping else "${item}",
        "value": "${item}",
    }
    return {"foreach": f"${{{stage.each}}}", "do": fill_template(block, names)}


def instances(
    stage: Stage, folder: Folder | None, values: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each instance of a stage: its name in DVC, and its entry with nothing left to fill in.

    `values` has the lists and names of the folder's params.yaml, or of the root's
    dvc.yaml.
    """
    words = {key: value for key, value in values.items() if isinstance(value, str)}
    template = entry(stage, folder)
    if not stage.each:
        yield stage.name, fill_template(template, words)
        return
    names = values[stage.each]
    for name in names:
        more = {
            "element": name,
            "value": names[name] if stage.repeats_over_mapping else "",
        }
        yield f"{stage.name}@{name}", fill_template(template, words | more)


def watched_params(block: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the keys that the entry of an instance watches, by their file."""
    params = {
        str(PARAMS): tuple(key for key in block["params"] if isinstance(key, str))
    }
    for by_file in (item for item in block["params"] if isinstance(item, dict)):
        params |= {file: tuple(keys) for file, keys in by_file.items()}
    return {file: keys for file, keys in params.items() if keys}


def dag(folder: Folder, present: object = None) -> str:
    """Return the dvc.yaml of a folder of benchmarks/.

    `present` is the content of the file that it replaces: `meta` of its stages stays,
    and so do stages of the user's own.
    """
    stages, title, plots = SORTS[type(folder)]
    blocks = {stage.name: dvc_entry(stage, folder) for stage in stages}
    for name, former in _entries(present).items():
        if name in blocks:
            _body(blocks[name]).update(_meta(former))
        elif not _is_ours(former):
            blocks[name] = former
    content = {"stages": blocks, "plots": [{plot: _plot(plot)} for plot in plots]}
    return _HEAD.format(what=title) + _text(
        {key: value for key, value in content.items() if value}
    )


def _plot(name: str) -> dict[str, Any]:
    """Return a plot of DVC's: the values of a file's rows, with their intervals.

    The files are in git, so that DVC shows those of any revision; it shows no plot at
    all where one lies in a folder that its cache lacks.
    """
    return {
        "title": f"${{name}}: {name}",
        "template": "intervals",  # .dvc/plots/intervals.json
        "x": "value",
        "y": {f"plots/{name}.csv": "row"},
    }


def root_dag(more: Iterable[Stage] = ()) -> str:
    """Return the root's dvc.yaml, which fetches datasets; `more`: stages of this repository."""
    blocks = {stage.name: dvc_entry(stage) for stage in (FETCH, *more)}
    return _ROOT_HEAD + _text({"vars": [f"{REGISTRY}:{FETCH.each}"], "stages": blocks})


def _text(content: dict[str, Any]) -> str:
    text: str = yaml.dump(content, Dumper=_DUMPER, sort_keys=False, width=1000)
    return re.sub(r"^(?=  \w+:$)", "\n", text, flags=re.MULTILINE)


def has_own_dag(content: object) -> bool:
    """Whether a dvc.yaml is its owner's alone: it has stages, and none runs Metassay."""
    entries = _entries(content)
    return bool(entries) and not any(map(_is_ours, entries.values()))


def differing_stages(
    content: object, stages: Iterable[Stage], folder: Folder | None
) -> list[str]:
    """Return the stages of a dvc.yaml that are not as `metassay update` writes them.

    `meta` and the order of lists don't count.
    """
    present = _entries(content)
    return [
        stage.name
        for stage in stages
        if _plain(present.get(stage.name)) != _plain(dvc_entry(stage, folder))
    ]


def _entries(content: object) -> dict[str, Any]:
    entries = content.get("stages") if isinstance(content, dict) else None
    return entries if isinstance(entries, dict) else {}


def _is_ours(block: object) -> bool:
    return "python -m stages." in str(block)


def _body(block: dict[str, Any]) -> dict[str, Any]:
    body: dict[str, Any] = block.get("do", block)
    return body


def _meta(block: object) -> dict[str, Any]:
    body = _body(block) if isinstance(block, dict) else {}
    return {"meta": body["meta"]} if "meta" in body else {}


def _plain(template: Any) -> Any:
    """Return a stage's entry without `meta`, independent of order."""
    if isinstance(template, list):
        return sorted(str(_plain(item)) for item in template)
    if isinstance(template, dict):
        return {key: _plain(item) for key, item in template.items() if key != "meta"}
    return template
