"""The report about one test of judges: a folder of tables, and the page that shows them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from metassay.core.atomic import whole_folder
from metassay.format.frames import records, rows
from metassay.format.numbers import counted, short
from metassay.labelled.records import ALL_KINDS, ENTAILED
from metassay.labelled.results import (
    DETECTED,
    FALSE_ALARMS,
    Cards,
    cards_of,
    kinds_table,
    n_asked,
    with_right_answers,
)
from metassay.reporting import contract as c
from metassay.reporting.answers import answers_table
from metassay.reporting.evidence import finish, in_order
from metassay.reporting.figures.pictures import draw_reliability
from metassay.reporting.names import sorted_parts
from metassay.reporting.page import Drawing, Report, filled, put_figures, write_tables
from metassay.reporting.published_judges import compare_judges
from metassay.reporting.section import TableWords, short_estimate
from metassay.reporting.shell import PageFolder
from metassay.reporting.text_index import put_texts, utf16
from metassay.tables.names import FULL, MEAN_OF_SUBSETS

JUDGE_FIGURES = {
    "reliability": Drawing(
        draw_reliability,
        "calibration",
        "Each judge's probabilities beside the share of items that are entailed",
    ),
}
# Numbers of a card of which less is better, and those that are neither good nor bad.
_LOWER = ("false_pass", "false_fail", "abstained", "failed", "brier", "ece")
_NEITHER = (
    *("true_pass", "true_fail", "agreement_by_chance", "judge_pass_rate", "people_pass_rate"),
    *("rogan_gladen_pass_rate", "prediction_powered_pass_rate", "bias", "ece_by_chance"),
    *("labels_pass_rate", "labels_sensitivity", "labels_specificity"),
)


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgeTestReport(Report):
    """What the report is made from.

    `tables`: pairs, judgments, gold, ratings, verdicts, judge_cards and calibration. `test` is the
    test's type. `published` names tables in `published_folder` to compare with.
    """

    test: str
    published: Sequence[str]
    published_folder: Path


def write_judge_test(report: JudgeTestReport, out: Path) -> None:
    """Write the folder `out`, whole or not at all; equal input gives equal bytes.

    Only the page has texts. Raises BadInput if `out` holds anything, and for a comparison that is
    unknown or lacks its table; then nothing is written.
    """
    tables = report.tables
    cards = cards_of(tables["judge_cards"], set(tables["ratings"]["rater"]))
    compared = compare_judges(report.published, report.published_folder, cards)
    kinds = kinds_table(cards)
    answers = answers_table(tables["pairs"], tables["judgments"])
    files = {
        "judge_cards": tables["judge_cards"],
        **filled(kinds=kinds),
        "calibration": tables["calibration"],
        "verdicts": with_right_answers(tables["verdicts"], tables["gold"]),
        **{name: frame for one in compared for name, frame in one.tables.items()},
        **filled(answers=answers),
        **report.said(),
    }
    blocks = {name: block for one in compared for name, block in one.blocks.items()}
    with whole_folder(out, "report") as folder:
        write_tables(files, folder)
        _write_page(report, files, blocks, folder)


def _write_page(
    report: JudgeTestReport,
    files: Mapping[str, pd.DataFrame],
    blocks: Mapping[str, TableWords],
    folder: Path,
) -> None:
    """The page and its figures; judges are called as they are shown."""
    tables, shown = report.shown_as.frames(report.tables), report.shown_as.frames(files)
    cards = cards_of(shown["judge_cards"], set(tables["ratings"]["rater"]))
    kinds, bins = kinds_table(cards), shown["calibration"]
    first = FIRST.get(report.test, BALANCED)
    better = dict.fromkeys(_LOWER, "lower") | dict.fromkeys(_NEITHER, "neither")
    rows = shown["judge_cards"]
    shown["judge_cards"] = rows.assign(better=rows["statistic"].map(better).fillna("higher"))
    known = set(rows.loc[rows["value"].notna() & (rows["part"] == FULL), "statistic"])
    headline = [name for name in sorted(NUMBERS, key=first.__ne__) if name in known]
    order = {
        **{"study": cards.studies, "part": sorted_parts(rows["part"])},
        **{"judge": cards.ranked(cards.main, first), "statistic": headline},
    }
    for name in ("judge_cards", "kinds", "calibration"):
        if name in shown:
            shown[name] = in_order(shown[name], order)
    drawn = {"calibration": bins[(bins["study"] == cards.pooled) & (bins["part"] == FULL)]}
    page = PageFolder(folder)
    answer = [*kinds_verdict(cards, kinds), *verdict(cards, first)]
    texts = put_items(page, shown["verdicts"], tables)
    finish(
        page,
        "judge test",
        shown,
        report.command,
        figures=put_figures(JUDGE_FIGURES, drawn, folder),
        blocks=blocks,
        systems={"headline": headline},
        **report.head(shown, _counts(tables), answer=answer, texts=texts),
    )


def _counts(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    gold, ratings = tables["gold"], tables["ratings"]
    unlabelled = int(gold["label"].isna().sum())
    counts = [
        counted(len(gold), "item") + (f" ({unlabelled:,} unlabelled)" if unlabelled else ""),
        counted(gold["subset"].nunique(), "subset"),
        counted(tables["pairs"]["pair_id"].nunique(), "question"),
        counted(len(tables["judgments"]), "judgment"),
    ]
    if len(ratings):
        raters = counted(ratings["rater"].nunique(), "rater")
        counts.append(f"{counted(len(ratings), 'label')} by {raters}")
    return counts


# The answer of a test of judges: who agrees with the right answers, and how surely.


# Numbers of a card that come first, and what sentences call them.
NUMBERS = {
    "agreement": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "f1": "F1",
    "auroc": "AUROC",
    "ece": "ECE",
    "accuracy_3way": "accuracy, 3-way",
    "balanced_accuracy_3way": "balanced accuracy, 3-way",
    "macro_f1_3way": "macro-F1, 3-way",
}
# What judges are ranked by: accuracy where the items were chosen one by one, and the paper does.
FIRST = {"claim_labels": "agreement"}
BALANCED = "balanced_accuracy"
COMMON = "items of "  # a study of those that a judge has given verdicts on, where these are not all


def kinds_verdict(test: Cards, kinds: pd.DataFrame) -> list[str]:
    """A sentence per judge: what it detects, its false alarms, and its weakest kind of each."""
    parts: dict[str, list[str]] = {}
    pooled = kinds[kinds["study"] == test.pooled]
    for measure, verb in ((DETECTED, "detects"), (FALSE_ALARMS, "gives false alarms on")):
        of = pooled[pooled["measure"] == measure]
        for row in records(of[of["kind"] == ALL_KINDS]):
            text = f"{verb} {short_estimate(row)} of {counted(row['n'], 'item')}"
            if missing := row["n_abstained"] + row["n_failed"]:
                text += f" without {missing:,} that it abstained of or failed"
            each = of[(of["judge"] == row["judge"]) & (of["kind"] != ALL_KINDS)]
            each = each[each["value"].notna()].sort_values("value", kind="stable")
            if len(each) > 1:
                weak, most = (-1, "most") if measure == FALSE_ALARMS else (0, "least")
                kind, share, n = each.iloc[weak][["kind", "value", "n"]]
                text += f" ({most}: {kind.replace('_', ' ')}, {short(share)} of {n:,})"
            parts.setdefault(row["judge"], []).append(text)
    return [f"{judge} {', and '.join(texts)}." for judge, texts in parts.items()]


def verdict(test: Cards, first: str) -> list[str]:
    """Sentences: judges asked about all items, best first; then of fewer items; then people."""
    if test.main is None:
        return ["No item has both a right answer and a verdict, so that no judge can be judged."]
    judges = test.comparable(test.main, first)
    sentences = [_sentence(test, judge, judges, first) for judge in judges]
    for study in test.studies:  # some of the items only, as a judge has given verdicts on these
        some = test.comparable(study, first) if study.startswith(COMMON) else []
        if some and test.n_asked[study] < test.n_asked[str(test.pooled)]:
            each = (f"{judge} {short_estimate(test.whole[study, judge][first])}" for judge in some)
            n, of = counted(test.n_asked[study], "item"), study.removeprefix(COMMON)
            where = f"On the {n} that {of} has verdicts on"
            sentences.append(f"{where}, {NUMBERS[first]} is: {', '.join(each)}.")
    return sentences + _people(test)


def _sentence(test: Cards, judge: str, judges: list[str], first: str) -> str:
    """A judge's number, what it rests on, and how it stands to the best, the first of `judges`."""
    study, best = str(test.main), judges[0]
    card, top = test.whole[study, judge], test.whole[study, best][first]["low"]
    n, n_all = int(card["agreement"]["n"]), n_asked(card)
    text = f"{judge}: "
    if judge == best:
        mean = " (mean of the test sets)" if study == MEAN_OF_SUBSETS else ""
        lead = "agrees best with the right answers" if judges[1:] else "is the only judge"
        text = f"{judge} {lead}: {NUMBERS[first]}{mean} "
    items = counted(n, "item") if n == n_all else f"{n:,} of {counted(n_all, 'item')}"
    text += f"{short_estimate(card[first])} on {items}"
    if judge == best:
        share = test.value(test.pooled, judge, "people_pass_rate") or 0.0
        commoner = f"always the commoner answer gets {short(max(share, 1 - share))}"
        text += f" ({'a coin gets .50' if first == BALANCED else commoner})"
    low, high = (short(card[f"agreement_at_{end}"]["value"]) for end in ("least", "most"))
    if low != high:
        text += f"; with the items without a verdict its accuracy is between {low} and {high}"
    if judge != best and None not in (top, card[first]["high"]) and top <= card[first]["high"]:
        text += f"; its interval overlaps that of {best}, which settles no order"
    return f"{text}."


