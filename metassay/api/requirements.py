"""Numbers that a judge must reach: their names, and the lower ends that are required."""

from collections.abc import Collection

from metassay.api.labels import Choices
from metassay.core.errors import BadInput, raise_problems
from metassay.statistics.classification import AC1

_ALIASES = {
    "kappa": "cohen_kappa",
    "ac1": AC1,
    "ac2": "gwet_ac2",
    "alpha": "krippendorff_alpha",
    "weighted_kappa": "weighted_kappa_quadratic",
}


def check_requirements(choices: Choices, allowed: Collection[str]) -> dict[str, float]:
    """Return requirements by the card's names; raises BadInput for unknown ones, or bad numbers.

    `allowed`: the numbers of a card of this kind of labels that may be required.
    """
    problems = []
    for name in ("confidence", "width", "epsilon", "margin"):
        value = getattr(choices, name)
        if not 0 < value < 1:
            option = choices.caller.option(name, blank=f"{value:g}")
            problems.append(f"{option}: write a number between 0 and 1")
    require = {
        _ALIASES.get(name, name): least for name, least in choices.require.items()
    }
    fix = f"write one of {', '.join(allowed)} and a number below 1"
    for name, least in require.items():
        if name not in allowed or not -1 < least < 1:
            option = choices.caller.option("require", key=name, blank=f"{least:g}")
            problems.append(f"{option}: {fix}")
    raise_problems(problems)
    return require


def refuse_card(choices: Choices, name: str) -> None:
    """Refuse options that are about passes and fails, where labels are of another kind."""
    named = [
        choices.caller.option(option)
        for option in ("card", "choose")
        if getattr(choices, option)
    ]
    if named:
        raise BadInput(
            f"{name}: {', '.join(named)}: needs passes and fails, but the labels here are of"
            f" another kind; say which are a pass: {choices.caller.option('pass', blank='WORD')} or"
            f" {choices.caller.option('pass-from', blank='NUMBER')}"
        )


def refuse_ends(choices: Choices, name: str) -> None:
    """Refuse `lower` and `higher` where labels are neither ranks nor scores of systems.

    `higher` also answers that likely ranks are grades.
    """
    if choices.lower:
        option = choices.caller.option("lower", choices.lower[0])
        raise BadInput(
            f"{name}: {option}: is for ranks of a document's"
            " texts and for scores of systems; the labels here are of another kind; leave it"
            f" out, or say which are a pass: {choices.caller.option('pass', blank='WORD')}"
        )
