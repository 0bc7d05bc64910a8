"""The report about one test of judges: a folder of tables, and the page that shows them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

import pandas as pd

from metassay.core.atomic import whole_folder
from metassay.format.frames import records
from metassay.format.numbers import counted, short
from metassay.labelled import results
from metassay.labelled.records import ALL_KINDS, ENTAILED
from metassay.reporting import contract as c
from metassay.reporting.answers import answers_table
from metassay.reporting.attack_card import attack_sentences
from metassay.reporting.names import Row, grouped, short_estimate, sorted_parts
from metassay.reporting.page import Report, filled, sort_rows, write_tables
from metassay.reporting.shell import PageFolder, utf16
from metassay.reporting.texts import put_texts
from metassay.tables.judge_tests import ATTACK_GAINS
from metassay.tables.names import FULL, MEAN_OF_SUBSETS
from metassay.tables.parquet import empty
from metassay.text.edits.attacks import ATTACKS

# Numbers of a card of which less is better, and those that are neither good nor bad.
_LOWER = ("false_pass", "false_fail", "abstained", "failed", "brier", "ece")
_NEITHER = (
    "true_pass",
    "true_fail",
    "agreement_by_chance",
    "judge_pass_rate",
    "people_pass_rate",
    "rogan_gladen_pass_rate",
    "prediction_powered_pass_rate",
    "bias",
    "ece_by_chance",
    "labels_pass_rate",
    "labels_sensitivity",
    "labels_specificity",
)
# Tables whose rows stand as judges, kinds and statistics do.
_ORDERED = {"judge_cards", "kinds", "calibration", "attack_gains"}


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgeTestReport(Report):
    """What the report is made from.

    `tables`: pairs, judgments, gold, ratings, verdicts, judge_cards and calibration; of
    a test by attacks `attack_gains`, too. `test` is the test's type.
    """

    test: str


def write_judge_test(report: JudgeTestReport, out: Path) -> None:
    """Write the folder `out`, whole or not at all; equal input gives equal bytes.

    Only the page has texts. Raises BadInput if `out` holds anything; then nothing is
    written.
    """
    tables = report.tables
    cards = results.cards_of(tables["judge_cards"], set(tables["ratings"]["rater"]))
    files = {
        "judge_cards": tables["judge_cards"],
        **filled(attack_gains=tables.get("attack_gains", empty(ATTACK_GAINS))),
        **filled(kinds=results.kinds_table(cards)),
        "calibration": tables["calibration"],
        "verdicts": results.add_right_answers(tables["verdicts"], tables["gold"]),
        **report.published.tables,
        **filled(answers=answers_table(tables["pairs"], tables["judgments"])),
        **report.run_tables(),
    }
    with whole_folder(out, "report") as folder:
        write_tables(files, folder)
        # From here on judges are called as they are shown.
        tables, files = report.shown_as.frames(tables), report.shown_as.frames(files)
        card_rows = files["judge_cards"]
        cards = results.cards_of(card_rows, set(tables["ratings"]["rater"]))
        first = FIRST.get(report.test, BALANCED)
        better = dict.fromkeys(_LOWER, "lower") | dict.fromkeys(_NEITHER, "neither")
        better_of = card_rows["statistic"].map(better).fillna("higher")
        has_value = card_rows["value"].notna() & (card_rows["part"] == FULL)
        statistics = set(card_rows.loc[has_value, "statistic"])
        headline = [
            name for name in sorted(NUMBERS, key=first.__ne__) if name in statistics
        ]
        order = {
            "study": cards.studies,
            "part": sorted_parts(card_rows["part"]),
            "judge": cards.ranked(cards.main, first),
            "statistic": headline,
            "attack": list(ATTACKS),
        }
        files["judge_cards"] = card_rows.assign(better=better_of)
        for name in _ORDERED & set(files):
            files[name] = sort_rows(files[name], order)
        page = PageFolder(folder)
        answer = verdict(cards, first)
        if "attack_gains" in files:
            answer = attack_sentences(files["attack_gains"], card_rows)
        else:
            kinds = results.kinds_table(cards)
            answer += kinds_verdict(cards, kinds, order["judge"])
        texts = put_items(page, files["verdicts"], tables)
        report.write_page(
            page,
            "judge test",
            files,
            _counts(tables),
            systems={"headline": headline},
            answer=answer,
            texts=texts,
        )


def _counts(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    gold, ratings = tables["gold"], tables["ratings"]
    unlabelled = int(gold["label"].isna().sum())
    counts = [
        counted(len(gold), "item")
        + (f" ({unlabelled:,} unlabelled)" if unlabelled else ""),
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
# What judges are ranked by: accuracy where the items were chosen one by one, and the
# paper does.
FIRST = {"claim_labels": "agreement"}
BALANCED = "balanced_accuracy"
FEWEST_OF_KIND = 5  # items; a share of fewer says nothing
# a study of those that a judge has given verdicts on, where these are not all
COMMON = "items of "


def kinds_verdict(
    test: results.Cards, kinds: pd.DataFrame, judges: Sequence[str]
) -> list[str]:
    """Write a sentence per judge: what it detects, its false alarms, its weakest kind of each.

    `judges` come first, in this order. Kinds with fewer than FEWEST_OF_KIND items are
    not named.
    """
    parts: dict[str, list[str]] = {judge: [] for judge in judges}
    pooled = kinds[kinds["study"] == test.pooled]
    for measure, verb in (
        (results.DETECTED, "detects"),
        (results.FALSE_ALARMS, "gives false alarms on"),
    ):
        shares = pooled[pooled["measure"] == measure]
        for row in records(shares[shares["kind"] == ALL_KINDS]):
            text, details = (
                f"{verb} {short_estimate(row)} of {counted(row['n'], 'item')}",
                [],
            )
            if missing := row["n_abstained"] + row["n_failed"]:
                details.append(f"{missing:,} more without an answer")
            by_kind = shares[
                (shares["judge"] == row["judge"]) & (shares["kind"] != ALL_KINDS)
            ]
            by_kind = by_kind[
                by_kind["value"].notna() & (by_kind["n"] >= FEWEST_OF_KIND)
            ]
            by_kind = by_kind.sort_values("value", kind="stable")
            if len(by_kind) > 1:
                weak, most = (
                    (-1, "most") if measure == results.FALSE_ALARMS else (0, "least")
                )
                kind, share, n = by_kind.iloc[weak][["kind", "value", "n"]]
                details.append(f"{most}: {_words(kind)}, {short(share)} of {n:,}")
            text += f" ({'; '.join(details)})" if details else ""
            parts.setdefault(row["judge"], []).append(text)
    return [
        f"{judge} {', and '.join(texts)}." for judge, texts in parts.items() if texts
    ]


def verdict(test: results.Cards, first: str) -> list[str]:
    """Write sentences: judges asked about all items, best first; then of fewer items; people."""
    if test.main is None:
        return [
            "No item has both a right answer and a verdict, so that no judge can be judged."
        ]
    judges = test.comparable(test.main, first)
    sentences = [_sentence(test, judge, judges, first) for judge in judges]
    # some of the items only, as a judge has given verdicts on these
    for study in test.studies:
        some = test.comparable(study, first) if study.startswith(COMMON) else []
        if some and test.n_asked[study] < test.n_asked[str(test.pooled)]:
            values = (
                f"{judge} {short_estimate(test.whole[study, judge][first])}"
                for judge in some
            )
            n, owner = counted(test.n_asked[study], "item"), study.removeprefix(COMMON)
            where = f"On the {n} that {owner} has verdicts on"
            sentences.append(f"{where}, {NUMBERS[first]} is: {', '.join(values)}.")
    return sentences + _people(test)


def _sentence(test: results.Cards, judge: str, judges: list[str], first: str) -> str:
    """Write a judge's number, what it rests on, and how it compares to the best of `judges`."""
    study, best = str(test.main), judges[0]
    card, top = test.whole[study, judge], test.whole[study, best][first]["low"]
    n, n_all = int(card["agreement"]["n"]), results.n_asked(card)
    text = f"{judge}: "
    if judge == best:
        mean = " (mean of the test sets)" if study == MEAN_OF_SUBSETS else ""
        lead = (
            "agrees best with the right answers" if judges[1:] else "is the only judge"
        )
        text = f"{judge} {lead}: {NUMBERS[first]}{mean} "
    items = counted(n, "item") if n == n_all else f"{n:,} of {counted(n_all, 'item')}"
    text += f"{short_estimate(card[first])} on {items}"
    if judge == best:
        share = test.value(test.pooled, judge, "people_pass_rate") or 0.0
        commoner = f"always the commoner answer gets {short(max(share, 1 - share))}"
        text += f" ({'a coin gets .50' if first == BALANCED else commoner})"
    low, high = (
        short(card[f"agreement_at_{end}"]["value"]) for end in ("least", "most")
    )
    if low != high:
        text += f"; with the items without a verdict its accuracy is between {low} and {high}"
    if (
        judge != best
        and None not in (top, card[first]["high"])
        and top <= card[first]["high"]
    ):
        text += f"; its interval overlaps that of {best}, so their order is open"
    return f"{text}."


