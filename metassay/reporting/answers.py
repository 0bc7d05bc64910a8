"""What judges answered: counted, so that nothing is silent, and judgment by judgment."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from metassay.format.frames import rows
from metassay.format.numbers import counted
from metassay.judges.criteria import RUBRIC, Criterion, Scale, read_criterion
from metassay.reporting.contract import Asked, Block, EachCitation, Judgment, Line, Rating
from metassay.reporting.names import part_rank
from metassay.scoring.pairing.instruments import Grade
from metassay.scoring.pairing.measures import MEASURES, Question
from metassay.tables.columns import entries
from metassay.tables.names import ALL_CITATIONS, FULL, REFERENCE, base_metric

FOR, AGAINST, UNKNOWN, NEUTRAL = "for", "against", "unknown", "neutral"
QUESTIONS = {
    question.name: question for measure in MEASURES.values() for question in measure.questions
}
# Of these a judge needs no answer where the citations together decide, and then gives none.
ONE_CITATION = frozenset(one.name for one in QUESTIONS.values() if one.units == "citation")

_SIDES = {
    **{"entailed": FOR, "not_entailed": AGAINST, "contradicted": AGAINST, "neutral": NEUTRAL},
    **{"same": FOR, "different": AGAINST},
}
_OTHERS = {FOR: AGAINST, AGAINST: FOR}
_BETTER = {1.0: "this text", 0.5: "neither", 0.0: "the other text"}  # by what the answer is worth
_FAILURES = ("unparsed", "refused", "truncated", "error")
_ANSWERS_SETTLED = ("no_evidence", "not_applicable", "no_text", "no_claims", "no_reference")
COLUMNS = (
    *("judge", "measure", "places", "questions", "answered", "repaired", "abstained"),
    *(*_FAILURES, "not_needed", "not_judged", *_ANSWERS_SETTLED),
)


class Answer(NamedTuple):
    """One row of table `judgments`, as far as it is shown."""

    status: str
    label: str | None
    grade: float | None
    probability: float | None
    explanation: str | None
    quotes: Sequence[str]
    quote_starts: Sequence[int]


_UNASKED = Judgment("not judged: not asked", NEUTRAL)
_SETTLED = {
    "no_evidence": Judgment("no evidence", AGAINST),
    "not_applicable": Judgment("not applicable", NEUTRAL),
    "no_text": Judgment("failed: no text", UNKNOWN),
    "no_claims": Judgment("failed: no claims", UNKNOWN),
    "no_reference": Judgment("failed: no reference", UNKNOWN),
}
_SETTLED_GRADES = _SETTLED | {
    "no_evidence": Judgment("no evidence", AGAINST, why="the text lacks the part"),
    "no_claims": Judgment("failed: parts unknown", UNKNOWN),
}


def judged(answer: Answer | None, asked: Question | Criterion) -> Judgment:
    """One answer in words, and its side; None is an answer that is not there.

    A label is for the text or against it by what it says of it, a grade by the better or the worse
    half of its scale, and every penalty is against it. Without a citation the others should not
    do, so an answer about these counts the other way round.
    """
    if answer is None:
        needed = not isinstance(asked, Question) or asked.name not in ONE_CITATION
        return Judgment("not judged", UNKNOWN) if needed else Judgment("not needed", NEUTRAL)
    quotes = [
        quote + ("" if start >= 0 else " (not in the text)")
        for quote, start in zip(answer.quotes, answer.quote_starts, strict=True)
    ]
    why = answer.explanation or ""
    if answer.status != "ok":
        word = "abstained" if answer.status == "abstained" else f"failed: {answer.status}"
        return Judgment(word, UNKNOWN, answer.probability, why, quotes)
    if isinstance(asked, Question):
        word, side = _of_question(answer, asked)
    else:
        word, side, anchor = _of_criterion(float(answer.grade or 0.0), asked)
        why = "; ".join(filter(None, (anchor, why)))
    return Judgment(word, side, answer.probability, why, quotes)


def _of_question(answer: Answer, asked: Question) -> tuple[str, str]:
    if isinstance(asked.instrument.answer, Grade):
        low, high = asked.instrument.answer.low, asked.instrument.answer.high
        grade = float(answer.grade or 0.0)
        return f"graded {grade:g} of {high:g}", _half((grade - low) / (high - low))
    label = str(answer.label)
    worth = asked.counts.get(label, 0.0)
    if asked.units == "rival":
        return f"labelled {_BETTER[worth]}", _half(worth)
    side = _SIDES.get(label) or _half(worth)
    word = label.replace("_", " ")
    known = label in ("entailed", "not_entailed")
    side = _OTHERS[side] if asked.name == "citation_rest" else side
    return (word if known else f"labelled {word}"), side


def _of_criterion(grade: float, asked: Criterion) -> tuple[str, str, str]:
    """Word, side, and what the level says."""
    low, high = asked.bounds
    if not isinstance(asked, Scale):
        most = "" if high is None else f" of at most {high}"
        return f"graded {grade:g}{most}", AGAINST if grade else FOR, ""
    share = (grade - low) / ((high or 0) - low)
    anchor = asked.levels.get(f"{grade:g}", "between two levels")
    side = _half(share if asked.better == "higher" else 1 - share)
    return f"graded {grade:g} on {low} to {high}", side, anchor


def _half(share: float) -> str:
    return NEUTRAL if share == 0.5 else FOR if share > 0.5 else AGAINST


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


def unanswered(table: pd.DataFrame) -> list[str]:
    """What is missing of each judge, by why; `table` is of `answers_table`."""
    lines = []
    lacking = (*_FAILURES, "not_judged")
    for judge, mine in table.groupby("judge")[["places", *lacking]].sum().iterrows():
        why = ", ".join(f"{mine[one]:,} {one.replace('_', ' ')}" for one in lacking if mine[one])
        if why:
            of = counted(int(mine["places"]), "place")
            n = mine[[*lacking]].sum()
            lines.append(f"{judge} has no answer in {n:,} of {of}: {why}.")
    return lines


# Claims, statements and criteria about one text with what each judge said of them.


class _Unit(NamedTuple):
    kind: str
    part: str
    position: int
    text: str | None
    citations: Sequence[int]
    start: int | None
    end: int | None


class _Asked(NamedTuple):
    """A question as it was put; of a rubric, `context` is a criterion."""

    pair_id: str
    settled: str | None
    instrument: str
    context: str | None


_Text = tuple[str, str]  # doc_id, author
_Place = tuple[str, str, int, int]  # measure, part, position, citation
At = Callable[[str, int | None, int | None], tuple[int, int]]  # part, start and end of a unit


@dataclass(frozen=True)
class Judgments:
    """Units, pairs and judgments, found by where they belong; `graders` answered a rubric."""

    judges: list[str]
    graders: list[str]
    units: dict[tuple[str, str, str], list[_Unit]]
    asked: dict[_Text, dict[_Place, _Asked]]
    answers: dict[tuple[str, str], Answer]
    aligned: dict[tuple[str, str, str, int], list[int]]
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


def who_answered(pairs: pd.DataFrame, judgments: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Judges, and those of them who answered a rubric."""
    graded = judgments["pair_id"].isin(pairs["pair_id"][pairs["instrument"].isin(RUBRIC)])
    return sorted(set(judgments["judge"])), sorted(set(judgments["judge"][graded]))


