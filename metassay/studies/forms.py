"""The forms of studies: what each of them asks of a benchmark's texts, and of whom."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, starmap
from pathlib import Path

import numpy as np
import pandas as pd

from metassay.core.errors import BadInput, meant, raise_problems
from metassay.core.options import Criterion
from metassay.datasets.element_labels import CATEGORIES, SHARES, label_shares
from metassay.datasets.fact_annotations import FACT_CRITERIA, MOST_FACTS, fact_ratings
from metassay.scoring.rubrics.ask import (
    applies,
    attributes_of,
    cap_of,
    expanded,
    items_of,
    not_applicable,
)
from metassay.scoring.rubrics.read import RUBRICS, load_rubric
from metassay.scoring.rubrics.record import SOURCE, Rubric
from metassay.scoring.rubrics.record import Criterion as Asks
from metassay.statistics.facts import STATUSES, count_facts
from metassay.statistics.pairs import disagreements
from metassay.studies.drawing import lot
from metassay.studies.record import (
    Answer,
    Asked,
    Choice,
    Draft,
    DraftRow,
    Form,
    Made,
    Options,
    Question,
    Reads,
    Shown,
    Target,
)
from metassay.studies.texts import Claim, Written, attributes, inputs, parts_of, units_of, written
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.names import FULL, REFERENCE, metric_label
from metassay.tables.ratings import STATEMENT_UNIT
from metassay.tables.scores import SCORES

_SHARE = Criterion(low=0, high=1, better="higher", scale="ordinal")


def _made(
    texts: Written,
    drafts: Iterable[Draft | str],
    criteria: Mapping[str, Criterion],
    instructions: tuple[str, ...],
) -> Made:
    """`drafts` are items, and of each text that is left out why."""
    items, reasons = list[Draft](), Counter[str]()
    for draft in drafts:
        if isinstance(draft, str):
            reasons[draft] += 1
        else:
            items.append(draft)
    notes = [f"{n} text(s) are left out: {reason}" for reason, n in reasons.items()]
    return Made(items, criteria, instructions, (*texts.notes, *notes), texts.datasets)


# ---- claims: is each claim covered by the other text? ------------------------------------------

# Whose claims they are: the criterion, which is called as the metric that asks judges the same.
_CLAIM_CRITERIA = {"reference": "claim_recall", "output": "claim_precision"}
_COVERED = (
    Choice("yes", 1.0, "the text says so, in whatever words"),
    Choice("partly", 0.5, "some of the claim is there, some is not"),
    Choice("no", 0.0, "the text does not say so, or says something else"),
)
_OF_CLAIMS = (
    "Read the text first. Then say of each claim whether the text covers it: whether somebody who"
    " knows the text alone would have to agree with the claim.",
    "Judge by the text alone, not by what you know. The rows of one text stand together; their row"
    " begins with the same letters.",
)


def _claims(read: Reads, options: Options) -> Made:
    """A text is an item, a claim a row, of the reference's claims or of the system's own.

    The rating's unit is `claim:N` of part `full`: claims are counted over the whole text, in the
    order in which they stand there. Texts whose claims or reference are not known are left out.
    """
    texts, claims = written(read), units_of(read, "claim")
    sides = ("reference", "output") if options.claims == "both" else (options.claims,)

    def drafts() -> Iterator[Draft | str]:
        for doc, author in texts.of_systems:
            for side in sides:
                says, reads = (REFERENCE, author) if side == "reference" else (author, REFERENCE)
                listed, text = claims.get((doc, says)), texts.whole.get((doc, reads))
                if not listed or text is None:
                    yield "no reference or no claims are known"
                    continue
                rows = tuple(_claim_rows(doc, author, _CLAIM_CRITERIA[side], listed))
                yield Draft((doc, author, side), (author,), (Shown("text", text),), rows)

    criteria = {_CLAIM_CRITERIA[side]: _SHARE for side in sides}
    return _made(texts, drafts(), criteria, _OF_CLAIMS)


def _claim_rows(
    doc: str, author: str, criterion: str, claims: Sequence[Claim]
) -> Iterator[DraftRow]:
    asks = "Is the claim covered by the text?"
    question = Question(criterion, "covered", "choice", asks, _COVERED)
    for claim in claims:
        target = Target(doc, author, FULL, f"claim:{claim.number}", criterion)
        yield DraftRow((Shown("claim", claim.text),), (Asked(question, target),))


# ---- elements: what is wrong with each element of each sentence? ------------------------------
# As hospital-course summaries were annotated. Source of the categories and of the error share:
# Adams et al. 2023, a meta-evaluation of faithfulness metrics for hospital-course summarization.

_LABEL = "label"
_MEANINGS = (
    "the input says something else",
    "something is left out without which the element misleads",
    "the input says nothing of the kind",
)
# Codes of labels while they are on their way: 2 i + 1 is category i, minor; 2 i + 2 critical.
_LABELS = (
    Choice("correct", 0.0, "the input says so"),
    *(
        Choice(f"{category.replace('_', ' ')} ({grave})", 2.0 * i + 1 + j, means)
        for i, (category, means) in enumerate(zip(CATEGORIES, _MEANINGS, strict=True))
        for j, grave in enumerate(("minor", "critical"))
    ),
)
_LABELLED = Question(_LABEL, _LABEL, "choice", "Is the element right, by the input?", _LABELS)
_OF_ELEMENTS = (
    "Each row has one element (a single statement of fact) of a sentence, the sentence that it is"
    " from, and the input. Say whether the element is right by the input.",
    "An error is critical if it could change what is done for the patient, or what a reader"
    " concludes; else it is minor.",
)


def _elements(read: Reads, _: Options) -> Made:
    """A text is an item, an element (a claim of a sentence) a row.

    Claims that are of no single sentence are left out, and sentences without claims are their own
    element. Texts whose claims are not known are left out.
    """
    texts, sources = written(read), inputs(read)
    claims, sentences = units_of(read, "claim"), units_of(read, "statement")

    def drafts() -> Iterator[Draft | str]:
        for doc, author in texts.of_systems:
            of_text, elements = sentences.get((doc, author)), claims.get((doc, author))
            if not of_text or elements is None:
                yield "their sentences or claims are not known"
                continue
            rows = tuple(_element_rows(doc, author, of_text, elements))
            yield Draft((doc, author), (author,), (Shown("input", sources[doc]),), rows)

    scale = Criterion(low=0, high=1, better="lower")
    return _made(texts, drafts(), dict.fromkeys(SHARES, scale), _OF_ELEMENTS)


def _element_rows(
    doc: str, author: str, sentences: Sequence[Claim], elements: Sequence[Claim]
) -> Iterator[DraftRow]:
    for sentence in sentences:
        unit = f"{STATEMENT_UNIT}{sentence.number}"
        of_sentence = [one.text for one in elements if one.statement == sentence.number]
        for number, text in enumerate(of_sentence or [sentence.text]):
            shown = (Shown("sentence", sentence.text), Shown("element", text))
            # No criterion of anybody's: `_rate_elements` makes shares of a sentence's labels.
            target = Target(doc, author, FULL, unit, f"{_LABEL} {number}")
            yield DraftRow(shown, (Asked(_LABELLED, target),))


def _rate_elements(answers: Sequence[Answer]) -> list[Answer]:
    """Shares of a sentence's elements: `datasets.element_labels.label_shares`."""
    labels: dict[Target, list[tuple[str, bool] | None]] = {}
    for answer in answers:
        label = None if answer.value is None else _decoded(int(answer.value))
        labels.setdefault(answer.of._replace(criterion=_LABEL), []).append(label)
    return [
        Answer(target._replace(criterion=name), share)
        for target, of_sentence in labels.items()
        for name, share in label_shares(of_sentence).items()
    ]