def _people(test: results.Cards) -> list[str]:
    """Say how accurate raters are, which no judge need beat: some may have labelled fewer sets."""
    cards = sorted(test.whole.items(), key=lambda item: item[1]["agreement"]["n"])
    most = {
        judge: card["agreement"]
        for (study, judge), card in cards
        if study != MEAN_OF_SUBSETS
    }
    raters = [
        most[r]
        for r in sorted(test.raters)
        if r in most and most[r]["value"] is not None
    ]
    if not raters:
        return []
    low, high = (end(raters, key=lambda row: row["value"]) for end in (min, max))
    share = short_estimate(low)
    if len(raters) > 1:
        share = f"from {share} to {short_estimate(high)} ({len(raters)} raters)"
    people = "The accuracy of a rater against most of the others"
    return [f"{people} is {share}, which is what people reach."]


# The items of a test of judges as documents: what was read, what judges and people say
# of it.


HYPOTHESIS = "hypothesis"  # the author of every text
RIGHT = "right answer"
SUREST = "surest wrong verdict"
_QUESTION = "Does any premise entail the hypothesis?"


def put_items(
    page: PageFolder, judged: pd.DataFrame, tables: Mapping[str, pd.DataFrame]
) -> c.TextsInfo:
    """Write a document per item: premises are its passages, the hypothesis its text.

    `judged` is of `add_right_answers`; `tables`: gold, pairs, judgments and ratings.
    Items whose wrong verdicts are the surest come first; then those with wrong verdicts
    without a probability, by item; then the others.
    """
    by_item = judged.groupby("item").agg(n_wrong=("wrong", "sum"), sure=("sure", "max"))
    gold = tables["gold"].merge(by_item, left_on="item", right_index=True, how="left")
    gold["n_wrong"] = gold["n_wrong"].fillna(0).astype(int)
    gold = gold.assign(right=gold["n_wrong"] == 0).sort_values(
        ["right", "sure", "item"], ascending=[True, False, True]
    )
    with_probability = sorted(set(judged.loc[judged["probability"].notna(), "judge"]))
    criteria = [RIGHT, *sorted(set(tables["ratings"]["criterion"]))]
    return put_texts(
        page,
        _items(gold, judged, tables, with_probability),
        noun="item",
        judges=sorted(set(judged["judge"])),
        metrics={
            SUREST: "lower",
            **{_probability(j): "neither" for j in with_probability},
        },
        criteria=dict.fromkeys(criteria, "higher"),
        parts=sorted(set(gold["kind"]) - {"full"}),
        rated=lambda text: text.blocks[0].lines[0].people,
    )


