"""Why numbers differ: one planted change each, named right; what changes no number is not named."""

from collections.abc import Callable
from typing import Any

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
)

JUDGE, CODE = "judge@reader", "code.yaml"


def models(lock: Lock) -> list[dict[str, Any]]:
    """The models as every stage of a lock read them."""
    found = [stage.get("params", {}).get("params.yaml", {}) for stage in lock["stages"].values()]
    return [shared["models"] for shared in found if "models" in shared]


def other_prompt(lock: Lock) -> None:
    params_of(lock, JUDGE, CODE)["judges.reader"] = "c0de+b6d"


def other_model(lock: Lock) -> None:
    for block in models(lock):
        block["mini"]["model"] = "mini-2"


def other_data(lock: Lock) -> None:
    lock["stages"]["ingest"]["deps"][0]["md5"] = "0" * 32


def other_code(lock: Lock) -> None:
    for stage in ("measure", "aggregate"):  # both read the joint version
        params_of(lock, stage, CODE)["metrics_of.sample"] = "abcdef"


def unused(lock: Lock) -> None:
    """What has no part in a number: another model, prices, how fast it is asked."""
    for block in models(lock):
        block["other"]["model"] = "other-2"
        block["mini"]["prices"] = {"input": 2}
        block["new"] = {"endpoint": "here", "model": "new-1"}
    for stage in lock["stages"].values():
        shared = stage.get("params", {}).get("params.yaml", {})
        for endpoint in [shared["endpoints"]["here"]] if "endpoints" in shared else []:
            endpoint["concurrency"] = 2


PLANTED: dict[str, tuple[Callable[[Lock], None], list[tuple[str, str, str]]]] = {
    "prompt": (other_prompt, [("prompt", JUDGE, "prompts of judges.reader")]),
    "model": (other_model, [("model", JUDGE, "models.mini > model")]),
    "data": (other_data, [("data", "ingest", "data/sample")]),
    "code": (other_code, [("code", "measure", "code of metrics")]),
}


def planted(plant: Callable[[Lock], None], **kept: str) -> list[tuple[str, str, str]]:
    """The causes of one change, where scores differ."""
    before, after = rerun(base_lock()), base_lock()
    plant(after)
    rerun(after, {f"{TABLES}/scores.parquet": "other", **kept})
    unused(after)
    return [tuple(one) for one in causes(before, after)]


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_change_is_named_and_nothing_else(name: str) -> None:
    plant, wanted = PLANTED[name]
    assert planted(plant) == wanted


def test_four_revisions_with_one_planted_change_each(
    made: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    made.state("base", scores())
    for name, (plant, _) in PLANTED.items():
        made.state(name, scores(lead=-0.03), plant)
    for name, (_, [(kind, stage, what)]) in PLANTED.items():
        assert main(["compare", "--before", "base", "--after", name]) == 4
        said = capsys.readouterr().out.splitlines()
        assert f"{what} (stage {stage})" in "\n".join(said)
        kinds = ("data", "prompt", "model", "settings", "code", "answers")
        told = [line.split(":")[0] for line in said if line.split(":")[0] in kinds]
        assert told == [kind]


def test_the_same_questions_with_other_answers() -> None:
    kept = {f"{TABLES}/judgments/reader.parquet": "other"}
    assert planted(lambda _: None, **kept)[0][:2] == ("answers", JUDGE)


def test_what_did_not_move_the_scores_is_no_cause() -> None:
    def far_from_scores(lock: Lock) -> None:
        params_of(lock, "certify")["certification"]["useful"] = 0.4
        params_of(lock, "report", CODE)["stages.report"] = "other"
        other_prompt(lock)

    assert planted(far_from_scores) == PLANTED["prompt"][1]
    before, after = rerun(base_lock()), base_lock()
    far_from_scores(after)
    same = {
        out["path"]: out["md5"]
        for name, stage in before["stages"].items()
        for out in stage["outs"]
        if name != "certify"
    }
    found = causes(before, rerun(after, same))
    assert [tuple(one) for one in found] == [("settings", "certify", "certification > useful")]
    assert causes(before, before) == []


def test_a_metric_more_is_a_setting_and_no_other_code() -> None:
    def more(lock: Lock) -> None:
        for stage in ("measure", "aggregate", "certify"):
            params_of(lock, stage, CODE)["metrics_of.sample"] = "abcdef"
        params_of(lock, "measure", "benchmarks/sample/params.yaml")["metrics"].append("bertscore")
        params_of(lock, "measure")["metrics"]["bertscore"] = {"kind": "bertscore"}

    where = "benchmarks/sample/params.yaml > metrics"
    assert planted(more) == [("settings", "measure", where)]


def test_a_joint_version_yields_to_the_name_that_changed() -> None:
    def reworded(lock: Lock) -> None:
        params_of(lock, "decompose@clauses", CODE)["decompositions.clauses"] = "c+q"
        params_of(lock, "aggregate", CODE)["decomposition_of.sample"] = "c+q"

    before = base_lock()
    params_of(before, "decompose@clauses", CODE)["decompositions.clauses"] = "c+p"
    params_of(before, "aggregate", CODE)["decomposition_of.sample"] = "c+p"
    after = base_lock()
    reworded(after)
    found = causes(rerun(before), rerun(after))
    wanted = ("prompt", "decompose@clauses", "prompts of decompositions.clauses")
    assert [tuple(one) for one in found] == [wanted]


def test_files_of_rubrics_are_prompts_and_what_was_trained_a_model() -> None:
    def dependency(path: str) -> Callable[[Lock], None]:
        def plant(lock: Lock) -> None:
            lock["stages"]["align@rouge_topk"]["deps"].append({"path": path, "md5": "1"})

        return plant

    for path, kind in (
        ("rubrics/note.yaml", "prompt"),
        ("data/judges/semantic.json", "model"),
        ("studies/sample/one/ratings.csv", "data"),
    ):
        assert planted(dependency(path)) == [(kind, "align@rouge_topk", path)]


def test_versions_of_locks_before_prompts_had_a_hash_are_code() -> None:
    old, new = ({"code.yaml": {"judges.reader": one}} for one in ("0ld", "c0de+a5c"))
    assert changed_params(old, new) == [("code", "code of judges.reader")]


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        ({"model": "mini"}, {"model": "other"}, [("model", "judges.reader > model")]),
        ({"shots": 0}, {"shots": 1}, [("settings", "judges.reader > shots")]),
        ({"style": "json"}, {"style": "cot"}, [("prompt", "judges.reader > style")]),
        (
            {"kind": "jury", "members": {"a": {"model": "mini"}}},
            {"kind": "jury", "members": {"a": {"model": "other"}}},
            [("model", "judges.reader > members > a > model")],
        ),
    ],
)
def test_settings_of_a_block(
    before: dict[str, Any], after: dict[str, Any], wanted: list[tuple[str, str]]
) -> None:
    ours, theirs = ({"params.yaml": {"judges.reader": one}} for one in (before, after))
    assert changed_params(ours, theirs) == wanted
