"""What judges answered: counted, so that nothing is silent, and judgment by judgment."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from metassay.format.frames import records, rows
from metassay.format.numbers import counted, per_cent, short
from metassay.judges.criteria import RUBRIC, Criterion, Scale, read_criterion
from metassay.reporting.names import part_rank
from metassay.reporting.section import Cell, Grid, Row, Section, count, grouped
from metassay.reporting.specs import section
from metassay.scoring.pairing.instruments import Grade
from metassay.scoring.pairing.measures import MEASURES, Question
from metassay.tables.names import ALL_CITATIONS, FULL, REFERENCE, base_metric, metric_label

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
    quotes: Sequence[str]
    quote_starts: Sequence[int]


_SETTLED = {
    "no_evidence": Judgment(NO_EVIDENCE, "", ""),
    "not_applicable": Judgment(NOT_APPLICABLE, "", ""),
    "no_text": Judgment(FAILED, "no text", ""),
    "no_claims": Judgment(FAILED, "no claims", ""),
    "no_reference": Judgment(FAILED, "no reference", ""),
}
_SETTLED_GRADES = _SETTLED | {
    "no_evidence": Judgment(NO_EVIDENCE, "", "the text lacks the part"),
    "no_claims": Judgment(FAILED, "parts unknown", ""),
}


def judged(answer: Answer | None, asked: Question | Criterion) -> Judgment:
    """One answer in words; None is an answer that is not there."""
    if answer is None:
        needed = not isinstance(asked, Question) or asked.name not in ONE_CITATION
        return Judgment(NOT_JUDGED if needed else NOT_NEEDED, "", "")
    sure = f"probability {short(answer.probability)}" if answer.probability is not None else ""
    why = "; ".join(filter(None, (sure, answer.explanation, *_quoted(answer))))
    if answer.status != "ok":
        word = ABSTAINED if answer.status == ABSTAINED else FAILED
        return Judgment(word, "" if word == ABSTAINED else answer.status, why)
    if not isinstance(asked, Question):
        low, high = asked.bounds
        of = "" if high is None else f" of at most {high}"
        of = f" on {low} to {high}" if isinstance(asked, Scale) else of
        return Judgment(GRADED, f"{answer.grade:g}{of}", why)
    if isinstance(asked.instrument.answer, Grade):
        return Judgment(GRADED, f"{answer.grade:g} of {asked.instrument.answer.high:g}", why)
    label = str(answer.label)
    if asked.units == "rival":
        return Judgment(LABELLED, _BETTER[asked.counts.get(label, 0.0)], why)
    known = _LABELS.get(label)
    return Judgment(known, "", why) if known else Judgment(LABELLED, label.replace("_", " "), why)


def _quoted(answer: Answer) -> list[str]:
    return [
        f"“{quote}”" + ("" if start >= 0 else " (not in the text)")
        for quote, start in zip(answer.quotes, answer.quote_starts, strict=True)
    ]


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
    made = section("answers", also=names, grids=[grid], warnings=_missing(found))
    return made._replace(says=[" ".join(made.says)])


def _cell(row: Row, name: str) -> Cell:
    """A count, with its share of all that needed an answer; never all or nothing where it isn't."""
    n, asked = row[name], row["places"] - sum(row[one] for one in ("not_needed", *_ANSWERS_SETTLED))
    failed = name in (*_FAILURES, "not_judged")
    if not (failed or name in ("answered", "repaired", "abstained")) or not (n and asked):
        return count(n)
    share = per_cent(n / asked)
    if n < asked and share in ("0 %", "100 %"):
        share = "< 1 %" if share == "0 %" else "> 99 %"
    return count(n)._replace(notes=(share,), css="alarm" if failed else "")


def _missing(found: list[Row]) -> list[str]:
    """What is missing of each judge, by why."""
    lines = []
    for judge, mine in grouped(found, lambda row: str(row["judge"])).items():
        sums = {name: sum(row[name] for row in mine) for name in (*_FAILURES, "not_judged")}
        why = ", ".join(f"{n:,} {_TITLES[name]}" for name, n in sums.items() if n)
        places = counted(sum(row["places"] for row in mine), "place")
        if why:
            lines.append(f"{judge} has no answer in {sum(sums.values()):,} of {places}: {why}.")
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


# Claims, statements and criteria about one text with what each judge said of them.


class _Unit(NamedTuple):
    part: str
    position: int
    text: str | None
    citations: Sequence[int]


class _Asked(NamedTuple):
    """A question as it was put; of a rubric, `context` is a criterion."""

    pair_id: str
    settled: str | None
    instrument: str
    context: str | None


_Text = tuple[str, str]  # doc_id, author
_Place = tuple[str, str, int, int]  # measure, part, position, citation