def _probability(judge: str) -> str:
    return f"probability ({judge})"


def _items(
    gold: pd.DataFrame,
    judged: pd.DataFrame,
    tables: Mapping[str, pd.DataFrame],
    with_probability: Sequence[str],
) -> Iterator[tuple[c.Document, list[int]]]:
    """Yield a document per row of `gold`, with the number of judges that are wrong."""
    by_item = itemgetter("doc_id")
    pairs = grouped(
        records(tables["pairs"].sort_values(["doc_id", "position"])), by_item
    )
    ratings = tables["ratings"].sort_values(["doc_id", "rater", "criterion"])
    labels = grouped(records(ratings), by_item)
    answers = {
        (row["pair_id"], row["judge"]): row for row in records(tables["judgments"])
    }
    verdicts = grouped(records(judged.sort_values("judge")), itemgetter("item"))
    for row in records(gold):
        item, label = row["item"], row["label"]
        of_item, premises = verdicts.get(item, []), pairs.get(item, [])
        hypothesis = premises[0]["hypothesis"] if premises else ""
        people = [
            c.Rating(
                RIGHT, "the data", None if label is None else float(label == ENTAILED)
            )
        ]
        people += [
            c.Rating(r["criterion"], r["rater"], r["value"])
            for r in labels.get(item, ())
        ]
        line = c.Line(
            number=1,
            part=row["kind"],
            text=hypothesis,
            start=0 if premises else -1,
            end=utf16(hypothesis, len(hypothesis)) if premises else -1,
            cites=[],
            aligned=range(len(premises)),
            judgments=[_verdict(verdict, premises, answers) for verdict in of_item],
            each=[
                c.EachCitation(head, place, _judgment(answer, answer, "neutral"), None)
                for head, verdict in enumerate(of_item)
                for place, premise in enumerate(premises)
                if (answer := answers.get((premise["pair_id"], verdict["judge"])))
            ]
            if len(premises) > 1
            else [],
            people=people,
        )
        heads = [c.BlockHead(_QUESTION, "", verdict["judge"]) for verdict in of_item]
        probabilities = {
            verdict["judge"]: verdict["probability"] for verdict in of_item
        }
        scores = [
            (_probability(j), probabilities[j])
            for j in with_probability
            if j in probabilities
        ]
        text = c.Text(
            author=HYPOTHESIS,
            problems=[] if premises else ["its texts are not among the data"],
            text=hypothesis,
            scores=[(SUREST, row["sure"]), *scores],
            blocks=[c.Block("verdicts", _QUESTION, "claim", heads, [line])],
        )
        right = _words(label) if label else f"none ({_words(row['unlabelled'] or '')})"
        kind = [f"kind: {_words(row['kind'])}"] if row["kind"] != "full" else []
        passages = [c.Passage("", "", premise["premise"] or "") for premise in premises]
        attributes = [f"{RIGHT}: {right}", *kind]
        yield (
            c.Document(item, row["subset"], attributes, passages, [text]),
            [row["n_wrong"]],
        )


def _verdict(
    verdict: Row, premises: Sequence[Row], answers: Mapping[tuple[str, str], Row]
) -> c.Judgment:
    """Count a verdict `for` the item where it is right, `against` it where it is wrong.

    The explanation and quotes are those of the premise that decided.
    """
    decided = [
        p
        for p in premises
        if len(premises) == 1 or p["position"] == verdict["position"]
    ]
    answer = (
        answers.get((decided[0]["pair_id"], verdict["judge"]), {}) if decided else {}
    )
    side = {None: "neutral", True: "against", False: "for"}[verdict["wrong"]]
    return _judgment(verdict, answer, "unknown" if verdict["label"] is None else side)


def _judgment(row: Row, answer: Row, side: str) -> c.Judgment:
    """Return what `row` says; `answer` has the explanation and quotes."""
    failed = (
        row["status"] if row["status"] == "abstained" else f"failed: {row['status']}"
    )
    word = _words(row["label"]) if row["label"] else failed
    quotes = answer.get("quotes")
    why = answer.get("explanation") or ""
    return c.Judgment(
        word, side, row["probability"], why, () if quotes is None else [*quotes]
    )


def _words(label: str) -> str:
    return label.replace("_", " ")
