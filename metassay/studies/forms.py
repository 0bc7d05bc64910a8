"""The forms of studies: which questions each asks of a benchmark's texts.

Raters read texts without citations: only some systems cite, which would tell who wrote
a text.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, starmap
from pathlib import Path

import numpy as np

from metassay.core.errors import BadInput, hint, raise_problems
from metassay.core.options import Criterion
from metassay.datasets.annotations import (
    CATEGORIES,
    FACT_CRITERIA,
    SHARES,
    fact_ratings,
    label_shares,
)
from metassay.format.frames import rows as rows_of
from metassay.scoring.rubrics.ask import (
    applies,
    attributes_of,
    cap_of,
    expand_facets,
    is_not_applicable,
    items_of,
)
from metassay.scoring.rubrics.record import RUBRICS, SOURCE, Rubric, load_rubric
from metassay.scoring.rubrics.record import Criterion as RubricCriterion
from metassay.statistics.facts import STATUSES, count_facts
from metassay.statistics.pairs import disagreements
from metassay.studies import form_words as words
from metassay.studies.export import lot
from metassay.studies.form_items import (
    Drafts,
    TextKey,
    draft_items,
    make_question,
    make_row,
    read_inputs,
    read_parts,
    read_texts,
    read_units,
)
from metassay.studies.reading_form import draft_reading, rate_reading
from metassay.studies.record import (
    Answer,
    Choice,
    Draft,
    DraftRow,
    Form,
    Options,
    Question,
    ReadTable,
    SheetText,
    StudyDraft,
    Target,
    TargetQuestion,
)
from metassay.tables.documents import SOURCES
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.names import FULL, REFERENCE, metric_label
from metassay.tables.ratings import STATEMENT_UNIT
from metassay.tables.scores import SCORES

_SHARE = Criterion(low=0, high=1, better="higher", scale="ordinal")
_Facets = Mapping[str, str | None]  # a text's facets by name


# ---- claims: is each claim covered by the other text? ------------------------------------------

# The criterion by the text that has the claims: the name of the metric of the same
# question.
_CLAIM_CRITERIA = {"reference": "claim_recall", "output": "claim_precision"}


def _draft_claims(read: ReadTable, options: Options) -> StudyDraft:
    """Make an item of each text, and a row of each claim of the reference or of the system.

    The rating's unit is `claim:N` of part `full`: claims are counted over the whole
    text, in their order. Texts without known claims or reference are left out.
    """
    texts, claims = read_texts(read), read_units(read, "claim")
    sides = ("reference", "output") if options.claims == "both" else (options.claims,)

    def draft(doc: str, author: str) -> Drafts:
        for side in sides:
            claimant, other = (
                (REFERENCE, author) if side == "reference" else (author, REFERENCE)
            )
            of_text, text = claims.get((doc, claimant)), texts.whole.get((doc, other))
            if not of_text or text is None:
                yield "no reference or no claims are known"
                continue
            name = _CLAIM_CRITERIA[side]
            question = replace(words.COVERED, name=name)
            rows = [
                make_row(
                    "claim",
                    c.text,
                    make_question(question, doc, author, f"claim:{c.number}", name),
                )
                for c in of_text
            ]
            yield Draft(
                (doc, author, side), (author,), (SheetText("text", text),), tuple(rows)
            )

    return draft_items(
        texts,
        draft,
        {_CLAIM_CRITERIA[side]: _SHARE for side in sides},
        words.CLAIMS_INSTRUCTIONS,
    )


# ---- elements: what is wrong with each element of each sentence? ------------------------------

_CATEGORIES = ("correct", *CATEGORIES)


def _draft_elements(read: ReadTable, _: Options) -> StudyDraft:
    """Make an item of each text, and a row of each element (a claim of a sentence).

    Claims of several sentences are left out; a sentence without claims is its own
    element. Texts without known claims are left out.
    """
    texts, sources = read_texts(read), read_inputs(read)
    claims, sentences = read_units(read, "claim"), read_units(read, "statement")

    def draft(doc: str, author: str) -> Drafts:
        of_text, elements = sentences.get((doc, author)), claims.get((doc, author))
        if not of_text or elements is None:
            yield "their sentences or claims are not known"
            return
        rows = []
        for sentence in of_text:
            unit = f"{STATEMENT_UNIT}{sentence.number}"
            of_sentence = [
                claim.text for claim in elements if claim.statement == sentence.number
            ]
            for number, text in enumerate(of_sentence or [sentence.text]):
                read = (
                    SheetText("sentence", sentence.text),
                    SheetText("element", text),
                )
                # No criterion of a rating: `_rate_elements` makes shares of a
                # sentence's labels.
                question = make_question(
                    words.LABEL, doc, author, unit, f"label {number}"
                )
                rows.append(DraftRow(read, (question,)))
        yield Draft(
            (doc, author), (author,), (SheetText("input", sources[doc]),), tuple(rows)
        )

    scale = Criterion(low=0, high=1, better="lower")
    return draft_items(
        texts, draft, dict.fromkeys(SHARES, scale), words.ELEMENTS_INSTRUCTIONS
    )


def _rate_elements(answers: Sequence[Answer]) -> list[Answer]:
    """Return shares of a sentence's elements: `datasets.annotations.label_shares`."""
    labels: dict[Target, list[tuple[str, bool] | None]] = {}
    for target, value in answers:
        n = None if value is None else int(value)
        label = None if n is None else (_CATEGORIES[(n + 1) // 2], n > 0 and n % 2 == 0)
        labels.setdefault(target._replace(criterion="label"), []).append(label)
    return [
        Answer(target._replace(criterion=name), share)
        for target, of_sentence in labels.items()
        for name, share in label_shares(of_sentence).items()
    ]


# ---- facts: is each fact of the text right, and how many are left out? ------------------------


def _draft_facts(read: ReadTable, _: Options) -> StudyDraft:
    """Make an item of each text, a row of each fact (a claim), and a row of the whole text.

    Texts without known claims or reference are left out.
    """
    texts, sources, claims = (
        read_texts(read),
        read_inputs(read),
        read_units(read, "claim"),
    )

    def draft(doc: str, author: str) -> Drafts:
        facts, reference = claims.get((doc, author)), texts.whole.get((doc, REFERENCE))
        if facts is None or reference is None:
            yield "no reference or no claims are known"
            return
        # No criteria of ratings: `_rate_facts` makes ratings of a text's answers.
        rows = [
            make_row(
                "fact",
                f.text,
                make_question(
                    words.STATUS, doc, author, "text", f"{words.STATUS.name} {f.number}"
                ),
            )
            for f in facts
        ]
        rows.append(
            make_row(
                "fact",
                "whole text",
                make_question(words.OMITTED, doc, author, "text", words.OMITTED.name),
            )
        )
        read = {
            "input": sources[doc],
            "reference": reference,
            "text": texts.whole[doc, author],
        }
        whole = tuple(starmap(SheetText, read.items()))
        yield Draft((doc, author), (author,), whole, tuple(rows))

    return draft_items(texts, draft, FACT_CRITERIA, words.FACTS_INSTRUCTIONS)


def _rate_facts(answers: Sequence[Answer]) -> list[Answer]:
    """Return counts and scores of a text's facts: `datasets.annotations.fact_ratings`."""
    values = {target.criterion: value for target, value in answers}
    omitted = values.pop(words.OMITTED.name)
    counts = count_facts(
        [None if n is None else STATUSES[int(n)] for n in values.values()]
    )
    counts = counts._replace(omitted=None if omitted is None else int(omitted))
    target, ratings = answers[0].target, fact_ratings(counts)
    return [
        Answer(target._replace(criterion=name), value)
        for name, value in ratings.items()
    ]


# ---- pairs: which of two texts is better, and how much does each cover? -----------------------


def _draft_pairs(read: ReadTable, options: Options) -> StudyDraft:
    """Make an item of each pair of texts; which of them is A is drawn by lot.

    The rating's unit is `versus:AUTHOR`: 1 if `author`'s text is better, .5 for a tie.
    The share that a text covers is asked in only one of its pairs.
    """
    texts, sources = read_texts(read), read_inputs(read)
    by_document: dict[str, list[str]] = defaultdict(list)
    for doc, author in texts.system_keys:
        by_document[doc].append(author)
    chosen: dict[tuple[str, ...], str] | None = None
    if options.disagreeing is not None:
        chosen = _find_disagreeing(read, *options.disagreeing)
    drafts = []
    for doc, authors in by_document.items():
        reference = texts.whole.get((doc, REFERENCE), "")
        read_before = [SheetText("input", sources[doc])]
        read_before += [SheetText("reference", reference)] * bool(reference)
        for pair in combinations(authors, 2):
            if chosen is not None and (doc, *pair) not in chosen:
                continue
            a, b = pair[::-1] if lot(options.seed, "side", doc, *pair) % 2 else pair
            sides = [SheetText("text A", texts.whole[doc, a])]
            sides += [SheetText("text B", texts.whole[doc, b])]
            questions = _pair_questions(
                doc, a, b, shares=options.shares and bool(reference)
            )
            row = DraftRow((), tuple(questions))
            drafts.append(Draft((doc, *pair), pair, (*read_before, *sides), (row,)))
    criteria = {words.PREFERENCE.name: _SHARE}
    if options.shares:
        criteria["covered"] = Criterion(low=0, high=100, better="higher")
    instructions: tuple[str, ...] = words.PAIRS_INSTRUCTIONS
    if options.shares:
        instructions = (*instructions, words.SHARES_INSTRUCTION)
    draft = StudyDraft(drafts, criteria, instructions, texts.notes, texts.datasets)
    if chosen is None:
        return draft
    preferred = [(*pair, author) for pair, author in chosen.items()]
    drawn_by = {"disagreeing": options.disagreeing, "preferred": preferred}
    return draft._replace(drawn_by=drawn_by)


def _pair_questions(
    doc: str, a: str, b: str, *, shares: bool
) -> Iterator[TargetQuestion]:
    yield make_question(words.PREFERENCE, doc, a, f"versus:{b}", words.PREFERENCE.name)
    for side, author in (("A", a), ("B", b)) if shares else ():
        asks = (
            f"How much of what is in the reference does text {side} cover, in per cent?"
        )
        name = f"covered by {side}"
        question = Question(name, name, "number", asks, low=0.0, high=100.0)
        yield make_question(question, doc, author, "text", "covered")


def _find_disagreeing(read: ReadTable, a: str, b: str) -> dict[tuple[str, ...], str]:
    """Find documents and sorted pairs of systems that two metrics order in opposite ways.

    Each has the system whose text `a` prefers.
    """
    scores = read(SCORES)
    scores = scores[(scores["part"] == FULL) & (scores["author"] != REFERENCE)]
    labels = [
        metric_label(m, j)
        for m, j in zip(scores["metric"], scores["judge"], strict=True)
    ]
    metrics = dict(zip(labels, scores["metric"], strict=True))
    better = dict(
        zip(*(read(LEADERBOARD)[name] for name in ("metric", "better")), strict=True)
    )
    problems = []
    for name in dict.fromkeys((a, b)):
        if name not in metrics:
            known = f"known: {', '.join(sorted(metrics))}{hint(name, sorted(metrics))}"
            problems.append(
                f"--only-disagreements: {name!r} is not a metric here; {known}"
            )
        elif better.get(metrics[name]) == "neither":
            what = f"{name!r} does not say which text is better; name another"
            problems.append(f"--only-disagreements: {what}")
    raise_problems(problems)
    authors, documents = (sorted(set(scores[name])) for name in ("author", "doc_id"))
    scores, values = scores.assign(label=labels), []
    for name in (a, b):
        of_metric = scores[scores["label"] == name]
        table = of_metric.pivot(index="author", columns="doc_id", values="value")
        sign = -1.0 if better[metrics[name]] == "lower" else 1.0
        table = table.reindex(index=authors, columns=documents)
        values.append(sign * table.to_numpy(dtype=np.float64))
    pairs = disagreements(*values)
    sides = zip(pairs.document, pairs.preferred_by_a, pairs.preferred_by_b, strict=True)
    return {
        (documents[doc], *sorted((authors[i], authors[j]))): authors[i]
        for doc, i, j in sides
    }


# ---- rubric: the criteria of rubrics/NAME.yaml, which judges are asked too --------------------

_NO_CAP = 100  # the largest number of penalties on a sheet where the rubric has no cap


def _draft_rubric(read: ReadTable, options: Options) -> StudyDraft:
    """Make an item with one row of each text, and a column of each criterion that applies.

    Criteria for every facet are asked of each facet of the texts. If a rubric compares
    with the reference, documents without a reference are left out.
    """
    texts, sources = read_texts(read), read_inputs(read)
    attributes = dict(rows_of(read(SOURCES), "doc_id", "attributes"))
    rubric = _expand(_load_rubric(options), read_parts(read))

    def draft(doc: str, author: str) -> Drafts:
        about, reference = (
            attributes_of(attributes[doc]),
            texts.whole.get((doc, REFERENCE)),
        )
        if not applies(rubric.applies, about):
            yield "the rubric is not for their document"
        elif rubric.compares and reference is None:
            yield "their document has no reference"
        else:
            criteria = [c for c in rubric.criteria if not is_not_applicable(c, about)]
            questions = tuple(_grade(rubric, c, (doc, author), about) for c in criteria)
            read = [
                *_evidence(rubric, sources[doc], reference),
                *_items(rubric, criteria, about),
            ]
            row = DraftRow(
                (*read, SheetText("text", texts.whole[doc, author])), questions
            )
            if questions:
                yield Draft((doc, author), (author,), (), (row,))

    source = (
        f"Read what the text is held against, then the text. Source: {rubric.source}"
    )
    return draft_items(
        texts, draft, _scales(rubric), instructions=(rubric.title, source)
    )


def _load_rubric(options: Options) -> Rubric:
    if not options.rubric:
        raise BadInput(
            f"--rubric: is not given; name a file of {RUBRICS}/ without its ending"
        )
    return load_rubric(options.root / RUBRICS / f"{Path(options.rubric).name}.yaml")


def _expand(rubric: Rubric, parts: Mapping[TextKey, Iterable[str]]) -> Rubric:
    return expand_facets(
        rubric, sorted({part for of_text in parts.values() for part in of_text})
    )


def _grade(
    rubric: Rubric,
    criterion: RubricCriterion,
    text: TextKey,
    about: Mapping[str, object],
) -> TargetQuestion:
    """Ask for a criterion; its rating has the name of the metric of judges for it."""
    name = f"{rubric.name}_{criterion.name}"
    if criterion.kind == "scale":
        choices = tuple(
            Choice(str(n), float(n), means) for n, means in criterion.levels.items()
        )
        question = Question(name, name, "choice", criterion.asks, choices)
        return make_question(question, *text, "text", name)
    cap = cap_of(criterion, about)
    most = _NO_CAP if cap is None else cap
    # Without the full stops that some items have: all are part of one sentence.
    items = "; ".join(item.strip().rstrip(".") for item in criterion.items or ())
    each = "" if criterion.items is None else f" One for each of: {items}."
    question = Question(
        f"{name} up to {most}",
        name,
        "number",
        f"{criterion.asks} Count them.{each}",
        low=0.0,
        high=float(most),
        whole=True,
        capped=cap is not None,
    )
    return make_question(question, *text, "text", name)


def _scales(rubric: Rubric) -> dict[str, Criterion]:
    """The scale of each criterion's ratings: grades as they are, penalties as counts."""
    scales = {}
    for c in rubric.criteria:
        if c.kind == "scale":
            low, high = float(c.lowest), float(c.highest or 0)
            scale = Criterion(low=low, high=high, better=c.better, scale="ordinal")
        else:
            high = float(_NO_CAP if c.highest is None else c.highest)
            scale = Criterion(low=0.0, high=high, better="lower", scale="count")
        scales[f"{rubric.name}_{c.name}"] = scale
    return scales


def _evidence(
    rubric: Rubric, source: str, reference: str | None
) -> Iterator[SheetText]:
    if any(SOURCE in criterion.against for criterion in rubric.criteria):
        yield SheetText("input", source)
    if rubric.compares and reference is not None:
        yield SheetText("reference", reference)


def _items(
    rubric: Rubric, criteria: Sequence[RubricCriterion], about: Mapping[str, object]
) -> Iterator[SheetText]:
    """Lists of a document's own items that penalties are given for, once each."""
    for criterion in criteria:
        if criterion.items_from is not None:
            items = "\n".join(items_of(criterion, about) or ())
            yield SheetText(f"items of {rubric.name}_{criterion.name}", items)


# ---- facets: each against the reference's, was it found rightly, and the whole text -----------

_NO_FACET = "(none was found)"


def _draft_facets(read: ReadTable, options: Options) -> StudyDraft:
    """Make an item of each text, a row of each facet, and a row of the whole text.

    A facet that the reference lacks is not graded; a facet that both texts lack has no
    row. Grades are by the rubric's criteria for the facet (default: bmrc), and of the
    whole text by rubrics/vanilla.yaml; `<facet>_found` is 1 if the right part of the
    text was found.
    """
    texts, facets = read_texts(read), read_parts(read)
    rubric = _expand(
        _load_rubric(replace(options, rubric=options.rubric or "bmrc")), facets
    )
    # the direct overall rating
    vanilla = load_rubric(options.root / RUBRICS / "vanilla.yaml")

    def draft(doc: str, author: str) -> Drafts:
        text, reference = (doc, author), (doc, REFERENCE)
        of_reference, of_text = facets.get(reference, {}), facets.get(text, {})
        complete = None not in [*of_reference.values(), *of_text.values()]
        if reference not in texts.whole or not complete or not of_reference:
            yield "no reference, or facets are not known"
            return
        overall = tuple(
            _grade(vanilla, criterion, text, {}) for criterion in vanilla.criteria
        )
        last = make_row("facet", "whole text", *overall)
        rows = (*_facet_rows(rubric, text, of_reference, of_text), last)
        read = {"reference": texts.whole[reference], "text": texts.whole[text]}
        yield Draft(text, (author,), tuple(starmap(SheetText, read.items())), rows)

    content = draft_items(texts, draft, {}, words.FACETS_INSTRUCTIONS)
    rows = (row for item in content.drafts for row in item.rows)
    names = sorted({target.criterion for row in rows for _, target in row.questions})
    scales = {**_scales(rubric), **_scales(vanilla)}
    right = Criterion(low=0, high=1, better="higher", scale="nominal")
    return content._replace(criteria={name: scales.get(name, right) for name in names})


def _facet_rows(
    rubric: Rubric, text: TextKey, of_reference: _Facets, of_text: _Facets
) -> Iterator[DraftRow]:
    by_facet = {criterion.reads: criterion for criterion in rubric.criteria}
    for facet in sorted({*of_reference, *of_text}):
        questions = []
        if facet in of_reference and facet in by_facet:
            question, target = _grade(rubric, by_facet[facet], text, {})
            questions.append(TargetQuestion(replace(question, column="grade"), target))
        questions.append(
            make_question(words.FOUND_RIGHTLY, *text, "text", f"{facet}_found")
        )
        texts = (
            SheetText("facet", facet),
            SheetText("facet of the reference", of_reference.get(facet) or _NO_FACET),
            SheetText("facet of the text", of_text.get(facet) or _NO_FACET),
        )
        yield DraftRow(texts, tuple(questions))


FORMS: Mapping[str, Form] = {
    form.name: form
    for form in (
        Form("claims", _draft_claims),
        Form("pairs", _draft_pairs, together=False),
        Form("rubric", _draft_rubric),
        Form("elements", _draft_elements, rate=_rate_elements),
        Form("facets", _draft_facets),
        Form("facts", _draft_facts, rate=_rate_facts),
        Form("reading", draft_reading, rate=rate_reading),
    )
}