def judgments(
    units: pd.DataFrame,
    pairs: pd.DataFrame,
    judgments: pd.DataFrame,
    alignments: pd.DataFrame | None,
    names: Mapping[str, str] | None = None,
    judges: tuple[list[str], list[str]] | None = None,
) -> Judgments:
    """Index the tables; premises are not touched.

    `names` are of authors as table `pairs` was made, by how they are called now: rivals are counted
    in the order of those. `judges` are of `who_answered`, where these tables are a part of all.
    """
    found: dict[tuple[str, str, str], list[_Unit]] = {}
    for doc_id, author, *rest in rows(units, "doc_id", "author", *_Unit._fields):
        found.setdefault((doc_id, author, rest[0]), []).append(_Unit(*rest))
    asked: dict[_Text, dict[_Place, _Asked]] = {}
    places = ("doc_id", "author", "measure", "part", "position", "citation")
    for doc_id, author, *rest in rows(pairs, *places, *_Asked._fields):
        measure, part, position, citation, *of = rest
        asked.setdefault((doc_id, author), {})[measure, part, position, citation] = _Asked(*of)
    answers = {
        (pair_id, judge): Answer(*rest)
        for pair_id, judge, *rest in rows(judgments, "pair_id", "judge", *Answer._fields)
    }
    every, graders = judges or who_answered(pairs, judgments)
    aligned, compared = _aligned(alignments), _rivals(pairs, names or {})
    return Judgments(every, graders, found, asked, answers, aligned, compared)


