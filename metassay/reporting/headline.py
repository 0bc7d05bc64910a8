"""The headline numbers of a benchmark or a test, out of its tables: for terminals and git."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from metassay.core.atomic import whole_file
from metassay.format.frames import records
from metassay.format.numbers import missing, rounded, short, short_interval
from metassay.format.terms import DECISIONS
from metassay.labelled.records import items_of
from metassay.llm.endpoints import ModelOptions
from metassay.meta_evaluation.verdicts import kind_of
from metassay.reporting.certificates import Best, best_of, verdict_names
from metassay.reporting.names import NONE, ShownAs, described, headline_metrics, sorted_authors
from metassay.reporting.responses import COUNTS, asked_table
from metassay.reporting.section import Row, best_first, grouped, short_estimate
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.criteria import CRITERIA
from metassay.tables.judge_cards import JUDGE_CARDS
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.names import ALL_SUBSETS, FULL, MEAN_OF_SUBSETS, metric_label
from metassay.tables.notes import NOTES
from metassay.tables.parquet import read
from metassay.tables.responses import RESPONSES
from metassay.tables.segment_scores import SEGMENT_SCORES

_LEADERS = ["metric", "judge", "author", "macro", "low", "high"]
_TRUST = [
    *("study", "criterion", "part", "level", "metric", "judge", "verdict"),
    *("corrected", "corrected_low", "corrected_high", "low", "high", "p"),
]


def board(folder: Path, shown_as: ShownAs = NONE) -> tuple[list[str], list[list[str]]]:
    """The authors, and a row per headline metric: its name, then each author's macro mean."""
    rows = shown_as.frame(_leaderboard(folder))
    means = means_of(rows, read(CRITERIA, folder / CRITERIA.name))
    authors = sorted_authors(str(author) for mean in means.values() for author in mean)
    values = {label: [mean.get(author) for author in authors] for label, mean in means.items()}
    dash = lambda value: "–" if value is None or pd.isna(value) else f"{value:.3f}"  # noqa: E731
    return authors, [[label, *map(dash, mine)] for label, mine in values.items()]


def means_of(leaderboard: pd.DataFrame, criteria: pd.DataFrame) -> dict[str, Row]:
    """Of whole texts, each author's macro mean by headline metric, in the order of pages."""
    rows = leaderboard[leaderboard["part"] == FULL]
    with described(criteria):
        wanted = headline_metrics(zip(rows["metric"], rows["judge"], strict=True))
    found = {}
    for metric, judge in wanted:
        mine = rows[(rows["metric"] == metric) & (rows["judge"] == judge)]
        means = zip(map(str, mine["author"]), mine["macro"], strict=True)
        found[metric_label(metric, judge)] = dict(means)
    return found


HEADS_OF_TRUST = ("criterion", "decision", "metric", "correlation, corrected", "verdict")


def best_metrics(folder: Path, shown_as: ShownAs = NONE) -> list[list[str]]:
    """Per study, criterion and decision the metric to trust, of the whole texts.

    A row of HEADS_OF_TRUST each. Where no metric may be used it has that, the closest metric and
    its correlation, what to do, and how often which verdict was given.
    """
    found = shown_as.frame(read(CERTIFICATES, folder / "certificates.parquet"))
    return [[name, DECISIONS[level], *_chosen(chosen)] for name, level, chosen in best_of(found)]


def answers_of(
    folder: Path, stages: Iterable[str], models: Mapping[str, ModelOptions] = MappingProxyType({})
) -> pd.DataFrame:
    """What these stages asked language models, what is missing, and the cost by the models'
    prices; without models there is none."""
    files = {stage: folder / f"{RESPONSES.name}/{stage}.parquet" for stage in stages}
    return asked_table({stage: read(RESPONSES, file) for stage, file in files.items()}, models)


def notes_of(folder: Path, stages: Iterable[str]) -> list[tuple[str, str]]:
    """What these stages noted: stage and note, in their order."""
    return [
        (stage, str(note))
        for stage in stages
        for note in read(NOTES, folder / f"{NOTES.name}/{stage}.parquet")["note"]
    ]


