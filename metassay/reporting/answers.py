"""What judges answered: counted, so that nothing is silent, and judgment by judgment."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from metassay.format.frames import records, rows
from metassay.format.numbers import counted, per_cent, short
from metassay.judges.criteria import RUBRIC, Criterion, Scale, read_criterion
from metassay.reporting.names import part_rank
from metassay.reporting.section import Cell, Grid, Row, Section, count
from metassay.scoring.pairing.instruments import Grade
from metassay.scoring.pairing.measures import MEASURES, Question
from metassay.tables.names import ALL_CITATIONS, FULL, REFERENCE, metric_label

ENTAILED, NOT_ENTAILED = "entailed", "not entailed"
GRADED, LABELLED = "graded", "labelled"  # answers to other instruments
NO_EVIDENCE, ABSTAINED, FAILED = "no evidence", "abstained", "failed"
NOT_NEEDED, NOT_JUDGED, NOT_APPLICABLE = "not needed", "not judged", "not applicable"

CLASSES = {  # of page.css
    **{ENTAILED: "y", NOT_ENTAILED: "n", GRADED: "g", LABELLED: "g"},
    **{NO_EVIDENCE: "o", ABSTAINED: "u", FAILED: "f", NOT_NEEDED: "o", NOT_JUDGED: "f"},
}
ORDER = (
    *(ENTAILED, NOT_ENTAILED, GRADED, LABELLED, NO_EVIDENCE),
    *(ABSTAINED, FAILED, NOT_NEEDED, NOT_JUDGED, NOT_APPLICABLE),
)
QUESTIONS = {
    question.name: question for measure in MEASURES.values() for question in measure.questions
}
# Of these a judge needs no answer where the citations together decide, and then gives none.
ONE_CITATION = frozenset(one.name for one in QUESTIONS.values() if one.units == "citation")

_LABELS = {"entailed": ENTAILED, "not_entailed": NOT_ENTAILED}
_BETTER = {1.0: "this text", 0.5: "neither", 0.0: "the other text"}  # by what the answer is worth
_FAILURES = ("unparsed", "refused", "truncated", "error")
_ANSWERS_SETTLED = ("no_evidence", "not_applicable", "no_text", "no_claims", "no_reference")
COLUMNS = (
    *("judge", "measure", "places", "questions", "answered", "repaired", "abstained"),
    *(*_FAILURES, "not_needed", "not_judged", *_ANSWERS_SETTLED),
)


class Judgment(NamedTuple):
    """What one judge said: one of the words above, more about it, and the judge's reason."""

    word: str
    detail: str
    why: str

    @property
    def said(self) -> str:
        """Word and detail as they are shown: `graded 2 of 3`, `failed: refused`."""
        between = " " if self.word in (GRADED, LABELLED) else ": "
        return self.word + between + self.detail if self.detail else self.word


class Answer(NamedTuple):
    """One row of table `judgments`, as far as it is shown."""

    status: str
    label: str | None
    grade: float | None
    probability: float | None
    explanation: str | None


def judged(answer: Answer | None, question: Question) -> Judgment:
    """One answer in words; None is an answer that is not there."""
    if answer is None:
        return Judgment(NOT_NEEDED if question.name in ONE_CITATION else NOT_JUDGED, "", "")
    sure = f"probability {short(answer.probability)}" if answer.probability is not None else ""
    why = "; ".join(filter(None, (sure, answer.explanation)))
    if answer.status != "ok":
        word = ABSTAINED if answer.status == ABSTAINED else FAILED
        return Judgment(word, "" if word == ABSTAINED else answer.status, why)
    scale = question.instrument.answer
    if isinstance(scale, Grade):
        return Judgment(GRADED, f"{answer.grade:g} of {scale.high:g}", why)
    label = str(answer.label)
    if question.units == "rival":
        return Judgment(LABELLED, _BETTER[question.counts.get(label, 0.0)], why)
    known = _LABELS.get(label)
    return Judgment(known, "", why) if known else Judgment(LABELLED, label.replace("_", " "), why)


