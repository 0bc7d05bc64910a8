"""The headline numbers of a benchmark or a test, out of its tables: for terminals and git."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from metassay.core.atomic import whole_file
from metassay.format.frames import records, rows
from metassay.format.numbers import missing, rounded, short
from metassay.format.terms import DECISIONS
from metassay.labelled.records import items_of
from metassay.llm.endpoints import ModelOptions
from metassay.meta_evaluation.verdicts import kind_of
from metassay.reporting.certificates import best_of, verdict_names
from metassay.reporting.names import (
    NONE,
    Row,
    ShownAs,
    best_first,
    grouped,
    headline_metrics,
    known_names,
    short_estimate,
)
from metassay.reporting.responses import COUNTS, models_table
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.criteria import CRITERIA
from metassay.tables.judge_cards import JUDGE_CARDS
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.names import (
    ALL_SUBSETS,
    FULL,
    MEAN_OF_SUBSETS,
    metric_label,
    sorted_authors,
)
from metassay.tables.notes import NOTES
from metassay.tables.parquet import read
from metassay.tables.responses import RESPONSES
from metassay.tables.segment_scores import SEGMENT_SCORES

_LEADERS = ["metric", "judge", "author", "macro", "low", "high"]
_TRUST = [
    "study",
    "criterion",
    "part",
    "level",
    "metric",
    "judge",
    "verdict",
    "corrected",
    "corrected_low",
    "corrected_high",
    "low",
    "high",
    "p",
]


def board(folder: Path, shown_as: ShownAs = NONE) -> pd.DataFrame:
    """Return a row per headline metric: its name, and each author's macro mean in a column."""
    leaderboard = shown_as.frame(_leaderboard(folder))
    means = means_of(leaderboard, read(CRITERIA, folder / CRITERIA.name))
    authors = sorted_authors(str(author) for mean in means.values() for author in mean)
    lines = []
    for label, mean in means.items():
        values = [mean.get(author) for author in authors]
        lines.append([label, *("–" if missing(v) else f"{v:.3f}" for v in values)])
    return pd.DataFrame(lines, columns=["metric", *authors])


def means_of(leaderboard: pd.DataFrame, criteria: pd.DataFrame) -> dict[str, Row]:
    """Return, of whole texts, each author's macro mean by headline metric, as pages order them."""
    whole = leaderboard[leaderboard["part"] == FULL]
    with known_names(criteria):
        metrics = headline_metrics(rows(whole, "metric", "judge"))
    means: dict[str, Row] = {metric_label(*metric): {} for metric in metrics}
    for metric, judge, author, mean in rows(
        whole, "metric", "judge", "author", "macro"
    ):
        if (metric, judge) in metrics:
            means[metric_label(metric, judge)][str(author)] = mean
    return means


def best_metrics(folder: Path, shown_as: ShownAs = NONE) -> pd.DataFrame:
    """Return per study, criterion and decision the metric to trust, of the whole texts.

    Where no metric may be used, a row has that, the closest metric and its correlation,
    what to do, and how often which verdict was given.
    """
    lines = []
    certificates = shown_as.frame(read(CERTIFICATES, folder / "certificates.parquet"))
    for name, level, best in best_of(certificates):
        row, value = best.row, short_estimate(best.row, "corrected", "corrected_")
        metric = f"none yet; closest: {best.metric}" if value else "none"
        says = f"{row['advice']}: {best.verdicts}"
        if row["trusted"]:
            metric, says = best.metric, f"{row['verdict']}, {best.choice}"
        lines.append([name, DECISIONS[level], metric, value, says])
    heads = ["criterion", "decision", "metric", "correlation, corrected", "verdict"]
    return pd.DataFrame(lines, columns=heads)


def answers_of(
    folder: Path,
    stages: Iterable[str],
    models: Mapping[str, ModelOptions] = MappingProxyType({}),
) -> pd.DataFrame:
    """Return what these stages asked language models, what is missing, and the cost by
    the models' prices; without models there is none.
    """
    files = {stage: folder / f"{RESPONSES.name}/{stage}.parquet" for stage in stages}
    responses = {stage: read(RESPONSES, file) for stage, file in files.items()}
    return models_table(responses, models)


