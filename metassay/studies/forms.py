"""The forms of studies: which questions each asks of a benchmark's texts.

Raters read texts without citations: only some systems cite, which would tell who wrote
a text.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, starmap
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

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
from metassay.tables.checks import drop_further_references
from metassay.tables.documents import SOURCES
from metassay.tables.leaderboard import LEADERBOARD
from metassay.tables.names import FULL, REFERENCE, metric_label
from metassay.tables.parts import PARTS
from metassay.tables.ratings import STATEMENT_UNIT
from metassay.tables.scores import SCORES
from metassay.tables.units import UNITS
from metassay.tabular.decoding import csv_records
from metassay.tabular.rows import Findings
from metassay.text.citations import strip_citations

_SHARE = Criterion(low=0, high=1, better="higher", scale="ordinal")
_Drafts = Iterator[Draft | str]  # items of a text, or why it is left out
_Key = tuple[str, str]  # doc_id and author
_TEXT = ["doc_id", "author"]
_Facets = Mapping[str, str | None]  # a text's facets by name


# ---- what forms read of the tables -------------------------------------------------------------


class Texts(NamedTuple):
    """Whole texts by doc_id and author, references among them."""

    whole: Mapping[_Key, str]
    notes: tuple[str, ...]  # what was left out
    datasets: frozenset[str]  # whose text they may repeat

    @property
    def system_keys(self) -> list[_Key]:
        """The sorted keys of texts that systems wrote."""
        return sorted(key for key in self.whole if key[1] != REFERENCE)


class Claim(NamedTuple):
    """A claim or sentence of a text; `number` counts from 0 in the order of the whole text."""

    number: int
    text: str
    statement: int  # the number of its sentence; -1 if it is of several


def read_texts(read: ReadTable) -> Texts:
    """Read every author's whole texts."""
    parts = drop_further_references(read(PARTS))
    full = parts[parts["part"] == FULL]
    ok = full["status"] == "ok"
    n_failed = (~ok & (full["author"] != REFERENCE)).sum()
    notes = (f"{n_failed} text(s) are left out: the system failed",) * bool(n_failed)
    whole = rows_of(full[ok], *_TEXT, "text")
    texts = {
        (doc, author): strip_citations(text).strip() for doc, author, text in whole
    }
    datasets = frozenset(name for names in full["repeats"] for name in names)
    return Texts(texts, notes, datasets)


def read_inputs(read: ReadTable) -> dict[str, str]:
    """Read each document's source, a line per passage, with its speaker."""
    return {
        doc: "\n".join(
            f"{speaker}: {passage}" if speaker else passage
            for speaker, passage in zip(speakers, passages, strict=True)
        )
        for doc, speakers, passages in rows_of(
            read(SOURCES), "doc_id", "speaker", "passages"
        )
    }


def read_parts(read: ReadTable) -> dict[_Key, dict[str, str | None]]:
    """Read the leaf parts of each text except the whole; None where a part's text is unknown."""
    parts = read(PARTS)
    leaves = parts[(parts["leaf"] == "yes") & (parts["part"] != FULL)]
    by_text: dict[_Key, dict[str, str | None]] = {}
    for doc, author, part, text, status in rows_of(
        leaves, *_TEXT, "part", "text", "status"
    ):
        content = strip_citations(text).strip() if status == "ok" else None
        by_text.setdefault((doc, author), {})[part] = content
    return by_text


def read_units(read: ReadTable, kind: str) -> dict[_Key, list[Claim] | None]:
    """Read claims or statements of each text, in its order; None if any of its units is unknown."""
    parts, units = read(PARTS), read(UNITS)
    first = _find_starts(parts)
    order = [first.get(key, 0) for key in rows_of(units, *_TEXT, "part")]
    units = units.assign(order=order).sort_values(["order", "part", "position"])
    return {
        (str(doc), str(author)): _number_claims(of_text, kind)
        for (doc, author), of_text in units.groupby(_TEXT, sort=True)
    }


def _find_starts(parts: pd.DataFrame) -> dict[tuple[str, ...], int]:
    """Return where each part of a text starts, by doc_id, author and part."""
    return {
        (doc, author, part): min(starts, default=0)
        for doc, author, part, starts in rows_of(parts, *_TEXT, "part", "starts")
    }