def answers_table(pairs: pd.DataFrame, judgments: pd.DataFrame) -> pd.DataFrame:
    """One row per judge and measure: places in measures, by what came of their question.

    `questions` counts those put to the judge, equal ones once; the other counts are of places and
    sum to `places`, but for `repaired`. answered: the status is ok. `repaired`: those of them whose
    answer was not in just the form that was asked for. `not_needed`: no answer, because the
    citations together decide; `not_judged`: no answer, and nobody said why. The columns after it
    were settled without asking (pairs.settled).
    """
    made = []
    statuses = {
        judge: dict(zip(mine["pair_id"], mine["status"], strict=True))
        for judge, mine in judgments.groupby("judge", sort=True)
    }
    repaired = judgments[judgments["repaired"].astype("bool")].groupby("judge")["pair_id"].agg(set)
    for measure, asked in pairs.groupby("measure", sort=True):
        settled = asked["settled"].value_counts()
        ids = asked.loc[asked["settled"].isna(), "pair_id"]
        absent = "not_needed" if measure in ONE_CITATION else "not_judged"
        for judge, known in statuses.items():
            found = ids.map(known).fillna(absent).replace("ok", "answered").value_counts()
            counts = {**settled, **found, "repaired": ids.isin(repaired.get(judge, ())).sum()}
            first = [judge, measure, len(asked), ids.nunique()]
            made.append([*first, *(int(counts.get(name, 0)) for name in COLUMNS[4:])])
    frame = pd.DataFrame(made, columns=list(COLUMNS))
    return frame.sort_values(["judge", "measure"]).reset_index(drop=True)


_SAYS = (
    "Every place that needs an answer, by what came of it. Equal questions are asked once. A judge"
    " that is not sure enough abstains. What it abstained of, what failed and what was not judged"
    " counts as unknown, never as “not entailed”: scores say how many there are, and their bounds"
    " say what these could change."
)
_ALSO = {  # said where there are any
    "repaired": "An answer is repaired if it was not in just the form that was asked for (a bullet,"
    " other case, a number as text), but can mean one thing only: it counts as answered.",
    "not_needed": "An answer about one citation is not needed where the citations together decide.",
    "no_evidence": "What has no evidence was settled without asking, as not entailed, or by a"
    " rubric with the worst grade.",
    "not_applicable": "What a rubric’s criterion is not about has no penalty.",
    "no_text": "What has no text failed without asking.",
    "no_claims": "What has no claims or facets, because a text could not be taken apart, failed"
    " likewise.",
    "no_reference": "So did what is held against a part of the reference that is not known.",
}
_TITLES = {name: name.replace("_", " ") for name in COLUMNS}
_ALWAYS = ("places", "questions", "answered", "abstained")


def answers_section(table: pd.DataFrame) -> Section | None:
    """The table's rows; columns of nothing but 0 are left out. None where no judge was asked."""
    found = records(table)
    if not found:
        return None
    names = [name for name in COLUMNS[2:] if name in _ALWAYS or any(row[name] for row in found)]
    lines = [
        (metric_label(row["measure"], row["judge"]), [_cell(row, name) for name in names])
        for row in found
    ]
    grid = Grid("", ["measure (judge)", *(_TITLES[name] for name in names)], lines)
    says = " ".join([_SAYS, *(said for name, said in _ALSO.items() if name in names)])
    return Section(
        "answers", "What judges answered", [says], ["answers"], [grid], warnings=_missing(found)
    )


def _cell(row: Row, name: str) -> Cell:
    asked = row["places"] - sum(row[name] for name in ("not_needed", *_ANSWERS_SETTLED))
    made = count(row[name])
    shared = ("answered", "repaired", "abstained", *_FAILURES, "not_judged")
    if name not in shared or not (row[name] and asked):
        return made
    css = "alarm" if name in (*_FAILURES, "not_judged") else ""
    return made._replace(notes=(_share(row[name], asked),), css=css)


def _share(part: int, whole: int) -> str:
    """Never all or nothing where it isn't."""
    text = per_cent(part / whole)
    if part < whole and text == "100 %":
        return "> 99 %"
    return "< 1 %" if text == "0 %" else text