@dataclass(frozen=True)
class Judgments:
    """Units, pairs and judgments, found by where they belong; `graders` answered a rubric."""

    judges: list[str]
    graders: list[str]
    units: dict[tuple[str, str, str], list[_Unit]]
    asked: dict[_Text, dict[_Place, _Asked]]
    answers: dict[tuple[str, str], Answer]
    aligned: dict[tuple[str, str, str, int], str]
    rivals: dict[str, list[str]]

    def judgment(self, text: _Text, place: _Place, judge: str) -> Judgment | None:
        """None where the question was not asked."""
        asked = self.asked.get(text, {}).get(place)
        if asked is None:
            return None
        if asked.settled is not None:
            return _SETTLED[asked.settled]
        question = QUESTIONS[base_metric(place[0])]
        return judged(self.answers.get((asked.pair_id, judge)), question)


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
    for doc_id, author, kind, *rest in rows(units, "doc_id", "author", "kind", *_Unit._fields):
        found.setdefault((doc_id, author, kind), []).append(_Unit(*rest))
    asked: dict[_Text, dict[_Place, _Asked]] = {}
    places = ("doc_id", "author", "measure", "part", "position", "citation")
    for doc_id, author, *rest in rows(pairs, *places, *_Asked._fields):
        measure, part, position, citation, *of = rest
        asked.setdefault((doc_id, author), {})[measure, part, position, citation] = _Asked(*of)
    answers = {
        (pair_id, judge): Answer(*rest)
        for pair_id, judge, *rest in rows(judgments, "pair_id", "judge", *Answer._fields)
    }
    graded = judgments["pair_id"].isin(pairs["pair_id"][pairs["instrument"].isin(RUBRIC)])
    return Judgments(
        sorted({judge for _, judge in answers}),
        sorted(set(judgments["judge"][graded])),
        found,
        asked,
        answers,
        _aligned(alignments),
        _rivals(pairs, names or {}),
    )


def _rivals(pairs: pd.DataFrame, names: Mapping[str, str]) -> dict[str, list[str]]:
    """Of each document the systems that are compared, by their place in `pairs.position`."""
    compared = [name for name, question in QUESTIONS.items() if question.units == "rival"]
    authors = pairs[pairs["measure"].isin(compared)].groupby("doc_id")["author"].unique()
    return {
        str(doc_id): sorted(of, key=lambda author: names.get(author, author))
        for doc_id, of in authors.items()
    }


def _aligned(alignments: pd.DataFrame | None) -> dict[tuple[str, str, str, int], str]:
    """Passages per statement, best first; several methods stand one after the other, by name."""
    found: dict[tuple[str, str, str, int], str] = {}
    if alignments is None:
        return found
    several = alignments["method"].nunique() > 1
    columns = ("doc_id", "author", "part", "position", "method", "passages")
    for *key, method, passages in rows(alignments, *columns):
        said = " ".join(f"[{number}]" for number in passages) or "none"
        said = f"{method} {said}" if several else said
        doc_id, author, part, position = key
        before = found.get((doc_id, author, part, position))
        found[doc_id, author, part, position] = f"{before}; {said}" if before else said
    return found


# Titles of tables: whose units they have, and of which kind.
_OF_REFERENCE = {"Claims of the reference": ("reference", "claim")}  # which nobody is asked about
_OF_SYSTEM = {
    "Claim recall: is each claim of the reference in this text?": ("reference", "claim"),
    "Claim precision: is each claim of this text in the reference?": ("text", "claim"),
}
_OF_ALL = {
    "Statements: does the source support each?": ("text", "statement"),
    "The same question: does this text ask what the reference asks?": ("text", "text"),
    "Preferences: is this text better than another’s? Judges also read the reference, or the source"
    " where there is none.": ("text", "rival"),
}


def blocks(known: Judgments, doc_id: str, author: str, n_passages: int) -> list[Block]:
    """The tables of one text: reference claims in it, its claims, statements, itself, rubrics."""
    text, made = (doc_id, author), []
    present = {measure for measure, *_ in known.asked.get(text, {})}
    titles = _OF_REFERENCE if author == REFERENCE else _OF_SYSTEM
    for title, (whose, kind) in {**titles, **_OF_ALL}.items():
        named = _about(whose, kind)
        asked = [one for name in named for one in sorted(present) if base_metric(one) == name]
        if title in _OF_REFERENCE:
            asked = []
        if kind in ("claim", "statement") or asked:
            about = (title, "other text" if kind == "rival" else kind)
            passages = n_passages if kind == "statement" else None
            units = _units(known, text, whose, kind)
            made.append(_units_block(known, text, units, about, asked, passages))
    made += _graded_blocks(known, text)
    return [block for block in made if block.groups or block.settled]