def notes_of(folder: Path, stages: Iterable[str]) -> list[tuple[str, str]]:
    """Return what these stages noted: stage and note, in their order."""
    return [
        (stage, str(note))
        for stage in stages
        for note in read(NOTES, folder / f"{NOTES.name}/{stage}.parquet")["note"]
    ]


def artifacts(
    folder: Path,
    answers: pd.DataFrame,
    names: Iterable[str] = ("leaderboard", "certificates"),
) -> dict[str, list[Row]]:
    """Return rows for Prefect's table artifacts; no texts. A test of judges has
    `judge_cards`, one of segmentations `segment_scores`, and `answers` (`answers_of`)
    whoever asked any model.
    """
    tables: dict[str, Callable[[Path], pd.DataFrame]] = {
        "leaderboard": lambda folder: _leaderboard(folder)[_LEADERS],
        "certificates": lambda folder: read(
            CERTIFICATES, folder / "certificates.parquet"
        )[_TRUST],
        "judge_cards": _cards,
        "segment_scores": _scores,
    }
    of_tables = {name: records(tables[name](folder)) for name in names}
    return of_tables if answers.empty else {**of_tables, "answers": records(answers)}


def _leaderboard(folder: Path) -> pd.DataFrame:
    leaderboard = read(LEADERBOARD, folder / "leaderboard.parquet")
    return leaderboard[leaderboard["part"] == FULL].reset_index(drop=True)


# The headline numbers of a test of judges, out of its table of cards.

CARD_STATISTICS = ("agreement", "balanced_accuracy", "auroc")
_CARDS_KEY = [
    "study",
    "part",
    "judge",
    "statistic",
    "value",
    "low",
    "high",
    "n",
    "n_missing",
]


def cards(folder: Path, shown_as: ShownAs = NONE) -> pd.DataFrame:
    """Return a row per judge and set of items: numbers with their intervals.

    Of each set the judge that is right most often comes first. Where there are several
    subsets, these are all of them and their mean; the page has each.
    """
    by_set = sorted(
        main_cards(shown_as.frame(_cards(folder))),
        key=lambda card: (card[1], best_first(card[2]["agreement"]["value"])),
    )
    lines = [
        [judge, study, _share_of(card["agreement"], "n_missing")]
        + [_estimate(card.get(name)) for name in CARD_STATISTICS]
        for judge, study, card in by_set
    ]
    heads = ["judge", "items", "judged", "accuracy", "balanced", "AUROC"]
    return pd.DataFrame(lines, columns=heads)


def main_cards(cards: pd.DataFrame) -> Iterator[tuple[str, str, dict[str, Row]]]:
    """Yield judge, set of items and rows by statistic, as `cards` has them, of a table of cards."""
    whole = cards[cards["part"] == FULL]
    if (whole["study"] == ALL_SUBSETS).any():
        of_all = whole["study"].isin([ALL_SUBSETS, MEAN_OF_SUBSETS])
        whole = whole[of_all | whole["study"].str.startswith(items_of(""))]
    for (study, judge), card in whole.groupby(["study", "judge"]):
        yield (
            str(judge),
            str(study),
            {str(row["statistic"]): row for row in records(card)},
        )


def _cards(folder: Path) -> pd.DataFrame:
    table = read(JUDGE_CARDS, folder / "judge_cards.parquet")
    return table[table["statistic"].isin(CARD_STATISTICS)][_CARDS_KEY].reset_index(
        drop=True
    )


def _share_of(row: Row, missed: str) -> str:
    """Say how many were judged or labelled: `98 of 100`."""
    return f"{row['n']:,}" + (f" of {row['n'] + row[missed]:,}" if row[missed] else "")


def _estimate(row: Row | None) -> str:
    """Write a value and its interval, two decimals each; without a value a dash."""
    return "–" if row is None or missing(row["value"]) else short_estimate(row)


# The headline numbers of a test of segmentations, out of its table of scores.

SCORE_STATISTICS = ("accuracy", "macro_f1", "majority_baseline")
_SEGMENTS_KEY = ["segmentation", "statistic", "value", "low", "high", "n", "n_failed"]


