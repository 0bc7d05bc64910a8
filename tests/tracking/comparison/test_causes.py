"""Why numbers differ: one planted change each, named right; what changes no number is not named."""

from collections.abc import Callable

import pytest

from metassay.cli.main import main
from metassay.tracking.comparison.causes import causes, changed_params
from tests.tracking.comparison.states import (
    TABLES,
    Lock,
    Project,
    base_lock,
    params_of,
    rerun,
    scores,
    version_of_reader,
)

JUDGE = "judge@reader"
VERSIONS = "versions.yaml"
SETTINGS = "benchmarks/sample/params.yaml"
Plant = Callable[[Lock], object]
Root = tuple[str, str, str]


def put(stage: str, key: str, value: object, file: str = VERSIONS) -> Plant:
    return lambda lock: params_of(lock, stage, file).update({key: value})


def put_reader(part: str, name: str, value: object) -> Plant:
    """Another prompt or model setting behind the judge."""

    def plant(lock: Lock) -> None:
        version = version_of_reader()
        version[part][name] = value
        params_of(lock, JUDGE, VERSIONS)["judges.reader"] = version

    return plant


def put_dependency(path: str) -> Plant:
    dependency = {"path": path, "md5": "1"}
    return lambda lock: lock["stages"]["align@rouge_topk"]["deps"].append(dependency)


def all_of(*plants: Plant) -> Plant:
    return lambda lock: [plant(lock) for plant in plants]


def add_unused(lock: Lock) -> None:
    """What has no part in a number: another model, prices."""
    models = params_of(lock, "report")["models"]
    models["other"]["model"] = "other-2"
    models["mini"]["prices"] = {"input": 2}
    models["new"] = {"endpoint": "here", "model": "new-1"}


OTHER_PROMPT = put_reader("prompts", "prompts/judge.yaml", "b6d")
OTHER_MODEL = {**version_of_reader()["models"]["mini"], "model": "mini-2"}
# The stage that measures and the one that pools both watch it.
METRICS = [put(stage, "metrics.rouge", 2) for stage in ("measure", "aggregate")]
FAR = all_of(
    lambda lock: params_of(lock, "certify")["certification"].update(useful=0.4),
    put("report", "stages.report", 2),
)
PLANTED: dict[str, tuple[Plant, list[Root]]] = {
    "prompt": (OTHER_PROMPT, [("prompt", JUDGE, "prompts of judges.reader")]),
    "model": (
        put_reader("models", "mini", OTHER_MODEL),
        [("model", JUDGE, "models > mini > model")],
    ),
    "data": (
        lambda lock: lock["stages"]["ingest"]["deps"][0].update(md5="0" * 32),
        [("data", "ingest", "data/sample")],
    ),
    "code": (all_of(*METRICS), [("code", "measure", "code of metrics.rouge")]),
}
MORE: dict[str, tuple[Plant, list[Root]]] = {
    "far from scores": (all_of(FAR, OTHER_PROMPT), PLANTED["prompt"][1]),
    "a metric more": (
        all_of(
            put("measure", "metrics.bertscore", 1),
            put("aggregate", "metrics.bertscore", 1),
            put("measure", "metrics.bertscore", {"kind": "bertscore"}, "params.yaml"),
            lambda lock: params_of(lock, "measure", SETTINGS)["metrics"].append(
                "bertscore"
            ),
        ),
        [("settings", "measure", f"{SETTINGS} > metrics")],
    ),
    **{
        path: (put_dependency(path), [(kind, "align@rouge_topk", path)])
        for path, kind in (
            ("rubrics/note.yaml", "prompt"),
            ("data/judges/semantic.json", "model"),
            ("studies/sample/pilot/ratings.csv", "data"),
        )
    },
}


def roots(plant: Plant, **hashes: str) -> list[Root]:
    """The causes of one change, where scores differ."""
    before, after = rerun(base_lock()), base_lock()
    plant(after)
    rerun(after, {f"{TABLES}/scores.parquet": "other", **hashes})
    add_unused(after)
    return [tuple(cause) for cause in causes(before, after)]


@pytest.mark.parametrize(("plant", "wanted"), [*PLANTED.values(), *MORE.values()])
def test_a_planted_change_is_named_and_nothing_else(plant, wanted):
    assert roots(plant) == wanted


def test_four_revisions_with_one_planted_change_each(tmp_path, monkeypatch, capsys):
    project = Project.begin(tmp_path / "project")
    monkeypatch.chdir(project.root)
    project.state("base", scores())
    for name, (plant, _) in PLANTED.items():
        project.state(name, scores(lead=-0.03), plant)
    kinds = ("data", "prompt", "model", "settings", "code", "answers")
    for name, (_, [(kind, stage, what)]) in PLANTED.items():
        assert main(["compare", "--before", "base", "--after", name]) == 4
        output = capsys.readouterr().out
        assert f"{what} (stage {stage})" in output
        heads = [line.split(":")[0] for line in output.splitlines()]
        assert [head for head in heads if head in kinds] == [kind]


def test_the_same_questions_with_other_answers():
    answers = {f"{TABLES}/judgments/reader.parquet": "other"}
    assert roots(lambda _: None, **answers)[0][:2] == ("answers", JUDGE)


def test_what_did_not_move_the_scores_is_no_cause():
    before, after = rerun(base_lock()), base_lock()
    all_of(FAR, OTHER_PROMPT)(after)
    stages = {
        name: stage for name, stage in before["stages"].items() if name != "certify"
    }
    same = {
        out["path"]: out["md5"] for stage in stages.values() for out in stage["outs"]
    }
    roots = [tuple(cause) for cause in causes(before, rerun(after, same))]
    assert roots == [("settings", "certify", "certification > useful")]
    assert causes(before, before) == []


A, B = (
    {"kind": "jury", "members": {"a": {"model": model}}} for model in ("mini", "other")
)


JURY = {"version": 1, "members": {"first": 1}}


@pytest.mark.parametrize(
    ("file", "before", "after", "wanted"),
    [
        ("params.yaml", {"model": "mini"}, {"model": "other"}, ("model", " > model")),
        ("params.yaml", {"shots": 0}, {"shots": 1}, ("settings", " > shots")),
        ("params.yaml", {"style": "json"}, {"style": "cot"}, ("prompt", " > style")),
        ("params.yaml", A, B, ("model", " > members > a > model")),
        (VERSIONS, 1, {"version": 1, "prompts": {"a": "0"}}, ("prompt", "")),
        (VERSIONS, JURY, {**JURY, "members": {"first": 2}}, ("code", " > first")),
        (
            "code.yaml",
            "0ld",
            "c0de+a5c",
            ("code", ""),
        ),  # of a lock before versions were declared
    ],
)
def test_settings_of_a_block(file, before, after, wanted):
    kind, place = wanted
    ours, theirs = ({file: {"judges.reader": block}} for block in (before, after))
    of = {"code": "code of ", "prompt": "prompts of "} if file != "params.yaml" else {}
    what = f"{of.get(kind, '')}judges.reader{place}"
    assert changed_params(ours, theirs) == [(kind, what)]