def _units(known: Judgments, text: _Text, whose: str, kind: str) -> list[_Unit]:
    doc_id, author = text
    if kind == "text":
        return [_Unit(FULL, 0, "this text", [])]
    if kind == "rival":
        rivals = enumerate(known.rivals.get(doc_id, []))
        return [_Unit(FULL, n, f"beside {name}", []) for n, name in rivals if name != author]
    return known.units.get((doc_id, REFERENCE if whose == "reference" else author, kind), [])


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
    text: _Text,
    units: list[_Unit],
    about: tuple[str, str],
    measures: Sequence[str],
    n_passages: int | None,
) -> Block:
    """`about` are title and noun; `n_passages` is given for statements, which cite."""
    cited = {measure for measure, *_ in known.asked.get(text, {})} & ONE_CITATION
    single_judges = known.judges if n_passages is not None and cited else []
    columns = [(m, judge) for m in measures for judge in known.judges]
    unasked = Judgment(NOT_JUDGED, "not asked", "")
    lines = []
    for unit in sorted(units, key=lambda u: (part_rank(u.part), u.position)):
        place = (unit.part, unit.position)
        said = [
            known.judgment(text, (measure, *place, ALL_CITATIONS), judge) or unasked
            for measure, judge in columns
        ]
        line = Line(
            unit.position,
            "(the part could not be taken apart)" if unit.text is None else unit.text,
            [Citation(n, 0 <= n < (n_passages or 0)) for n in unit.citations],
            known.aligned.get((*text, *place), "") if n_passages else "",
            said,
            [_singles(known, text, unit, judge) for judge in single_judges],
        )
        lines.append((unit.part, line))
    bases = [base_metric(measure) for measure, _ in columns]
    heads = [_HEADS.get(name) or QUESTIONS[name].instrument.asks for name in bases]
    block = _block(about, lines, columns, heads)
    block = block._replace(single_heads=[("in each citation?", judge) for judge in single_judges])
    if (
        lines
        and columns
        and all(v.detail == "no text" for _, line in lines for v in line.judgments)
    ):
        settled = f"all {len(lines)} questions failed, because there is no text to read"
        return block._replace(groups=[], settled=settled)
    return block


def _block(
    about: tuple[str, str],
    lines: Sequence[tuple[str, Line]],
    columns: Sequence[tuple[str, str]],
    heads: Sequence[str],
) -> Block:
    """Lines by part; of each column who was asked what, its head, and a count of judgments."""
    groups: dict[str, list[Line]] = {}
    counts = []
    for part, line in lines:
        groups.setdefault(part, []).append(line)
    for place, (name, judge) in enumerate(columns):
        words = Counter(line.judgments[place].word for _, line in lines)
        tally = ", ".join(f"{words[word]} {word}" for word in ORDER if words[word])
        counts.append(f"{name} by {judge}: {tally}")
    who = [f"{name}, {judge}" for name, judge in columns]
    return Block(*about, list(zip(heads, who, strict=True)), [], list(groups.items()), counts, "")


def _singles(known: Judgments, text: _Text, unit: _Unit, judge: str) -> list[Single]:
    """Nothing for a statement with one citation: all of them together are that one."""

    def find(measure: str, citation: int) -> Judgment | None:
        return known.judgment(text, (measure, unit.part, unit.position, citation), judge)

    cited = unit.citations if len(unit.citations) > 1 else ()
    return [Single(n, find("citation_alone", n), find("citation_rest", n)) for n in cited]


def _graded_blocks(known: Judgments, text: _Text) -> list[Block]:
    """A table per rubric that asks about a text: its criteria, and what each judge said."""
    rubrics: dict[str, list[tuple[_Place, _Asked, Criterion]]] = {}
    for place, asked in known.asked.get(text, {}).items():
        if asked.instrument in RUBRIC:
            criterion = read_criterion(str(asked.context))
            name = place[0].removesuffix(f"_{criterion.criterion}")
            rubrics.setdefault(name, []).append((place, asked, criterion))
    made = []
    for rubric, questions in sorted(rubrics.items()):
        lines = []
        for place, asked, criterion in sorted(questions, key=lambda q: (*q[0][2:], q[0][0])):
            _, part, position, citation = place
            beside = "" if citation == ALL_CITATIONS else f" (reference {citation + 1})"
            asks = f"{criterion.criterion}: {criterion.asks}{beside}"
            said = [
                judged(known.answers.get((asked.pair_id, judge)), criterion)
                if asked.settled is None
                else _SETTLED_GRADES[asked.settled]
                for judge in known.graders
            ]
            lines.append((part, Line(position, asks, [], "", said, [])))
        about = (f"Rubric {rubric}: what grade does each criterion give?", "criterion")
        columns = [(rubric, judge) for judge in known.graders]
        made.append(_block(about, lines, columns, ["which grade?"] * len(columns)))
    return made