def score_rows(folder: Path) -> pd.DataFrame:
    """Return a row per segmentation, the most accurate first."""
    lines = []
    for name, scores in grouped(
        records(_scores(folder)), lambda row: row["segmentation"]
    ).items():
        by_statistic = {row["statistic"]: row for row in scores}
        accuracy, macro, guess = (
            by_statistic[statistic] for statistic in SCORE_STATISTICS
        )
        cells = [_share_of(accuracy, "n_failed"), _estimate(accuracy), _estimate(macro)]
        lines.append((accuracy["value"], [name, *cells, short(guess["value"]) or "–"]))
    lines.sort(key=lambda line: best_first(line[0]))
    heads = ["segmentation", "sentences", "accuracy", "macro-F1", "majority baseline"]
    return pd.DataFrame([cells for _, cells in lines], columns=heads)


def _scores(folder: Path) -> pd.DataFrame:
    table = read(SEGMENT_SCORES, folder / "segment_scores.parquet")
    headline = (table["of"] == "all") & table["statistic"].isin(SCORE_STATISTICS)
    return table[headline][_SEGMENTS_KEY].reset_index(drop=True)


# The headline numbers as a small file of JSON, which git keeps: `dvc metrics` reads it.
# Numbers are rounded as on the page; what is undefined is null. Names of metrics,
# systems, judges and criteria are the keys, in the same order for the same names.

Numbers = Row


def evaluation_numbers(
    leaderboard: pd.DataFrame,
    certificates: pd.DataFrame,
    criteria: pd.DataFrame,
    answers: pd.DataFrame,
) -> Numbers:
    """Return certificates per verdict, the best metric per decision, systems' means, answers.

    `best` has, per criterion and level, the metric that comes first, its verdict,
    whether it may be trusted (`trusted`), what to do about it (`advice`), its
    correlation with people (`value`) and the one corrected for luck with its interval.
    `leaderboard` has macro means of whole texts by headline metric and author.
    `answers` is of `models_table`, here and below.
    """
    kinds = [kind_of(verdict) for verdict in certificates["verdict"]]
    by_criterion: Numbers = {}
    for criterion, level, best in best_of(certificates):
        numbers = ("value", "corrected", "corrected_low", "corrected_high")
        by_criterion.setdefault(criterion, {})[level] = {
            "metric": best.metric,
            "verdict": best.row["verdict"],
            "trusted": bool(best.row["trusted"]),
            "advice": best.row["advice"],
            **{name: rounded(best.row[name]) for name in numbers},
        }
    means = means_of(leaderboard, criteria)
    return {
        "certificates": {
            name: kinds.count(kind) for kind, name in verdict_names().items()
        },
        "best": by_criterion,
        "leaderboard": {
            label: {author: rounded(mean[author]) for author in sorted(mean)}
            for label, mean in means.items()
        },
        "answers": _counts(answers),
    }


def judge_numbers(cards: pd.DataFrame, answers: pd.DataFrame) -> Numbers:
    """Return, per judge and set of items, how often it is right, with intervals."""
    judges: Numbers = {}
    for judge, study, card in main_cards(cards):
        numbers = {
            name: _round_numbers(card[name]) for name in CARD_STATISTICS if name in card
        }
        counts = {name: card["agreement"][name] for name in ("n", "n_missing")}
        judges.setdefault(judge, {})[study] = {**numbers, **counts}
    return {"judges": dict(sorted(judges.items())), "answers": _counts(answers)}


def segmentation_numbers(scores: pd.DataFrame, answers: pd.DataFrame) -> Numbers:
    """Return, per segmentation, how often it is right, with intervals."""
    by_name: Numbers = {}
    for row in records(scores[scores["of"] == "all"]):
        numbers = by_name.setdefault(row["segmentation"], {})
        if row["statistic"] in SCORE_STATISTICS:
            numbers[row["statistic"]] = _round_numbers(row)
        if row["statistic"] == "accuracy":
            numbers |= {"n": row["n"], "n_failed": row["n_failed"]}
    return {"segmentations": dict(sorted(by_name.items())), "answers": _counts(answers)}