def _people(test: Cards) -> list[str]:
    """A rater's own accuracy, which no judge need beat: people may have labelled some sets only."""
    cards = sorted(test.whole.items(), key=lambda item: item[1]["agreement"]["n"])
    most = {judge: card["agreement"] for (study, judge), card in cards if study != MEAN_OF_SUBSETS}
    known = [most[r] for r in sorted(test.raters) if r in most and most[r]["value"] is not None]
    if not known:
        return []
    low, high = (of(known, key=lambda row: row["value"]) for of in (min, max))
    share = short_estimate(low)
    if len(known) > 1:
        share = f"from {share} to {short_estimate(high)} ({len(known)} raters)"
    people = "The accuracy of a rater against most of the others"
    return [f"{people} is {share}, which is what people reach."]


# The items of a test of judges as documents: what was read, what judges and people say of it.


HYPOTHESIS = "hypothesis"  # the author of every text
RIGHT = "right answer"
SUREST = "surest wrong verdict"
_QUESTION = "Does any premise entail the hypothesis?"
_NO_TEXTS = "its texts are not among the data"
_DATA = "the data"  # who says what is right


class _Premise(NamedTuple):
    position: int
    pair_id: str
    text: str
    hypothesis: str


class _Known(NamedTuple):
    """All that is known, by item, and judgments by pair and judge."""

    premises: Mapping[str, list[_Premise]]
    verdicts: Mapping[str, Mapping[str, dict[str, Any]]]
    answers: Mapping[tuple[str, str], dict[str, Any]]
    labels: Mapping[str, list[c.Rating]]
    judges: Sequence[str]