def _decoded(label: int) -> tuple[str, bool]:
    return ("correct", *CATEGORIES)[(label + 1) // 2], label > 0 and label % 2 == 0


# ---- facts: is each fact of the text right, and how many are left out? ------------------------
# Source of the statuses: Ben Abacha et al. 2023, evaluation metrics for medical note generation.

_STATES = (
    Choice(STATUSES[0], 0.0, "the input and the reference say so"),
    Choice(STATUSES[1], 1.0, "a value or an attribute is wrong, such as a dose, a date or a side"),
    Choice(STATUSES[2], 2.0, "nothing in the input supports it"),
)
_STATUS = Question("status", "status", "choice", "Is the fact right?", _STATES)
_OMITTED = Question(
    "omitted",
    "omitted",
    "number",
    "How many facts of the reference does the text leave out?",
    low=0.0,
    high=float(MOST_FACTS),
    whole=True,
)
_OF_FACTS = (
    "Each row has one fact (what cannot be said in more than one sentence) that the text states."
    " Say whether it is right, by the input and the reference.",
    "The row 'whole text' asks how many facts of the reference are nowhere in the text, right or"
    " wrong.",
)


def _facts(read: Reads, _: Options) -> Made:
    """A text is an item, a fact (a claim of it) a row, and the whole text one more.

    Texts whose claims or reference are not known are left out.
    """
    texts, sources, claims = written(read), inputs(read), units_of(read, "claim")

    def drafts() -> Iterator[Draft | str]:
        for doc, author in texts.of_systems:
            facts, reference = claims.get((doc, author)), texts.whole.get((doc, REFERENCE))
            if facts is None or reference is None:
                yield "no reference or no claims are known"
                continue
            rows = tuple(_fact_rows(Target(doc, author, FULL, "text", _OMITTED.name), facts))
            shown = {"input": sources[doc], "reference": reference}
            shown["text"] = texts.whole[doc, author]
            yield Draft((doc, author), (author,), tuple(starmap(Shown, shown.items())), rows)

    return _made(texts, drafts(), FACT_CRITERIA, _OF_FACTS)


def _fact_rows(of: Target, facts: Sequence[Claim]) -> Iterator[DraftRow]:
    # No criteria of anybody's: `_rate_facts` makes ratings of a text's answers.
    for fact in facts:
        asked = Asked(_STATUS, of._replace(criterion=f"{_STATUS.name} {fact.number}"))
        yield DraftRow((Shown("fact", fact.text),), (asked,))
    yield DraftRow((Shown("fact", "whole text"),), (Asked(_OMITTED, of),))


def _rate_facts(answers: Sequence[Answer]) -> list[Answer]:
    """Counts and scores of a text's facts: `datasets.fact_annotations.fact_ratings`."""
    values = {one.of.criterion: one.value for one in answers}
    omitted = values.pop(_OMITTED.name)
    counts = count_facts([None if n is None else STATUSES[int(n)] for n in values.values()])
    counts = counts._replace(omitted=None if omitted is None else int(omitted))
    return [
        Answer(answers[0].of._replace(criterion=name), value)
        for name, value in fact_ratings(counts).items()
    ]


# ---- pairs: which of two texts is better, and how much does each cover? -----------------------

_BETTER = Question(
    "preference",
    "better",
    "choice",
    "Which text is better?",
    (Choice("A", 1.0), Choice("B", 0.0), Choice("tie", 0.5)),
)
_OF_PAIRS = (
    "Two texts, A and B, were written from one input. Say which of them you would rather have, as a"
    " whole: what is right, complete and clear. If neither is better, say tie.",
)
_OF_SHARES = (
    "Then say how much of what is in the reference each text covers, in per cent from 0 to 100,"
    " without a sign.",
)


def _pairs(read: Reads, options: Options) -> Made:
    """Two texts are an item; which of them is A is drawn by lot.

    The rating's unit is `versus:AUTHOR`: 1 if `author`'s text is better, .5 for a tie. The share
    that a text covers is asked once of each text, in one of its pairs.
    """
    texts, sources = written(read), inputs(read)
    by_document: dict[str, list[str]] = defaultdict(list)
    for doc, author in texts.of_systems:
        by_document[doc].append(author)
    wanted = None if options.disagreeing is None else _disagreeing(read, *options.disagreeing)
    drafts = []
    for doc, authors in by_document.items():
        reference = texts.whole.get((doc, REFERENCE), "")
        shown = (Shown("input", sources[doc]), *([Shown("reference", reference)] * bool(reference)))
        for pair in combinations(authors, 2):
            if wanted is not None and (doc, *pair) not in wanted:
                continue
            turned = lot(options.seed, "side", doc, *pair) % 2
            first, second = (pair[1], pair[0]) if turned else pair
            sides = (
                Shown("text A", texts.whole[doc, first]),
                Shown("text B", texts.whole[doc, second]),
            )
            asked = _asked_of_pair(doc, first, second, shares=options.shares and bool(reference))
            row = DraftRow((), tuple(asked))
            drafts.append(Draft((doc, *pair), pair, (*shown, *sides), (row,)))
    criteria = {_BETTER.name: _SHARE}
    if options.shares:
        criteria["covered"] = Criterion(low=0, high=100, better="higher")
    return _made(texts, drafts, criteria, _OF_PAIRS + (_OF_SHARES if options.shares else ()))


def _asked_of_pair(doc: str, first: str, second: str, *, shares: bool) -> Iterator[Asked]:
    yield Asked(_BETTER, Target(doc, first, FULL, f"versus:{second}", _BETTER.name))
    for side, author in (("A", first), ("B", second)) if shares else ():
        asks = f"How much of what is in the reference does text {side} cover, in per cent?"
        name = f"covered by {side}"
        question = Question(name, name, "number", asks, low=0.0, high=100.0)
        yield Asked(question, Target(doc, author, FULL, "text", "covered"))


def _disagreeing(read: Reads, a: str, b: str) -> set[tuple[str, str, str]]:
    """Documents and pairs of systems, sorted, that two metrics order in opposite ways."""
    scores = read(SCORES)
    scores = scores[(scores["part"] == FULL) & (scores["author"] != REFERENCE)]
    labels = [metric_label(m, j) for m, j in zip(scores["metric"], scores["judge"], strict=True)]
    scores = scores.assign(label=labels)
    known = sorted(set(labels))
    problems = [
        f"--only-disagreements: {name!r} is not a metric here; known: {', '.join(known)}"
        f"{meant(name, known)}"
        for name in dict.fromkeys((a, b))
        if name not in known
    ]
    better = dict(zip(*(read(LEADERBOARD)[name] for name in ("metric", "better")), strict=True))
    for name in (a, b) if not problems else ():
        metric = str(scores.loc[scores["label"] == name, "metric"].iloc[0])
        if better.get(metric) == "neither":
            problems.append(
                f"--only-disagreements: {name!r} does not say which text is better; name another"
            )
    raise_problems(problems)
    rows = pd.MultiIndex.from_frame(scores[["author", "doc_id"]]).unique()
    authors, documents = (sorted(set(rows.get_level_values(level))) for level in (0, 1))
    values = [_matrix(scores[scores["label"] == one], authors, documents, better) for one in (a, b)]
    found = disagreements(*values)
    sides = zip(found.document, found.preferred_by_a, found.preferred_by_b, strict=True)
    return {(documents[doc], *sorted((authors[one], authors[other]))) for doc, one, other in sides}


def _matrix(
    scores: pd.DataFrame, authors: list[str], documents: list[str], better: dict[str, str]
) -> np.ndarray:  # type: ignore[type-arg]
    values = scores.pivot(index="author", columns="doc_id", values="value")
    sign = -1.0 if better[str(scores["metric"].iloc[0])] == "lower" else 1.0
    return sign * values.reindex(index=authors, columns=documents).to_numpy(dtype=np.float64)


# ---- rubric: the criteria of rubrics/NAME.yaml, which judges are asked too --------------------

_NO_CAP = 100  # the most penalties that a sheet takes where the rubric has no cap


def _rubric(read: Reads, options: Options) -> Made:
    """A text is an item and a row, a criterion a column; what does not apply is not asked.

    Criteria that read every facet are asked of each facet that the texts have. Where a rubric
    compares with the reference, documents without one are left out.
    """
    texts, sources, about = written(read), inputs(read), attributes(read)
    rubric = _expanded(_named(options), parts_of(read))

    def drafts() -> Iterator[Draft | str]:
        for doc, author in texts.of_systems:
            known = attributes_of(about[doc])
            reference = texts.whole.get((doc, REFERENCE))
            if not applies(rubric.applies, known):
                yield "the rubric is not for their document"
            elif rubric.compares and reference is None:
                yield "their document has no reference"
            else:
                criteria = [one for one in rubric.criteria if not not_applicable(one, known)]
                asked = tuple(_asked(rubric, one, (doc, author), known) for one in criteria)
                shown = [*_against(rubric, sources[doc], reference)]
                shown += [*_lists(rubric, criteria, known), Shown("text", texts.whole[doc, author])]
                if asked:
                    yield Draft((doc, author), (author,), (), (DraftRow(tuple(shown), asked),))

    instructions = (
        rubric.title,
        f"Read what the text is held against, then the text. Source: {rubric.source}",
    )
    return _made(texts, drafts(), _scales(rubric), instructions)


def _named(options: Options) -> Rubric:
    if not options.rubric:
        raise BadInput(f"--rubric: is not given; name a file of {RUBRICS}/ without its ending")
    return load_rubric(options.root / RUBRICS / f"{Path(options.rubric).name}.yaml")


def _expanded(rubric: Rubric, parts: Mapping[tuple[str, str], Iterable[str]]) -> Rubric:
    return expanded(rubric, sorted({part for of_text in parts.values() for part in of_text}))


def _asked(
    rubric: Rubric, criterion: Asks, text: tuple[str, str], about: Mapping[str, object]
) -> Asked:
    """One criterion as a question; its rating is called as the metric that asks judges the same."""
    name = f"{rubric.name}_{criterion.name}"
    target = Target(*text, FULL, "text", name)
    if criterion.kind == "scale":
        choices = tuple(Choice(str(n), float(n), means) for n, means in criterion.levels.items())
        return Asked(Question(name, name, "choice", criterion.asks, choices), target)
    cap = cap_of(criterion, about)
    most = _NO_CAP if cap is None else cap
    # Without the full stops that some have and others lack: they stand in one sentence.
    items = [item.strip().rstrip(".") for item in criterion.items or ()]
    listed = "" if criterion.items is None else f" One for each of: {'; '.join(items)}."
    question = Question(
        f"{name} up to {most}",
        name,
        "number",
        f"{criterion.asks} Count them.{listed}",
        low=0.0,
        high=float(most),
        whole=True,
        capped=cap is not None,
    )
    return Asked(question, target)


def _scales(rubric: Rubric) -> dict[str, Criterion]:
    """The scale of each criterion's ratings."""
    return {f"{rubric.name}_{one.name}": _scale(one) for one in rubric.criteria}


def _scale(criterion: Asks) -> Criterion:
    """The grades as they are, penalties as counts."""
    if criterion.kind == "scale":
        low, high = float(criterion.lowest), float(criterion.highest or 0)
        return Criterion(low=low, high=high, better=criterion.better, scale="ordinal")
    high = float(_NO_CAP if criterion.highest is None else criterion.highest)
    return Criterion(low=0.0, high=high, better="lower", scale="count")


def _against(rubric: Rubric, source: str, reference: str | None) -> Iterator[Shown]:
    if any(SOURCE in one.against for one in rubric.criteria):
        yield Shown("input", source)
    if rubric.compares and reference is not None:
        yield Shown("reference", reference)


def _lists(
    rubric: Rubric, criteria: Sequence[Asks], about: Mapping[str, object]
) -> Iterator[Shown]:
    """What penalties are given for once each, where every document has its own list."""
    for one in criteria:
        if one.items_from is not None:
            items = items_of(one, about) or ()
            yield Shown(f"items of {rubric.name}_{one.name}", "\n".join(items))


# ---- facets: each against the reference's, was it found rightly, and the whole text -----------

_NO_FACET = "(none was found)"
_FOUND = Question(
    "found",
    "found",
    "choice",
    "Was the right part of the text found for this facet?",
    (
        Choice("yes", 1.0, "it is this facet, and all of it; or none was found and there is none"),
        Choice("no", 0.0, "part of it is missing, something else is in it, or it is made up"),
    ),
)
_OF_FACETS = (
    "A text was cut into facets by a program. Each row has one facet: grade it against the same"
    " facet of the reference, and say whether the right part of the text was found for it.",
    "Where a facet was not found although the text has it, grade what the text says.",
    "The row 'whole text' asks for the text as a whole.",
)


def _facets(read: Reads, options: Options) -> Made:
    """A text is an item, a facet a row, and the whole text one more.

    A facet that the reference lacks is not graded; one that neither text has no row. Grades are
    those of the rubric's criteria that read the facet (default: bmrc), the rating of the whole text
    those of rubrics/vanilla.yaml; `<facet>_found` is 1 where the facet was found rightly.
    """
    texts, facets = written(read), parts_of(read)
    rubric = _expanded(_named(replace(options, rubric=options.rubric or "bmrc")), facets)
    whole = load_rubric(options.root / RUBRICS / "vanilla.yaml")  # the direct overall rating
    drafts = [_facet_draft(texts, facets, text, rubric, whole) for text in texts.of_systems]
    items = [draft for draft in drafts if isinstance(draft, Draft)]
    asked = {one.of.criterion for draft in items for row in draft.rows for one in row.asked}
    scales = {**_scales(rubric), **_scales(whole)}
    right = Criterion(low=0, high=1, better="higher", scale="nominal")
    return _made(
        texts, drafts, {name: scales.get(name, right) for name in sorted(asked)}, _OF_FACETS
    )


def _facet_draft(
    texts: Written,
    facets: Mapping[tuple[str, str], Mapping[str, str | None]],
    text: tuple[str, str],
    rubric: Rubric,
    whole: Rubric,
) -> Draft | str:
    doc, author = text
    of_reference, of_text = facets.get((doc, REFERENCE), {}), facets.get(text, {})
    known = None not in [*of_reference.values(), *of_text.values()]
    if (doc, REFERENCE) not in texts.whole or not known or not of_reference:
        return "no reference, or facets are not known"
    rows = list(_facet_rows(rubric, text, of_reference, of_text))
    overall = tuple(_asked(whole, one, text, {}) for one in whole.criteria)
    rows.append(DraftRow((Shown("facet", "whole text"),), overall))
    shown = (Shown("reference", texts.whole[doc, REFERENCE]), Shown("text", texts.whole[text]))
    return Draft(text, (author,), shown, tuple(rows))


def _facet_rows(
    rubric: Rubric,
    text: tuple[str, str],
    of_reference: Mapping[str, str | None],
    of_text: Mapping[str, str | None],
) -> Iterator[DraftRow]:
    reading = {one.reads: one for one in rubric.criteria}
    for facet in sorted({*of_reference, *of_text}):
        asked = []
        if facet in of_reference and facet in reading:
            graded, target = _asked(rubric, reading[facet], text, {})
            asked.append(Asked(replace(graded, column="grade"), target))
        asked.append(Asked(_FOUND, Target(*text, FULL, "text", f"{facet}_found")))
        shown = (
            Shown("facet", facet),
            Shown("facet of the reference", of_reference.get(facet) or _NO_FACET),
            Shown("facet of the text", of_text.get(facet) or _NO_FACET),
        )
        yield DraftRow(shown, tuple(asked))


FORMS: Mapping[str, Form] = {
    form.name: form
    for form in (
        Form("claims", _claims),
        Form("pairs", _pairs, together=False),
        Form("rubric", _rubric),
        Form("elements", _elements, rate=_rate_elements),
        Form("facets", _facets),
        Form("facts", _facts, rate=_rate_facts),
    )
}
