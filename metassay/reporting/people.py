"""What people gave: agreement, preferences, means, systems in order, weights of criteria."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from metassay.core.options import Criterion
from metassay.format.frames import records, rows
from metassay.format.numbers import (
    counted,
    denominators,
    exact,
    missing,
    short,
    short_interval,
    shown,
    shown_interval,
)
from metassay.meta_evaluation import agreement as agreement_analysis
from metassay.meta_evaluation import facet_weights as weights_analysis
from metassay.meta_evaluation.options import BELOW_OTHERS
from metassay.meta_evaluation.orderings import OF_PREFERENCES
from metassay.meta_evaluation.study import VERSUS
from metassay.metrics.describe import ROUGE_VARIANTS
from metassay.reporting.names import (
    ARROWS,
    criterion_rank,
    criterion_title,
    families,
    family,
    sorted_authors,
    sorted_metrics,
)
from metassay.reporting.resampled import Resampling, means
from metassay.reporting.section import (
    FEW,
    NOT_COMPUTED,
    Cell,
    Grid,
    Group,
    Key,
    Row,
    Section,
    analysis_section,
    best_first,
    by_criterion,
    count,
    criterion_groups,
    estimate,
    grouped,
    key_rank,
    matrix,
    metric_name,
    metric_of,
    number,
    opening,
    rests_on,
    titled,
)
from metassay.tables.names import FULL, is_reference, metric_label

_EVERYBODY = ("all", "all")
_TIES = ["n_same", "n_opposite", "n_metric_tie", "n_human_tie", "n_both_tie"]


def agreement_section(agreement: pd.DataFrame) -> Section:
    """All raters together by criterion and coefficient; then rater by rater."""
    section = opening(agreement_analysis.ANALYSIS)
    if agreement.empty:
        return section._replace(says=["No two people rated the same thing."])
    ordered = records(agreement.sort_values(["criterion", "study", "coefficient"]))
    singles = [row for row in ordered if _raters(row) != _EVERYBODY]
    return section._replace(
        says=[*section.says, *_standing_out(agreement)],
        grids=_all_together([row for row in ordered if _raters(row) == _EVERYBODY]),
        groups=[
            Group(criterion, f"study {study}, rater by rater", _rater_by_rater(mine))
            for (criterion, study), mine in grouped(singles, _criterion_and_study).items()
        ],
    )


def _standing_out(agreement: pd.DataFrame) -> list[str]:
    """Who agrees less with the others than these do with each other, in plain words."""
    rows = records(agreement[agreement["coefficient"] == BELOW_OTHERS])
    named = [row for row in rows if not missing(row["low"]) and row["low"] > 0]
    said = [
        f"{row['rater_a']} agrees less than the others by {row['criterion']} (study"
        f" {row['study']}): the mean Spearman correlation with another rater is"
        f" {short(row['value'])} {short_interval(row['low'], row['high'])} below that of the others"
        " with each other. Look at this rater’s ratings before you use the mean of all."
        for row in sorted(named, key=lambda r: (r["criterion"], r["study"], -r["value"]))
    ]
    none = "No rater stands out: none agrees less with the others than these agree with each other."
    return said or ([none] if rows else [])


def preferences_section(preferences: pd.DataFrame) -> Section | None:
    """One table per criterion, the metric that agrees most first; None without comparisons."""
    return analysis_section(OF_PREFERENCES, preferences, _by_preference)


def _by_preference(mine: list[Row]) -> tuple[str, list[Grid], list[Group]]:
    heads = ["metric", "same outcome", "decisive", "same", "opposite"]
    heads += ["only metric ties", "only people tie", "both tie", "abstained", "missing"]
    ordered = sorted(mine, key=lambda row: (best_first(row["value"]), metric_of(row)))
    grid = Grid("", heads, [_preference(row) for row in ordered])
    return counted(len(mine), "metric"), [grid], []


def _agreement_cells(mine: list[Row]) -> dict[str, Cell]:
    return {row["coefficient"]: estimate(row, rests_on(row)) for row in mine}


def _all_together(rows: list[Row]) -> list[Grid]:
    """A line per criterion and study, a column per coefficient."""
    if not rows:
        return []
    names = sorted({row["coefficient"] for row in rows})
    lines = []
    for (criterion, study), mine in grouped(rows, _criterion_and_study).items():
        cells = _agreement_cells(mine)
        lines.append((criterion, [Cell(study), *(cells.get(n, NOT_COMPUTED) for n in names)]))
    return [Grid("All raters together", ["criterion", "study", *names], lines)]


def _rater_by_rater(rows: list[Row]) -> list[Grid]:
    names = sorted({row["coefficient"] for row in rows})
    pairs = grouped(sorted(rows, key=_raters), _raters)
    lines = {" and ".join(pair): _agreement_cells(mine) for pair, mine in pairs.items()}
    return [matrix("Rater by rater", "raters", lines, names)]


def _raters(row: Row) -> tuple[str, str]:
    return row["rater_a"], row["rater_b"]


def _criterion_and_study(row: Row) -> tuple[str, str]:
    return row["criterion"], row["study"]


def _preference(row: Row) -> tuple[str, list[Cell]]:
    compared = sum(row[name] for name in _TIES)
    decisive = row["n_same"] + row["n_opposite"]
    return metric_label(row["metric"], row["judge"]), [
        number(row["value"], denominators(compared)),
        number(row["decisive"], denominators(decisive)),
        *(count(row[name]) for name in (*_TIES, "n_abstained", "n_missing")),
    ]


# What each system's texts were given, and the mean of it, on one scale for all.

_KEY = ["study", "criterion", "part"]
_NUMBERS = ("mean", "low", "high", "p25", "median", "p75")
_COLUMNS = (*_KEY, "author", *_NUMBERS, "n", "n_documents", "all_ratings")


def violins(
    ratings: pd.DataFrame, criteria: Mapping[str, Criterion], how: Resampling
) -> pd.DataFrame:
    """One row per study, criterion, part and system, with every rating that it was given.

    Ratings are brought from the declared scale of their criterion to 0 (worst) to 1 (best). mean:
    of `all_ratings` of the system's texts (n, of n_documents), claim by claim where claims were
    rated; comparisons and the reference's own ratings are left out. low, high: its interval; each
    resample draws documents, the same for all systems of a criterion; null with fewer than two
    documents. p25, median, p75: quartiles of the ratings themselves.
    """
    used = ratings.dropna(subset=["value"])
    used = used[
        ~used["unit"].str.startswith(VERSUS) & ~used["author"].map(is_reference).astype(bool)
    ]
    made: list[tuple[object, ...]] = []
    for (study, criterion, part), mine in used.groupby(_KEY, sort=True):
        of = criteria[str(criterion)]
        share = (mine["value"] - of.low) / (of.high - of.low)
        scaled = mine.assign(value=share if of.better == "higher" else 1 - share)
        made += [(study, criterion, part, *row) for row in _of_systems(scaled, how)]
    return pd.DataFrame(made, columns=list(_COLUMNS)).astype(dict.fromkeys(_NUMBERS, "float64"))


def _of_systems(mine: pd.DataFrame, how: Resampling) -> list[tuple[object, ...]]:
    authors, documents = sorted_authors(mine["author"]), sorted(set(mine["doc_id"]))
    ordered = mine.sort_values(["doc_id", "author", "unit", "rater"])  # sums don't depend on it
    at = tuple(
        pd.Index(names).get_indexer(pd.Index(ordered[of]))
        for names, of in ((documents, "doc_id"), (authors, "author"))
    )
    sums, numbers = np.zeros((2, len(documents), len(authors)))
    np.add.at(sums, at, ordered["value"].to_numpy())
    np.add.at(numbers, at, 1.0)
    sums[numbers == 0] = np.nan
    found = means(sums, how, numbers)
    made: list[tuple[object, ...]] = []
    for place, author in enumerate(authors):
        n_documents = int(np.isfinite(sums[:, place]).sum())
        given = ordered.loc[ordered["author"] == author, "value"].to_numpy(dtype=float)
        ends = (found.mean[place], found.low[place], found.high[place])
        quartiles = np.quantile(given, [0.25, 0.5, 0.75])
        made.append((author, *ends, *quartiles, len(given), n_documents, given.tolist()))
    return made


# What people gave: means with intervals, by system, by rater and in all.


def people_section(summaries: pd.DataFrame, violins: pd.DataFrame) -> Section | None:
    """Authors by criterion, one table per study; None without ratings.

    `summaries` is table rating_summaries; `violins`, `violins.violins` of the ratings, is what the
    figure draws, on a scale on which 1 is best.
    """
    if summaries.empty:
        return None
    of_authors = by_criterion(summaries[summaries["of"] == "author"])
    studies = list(dict.fromkeys(key[0] for key, _ in of_authors))
    section = opening(agreement_analysis.OF_MEANS)
    return section._replace(
        says=[*_highest(violins), *section.says],
        files=[*section.files, *([] if violins.empty else ["rating_violins"])],
        groups=[
            *(_study(study, of_authors, is_open=place == 0) for place, study in enumerate(studies)),
            _people_raters(summaries[summaries["of"] != "author"]),
        ],
    )


def _highest(violins: pd.DataFrame) -> list[str]:
    """Per criterion the system with the best mean, where there are several systems."""
    said = []
    found = by_criterion(violins)
    several = len({key[0] for key, _ in found}) > 1
    for key, mine in found:
        best = max(mine, key=lambda row: (row["mean"], row["author"]))
        if len(mine) > 1:
            # Its interval stands in the table alone: the figure's is another estimate of it.
            study = f"{key[0]}, " if several else ""
            said.append(f"{study}{titled(key)}: {best['author']} with {shown(best['mean'])}")
    return [f"Rated best, on scales from 0 to 1: {_few(said)}."] if said else []


def _study(study: str, found: list[tuple[Key, list[Row]]], *, is_open: bool) -> Group:
    mine = {key: rows for key, rows in found if key[0] == study}
    cells: dict[str, dict[Key, Cell]] = {}
    for key, of_key in mine.items():
        for row in of_key:
            cells.setdefault(row["name"], {})[key] = _mean_cell(row)
    lines = {author: cells[author] for author in sorted_authors(cells)}
    heads = {key: titled(key) for key in mine}
    grid = matrix("Mean rating of each author", "author", lines, heads)
    soft = f"{len(mine)} {'criterion' if len(mine) == 1 else 'criteria'}"
    return Group(study, soft, [grid], open=is_open)


def _people_raters(summaries: pd.DataFrame) -> Group:
    """All ratings of systems' texts together, and each rater's."""
    lines = []
    for key, mine in by_criterion(summaries):
        for row in sorted(mine, key=lambda row: (row["of"] != "all", row["name"])):
            whose = "all raters" if row["of"] == "all" else row["name"]
            lines.append((f"{key[0]}: {titled(key)}, {whose}", [_mean_cell(row)]))
    raters = {name for of, name in rows(summaries, "of", "name") if of == "rater"}
    grid = Grid("", ["whose", "mean rating"], lines)
    return Group("By rater", counted(len(raters), "rater"), [grid])


def _mean_cell(row: Row) -> Cell:
    without = f", {row['n_missing']:,} without a value" if row["n_missing"] else ""
    spread = f"SD {shown(row['sd'])}" if row["sd"] is not None else ""
    return estimate(row, spread, f"n = {row['n']:,}{without}", of="mean")


# How each person rated: means and standard deviations.

_RATERS_SAYS = (
    "Each rater’s ratings, on the criterion’s own scale. SD has the denominator n − 1. “(all)”"
    " stands for all systems, or for all raters. Compare the n before the means: raters who saw"
    " other texts may have a lower mean because their texts were worse."
)


def raters_section(raters: pd.DataFrame) -> Section:
    """One table per criterion, a row per rater and system."""
    groups = criterion_groups(raters, lambda mine: ("", [_means_by_rater(mine)], []))
    return Section("raters", "How each person rated", [_RATERS_SAYS], ["raters"], groups=groups)


def _means_by_rater(mine: list[Row]) -> Grid:
    lines = [
        (
            row["rater"],
            [Cell(row["author"]), count(row["n"]), number(row["mean"]), number(row["sd"])],
        )
        for row in mine
    ]
    return Grid("", ["rater", "system", "n", "mean", "SD"], lines)


# Every system's mean on every metric and criterion, and its rank among the systems.

METRIC, PEOPLE = "metric", "people"

_TYPES = {
    **dict.fromkeys(("scorer_is", "scorer", "study", "part", "metric", "judge"), "object"),
    **{"author": "object", "value": "float64", "low": "float64", "high": "float64"},
    **{"better": "object", "rank": "Int64", "n_ranked": "int64"},
}
_DIGITS = 12  # what tables keep: what differs behind them is a tie


def ranks_table(
    leaderboard: pd.DataFrame, summaries: pd.DataFrame, criteria: Mapping[str, Criterion]
) -> pd.DataFrame:
    """One row per metric or human criterion and system; empty with fewer than two systems.

    Metrics: those that say which text is better, on whole texts (macro of table leaderboard).
    Criteria: means of table rating_summaries, of whole texts or of parts. rank: 1 is the best;
    equal values share a rank, and the next one is left out; null without a value. n_ranked: how
    many systems have one.
    """
    board = leaderboard[(leaderboard["part"] == FULL) & (leaderboard["better"] != "neither")]
    made = [
        row | {"scorer_is": METRIC, "scorer": metric_name(row), "study": "", "value": row["macro"]}
        for row in records(board)
    ]
    made += [
        row
        | {"scorer_is": PEOPLE, "scorer": row["criterion"], "metric": "", "judge": ""}
        | {"author": row["name"], "value": row["mean"]}
        | {"better": criteria[row["criterion"]].better}
        for row in records(summaries[summaries["of"] == "author"])
    ]
    ranks = pd.DataFrame(made, columns=list(_TYPES)).astype({"value": "float64"})
    ranks = ranks[~ranks["author"].map(is_reference).astype(bool)].reset_index(drop=True)
    if ranks["author"].nunique() < 2:
        ranks = ranks[:0]
    rounded = ranks["value"].map(lambda value: float(f"{value:.{_DIGITS}g}")).astype("float64")
    scorer = [ranks[name] for name in ("scorer_is", "scorer", "study", "part")]
    ordered = rounded.where(ranks["better"] != "higher", -rounded).groupby(scorer, sort=False)
    ranks = ranks.assign(rank=ordered.rank(method="min"), n_ranked=ordered.transform("count"))
    return ranks.astype(_TYPES)


# Systems in order: every metric's and every human criterion's means, with ranks.

Scorer = tuple[str, str, str]  # of a metric: "", metric, judge; of people: study, criterion, part


def ranks_section(ranks: pd.DataFrame) -> Section | None:
    """A table of what people gave, then one per family of metrics; None without a row."""
    if ranks.empty:
        return None
    lines = records(ranks)
    metrics = _metrics(lines)
    criteria = sorted({_scorer(row) for row in lines if row["scorer_is"] == PEOPLE}, key=key_rank)
    found = {(_scorer(row), row["author"]): row for row in lines}
    several = len({study for study, _, _ in criteria}) > 1
    groups = {"What people gave": [(_title(one, several=several), one) for one in criteria]}
    for name in families(metric for _, metric, _ in metrics):
        own = [one for one in metrics if family(one[1]) == name]
        groups[name] = [(_any(lines, one)["scorer"], one) for one in own]
    authors = sorted({row["author"] for row in lines})
    grids = [
        Grid(
            name,
            ["system", *(f"{title} {ARROWS[_any(lines, one)['better']]}" for title, one in own)],
            [
                (author, [_ranks_cell(found.get((one, author))) for _, one in own])
                for author in authors
            ],
        )
        for name, own in groups.items()
        if own
    ]
    return Section(
        "ranks",
        "Systems in order",
        [
            *_agreeing(lines, metrics, criteria),
            "Each cell has a system’s mean, its rank among the systems in brackets, and the mean’s"
            " interval. Bold is the best, underlined the second best; equal means share a rank. ↑"
            " says that higher is better, ↓ that lower is better. Ranks say nothing of how far"
            " systems are apart: look at the intervals. Metrics that say nothing of quality are"
            " left out, and here, not in the file, precision and recall of ROUGE.",
        ],
        ["ranks"],
        grids=grids,
    )


def _scorer(row: Row) -> Scorer:
    if row["scorer_is"] == METRIC:
        return "", row["metric"], row["judge"]
    return row["study"], row["scorer"], row["part"]


def _metrics(lines: Iterable[Row]) -> list[Scorer]:
    found = ((r["metric"], r["judge"]) for r in lines if r["scorer_is"] == METRIC)
    kept = [one for one in sorted_metrics(found) if family(one[0]) != ROUGE_VARIANTS]
    return [("", metric, judge) for metric, judge in kept]


def _any(lines: Iterable[Row], scorer: Scorer) -> Row:
    return next(row for row in lines if _scorer(row) == scorer)


def _title(scorer: Scorer, *, several: bool) -> str:
    study, criterion, part = scorer
    return (f"{study}, " if several else "") + criterion_title(criterion, part)


def _ranks_cell(row: Row | None) -> Cell:
    if row is None:
        return NOT_COMPUTED
    if row["rank"] is None:
        return Cell("undefined", stored="")
    css = {1: "best", 2: "second"}.get(int(row["rank"]), "") if row["n_ranked"] > 1 else ""
    ends = shown_interval(row["low"], row["high"])
    text = f"{shown(row['value'])} ({int(row['rank'])})"
    return Cell(text, (ends,) if ends else (), exact(row["value"]), css)


def _agreeing(lines: list[Row], metrics: list[Scorer], criteria: list[Scorer]) -> list[str]:
    """Which metrics put the same system first as people do; criteria of one winner together."""
    first: dict[Scorer, set[str]] = {}
    for row in lines:
        if row["rank"] == 1 and row["n_ranked"] > 1:
            first.setdefault(_scorer(row), set()).add(row["author"])
    several = len({study for study, _, _ in criteria}) > 1
    winners: dict[tuple[str, ...], list[str]] = {}
    for one in criteria:
        if one in first:
            title = _title(one, several=several)
            winners.setdefault(tuple(sorted(first[one])), []).append(title)
    said = [
        f"People put {' and '.join(chosen)} first on {_few(titles)}. So do"
        f" {sum(first.get(metric) == set(chosen) for metric in metrics)} of {len(metrics)} metrics."
        for chosen, titles in winners.items()
    ]
    return said if metrics else []


def _few(titles: list[str]) -> str:
    """The first of them, and how many there are more."""
    more = f"; and {len(titles) - FEW} more in the tables" if len(titles) > FEW else ""
    return "; ".join(titles[:FEW]) + more


# What each criterion of a rubric counts in people's own overall scores.

_METHODS = {
    "complete": "texts with every grade",
    "complete_non_negative": "texts with every grade, no weight below 0",
    "renormalised": "all texts, weights of the grades that there are",
    "renormalised_non_negative": "all texts, weights of the grades that there are, none below 0",
}


def facet_weights_section(facet_weights: pd.DataFrame) -> Section | None:
    """One table per study, part and rubric: weights by way of fitting; None without a row."""
    if facet_weights.empty:
        return None
    order = lambda row: (_rubric(row), criterion_rank(row["criterion"]))  # noqa: E731
    by_rubric = grouped(sorted(records(facet_weights), key=order), _rubric)
    groups = [
        Group(rubric, f"study {study}, {part}", [_grid(mine)], open=place == 0)
        for place, ((study, part, rubric), mine) in enumerate(by_rubric.items())
    ]
    return opening(weights_analysis.ANALYSIS)._replace(groups=groups)


def _rubric(row: Row) -> tuple[str, str, str]:
    return row["study"], row["part"], row["rubric"]


def _grid(mine: list[Row]) -> Grid:
    criteria = list(dict.fromkeys(row["criterion"] for row in mine))
    own = {row["criterion"]: number(row["given"]) for row in mine}
    lines = [("the rubric's own", [*(own[name] for name in criteria), *[NOT_COMPUTED] * 2])]
    by_method = grouped(mine, lambda row: row["method"])
    for method, called in _METHODS.items():
        if method in by_method:
            found = {row["criterion"]: estimate(row, of="weight") for row in by_method[method]}
            weights = [found.get(name, NOT_COMPUTED) for name in criteria]
            lines.append((called, [*weights, *_errors(by_method[method][0])]))
    return Grid("", ["fitted to", *criteria, "MSE", "MSE of the rubric's own"], lines, sort=False)


def _errors(row: Row) -> list[Cell]:
    documents = counted(row["n_documents"], "document")
    given = Cell(shown(row["mse_given"]) or "undefined")
    return [number(row["mse"], rests_on(row), documents), given]