def put_items(
    page: PageFolder, judged: pd.DataFrame, tables: Mapping[str, pd.DataFrame]
) -> c.TextsInfo:
    """Write a document per item: premises are its passages, the hypothesis its text.

    `judged` is of `with_right_answers`; `tables`: gold, pairs, judgments and ratings. Items whose
    wrong verdicts are the surest come first; then those with wrong verdicts without a probability,
    by item; then the others.
    """
    premises: dict[str, list[_Premise]] = {}
    pairs = tables["pairs"].sort_values(["doc_id", "position"], kind="stable")
    for item, *pair in rows(pairs, "doc_id", "position", "pair_id", "premise", "hypothesis"):
        premises.setdefault(item, []).append(_Premise(*pair))
    verdicts: dict[str, dict[str, dict[str, Any]]] = {}
    for row in records(judged):
        verdicts.setdefault(row["item"], {})[row["judge"]] = row
    labels: dict[str, list[c.Rating]] = {}
    ratings = tables["ratings"].sort_values(["doc_id", "rater", "criterion"])
    for item, *rating in rows(ratings, "doc_id", "criterion", "rater", "value"):
        labels.setdefault(item, []).append(c.Rating(*rating))
    answers = {(row["pair_id"], row["judge"]): row for row in records(tables["judgments"])}
    judges = sorted(set(judged["judge"]))
    known = _Known(premises, verdicts, answers, labels, judges)
    by_item = judged.groupby("item").agg(n_wrong=("wrong", "sum"), sure=("sure", "max"))
    gold = tables["gold"].merge(by_item, left_on="item", right_index=True, how="left")
    gold["n_wrong"] = gold["n_wrong"].fillna(0).astype(int)
    gold = gold.assign(right=gold["n_wrong"] == 0).sort_values(
        ["right", "sure", "item"], ascending=[True, False, True]
    )
    has_one = set(judged.loc[judged["probability"].notna(), "judge"])
    probable = [judge for judge in judges if judge in has_one]
    return put_texts(
        page,
        ((_document(row, known, probable), [row["n_wrong"]]) for row in records(gold)),
        noun="item",
        judges=judges,
        metrics={SUREST: "lower", **{_probability(judge): "neither" for judge in probable}},
        criteria=dict.fromkeys([RIGHT, *sorted(set(ratings["criterion"]))], "higher"),
        parts=sorted(set(gold["kind"]) - {"full"}),
        rated=lambda text: text.blocks[0].lines[0].people,
    )