def _missing(found: list[Row]) -> list[str]:
    """What is missing of each judge, by why."""
    lines = []
    for judge in dict.fromkeys(row["judge"] for row in found):
        mine = [row for row in found if row["judge"] == judge]
        sums = {name: sum(row[name] for row in mine) for name in (*_FAILURES, "not_judged")}
        total = sum(sums.values())
        if total:
            why = ", ".join(f"{n:,} {_TITLES[name]}" for name, n in sums.items() if n)
            places = sum(row["places"] for row in mine)
            lines.append(
                f"{judge} has no answer in {total:,} of {counted(places, 'place')}: {why}."
            )
    return lines


class Single(NamedTuple):
    """One citation of a statement: does it entail alone, do the others without it."""

    number: int
    alone: Judgment | None
    rest: Judgment | None


class Citation(NamedTuple):
    """One citation; `known` where the source has that passage."""

    number: int
    known: bool


class Line(NamedTuple):
    """One claim or statement; `singles` has one list per judge; `aligned` are passages [n]."""

    number: int
    text: str
    citations: list[Citation]
    aligned: str
    judgments: list[Judgment]
    singles: list[list[Single]]


class Block(NamedTuple):
    """One table: the lines by part, heads (what, measure and judge), a count of judgments."""

    title: str
    noun: str
    heads: list[tuple[str, str]]
    single_heads: list[tuple[str, str]]
    groups: list[tuple[str, list[Line]]]
    counts: list[str]
    settled: str  # said instead of the lines where no line was put to a judge


def tally(found: Iterable[Judgment]) -> str:
    """How many there are of each word."""
    counts = Counter(judgment.word for judgment in found)
    return ", ".join(f"{counts[word]} {word}" for word in ORDER if counts[word])


# What judges said of a text by the criteria of rubrics: grade, reason and evidence.

_GRADED_SETTLED = {
    "no_evidence": Judgment(NO_EVIDENCE, "", "the text lacks the part"),
    "not_applicable": Judgment(NOT_APPLICABLE, "", ""),
    "no_text": Judgment(FAILED, "no text", ""),
    "no_claims": Judgment(FAILED, "parts unknown", ""),
    "no_reference": Judgment(FAILED, "no reference", ""),
}


class _Asked(NamedTuple):
    """One row of `pairs`; the order of fields is that of a rubric's criteria."""

    measure: str
    position: int
    citation: int
    part: str
    pair_id: str
    context: str
    settled: str | None

    @property
    def criterion(self) -> Criterion:
        return read_criterion(self.context)

    @property
    def rubric(self) -> str:
        return self.measure.removesuffix(f"_{self.criterion.criterion}")


class _Answer(NamedTuple):
    status: str
    grade: float | None
    explanation: str | None
    quotes: Sequence[str]
    quote_starts: Sequence[int]


@dataclass(frozen=True)
class Grades:
    """Questions by text, answers by question and judge."""

    asked: dict[tuple[str, str], list[_Asked]]
    answers: dict[tuple[str, str], _Answer]


def grades(pairs: pd.DataFrame, judgments: pd.DataFrame) -> Grades:
    """Index what rubrics asked; without rubrics there is nothing."""
    asked: dict[tuple[str, str], list[_Asked]] = {}
    if "instrument" not in pairs or not pairs["instrument"].isin(RUBRIC).any():
        return Grades({}, {})
    mine = pairs[pairs["instrument"].isin(RUBRIC)]
    for doc_id, author, *rest in rows(mine, "doc_id", "author", *_Asked._fields):
        asked.setdefault((doc_id, author), []).append(_Asked(*rest))
    known = judgments[judgments["pair_id"].isin(mine["pair_id"])]
    answers = {
        (pair_id, judge): _Answer(*rest)
        for pair_id, judge, *rest in rows(known, "pair_id", "judge", *_Answer._fields)
    }
    return Grades(asked, answers)