def _number_claims(units: pd.DataFrame, kind: str) -> list[Claim] | None:
    if (units["status"] != "ok").any():
        return None
    places = rows_of(units[units["kind"] == "statement"], "part", "position")
    statements = {place: number for number, place in enumerate(places)}
    of_kind = units[units["kind"] == kind]
    if of_kind["text"].isna().any():
        return None
    columns = ("part", "text", "position" if kind == "statement" else "statement")
    return [
        Claim(number, text, statements.get((part, position), -1))
        for number, (part, text, position) in enumerate(rows_of(of_kind, *columns))
    ]


def _build(
    texts: Texts,
    draft: Callable[[str, str], _Drafts],
    criteria: Mapping[str, Criterion],
    instructions: tuple[str, ...],
) -> StudyDraft:
    """Draft items of each text of a system; count those left out by reason."""
    items, reasons = list[Draft](), Counter[str]()
    for item in (item for key in texts.system_keys for item in draft(*key)):
        if isinstance(item, str):
            reasons[item] += 1
        else:
            items.append(item)
    notes = [f"{n} text(s) are left out: {reason}" for reason, n in reasons.items()]
    return StudyDraft(
        items, criteria, instructions, (*texts.notes, *notes), texts.datasets
    )


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

    def draft(doc: str, author: str) -> _Drafts:
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
                _row(
                    "claim",
                    c.text,
                    _ask(question, doc, author, f"claim:{c.number}", name),
                )
                for c in of_text
            ]
            yield Draft(
                (doc, author, side), (author,), (SheetText("text", text),), tuple(rows)
            )

    return _build(
        texts,
        draft,
        {_CLAIM_CRITERIA[side]: _SHARE for side in sides},
        words.CLAIMS_INSTRUCTIONS,
    )


def _ask(
    question: Question, doc: str, author: str, unit: str, criterion: str
) -> TargetQuestion:
    return TargetQuestion(question, Target(doc, author, FULL, unit, criterion))


def _row(heading: str, text: str, *questions: TargetQuestion) -> DraftRow:
    return DraftRow((SheetText(heading, text),), questions)


# ---- elements: what is wrong with each element of each sentence? ------------------------------

_CATEGORIES = ("correct", *CATEGORIES)