def artifacts(
    folder: Path, answers: pd.DataFrame, names: Iterable[str] = ("leaderboard", "certificates")
) -> dict[str, list[Row]]:
    """Rows for Prefect's table artifacts; no texts. A test of judges has `judge_cards`, one of
    segmentations `segment_scores`, and `answers` (`answers_of`) whoever asked any model."""
    known: dict[str, Callable[[Path], pd.DataFrame]] = {
        "leaderboard": lambda folder: _leaderboard(folder)[_LEADERS],
        "certificates": lambda folder: read(CERTIFICATES, folder / "certificates.parquet")[_TRUST],
        "judge_cards": _cards,
        "segment_scores": _scores,
    }
    tables = {name: known[name](folder) for name in names}
    if not answers.empty:
        tables["answers"] = answers
    return {name: records(frame) for name, frame in tables.items()}


def _chosen(found: Best) -> list[str]:
    row = found.row
    ends = short_interval(row["corrected_low"], row["corrected_high"])
    value = f"{short(row['corrected'])} {ends}".strip()
    if row["trusted"]:
        return [found.metric, value, f"{row['verdict']}, {found.of}"]
    first = f"none yet; closest: {found.metric}" if value else "none"
    return [first, value, f"{row['advice']}: {found.verdicts}"]


def _leaderboard(folder: Path) -> pd.DataFrame:
    rows = read(LEADERBOARD, folder / "leaderboard.parquet")
    return rows[rows["part"] == FULL].reset_index(drop=True)


# The headline numbers of a test of judges, out of its table of cards.

HEADS_OF_CARDS = ("judge", "items", "judged", "accuracy", "balanced", "AUROC")
CARD_STATISTICS = _SHOWN = ("agreement", "balanced_accuracy", "auroc")
_CARDS_KEY = ["study", "part", "judge", "statistic", "value", "low", "high", "n", "n_missing"]


def cards(folder: Path, shown_as: ShownAs = NONE) -> list[list[str]]:
    """A row of HEADS per judge and set of items, of all kinds: numbers with their intervals.

    Of each set the judge that is right most often comes first.
    Where there are several subsets, these are all of them and their mean; the page has each.
    """
    return [
        [judge, study, _share_of(of["agreement"], "n_missing"), *map(_ends, map(of.get, _SHOWN))]
        for judge, study, of in sorted(
            main_cards(shown_as.frame(_cards(folder))),
            key=lambda card: (card[1], best_first(card[2]["agreement"]["value"])),
        )
    ]


def main_cards(cards: pd.DataFrame) -> Iterator[tuple[str, str, dict[str, Row]]]:
    """Judge, set of items and rows by statistic, as `cards` has them, out of a table of cards."""
    rows = cards[cards["part"] == FULL]
    if (rows["study"] == ALL_SUBSETS).any():
        wanted = rows["study"].isin([ALL_SUBSETS, MEAN_OF_SUBSETS])
        rows = rows[wanted | rows["study"].str.startswith(items_of(""))]
    for (study, judge), card in rows.groupby(["study", "judge"]):
        yield str(judge), str(study), {str(row["statistic"]): row for row in records(card)}


def _cards(folder: Path) -> pd.DataFrame:
    rows = read(JUDGE_CARDS, folder / "judge_cards.parquet")
    return rows[rows["statistic"].isin(CARD_STATISTICS)][_CARDS_KEY].reset_index(drop=True)


def _share_of(row: Row, missed: str) -> str:
    """How many were judged or labelled: `98 of 100`."""
    n, all_of_them = row["n"], row["n"] + row[missed]
    return f"{n:,} of {all_of_them:,}" if row[missed] else f"{n:,}"


def _ends(row: Row | None) -> str:
    """Its value and interval, two decimals each; without a value a dash."""
    return "–" if row is None or missing(row["value"]) else short_estimate(row)


# The headline numbers of a test of segmentations, out of its table of scores.

HEADS_OF_SCORES = ("segmentation", "sentences", "accuracy", "macro-F1", "majority guess")
SCORE_STATISTICS = ("accuracy", "macro_f1", "majority_guess")
_SEGMENTS_KEY = ["segmentation", "statistic", "value", "low", "high", "n", "n_failed"]


