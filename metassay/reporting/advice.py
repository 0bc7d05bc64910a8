"""Which metric to use for each decision, in a sentence each: where runs end, and in Python."""

from collections.abc import Iterable, Iterator
from itertools import zip_longest

from metassay.format.numbers import short, short_interval
from metassay.format.terms import COEFFICIENT_NAMES, DECISIONS
from metassay.meta_evaluation.verdicts import CANNOT_TELL, PROMISING, THESE_SYSTEMS, UNDEFINED
from metassay.reporting.certificates import Best, too_small
from metassay.reporting.section import Row, best_first
from metassay.reporting.sentences import to_do

_NAMED = 3  # a sentence names so many criteria at most; others are counted


def advice(found: Iterable[tuple[str, str, Best]], confidence: float) -> Iterator[str]:
    """A sentence for each decision and answer: the first of each decision, then the second ones.

    Criteria with the same answer share a sentence. Metrics to use come first.
    """
    alike: dict[str, dict[str, list[tuple[str, Best]]]] = {level: {} for level in DECISIONS}
    for criterion, level, best in found:
        alike[level].setdefault(_verdict(best, confidence), []).append((criterion, best))
    by_level = []
    for level, answers in alike.items():
        n = sum(map(len, answers.values()))
        used_first = sorted(answers.items(), key=lambda item: not item[1][0][1].row["trusted"])
        by_level.append([_sentence(said, DECISIONS[level], mine, n) for said, mine in used_first])
    yield from (line for lines in zip_longest(*by_level) for line in lines if line)


def by_criterion(found: Iterable[tuple[str, str, Best]], confidence: float) -> list[str]:
    """A sentence for each criterion: what to use for which decision, and what lacks for the others.

    Criteria that have a metric to use come first; those without any that lack the same share one.
    """
    every: dict[str, list[tuple[str, Best]]] = {}
    for criterion, level, best in found:
        every.setdefault(criterion, []).append((DECISIONS[level], best))
    said: list[str] = []
    nothing: dict[str, list[str]] = {}
    for criterion, mine in every.items():
        used: dict[str, list[str]] = {}
        lacks: dict[str, list[str]] = {}
        for decision, best in mine:
            if best.row["trusted"]:
                used.setdefault(best.metric, []).append(f"{decision}{_r(best.row)}")
            else:
                lacks.setdefault(_lacks(best, confidence), []).append(decision)
        uses = [f"Use {one} for {criterion} between {_listed(of)}" for one, of in used.items()]
        rest = [f"between {_listed(of)}: {why}" for why, of in lacks.items()]
        if uses:
            said.append(f"{'; '.join([*uses, *(f'nothing yet {one}' for one in rest)])}.")
        else:
            nothing.setdefault("; ".join(rest), []).append(criterion)
    lines = (f"Nothing can be trusted yet for {_listed(of)} {why}." for why, of in nothing.items())
    return [*said, *lines]


def _lacks(best: Best, confidence: float) -> str:
    """What lacks where there is nothing to use."""
    if best.row["verdict"] in (PROMISING, CANNOT_TELL):
        return too_small(best.rows, confidence).removesuffix(".") or str(best.row["advice"])
    return best.verdicts


_NONE = "No metric is of use"
_VERDICTS = {
    **dict.fromkeys((PROMISING, CANNOT_TELL), "No metric can be trusted yet"),
    UNDEFINED: "No metric has a correlation with people",
}


def _verdict(best: Best, confidence: float) -> str:
    """How the sentence begins; a whole one, where the study is too small for any metric."""
    if best.row["trusted"]:
        return f"Use {best.metric}"
    return too_small(best.rows, confidence) or _VERDICTS.get(best.row["verdict"], _NONE)


def _sentence(said: str, decision: str, members: list[tuple[str, Best]], n: int) -> str:
    """The answer by these criteria, of n; the criterion that its metric is closest to is first."""
    members = sorted(members, key=lambda one: best_first(one[1].row["corrected"]))
    names = [criterion for criterion, _ in members]
    if said.endswith("."):
        return f"By {_listed(names)}: {said}" if len(names) < n else said[0].upper() + said[1:]
    criterion, best = members[0]
    row = best.row
    if row["trusted"]:
        alone = " No other system was rated." if row["verdict"] == THESE_SYSTEMS else ""
        each = [f"{criterion}{_r(best.row)}" for criterion, best in members]
        return f"{said} to compare {decision} by {_listed(each)}.{alone}"
    where = f" by {criterion}" if len(names) > 1 else ""
    closest = f"; closest: {best.metric}{where}{_r(row)}" if row["corrected"] is not None else ""
    why = f", {row['verdict']}" if said == _NONE else ""
    more = f" {to_do(row)}" if row["verdict"] in (PROMISING, CANNOT_TELL) else ""
    return f"{said} to compare {decision} by {_listed(names)}{closest}{why}.{more}"


def _r(row: Row) -> str:
    """The correlation, corrected for the choice of the metric, in brackets."""
    of = "r" if row["coefficient"] == "pearson" else COEFFICIENT_NAMES[row["coefficient"]]
    ends = short_interval(row["corrected_low"], row["corrected_high"])
    return f" ({of} {short(row['corrected'])} {ends}".rstrip() + ")"


def _listed(names: list[str]) -> str:
    """`a`, `a and b`, `a, b and 10 more`."""
    if len(names) > _NAMED:
        names = [*names[: _NAMED - 1], f"{len(names) - _NAMED + 1:,} more"]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