def _rivals(pairs: pd.DataFrame, names: Mapping[str, str]) -> dict[str, list[str]]:
    """Of each document the systems that are compared, by their place in `pairs.position`."""
    compared = [name for name, question in QUESTIONS.items() if question.units == "rival"]
    authors = pairs[pairs["measure"].isin(compared)].groupby("doc_id")["author"].unique()
    return {
        str(doc_id): sorted(of, key=lambda author: names.get(author, author))
        for doc_id, of in authors.items()
    }


def _aligned(alignments: pd.DataFrame | None) -> dict[tuple[str, str, str, int], list[int]]:
    """Passages per statement, best first, each once; those of several methods in turn, by name."""
    found: dict[tuple[str, str, str, int], list[int]] = {}
    if alignments is not None:
        for *key, passages in rows(alignments, "doc_id", "author", "part", "position", "passages"):
            doc_id, author, part, position = key
            mine = found.setdefault((doc_id, author, part, position), [])
            mine += [int(number) for number in passages if number not in mine]
    return found


# Of each block: whose units it has, of which kind, and its title. Nobody is asked about `claims`.
_BLOCKS = {
    name: words.split(" | ")
    for name, words in entries("""
    claims: reference | claim | Claims of the reference
    claim_recall: reference | claim | Claim recall: is each claim of the reference in this text?
    claim_precision: text | claim | Claim precision: is each claim of this text in the reference?
    statements: text | statement | Statements: does the source support each?
    same_question: text | text | The same question: does this text ask what the reference asks?
    preferences: text | rival | Preferences: is this text better than another’s? Judges also read
      the reference, or the source where there is none.
    """)
}
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
Rated = Mapping[tuple[str, int], Sequence[Rating]]  # block and number of a unit in the whole text


def blocks(known: Judgments, doc_id: str, author: str, rated: Rated, at: At) -> list[Block]:
    """The blocks of one text: reference claims in it, its claims, statements, itself, rubrics.

    `rated` are people's ratings of single units, by id of the block and the unit's number in the
    whole text; `at` says where a unit of the text itself stands in it.
    """
    text, made = (doc_id, author), []
    present = sorted({measure for measure, *_ in known.asked.get(text, {})})
    others = ("claim_recall", "claim_precision") if author == REFERENCE else ("claims",)
    for name, (whose, kind, title) in _BLOCKS.items():
        if name in others:
            continue
        about = [q.name for q in QUESTIONS.values() if (q.whose, q.units) == (whose, kind)]
        asked = [one for of in about for one in present if base_metric(one) == of]
        if name == "claims":
            asked = []
        if kind not in ("claim", "statement") and not asked:
            continue
        heads = [(measure, judge) for measure in asked for judge in known.judges]
        units = _units(known, text, whose, kind)
        own = at if whose == "text" or author == REFERENCE else None
        lines = [
            _line(known, text, unit, heads, own, rated.get((name, number), ()))
            for number, unit in enumerate(units)
        ]
        lines.sort(key=lambda line: (part_rank(line.part), line.number))
        noun = kind if kind in ("claim", "statement") else "text"
        columns = [Asked(_asks(base_metric(measure)), measure, judge) for measure, judge in heads]
        made.append(Block(name, title, noun, columns, lines, _unread(lines)))
    return [block for block in [*made, *_graded(known, text)] if block.lines]