def write_numbers(
    numbers: Numbers, plots: Mapping[str, pd.DataFrame], place: Callable[[str], Path]
) -> None:
    """Write what git keeps: all numbers, the few of them for DVC's table, and plots.

    `place` gives the path of each file; each is written whole or not at all.
    """
    for name, content in (
        ("headline.json", numbers),
        ("metrics.json", few_numbers(numbers)),
    ):
        text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
        with whole_file(place(name)) as file:
            file.write(f"{text}\n".encode())
    for name, plot in plots.items():
        with whole_file(place(f"plots/{name}.csv")) as file:
            plot.to_csv(file, index=False, lineterminator="\n")


def few_numbers(numbers: Numbers) -> Numbers:
    """Return the numbers of a benchmark that fit one line of `dvc metrics show`.

    Of an evaluation: how many metrics have which verdict, over all criteria and
    decisions; of a test: the best accuracy, with the lower end of its interval. Of
    both: how many answers of language models are missing.

    >>> few_numbers({"certificates": {"use": 1, "too weak": 3}, "answers": {"missing": 2}})
    {'use': 1, 'promising': 0, 'missing': 2}
    """
    missing_answers = numbers["answers"]["missing"]
    if "certificates" in numbers:
        verdicts = numbers["certificates"]
        return {
            "use": verdicts.get("use", 0),
            "promising": verdicts.get("promising", 0),
            "missing": missing_answers,
        }
    tested = [row["accuracy"] for row in numbers.get("segmentations", {}).values()]
    for sets in numbers.get("judges", {}).values():
        tested += [card["agreement"] for card in sets.values()]
    known = [accuracy for accuracy in tested if not missing(accuracy["value"])]
    best: Numbers = max(known, key=lambda accuracy: accuracy["value"], default={})
    return {
        "accuracy": best.get("value"),
        "low": best.get("low"),
        "missing": missing_answers,
    }


# The plots of DVC: a row per value, with the ends of its interval. DVC puts those of
# two revisions side by side by the names of the rows.

_PLOT = ["row", "metric", "value", "low", "high"]


def evaluation_plots(
    leaderboard: pd.DataFrame, certificates: pd.DataFrame, criteria: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Return the means of systems, and the correlation of the best metric per decision."""
    means = means_of(leaderboard, criteria)
    whole = leaderboard[leaderboard["part"] == FULL]
    by_name = {
        (metric_label(row["metric"], row["judge"]), row["author"]): row
        for row in records(whole)
    }
    systems = [
        _plotted(f"{label}, {author}", label, by_name[label, author], "macro", "")
        for label, mean in means.items()
        for author in sorted(mean)
    ]
    best = [
        _plotted(
            f"{criterion}, {DECISIONS[level]}",
            choice.metric,
            choice.row,
            "corrected",
            "corrected_",
        )
        for criterion, level, choice in best_of(certificates)
    ]
    return {
        "leaderboard": pd.DataFrame(systems, columns=_PLOT),
        "forest": pd.DataFrame(best, columns=_PLOT),
    }


def judge_plots(cards: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the accuracy of each judge on each set of items."""
    lines = [
        _plotted(f"{judge}, {study}", judge, card["agreement"], "value", "")
        for judge, study, card in main_cards(cards)
    ]
    return {"judges": pd.DataFrame(lines, columns=_PLOT)}


def segmentation_plots(scores: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the accuracy of each segmentation."""
    accuracies = scores[(scores["of"] == "all") & (scores["statistic"] == "accuracy")]
    lines = [
        _plotted(row["segmentation"], row["segmentation"], row, "value", "")
        for row in records(accuracies)
    ]
    return {"segmentations": pd.DataFrame(lines, columns=_PLOT)}


def _plotted(name: str, metric: str, row: Row, value: str, prefix: str) -> list[Any]:
    ends = [rounded(row[f"{prefix}{end}"]) for end in ("low", "high")]
    return [name, metric, rounded(row[value]), *ends]


def _round_numbers(row: Numbers) -> Numbers:
    """Return its value, and its interval where it has one."""
    names = ["value"] if missing(row["low"]) else ["value", "low", "high"]
    return {name: rounded(row[name]) for name in names}


def _counts(answers: pd.DataFrame) -> Numbers:
    """Count what came of the questions to language models, of all stages and models together."""
    return {name: int(answers[name].sum()) for name in COUNTS}