def score_rows(folder: Path) -> list[list[str]]:
    """A row of HEADS per segmentation, the most accurate first: numbers with their intervals."""
    rows = []
    for name, mine in grouped(records(_scores(folder)), lambda row: row["segmentation"]).items():
        accuracy, macro, guess = (
            next(row for row in mine if row["statistic"] == one) for one in SCORE_STATISTICS
        )
        cells = [_share_of(accuracy, "n_failed"), _ends(accuracy), _ends(macro)]
        rows.append((accuracy["value"], [name, *cells, short(guess["value"]) or "–"]))
    return [cells for _, cells in sorted(rows, key=lambda row: best_first(row[0]))]


def _scores(folder: Path) -> pd.DataFrame:
    rows = read(SEGMENT_SCORES, folder / "segment_scores.parquet")
    wanted = (rows["of"] == "all") & rows["statistic"].isin(SCORE_STATISTICS)
    return rows[wanted][_SEGMENTS_KEY].reset_index(drop=True)


# The headline numbers as a small file of JSON, which git keeps: `dvc metrics` reads it.
# Numbers are rounded as on the page; what is undefined is null. Names of metrics, systems, judges
# and criteria are the keys, in the same order for the same names. `asked` is of `asked_table`.

_BEST = ("value", "corrected", "corrected_low", "corrected_high")
_ENDS = ("value", "low", "high")

Numbers = Row


def evaluation_numbers(
    leaderboard: pd.DataFrame,
    certificates: pd.DataFrame,
    criteria: pd.DataFrame,
    asked: pd.DataFrame,
) -> Numbers:
    """Of an evaluation: certificates per verdict, the best metric per decision, systems' means.

    `best` has, per criterion and level, the metric that comes first, its verdict, whether it may be
    trusted (`trusted`), what to do about it (`advice`), its correlation with people
    (`value`) and the one corrected for luck
    with its interval. `leaderboard` has macro means of whole texts by headline metric and author.
    """
    kinds = [kind_of(verdict) for verdict in certificates["verdict"]]
    best: Numbers = {}
    for criterion, level, chosen in best_of(certificates):
        best.setdefault(criterion, {})[level] = {
            **{"metric": chosen.metric, "verdict": chosen.row["verdict"]},
            **{"trusted": bool(chosen.row["trusted"]), "advice": chosen.row["advice"]},
            **{name: rounded(chosen.row[name]) for name in _BEST},
        }
    means = means_of(leaderboard, criteria)
    return {
        "certificates": {name: kinds.count(kind) for kind, name in verdict_names().items()},
        "best": best,
        "leaderboard": {
            label: {author: rounded(mean[author]) for author in sorted(mean)}
            for label, mean in means.items()
        },
        "answers": _answers(asked),
    }


def judge_numbers(cards: pd.DataFrame, asked: pd.DataFrame) -> Numbers:
    """Of a test of judges: per judge and set of items how often it is right, with intervals."""
    found: Numbers = {}
    for judge, study, of in main_cards(cards):
        numbers = {name: _with_ends(of[name]) for name in CARD_STATISTICS if name in of}
        counts = {name: of["agreement"][name] for name in ("n", "n_missing")}
        found.setdefault(judge, {})[study] = {**numbers, **counts}
    return {"judges": dict(sorted(found.items())), "answers": _answers(asked)}


def segmentation_numbers(scores: pd.DataFrame, asked: pd.DataFrame) -> Numbers:
    """Of a test of segmentations: how often each is right, with intervals."""
    found: Numbers = {}
    for row in records(scores[scores["of"] == "all"]):
        of = found.setdefault(row["segmentation"], {})
        if row["statistic"] in SCORE_STATISTICS:
            of[row["statistic"]] = _with_ends(row)
        if row["statistic"] == "accuracy":
            of |= {"n": row["n"], "n_failed": row["n_failed"]}
    return {"segmentations": dict(sorted(found.items())), "answers": _answers(asked)}


def write_numbers(found: Numbers, path: Path) -> None:
    """Write them, a number per line, whole or not at all."""
    text = json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False)
    with whole_file(path) as file:
        file.write(f"{text}\n".encode())


def _with_ends(row: Numbers) -> Numbers:
    """Its value, and its interval where it has one."""
    named = _ENDS if not missing(row["low"]) else _ENDS[:1]
    return {name: rounded(row[name]) for name in named}


def _answers(asked: pd.DataFrame) -> Numbers:
    """What came of the questions to language models, all stages and models together."""
    return {name: int(asked[name].sum()) for name in COUNTS}