def graded_blocks(known: Grades, doc_id: str, author: str) -> list[Block]:
    """A table per rubric that asks about a text: its criteria, and what each judge said."""
    by_rubric: dict[str, list[_Asked]] = {}
    for asked in known.asked.get((doc_id, author), []):
        by_rubric.setdefault(asked.rubric, []).append(asked)
    judges = sorted({judge for _, judge in known.answers})
    return [
        _graded_block(known, rubric, asked, judges) for rubric, asked in sorted(by_rubric.items())
    ]


def _graded_block(
    known: Grades, rubric: str, asked: Sequence[_Asked], judges: Sequence[str]
) -> Block:
    ordered = sorted(asked, key=lambda one: (one.position, one.citation, one.measure))
    lines = [
        Line(one.position, _asks(one), [], "", [_said(known, one, j) for j in judges], [])
        for one in ordered
    ]
    parts: dict[str, list[Line]] = {}
    for one, line in zip(ordered, lines, strict=True):
        parts.setdefault(one.part, []).append(line)
    counts = [
        f"{rubric} by {judge}: {tally([line.judgments[place] for line in lines])}"
        for place, judge in enumerate(judges)
    ]
    heads = [("which grade?", f"{rubric}, {judge}") for judge in judges]
    title = f"Rubric {rubric}: what grade does each criterion give?"
    return Block(title, "criterion", heads, [], list(parts.items()), counts, "")


def _asks(one: _Asked) -> str:
    beside = "" if one.citation == ALL_CITATIONS else f" (reference {one.citation + 1})"
    return f"{one.criterion.criterion}: {one.criterion.asks}{beside}"


def _said(known: Grades, one: _Asked, judge: str) -> Judgment:
    if one.settled is not None:
        return _GRADED_SETTLED[one.settled]
    answer = known.answers.get((one.pair_id, judge))
    if answer is None:
        return Judgment(NOT_JUDGED, "", "")
    why = "; ".join(filter(None, [answer.explanation, *_quoted(answer)]))
    if answer.status != "ok":
        is_sure = answer.status != ABSTAINED
        return Judgment(FAILED if is_sure else ABSTAINED, answer.status if is_sure else "", why)
    return Judgment(GRADED, f"{answer.grade:g}{_scale(one.criterion)}", why)


def _scale(criterion: Criterion) -> str:
    low, high = criterion.bounds
    if isinstance(criterion, Scale):
        return f" on {low} to {high}"
    return "" if high is None else f" of at most {high}"


def _quoted(answer: _Answer) -> list[str]:
    return [
        f"“{quote}”" + ("" if start >= 0 else " (not in the text)")
        for quote, start in zip(answer.quotes, answer.quote_starts, strict=True)
    ]


# Claims and statements of one text with what each judge said of them.


class _Unit(NamedTuple):
    part: str
    position: int
    text: str | None
    citations: Sequence[int]


_Place = tuple[str, str, str, str, int, int]  # doc_id, author, measure, part, position, citation


@dataclass(frozen=True)
class Judgments:
    """Units, pairs and judgments, found by where they belong."""

    judges: list[str]
    units: dict[tuple[str, str, str], list[_Unit]]
    asked: dict[_Place, tuple[str, str | None]]
    measures: dict[tuple[str, str], set[str]]
    answers: dict[tuple[str, str], Answer]
    aligned: dict[tuple[str, str, str, int], str]
    rivals: dict[str, list[str]]
    grades: Grades


