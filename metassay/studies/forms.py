"""The forms of studies: what each of them asks of a benchmark's texts, and of whom."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, starmap
from pathlib import Path
from typing import Any

import numpy as np

from metassay.core import strict_yaml
from metassay.core.errors import BadInput, meant, raise_problems
from metassay.core.options import Criterion
from metassay.datasets.element_labels import CATEGORIES, SHARES, label_shares
from metassay.datasets.fact_annotations import FACT_CRITERIA, MOST_FACTS, fact_ratings
from metassay.scoring.rubrics.ask import (
    applies,
    attributes_of,
    cap_of,
    expand_facets,
    items_of,
    not_applicable,
)
from metassay.scoring.rubrics.record import RUBRICS, SOURCE, Rubric, load_rubric
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
_WORDS: Any = strict_yaml.load(Path(__file__).with_suffix(".yaml"))
_Drafts = Iterator[Draft | str]


def _question(form: str, column: str, name: str = "", **more: Any) -> Question:
    """A question of forms.yaml; without choices a number."""
    block = {"column": column, **_WORDS[form]["questions"][name or column]}
    choices = (Choice(word, float(n), *means) for word, n, *means in block.pop("choices", ()))
    kind: Any = "number" if "high" in more else "choice"
    return Question(
        **{"name": name or column, "kind": kind, "choices": tuple(choices)} | block | more
    )


def _made(
    texts: Written, draft_of: Callable[[str, str], _Drafts], criteria: Mapping[str, Criterion],
    form: str,
) -> Made:  # fmt: skip
    """Items of each text of a system, or why it is left out."""
    items, reasons = list[Draft](), Counter[str]()
    for draft in (one for text in texts.of_systems for one in draft_of(*text)):
        if isinstance(draft, str):
            reasons[draft] += 1
        else:
            items.append(draft)
    notes = [f"{n} text(s) are left out: {reason}" for reason, n in reasons.items()]
    instructions = tuple(_WORDS[form]["instructions"]) if form else ()
    return Made(items, criteria, instructions, (*texts.notes, *notes), texts.datasets)


# ---- claims: is each claim covered by the other text? ------------------------------------------

# Whose claims they are: the criterion, which is called as the metric that asks judges the same.
_CLAIM_CRITERIA = {"reference": "claim_recall", "output": "claim_precision"}


def _claims(read: Reads, options: Options) -> Made:
    """A text is an item, a claim a row, of the reference's claims or of the system's own.

    The rating's unit is `claim:N` of part `full`: claims are counted over the whole text, in the
    order in which they stand there. Texts whose claims or reference are not known are left out.
    """
    texts, claims = written(read), units_of(read, "claim")
    sides = ("reference", "output") if options.claims == "both" else (options.claims,)

    def drafts(doc: str, author: str) -> _Drafts:
        for side in sides:
            says, reads = (REFERENCE, author) if side == "reference" else (author, REFERENCE)
            listed, text = claims.get((doc, says)), texts.whole.get((doc, reads))
            if not listed or text is None:
                yield "no reference or no claims are known"
                continue
            rows = tuple(_claim_rows(doc, author, _CLAIM_CRITERIA[side], listed))
            yield Draft((doc, author, side), (author,), (Shown("text", text),), rows)

    return _made(texts, drafts, {_CLAIM_CRITERIA[side]: _SHARE for side in sides}, "claims")


def _claim_rows(
    doc: str, author: str, criterion: str, claims: Sequence[Claim]
) -> Iterator[DraftRow]:
    question = replace(_question("claims", "covered"), name=criterion)
    for claim in claims:
        target = Target(doc, author, FULL, f"claim:{claim.number}", criterion)
        yield DraftRow((Shown("claim", claim.text),), (Asked(question, target),))


# ---- elements: what is wrong with each element of each sentence? ------------------------------

_LABELLED = _question("elements", "label")


def _elements(read: Reads, _: Options) -> Made:
    """A text is an item, an element (a claim of a sentence) a row.

    Claims that are of no single sentence are left out, and sentences without claims are their own
    element. Texts whose claims are not known are left out.
    """
    texts, sources = written(read), inputs(read)
    claims, sentences = units_of(read, "claim"), units_of(read, "statement")

    def drafts(doc: str, author: str) -> _Drafts:
        of_text, elements = sentences.get((doc, author)), claims.get((doc, author))
        if not of_text or elements is None:
            yield "their sentences or claims are not known"
        else:
            rows = tuple(_element_rows(doc, author, of_text, elements))
            yield Draft((doc, author), (author,), (Shown("input", sources[doc]),), rows)

    scale = Criterion(low=0, high=1, better="lower")
    return _made(texts, drafts, dict.fromkeys(SHARES, scale), "elements")


def _element_rows(
    doc: str, author: str, sentences: Sequence[Claim], elements: Sequence[Claim]
) -> Iterator[DraftRow]:
    for sentence in sentences:
        unit = f"{STATEMENT_UNIT}{sentence.number}"
        of_sentence = [one.text for one in elements if one.statement == sentence.number]
        for number, text in enumerate(of_sentence or [sentence.text]):
            shown = (Shown("sentence", sentence.text), Shown("element", text))
            # No criterion of anybody's: `_rate_elements` makes shares of a sentence's labels.
            target = Target(doc, author, FULL, unit, f"label {number}")
            yield DraftRow(shown, (Asked(_LABELLED, target),))


def _rate_elements(answers: Sequence[Answer]) -> list[Answer]:
    """Shares of a sentence's elements: `datasets.element_labels.label_shares`."""
    labels: dict[Target, list[tuple[str, bool] | None]] = {}
    for answer in answers:
        label = None if answer.value is None else _decoded(int(answer.value))
        labels.setdefault(answer.of._replace(criterion="label"), []).append(label)
    return [
        Answer(target._replace(criterion=name), share)
        for target, of_sentence in labels.items()
        for name, share in label_shares(of_sentence).items()
    ]