def _units(known: Judgments, text: _Text, whose: str, kind: str) -> list[_Unit]:
    """In the order in which `judgments` found them: that of the whole text."""
    doc_id, author = text
    whole = _Unit(kind, FULL, 0, "this text", [], None, None)
    if kind == "text":
        return [whole]
    if kind == "rival":
        rivals = [r for r in enumerate(known.rivals.get(doc_id, [])) if r[1] != author]
        return [whole._replace(position=n, text=f"beside {one}") for n, one in rivals]
    return known.units.get((doc_id, REFERENCE if whose == "reference" else author, kind), [])


def _asks(measure: str) -> str:
    return _HEADS.get(measure) or QUESTIONS[measure].instrument.asks


def _line(
    known: Judgments,
    text: _Text,
    unit: _Unit,
    heads: Sequence[tuple[str, str]],
    at: At | None,
    people: Sequence[Rating],
) -> Line:
    place = (unit.part, unit.position)
    return Line(
        *(unit.position, unit.part, unit.text or "(the part could not be taken apart)"),
        *(at(unit.part, unit.start, unit.end) if at else (-1, -1)),
        [int(number) for number in unit.citations],
        known.aligned.get((*text, *place), []) if unit.kind == "statement" else [],
        [
            known.judgment(text, (measure, *place, ALL_CITATIONS), judge) or _UNASKED
            for measure, judge in heads
        ],
        [*_each(known, text, unit, heads)],
        people,
    )


def _unread(lines: Sequence[Line]) -> str:
    """What is said instead of lines that were all settled, because there is no text."""
    every = [judgment for line in lines for judgment in line.judgments]
    if not every or any(one != _SETTLED["no_text"] for one in every):
        return ""
    return (
        f"All {len(lines)} questions failed, because there is no text to read; none counts as “not"
        " entailed”."
    )


def _each(
    known: Judgments, text: _Text, unit: _Unit, heads: Sequence[tuple[str, str]]
) -> Iterator[EachCitation]:
    """Nothing for a statement with one citation: all of them together are that one."""
    for head, (measure, judge) in enumerate(heads):
        if measure != "citation_recall" or len(unit.citations) < 2:
            continue
        for number in unit.citations:
            alone, rest = (
                known.judgment(text, (name, unit.part, unit.position, number), judge)
                for name in ("citation_alone", "citation_rest")
            )
            if alone or rest:
                yield EachCitation(head, int(number), alone, rest)


def _graded(known: Judgments, text: _Text) -> Iterator[Block]:
    """A block per rubric that asks about a text: its criteria, and what each judge said."""
    rubrics: dict[str, list[tuple[_Place, _Asked, Criterion]]] = {}
    for place, asked in known.asked.get(text, {}).items():
        if asked.instrument in RUBRIC:
            criterion = read_criterion(str(asked.context))
            name = place[0].removesuffix(f"_{criterion.criterion}")
            rubrics.setdefault(name, []).append((place, asked, criterion))
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
            lines.append(Line(position, part, asks, -1, -1, [], [], said))
        heads = [Asked("which grade?", rubric, judge) for judge in known.graders]
        title = f"Rubric {rubric}: what grade does each criterion give?"
        yield Block(f"rubric {rubric}", title, "criterion", heads, lines)