def judgments(
    units: pd.DataFrame,
    pairs: pd.DataFrame,
    judgments: pd.DataFrame,
    alignments: pd.DataFrame | None,
    names: Mapping[str, str] | None = None,
) -> Judgments:
    """Index the tables; premises are not touched, so memory stays small.

    `names` are of authors as table `pairs` was made, by how they are called now: rivals are counted
    in the order of those.
    """
    found: dict[tuple[str, str, str], list[_Unit]] = {}
    columns = ("doc_id", "author", "kind", "part", "position", "text", "citations")
    for doc_id, author, kind, *rest in rows(units, *columns):
        found.setdefault((doc_id, author, kind), []).append(_Unit(*rest))
    asked: dict[_Place, tuple[str, str | None]] = {}
    measures: dict[tuple[str, str], set[str]] = {}
    places = ("doc_id", "author", "measure", "part", "position", "citation")
    for *place, pair_id, settled in rows(pairs, *places, "pair_id", "settled"):
        doc_id, author, measure, part, position, citation = place
        asked[doc_id, author, measure, part, position, citation] = (pair_id, settled)
        measures.setdefault((doc_id, author), set()).add(measure)
    answers = {
        (pair_id, judge): Answer(*rest)
        for pair_id, judge, *rest in rows(judgments, "pair_id", "judge", *Answer._fields)
    }
    judges = sorted({judge for _, judge in answers})
    rivals = _rivals(pairs, names or {})
    graded = grades(pairs, judgments)
    return Judgments(judges, found, asked, measures, answers, _aligned(alignments), rivals, graded)


def _rivals(pairs: pd.DataFrame, names: Mapping[str, str]) -> dict[str, list[str]]:
    """Of each document the systems that are compared, by their place in `pairs.position`."""
    compared = [name for name, question in QUESTIONS.items() if question.units == "rival"]
    found: dict[str, set[str]] = {}
    mine = pairs[pairs["measure"].isin(compared)]
    for doc_id, author in rows(mine.drop_duplicates(["doc_id", "author"]), "doc_id", "author"):
        found.setdefault(doc_id, set()).add(author)
    return {
        doc_id: sorted(authors, key=lambda author: names.get(author, author))
        for doc_id, authors in found.items()
    }


def _aligned(alignments: pd.DataFrame | None) -> dict[tuple[str, str, str, int], str]:
    """Passages per statement, best first; several methods stand one after the other."""
    found: dict[tuple[str, str, str, int], str] = {}
    if alignments is None:
        return found
    columns = ("doc_id", "author", "part", "position", "passages")
    for doc_id, author, part, position, passages in rows(alignments, *columns):
        key = (doc_id, author, part, position)
        said = " ".join(f"[{number}]" for number in passages) or "none"
        found[key] = f"{found[key]}; {said}" if key in found else said
    return found


def blocks(known: Judgments, doc_id: str, author: str, n_passages: int) -> list[Block]:
    """The tables of one text: reference claims in it, its claims, statements, itself, rubrics."""
    made = []
    own = known.units.get((doc_id, author, "claim"), [])
    if author == REFERENCE:
        made.append(_units_block(known, doc_id, author, own, "Claims of the reference", ()))
    else:
        theirs = known.units.get((doc_id, REFERENCE, "claim"), [])
        title = "Claim recall: is each claim of the reference in this text?"
        made.append(
            _units_block(known, doc_id, author, theirs, title, _about("reference", "claim"))
        )
        title = "Claim precision: is each claim of this text in the reference?"
        made.append(_units_block(known, doc_id, author, own, title, _about("text", "claim")))
    said = known.units.get((doc_id, author, "statement"), [])
    title = "Statements: does the source support each?"
    measures = _about("text", "statement")
    made.append(_units_block(known, doc_id, author, said, title, measures, n_passages))
    made += _of_whole_text(known, doc_id, author)
    made += graded_blocks(known.grades, doc_id, author)
    return [block for block in made if block.groups or block.settled]


_RIVALS = (
    "Preferences: is this text better than another’s? Judges also read the reference, or the source"
    " where there is none."
)


def _of_whole_text(known: Judgments, doc_id: str, author: str) -> Iterator[Block]:
    present = known.measures.get((doc_id, author), set())
    text = [_Unit(FULL, 0, "this text", [])]
    others = [
        _Unit(FULL, place, f"beside {rival}", [])
        for place, rival in enumerate(known.rivals.get(doc_id, []))
        if rival != author
    ]
    same = "The same question: does this text ask what the reference asks?"
    for kind, units, title in (("text", text, same), ("rival", others, _RIVALS)):
        measures = _about("text", kind)
        if present & set(measures):
            made = _units_block(known, doc_id, author, units, title, measures)
            yield made._replace(noun="text" if kind == "text" else "other text")