def _decoded(label: int) -> tuple[str, bool]:
    return ("correct", *CATEGORIES)[(label + 1) // 2], label > 0 and label % 2 == 0


# ---- facts: is each fact of the text right, and how many are left out? ------------------------

_STATUS = _question("facts", "status")
_OMITTED = _question("facts", "omitted", low=0.0, high=float(MOST_FACTS), whole=True)


def _facts(read: Reads, _: Options) -> Made:
    """A text is an item, a fact (a claim of it) a row, and the whole text one more.

    Texts whose claims or reference are not known are left out.
    """
    texts, sources, claims = written(read), inputs(read), units_of(read, "claim")

    def drafts(doc: str, author: str) -> _Drafts:
        facts, reference = claims.get((doc, author)), texts.whole.get((doc, REFERENCE))
        if facts is None or reference is None:
            yield "no reference or no claims are known"
        else:
            rows = tuple(_fact_rows(Target(doc, author, FULL, "text", _OMITTED.name), facts))
            shown = {"input": sources[doc], "reference": reference}
            shown["text"] = texts.whole[doc, author]
            yield Draft((doc, author), (author,), tuple(starmap(Shown, shown.items())), rows)

    return _made(texts, drafts, FACT_CRITERIA, "facts")


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

_BETTER = _question("pairs", "better", "preference")


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
    words = _WORDS["pairs"]
    told = (*words["instructions"], *(words["shares"] if options.shares else ()))
    return Made(drafts, criteria, told, texts.notes, texts.datasets)


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
    metrics = dict(zip(labels, scores["metric"], strict=True))
    better = dict(zip(*(read(LEADERBOARD)[name] for name in ("metric", "better")), strict=True))
    known, problems = sorted(metrics), []
    for name in dict.fromkeys((a, b)):
        if name not in metrics:
            there = f"known: {', '.join(known)}{meant(name, known)}"
            problems.append(f"--only-disagreements: {name!r} is not a metric here; {there}")
        elif better.get(metrics[name]) == "neither":
            what = f"{name!r} does not say which text is better; name another"
            problems.append(f"--only-disagreements: {what}")
    raise_problems(problems)
    authors, documents = (sorted(set(scores[name])) for name in ("author", "doc_id"))
    scores, values = scores.assign(label=labels), []
    for name in (a, b):
        mine = scores[scores["label"] == name]
        table = mine.pivot(index="author", columns="doc_id", values="value")
        sign = -1.0 if better[metrics[name]] == "lower" else 1.0
        of_all = table.reindex(index=authors, columns=documents)
        values.append(sign * of_all.to_numpy(dtype=np.float64))
    found = disagreements(*values)
    sides = zip(found.document, found.preferred_by_a, found.preferred_by_b, strict=True)
    return {(documents[doc], *sorted((authors[one], authors[other]))) for doc, one, other in sides}


# ---- rubric: the criteria of rubrics/NAME.yaml, which judges are asked too --------------------

_NO_CAP = 100  # the most penalties that a sheet takes where the rubric has no cap


def _rubric(read: Reads, options: Options) -> Made:
    """A text is an item and a row, a criterion a column; what does not apply is not asked.

    Criteria that read every facet are asked of each facet that the texts have. Where a rubric
    compares with the reference, documents without one are left out.
    """
    texts, sources, about = written(read), inputs(read), attributes(read)
    rubric = _expanded(_named(options), parts_of(read))

    def drafts(doc: str, author: str) -> _Drafts:
        known, reference = attributes_of(about[doc]), texts.whole.get((doc, REFERENCE))
        if not applies(rubric.applies, known):
            yield "the rubric is not for their document"
        elif rubric.compares and reference is None:
            yield "their document has no reference"
        else:
            criteria = [one for one in rubric.criteria if not not_applicable(one, known)]
            asked = tuple(_asked(rubric, one, (doc, author), known) for one in criteria)
            shown = [*_against(rubric, sources[doc], reference), *_lists(rubric, criteria, known)]
            row = DraftRow((*shown, Shown("text", texts.whole[doc, author])), asked)
            if asked:
                yield Draft((doc, author), (author,), (), (row,))

    source = f"Read what the text is held against, then the text. Source: {rubric.source}"
    made = _made(texts, drafts, _scales(rubric), "")
    return made._replace(instructions=(rubric.title, source))


def _named(options: Options) -> Rubric:
    if not options.rubric:
        raise BadInput(f"--rubric: is not given; name a file of {RUBRICS}/ without its ending")
    return load_rubric(options.root / RUBRICS / f"{Path(options.rubric).name}.yaml")


def _expanded(rubric: Rubric, parts: Mapping[tuple[str, str], Iterable[str]]) -> Rubric:
    return expand_facets(rubric, sorted({part for of_text in parts.values() for part in of_text}))


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
_FOUND = _question("facets", "found")


def _facets(read: Reads, options: Options) -> Made:
    """A text is an item, a facet a row, and the whole text one more.

    A facet that the reference lacks is not graded; one that neither text has no row. Grades are
    those of the rubric's criteria that read the facet (default: bmrc), the rating of the whole text
    those of rubrics/vanilla.yaml; `<facet>_found` is 1 where the facet was found rightly.
    """
    texts, facets = written(read), parts_of(read)
    rubric = _expanded(_named(replace(options, rubric=options.rubric or "bmrc")), facets)
    whole = load_rubric(options.root / RUBRICS / "vanilla.yaml")  # the direct overall rating

    def drafts(doc: str, author: str) -> _Drafts:
        text = doc, author
        of_reference, of_text = facets.get((doc, REFERENCE), {}), facets.get(text, {})
        known = None not in [*of_reference.values(), *of_text.values()]
        if (doc, REFERENCE) not in texts.whole or not known or not of_reference:
            yield "no reference, or facets are not known"
            return
        overall = tuple(_asked(whole, one, text, {}) for one in whole.criteria)
        last = DraftRow((Shown("facet", "whole text"),), overall)
        rows = (*_facet_rows(rubric, text, of_reference, of_text), last)
        read = (Shown("reference", texts.whole[doc, REFERENCE]), Shown("text", texts.whole[text]))
        yield Draft(text, (author,), read, rows)

    made = _made(texts, drafts, {}, "facets")
    asked = {one.of.criterion for draft in made.drafts for row in draft.rows for one in row.asked}
    scales = {**_scales(rubric), **_scales(whole)}
    right = Criterion(low=0, high=1, better="higher", scale="nominal")
    return made._replace(criteria={name: scales.get(name, right) for name in sorted(asked)})


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