def _probability(judge: str) -> str:
    return f"probability ({judge})"


def _document(row: Mapping[str, Any], known: _Known, probable: Sequence[str]) -> c.Document:
    item, verdicts = row["item"], known.verdicts.get(row["item"], {})
    premises = known.premises.get(item, [])
    hypothesis = premises[0].hypothesis if premises else ""
    right = _words(row["label"]) if row["label"] else f"none ({_words(row['unlabelled'] or '')})"
    kind = [f"kind: {_words(row['kind'])}"] if row["kind"] != "full" else []
    judges = [judge for judge in known.judges if judge in verdicts]
    value = None if row["label"] is None else float(row["label"] == ENTAILED)
    line = c.Line(
        number=1,
        part=row["kind"],
        text=hypothesis,
        start=0 if premises else -1,
        end=utf16(hypothesis, len(hypothesis)) if premises else -1,
        cites=[],
        aligned=range(len(premises)),
        judgments=[_verdict(verdicts[judge], premises, known) for judge in judges],
        each=_each(judges, premises, known) if len(premises) > 1 else [],
        people=[c.Rating(RIGHT, _DATA, value), *known.labels.get(item, [])],
    )
    heads = [c.Asked(_QUESTION, "", judge) for judge in judges]
    scores = [(_probability(j), verdicts[j]["probability"]) for j in probable if j in verdicts]
    text = c.Text(
        author=HYPOTHESIS,
        problems=[] if premises else [_NO_TEXTS],
        text=hypothesis,
        scores=[(SUREST, row["sure"]), *scores],
        blocks=[c.Block("verdicts", _QUESTION, "claim", heads, [line])],
    )
    passages = [c.Passage("", "", premise.text or "") for premise in premises]
    return c.Document(item, row["subset"], [f"{RIGHT}: {right}", *kind], passages, [text])


def _verdict(row: Mapping[str, Any], premises: Sequence[_Premise], known: _Known) -> c.Judgment:
    """Of an item, `for` where it is right and `against` where it is wrong.

    The explanation and quotes are those of the premise that decided.
    """
    decided = [p for p in premises if len(premises) == 1 or p.position == row["position"]]
    answer = known.answers.get((decided[0].pair_id, row["judge"]), {}) if decided else {}
    side = {None: "neutral", True: "against", False: "for"}[row["wrong"]]
    return _judgment(row, answer, "unknown" if row["label"] is None else side)


def _each(
    judges: Sequence[str], premises: Sequence[_Premise], known: _Known
) -> list[c.EachCitation]:
    """What every judge says of every premise alone."""
    return [
        c.EachCitation(head, place, _judgment(answer, answer, "neutral"), None)
        for head, judge in enumerate(judges)
        for place, premise in enumerate(premises)
        if (answer := known.answers.get((premise.pair_id, judge)))
    ]


def _judgment(row: Mapping[str, Any], answer: Mapping[str, Any], side: str) -> c.Judgment:
    """What `row` says; `answer` has the explanation and quotes."""
    failed = row["status"] if row["status"] == "abstained" else f"failed: {row['status']}"
    word = _words(row["label"]) if row["label"] else failed
    quotes = answer.get("quotes")
    why = answer.get("explanation") or ""
    return c.Judgment(word, side, row["probability"], why, () if quotes is None else [*quotes])


def _words(label: str) -> str:
    return label.replace("_", " ")
