"""The items of a test of judges as documents: what was read, what judges and people say of it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from metassay.format.frames import records, rows
from metassay.labelled.results import ENTAILED
from metassay.reporting.contract import (
    Asked,
    Block,
    CriterionInfo,
    Document,
    EachCitation,
    Judgment,
    Line,
    Passage,
    Rating,
    Text,
    TextsInfo,
)
from metassay.reporting.shell import PageFolder
from metassay.reporting.text_index import put_texts, utf16

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
    labels: Mapping[str, list[Rating]]
    judges: Sequence[str]


def put_items(
    page: PageFolder, judged: pd.DataFrame, tables: Mapping[str, pd.DataFrame]
) -> TextsInfo:
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
    labels: dict[str, list[Rating]] = {}
    ratings = tables["ratings"].sort_values(["doc_id", "rater", "criterion"])
    for item, *rating in rows(ratings, "doc_id", "criterion", "rater", "value"):
        labels.setdefault(item, []).append(Rating(*rating))
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
    scale = ("higher", 0.0, 1.0)
    criteria = [CriterionInfo(RIGHT, RIGHT, "right", *scale)]
    criteria += [
        CriterionInfo(name, name.replace("_", " "), f"people_{place}", *scale)
        for place, name in enumerate(sorted(set(ratings["criterion"])))
    ]
    return put_texts(
        page,
        ((_document(row, known, probable), [row["n_wrong"]]) for row in records(gold)),
        noun="item",
        judges=judges,
        metrics={SUREST: "lower", **{_probability(judge): "neither" for judge in probable}},
        criteria=criteria,
        parts=sorted(set(gold["kind"]) - {"full"}),
        rated=lambda text: text.blocks[0].lines[0].people,
    )


def _probability(judge: str) -> str:
    return f"probability ({judge})"


def _document(row: Mapping[str, Any], known: _Known, probable: Sequence[str]) -> Document:
    item, verdicts = row["item"], known.verdicts.get(row["item"], {})
    premises = known.premises.get(item, [])
    hypothesis = premises[0].hypothesis if premises else ""
    right = _words(row["label"]) if row["label"] else f"none ({_words(row['unlabelled'] or '')})"
    kind = [f"kind: {_words(row['kind'])}"] if row["kind"] != "full" else []
    judges = [judge for judge in known.judges if judge in verdicts]
    value = None if row["label"] is None else float(row["label"] == ENTAILED)
    line = Line(
        number=1,
        part=row["kind"],
        text=hypothesis,
        start=0 if premises else -1,
        end=utf16(hypothesis, len(hypothesis)) if premises else -1,
        cites=[],
        aligned=range(len(premises)),
        judgments=[_verdict(verdicts[judge], premises, known) for judge in judges],
        each=_each(judges, premises, known) if len(premises) > 1 else [],
        people=[Rating(RIGHT, _DATA, value), *known.labels.get(item, [])],
    )
    heads = [Asked(_QUESTION, "", judge) for judge in judges]
    scores = [(_probability(j), verdicts[j]["probability"]) for j in probable if j in verdicts]
    text = Text(
        author=HYPOTHESIS,
        problems=[] if premises else [_NO_TEXTS],
        text=hypothesis,
        scores=[(SUREST, row["sure"]), *scores],
        blocks=[Block("verdicts", _QUESTION, "claim", heads, [line])],
    )
    passages = [Passage("", "", premise.text or "") for premise in premises]
    return Document(item, row["subset"], [f"{RIGHT}: {right}", *kind], passages, [text])


def _verdict(row: Mapping[str, Any], premises: Sequence[_Premise], known: _Known) -> Judgment:
    """Of an item, `for` where it is right and `against` where it is wrong.

    The explanation and quotes are those of the premise that decided.
    """
    decided = [p for p in premises if len(premises) == 1 or p.position == row["position"]]
    answer = known.answers.get((decided[0].pair_id, row["judge"]), {}) if decided else {}
    side = {None: "neutral", True: "against", False: "for"}[row["wrong"]]
    return _judgment(row, answer, "unknown" if row["label"] is None else side)


def _each(judges: Sequence[str], premises: Sequence[_Premise], known: _Known) -> list[EachCitation]:
    """What every judge says of every premise alone."""
    return [
        EachCitation(head, place, _judgment(answer, answer, "neutral"), None)
        for head, judge in enumerate(judges)
        for place, premise in enumerate(premises)
        if (answer := known.answers.get((premise.pair_id, judge)))
    ]


def _judgment(row: Mapping[str, Any], answer: Mapping[str, Any], side: str) -> Judgment:
    """What `row` says; `answer` has the explanation and quotes."""
    failed = row["status"] if row["status"] == "abstained" else f"failed: {row['status']}"
    word = _words(row["label"]) if row["label"] else failed
    quotes = answer.get("quotes")
    why = answer.get("explanation") or ""
    return Judgment(word, side, row["probability"], why, () if quotes is None else [*quotes])


def _words(label: str) -> str:
    return label.replace("_", " ")