def _about(whose: str, units: str) -> tuple[str, ...]:
    """What is asked about such units, in the order of the table of measures."""
    found = QUESTIONS.values()
    return tuple(one.name for one in found if (one.whose, one.units) == (whose, units))


_HEADS = {
    "claim_recall": "in this text?",
    "claim_recall_grade": "how far in this text?",
    "claim_precision": "in the reference?",
    "citation_recall": "in its citations together?",
    "faithfulness": "in the passages aligned with it?",
    "claim_contradiction": "does the reference entail or contradict it?",
    "preference_first": "which is better, this one shown first?",
    "preference_second": "which is better, this one shown second?",
}


def _units_block(
    known: Judgments,
    doc_id: str,
    author: str,
    units: list[_Unit],
    title: str,
    measures: tuple[str, ...],
    n_passages: int | None = None,
) -> Block:
    """`n_passages` is given for statements, which cite; claims don't."""
    present = known.measures.get((doc_id, author), set())
    asked = [measure for measure in measures if measure in present]
    one_by_one = n_passages is not None and present & {"citation_alone", "citation_rest"}
    single_judges = known.judges if one_by_one else []
    groups: dict[str, list[Line]] = {}
    for unit in sorted(units, key=lambda u: (part_rank(u.part), u.position)):
        line = Line(
            unit.position,
            _UNKNOWN if unit.text is None else unit.text,
            [Citation(n, 0 <= n < (n_passages or 0)) for n in unit.citations],
            known.aligned.get((doc_id, author, unit.part, unit.position), "") if n_passages else "",
            _together(known, (doc_id, author), unit, asked),
            [_singles(known, (doc_id, author), unit, judge) for judge in single_judges],
        )
        groups.setdefault(unit.part, []).append(line)
    lines = [line for group in groups.values() for line in group]
    columns = [(measure, judge) for measure in asked for judge in known.judges]
    counts = [
        f"{measure} by {judge}: {tally([line.judgments[place] for line in lines])}"
        for place, (measure, judge) in enumerate(columns)
    ]
    settled = ""
    if lines and columns and all(v.detail == _NO_TEXT for line in lines for v in line.judgments):
        groups, settled = {}, f"all {len(lines)} questions failed, because there is no text to read"
    return Block(
        title,
        "claim" if n_passages is None else "statement",
        [(_HEADS.get(m) or QUESTIONS[m].instrument.asks, f"{m}, {judge}") for m, judge in columns],
        [("in each citation?", judge) for judge in single_judges],
        list(groups.items()),
        counts,
        settled,
    )


def _together(
    known: Judgments, text: tuple[str, str], unit: _Unit, measures: list[str]
) -> list[Judgment]:
    unasked = Judgment(NOT_JUDGED, "not asked", "")
    return [
        _judgment(known, (*text, measure, unit.part, unit.position, ALL_CITATIONS), judge)
        or unasked
        for measure in measures
        for judge in known.judges
    ]


def _singles(known: Judgments, text: tuple[str, str], unit: _Unit, judge: str) -> list[Single]:
    """Nothing for a statement with one citation: all of them together are that one."""
    if len(unit.citations) < 2:
        return []

    def find(measure: str, citation: int) -> Judgment | None:
        return _judgment(known, (*text, measure, unit.part, unit.position, citation), judge)

    return [Single(n, find("citation_alone", n), find("citation_rest", n)) for n in unit.citations]


_NO_TEXT = "no text"
_UNKNOWN = "(the part could not be taken apart)"
_JUDGMENTS_SETTLED = {
    "no_evidence": Judgment(NO_EVIDENCE, "", ""),
    "no_text": Judgment(FAILED, _NO_TEXT, ""),
    "no_claims": Judgment(FAILED, "no claims", ""),
}


def _judgment(known: Judgments, place: _Place, judge: str) -> Judgment | None:
    """None where the question was not asked."""
    if place not in known.asked:
        return None
    pair_id, settled = known.asked[place]
    if settled is not None:
        return _JUDGMENTS_SETTLED[settled]
    return judged(known.answers.get((pair_id, judge)), QUESTIONS[place[2]])