def _draft_elements(read: ReadTable, _: Options) -> StudyDraft:
    """Make an item of each text, and a row of each element (a claim of a sentence).

    Claims of several sentences are left out; a sentence without claims is its own
    element. Texts without known claims are left out.
    """
    texts, sources = read_texts(read), read_inputs(read)
    claims, sentences = read_units(read, "claim"), read_units(read, "statement")

    def draft(doc: str, author: str) -> _Drafts:
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
                question = _ask(words.LABEL, doc, author, unit, f"label {number}")
                rows.append(DraftRow(read, (question,)))
        yield Draft(
            (doc, author), (author,), (SheetText("input", sources[doc]),), tuple(rows)
        )

    scale = Criterion(low=0, high=1, better="lower")
    return _build(
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

    def draft(doc: str, author: str) -> _Drafts:
        facts, reference = claims.get((doc, author)), texts.whole.get((doc, REFERENCE))
        if facts is None or reference is None:
            yield "no reference or no claims are known"
            return
        # No criteria of ratings: `_rate_facts` makes ratings of a text's answers.
        rows = [
            _row(
                "fact",
                f.text,
                _ask(
                    words.STATUS, doc, author, "text", f"{words.STATUS.name} {f.number}"
                ),
            )
            for f in facts
        ]
        rows.append(
            _row(
                "fact",
                "whole text",
                _ask(words.OMITTED, doc, author, "text", words.OMITTED.name),
            )
        )
        read = {
            "input": sources[doc],
            "reference": reference,
            "text": texts.whole[doc, author],
        }
        whole = tuple(starmap(SheetText, read.items()))
        yield Draft((doc, author), (author,), whole, tuple(rows))

    return _build(texts, draft, FACT_CRITERIA, words.FACTS_INSTRUCTIONS)


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
    yield _ask(words.PREFERENCE, doc, a, f"versus:{b}", words.PREFERENCE.name)
    for side, author in (("A", a), ("B", b)) if shares else ():
        asks = (
            f"How much of what is in the reference does text {side} cover, in per cent?"
        )
        name = f"covered by {side}"
        question = Question(name, name, "number", asks, low=0.0, high=100.0)
        yield _ask(question, doc, author, "text", "covered")


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

    def draft(doc: str, author: str) -> _Drafts:
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
    return _build(texts, draft, _scales(rubric), instructions=(rubric.title, source))


def _load_rubric(options: Options) -> Rubric:
    if not options.rubric:
        raise BadInput(
            f"--rubric: is not given; name a file of {RUBRICS}/ without its ending"
        )
    return load_rubric(options.root / RUBRICS / f"{Path(options.rubric).name}.yaml")


def _expand(rubric: Rubric, parts: Mapping[_Key, Iterable[str]]) -> Rubric:
    return expand_facets(
        rubric, sorted({part for of_text in parts.values() for part in of_text})
    )


def _grade(
    rubric: Rubric, criterion: RubricCriterion, text: _Key, about: Mapping[str, object]
) -> TargetQuestion:
    """Ask for a criterion; its rating has the name of the metric of judges for it."""
    name = f"{rubric.name}_{criterion.name}"
    if criterion.kind == "scale":
        choices = tuple(
            Choice(str(n), float(n), means) for n, means in criterion.levels.items()
        )
        question = Question(name, name, "choice", criterion.asks, choices)
        return _ask(question, *text, "text", name)
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
    return _ask(question, *text, "text", name)


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

    def draft(doc: str, author: str) -> _Drafts:
        text, reference = (doc, author), (doc, REFERENCE)
        of_reference, of_text = facets.get(reference, {}), facets.get(text, {})
        complete = None not in [*of_reference.values(), *of_text.values()]
        if reference not in texts.whole or not complete or not of_reference:
            yield "no reference, or facets are not known"
            return
        overall = tuple(
            _grade(vanilla, criterion, text, {}) for criterion in vanilla.criteria
        )
        last = _row("facet", "whole text", *overall)
        rows = (*_facet_rows(rubric, text, of_reference, of_text), last)
        read = {"reference": texts.whole[reference], "text": texts.whole[text]}
        yield Draft(text, (author,), tuple(starmap(SheetText, read.items())), rows)

    content = _build(texts, draft, {}, words.FACETS_INSTRUCTIONS)
    rows = (row for item in content.drafts for row in item.rows)
    names = sorted({target.criterion for row in rows for _, target in row.questions})
    scales = {**_scales(rubric), **_scales(vanilla)}
    right = Criterion(low=0, high=1, better="higher", scale="nominal")
    return content._replace(criteria={name: scales.get(name, right) for name in names})


def _facet_rows(
    rubric: Rubric, text: _Key, of_reference: _Facets, of_text: _Facets
) -> Iterator[DraftRow]:
    by_facet = {criterion.reads: criterion for criterion in rubric.criteria}
    for facet in sorted({*of_reference, *of_text}):
        questions = []
        if facet in of_reference and facet in by_facet:
            question, target = _grade(rubric, by_facet[facet], text, {})
            questions.append(TargetQuestion(replace(question, column="grade"), target))
        questions.append(_ask(words.FOUND_RIGHTLY, *text, "text", f"{facet}_found"))
        texts = (
            SheetText("facet", facet),
            SheetText("facet of the reference", of_reference.get(facet) or _NO_FACET),
            SheetText("facet of the text", of_text.get(facet) or _NO_FACET),
        )
        yield DraftRow(texts, tuple(questions))


# ---- reading: how long does an answer take, with and without marked facets? --------------------

_QUESTION_COLUMNS = ("doc_id", "question", "right", "wrong")


class _Multiple(NamedTuple):
    """A question about a document: its right answer, and wrong ones."""

    asks: str
    right: str
    wrong: tuple[str, ...]


def _read_questions(path: Path | None) -> dict[str, list[_Multiple]]:
    """Read questions by document; further wrong answers stand in columns wrong_2, wrong_3, ..."""
    remedy = f"write a CSV with the columns {', '.join(_QUESTION_COLUMNS)}"
    if path is None:
        raise BadInput(f"--questions: is not given; {remedy}, and name it")
    problems = Findings()
    questions: dict[str, list[_Multiple]] = defaultdict(list)
    for record in csv_records(
        path, problems, required=_QUESTION_COLUMNS, remedy=remedy
    ):
        cells = {name: cell.strip() for name, cell in record.fields.items()}
        wrong = tuple(
            cell for name, cell in cells.items() if name.startswith("wrong") and cell
        )
        answers = (cells["right"], *wrong)
        if not all((cells["doc_id"], cells["question"], cells["right"], wrong)):
            problems.add(record.at, "a cell is empty", "fill it in or remove the row")
        elif len(set(answers)) < len(answers):
            problems.add(record.at, "two answers are the same", "change one of them")
        else:
            multiple = _Multiple(cells["question"], cells["right"], wrong)
            questions[cells["doc_id"]].append(multiple)
    raise_problems(f"{path.parent}/{line}" for line in problems.lines())
    return questions


def _draft_reading(read: ReadTable, options: Options) -> StudyDraft:
    """Make an item of each text, and a row of each question about its document.

    Half of the texts, drawn by lot, are shown with their facets marked. Texts whose
    document has no question, or whose facets are not known, are left out.
    """
    texts, facets = read_texts(read), read_parts(read)
    starts = _find_starts(read(PARTS))
    questions = _read_questions(options.questions)
    by_lot = sorted(texts.system_keys, key=lambda key: lot(options.seed, "marks", *key))
    marked = set(by_lot[::2])

    def draft(doc: str, author: str) -> _Drafts:
        of_text = facets.get((doc, author), {})
        known = {name: text for name, text in of_text.items() if text is not None}
        if not questions.get(doc):
            yield "their document has no question"
            return
        if not known or len(known) < len(of_text):
            yield "their facets are not known"
            return
        way = "marked" if (doc, author) in marked else "plain"
        whole = texts.whole[doc, author]
        if way == "marked":
            order = sorted(known, key=lambda name: starts[doc, author, name])
            whole = _mark({name: known[name] for name in order})
        rows = []
        for number, multiple in enumerate(questions[doc]):
            offered = _offer(multiple, f"{doc} {number}", options.seed)
            answers = "\n".join(choice.word for choice in offered.choices)
            seconds = words.SECONDS
            rows.append(
                DraftRow(
                    (
                        SheetText("question", multiple.asks),
                        SheetText("answers", answers),
                    ),
                    (
                        _ask(offered, doc, author, "text", f"right_{way} {number}"),
                        _ask(seconds, doc, author, "text", f"seconds_{way} {number}"),
                    ),
                )
            )
        yield Draft((doc, author), (author,), (SheetText("text", whole),), tuple(rows))

    criteria = {}
    for way in ("marked", "plain"):
        criteria[f"seconds_{way}"] = Criterion(
            low=0, high=words.MOST_SECONDS, better="lower"
        )
        criteria[f"right_{way}"] = Criterion(low=0, high=1, better="higher")
    return _build(texts, draft, criteria, words.READING_INSTRUCTIONS)


def _mark(facets: Mapping[str, str]) -> str:
    """Return a text's facets in its order, each below its name."""
    return "\n\n".join(f"[{name.upper()}]\n{text}" for name, text in facets.items())


def _offer(multiple: _Multiple, place: str, seed: int) -> Question:
    """Offer a question's answers in an order by lot."""
    answers = sorted(
        (multiple.right, *multiple.wrong),
        key=lambda answer: lot(seed, "answer", place, answer),
    )
    choices = [Choice(answer, float(answer == multiple.right)) for answer in answers]
    return Question(
        name=f"answer {place}",
        column="answer",
        kind="choice",
        asks=multiple.asks,
        choices=tuple(choices),
    )


def _rate_reading(answers: Sequence[Answer]) -> list[Answer]:
    """Return the mean seconds per question of a text, and the share of right answers.

    Both are missing if one of the text's questions has no such answer.
    """
    values: dict[Target, list[float | None]] = {}
    for target, value in answers:
        criterion, _, _ = target.criterion.rpartition(" ")
        values.setdefault(target._replace(criterion=criterion), []).append(value)
    ratings = []
    for target, of_text in values.items():
        known = [value for value in of_text if value is not None]
        complete = len(known) == len(of_text)
        ratings.append(Answer(target, sum(known) / len(known) if complete else None))
    return ratings


FORMS: Mapping[str, Form] = {
    form.name: form
    for form in (
        Form("claims", _draft_claims),
        Form("pairs", _draft_pairs, together=False),
        Form("rubric", _draft_rubric),
        Form("elements", _draft_elements, rate=_rate_elements),
        Form("facets", _draft_facets),
        Form("facts", _draft_facts, rate=_rate_facts),
        Form("reading", _draft_reading, rate=_rate_reading),
    )
}
