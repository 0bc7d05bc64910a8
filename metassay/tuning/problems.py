"""Find what is wrong with the tunings of a project."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from metassay.core.errors import collect_problems
from metassay.core.options import BENCHMARKS, MODELS, PARAMS
from metassay.core.params import Params
from metassay.tuning.options import BLOCKS, parse_block


def find_problems(
    params: Params, trained: Mapping[tuple[str, str], Sequence[Path]]
) -> list[str]:
    """Return a line, with its remedy, for each problem of a tuning.

    `trained`: the models, of those that stages train, that each block of metrics reads.
    """
    problems: list[str] = []
    for name, tuning in params.tunings.items():
        file, options = str(BENCHMARKS / name / PARAMS), dict[str, Any]()
        for key, block in tuning:
            if key in BLOCKS:
                with collect_problems(problems):
                    options[key] = parse_block(tuning.tune, key, block, where=file)
        origins = {
            "distill": "distilled of its own scores",
            "quality": "tuned on its own ratings",
        }
        models = {Path(MODELS, model) for model in tuning.models}
        for metric in params.benchmarks[tuning.benchmark].measured_by:
            learnt = trained.get(metric, ())
            if tuning.tune in origins and not models.isdisjoint(learnt):
                problems.append(
                    f"{file} > from: metric {metric[1]!r} of {tuning.benchmark!r} reads what is"
                    f" {origins[tuning.tune]}; measure it in another benchmark"
                )
        rule = getattr(options.get("teachers"), "human", None)
        criterion = rule and params.benchmarks[tuning.benchmark].criteria.get(
            rule.criterion
        )
        if rule and (criterion is None or criterion.better != rule.better):
            problems.append(
                f"{file} > teachers > human: {tuning.benchmark!r} has no criterion"
                f" {rule.criterion!r} of which the {rule.better} is better; correct one of the two"
            )
    return problems
