"""What judges answered: counted, so that nothing is silent, and judgment by judgment."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from metassay.format.frames import rows
from metassay.format.numbers import counted
from metassay.judges.criteria import RUBRIC, Criterion, Scale, read_criterion
from metassay.reporting.contract import (
    Block,
    BlockHead,
    EachCitation,
    Judgment,
    Line,
    Rating,
)
from metassay.reporting.keys import part_rank
from metassay.scoring.pairing.instruments import Grade
from metassay.scoring.pairing.measures import MEASURES
from metassay.scoring.pairing.record import Question
from metassay.tables.names import ALL_CITATIONS, FULL, REFERENCE, base_metric

FOR, AGAINST, UNKNOWN, NEUTRAL = "for", "against", "unknown", "neutral"
QUESTIONS = {
    question.name: question
    for measure in MEASURES.values()
    for question in measure.questions
}
# Of these a judge needs no answer where the citations together decide, and then gives
# none.
ONE_CITATION = frozenset(name for name, q in QUESTIONS.items() if q.units == "citation")

_SIDES = {
    "entailed": FOR,
    "not_entailed": AGAINST,
    "contradicted": AGAINST,
    "neutral": NEUTRAL,
    "same": FOR,
    "different": AGAINST,
}
_OTHERS = {FOR: AGAINST, AGAINST: FOR}
# by what the answer is worth
_BETTER = {1.0: "this text", 0.5: "neither", 0.0: "the other text"}
_FAILURES = ("unparsed", "refused", "truncated", "error")
_ANSWERS_SETTLED = (
    "no_evidence",
    "not_applicable",
    "no_text",
    "no_claims",
    "no_reference",
)
COLUMNS = (
    "judge",
    "measure",
    "places",
    "questions",
    "answered",
    "repaired",
    "abstained",
    *_FAILURES,
    "not_needed",
    "not_judged",
    *_ANSWERS_SETTLED,
)


class _BlockWords(NamedTuple):
    """Of a block of lines below a text: whose units it has, of which kind, and its title."""

    owner: str
    units: str
    title: str


# Nobody is asked about `claims`.
_BLOCKS = {
    "claims": _BlockWords(
        owner="reference", units="claim", title="Claims of the reference"
    ),
    "claim_recall": _BlockWords(
        owner="reference",
        units="claim",
        title="Claim recall: is each claim of the reference in this text?",
    ),
    "claim_precision": _BlockWords(
        owner="text",
        units="claim",
        title="Claim precision: is each claim of this text in the reference?",
    ),
    "statements": _BlockWords(
        owner="text",
        units="statement",
        title="Statements: does the source support each?",
    ),
    "same_question": _BlockWords(
        owner="text",
        units="text",
        title="The same question: does this text ask what the reference asks?",
    ),
    "preferences": _BlockWords(
        owner="text",
        units="rival",
        title=(
            "Preferences: is this text better than another’s? Judges also read the "
            "reference, or the source where there is none."
        ),
    ),
}

# A reference is seldom written with citations. What has none isn't asked for them: it
# would fail line by line for what nobody wanted of it.
_CITED = "citation_recall"

# What judges are asked there by a measure, where its instrument does not say it.
_ASKS = {
    "claim_recall": "in this text?",
    "claim_recall_grade": "how far in this text?",
    "claim_precision": "in the reference?",
    "citation_recall": "in its citations together?",
    "faithfulness": "in the passages aligned with it?",
    "claim_contradiction": "does the reference entail or contradict it?",
    "preference_first": "which is better, this one shown first?",
    "preference_second": "which is better, this one shown second?",
}


class Answer(NamedTuple):
    """What is shown of a row of table `judgments`."""

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


def judgment_of(answer: Answer | None, question: Question | Criterion) -> Judgment:
    """Put one answer into words and find its side; None is an answer that is not there.

    A label is for the text or against it by what it says of it, a grade by the better
    or the worse half of its scale, and every penalty is against it. Without a citation
    the others should not do, so an answer about these counts the other way round.
    """
    if answer is None:
        needed = not isinstance(question, Question) or question.name not in ONE_CITATION
        return (
            Judgment("not judged", UNKNOWN)
            if needed
            else Judgment("not needed", NEUTRAL)
        )
    quotes = [
        quote + ("" if start >= 0 else " (not in the text)")
        for quote, start in zip(answer.quotes, answer.quote_starts, strict=True)
    ]
    why = answer.explanation or ""
    if answer.status != "ok":
        word = (
            "abstained" if answer.status == "abstained" else f"failed: {answer.status}"
        )
        return Judgment(word, UNKNOWN, answer.probability, why, quotes)
    if isinstance(question, Question):
        word, side = _describe_answer(answer, question)
    else:
        word, side, anchor = _describe_grade(float(answer.grade or 0.0), question)
        why = "; ".join(filter(None, (anchor, why)))
    return Judgment(word, side, answer.probability, why, quotes)


def _describe_answer(answer: Answer, question: Question) -> tuple[str, str]:
    scale = question.instrument.answer
    if isinstance(scale, Grade):
        grade = float(answer.grade or 0.0)
        share = (grade - scale.low) / (scale.high - scale.low)
        return f"graded {grade:g} of {scale.high:g}", _half(share)
    label = str(answer.label)
    worth = question.counts.get(label, 0.0)
    if question.units == "rival":
        return f"labelled {_BETTER[worth]}", _half(worth)
    side = _SIDES.get(label) or _half(worth)
    if question.name == "citation_rest":
        side = _OTHERS[side]
    prefix = "" if label in ("entailed", "not_entailed") else "labelled "
    return prefix + label.replace("_", " "), side


def _describe_grade(grade: float, criterion: Criterion) -> tuple[str, str, str]:
    """Return word, side, and what the level says."""
    low, high = criterion.bounds
    if not isinstance(criterion, Scale):
        most = "" if high is None else f" of at most {high}"
        return f"graded {grade:g}{most}", AGAINST if grade else FOR, ""
    share = (grade - low) / ((high or 0) - low)
    anchor = criterion.levels.get(f"{grade:g}", "between two levels")
    side = _half(share if criterion.better == "higher" else 1 - share)
    return f"graded {grade:g} on {low} to {high}", side, anchor


def _half(share: float) -> str:
    if share == 0.5:
        return NEUTRAL
    return FOR if share > 0.5 else AGAINST


def answers_table(pairs: pd.DataFrame, judgments: pd.DataFrame) -> pd.DataFrame:
    """Return a row per judge and measure: places in measures, by what came of their question.

    `questions` counts those put to the judge, equal ones once; the other counts are of
    places and sum to `places`, but for `repaired`. answered: the status is ok.
    `repaired`: those of them whose answer was not exactly in the form that was asked
    for. `not_needed`: no answer, because the citations together decide; `not_judged`:
    no answer, and nobody said why. The columns after it were settled without asking
    (pairs.settled).
    """
    lines = []
    statuses = {
        judge: dict(zip(answers["pair_id"], answers["status"], strict=True))
        for judge, answers in judgments.groupby("judge", sort=True)
    }
    repaired = (
        judgments[judgments["repaired"].astype("bool")]
        .groupby("judge")["pair_id"]
        .agg(set)
    )
    for measure, places in pairs.groupby("measure", sort=True):
        settled = places["settled"].value_counts()
        ids = places.loc[places["settled"].isna(), "pair_id"]
        absent = "not_needed" if measure in ONE_CITATION else "not_judged"
        for judge, of_judge in statuses.items():
            by_status = (
                ids.map(of_judge)
                .fillna(absent)
                .replace("ok", "answered")
                .value_counts()
            )
            counts = {
                **settled,
                **by_status,
                "repaired": ids.isin(repaired.get(judge, ())).sum(),
            }
            numbers = (int(counts.get(name, 0)) for name in COLUMNS[4:])
            lines.append([judge, measure, len(places), ids.nunique(), *numbers])
    table = pd.DataFrame(lines, columns=list(COLUMNS))
    return table.sort_values(["judge", "measure"]).reset_index(drop=True)


def unanswered(table: pd.DataFrame) -> list[str]:
    """Say what is missing of each judge, by why; `table` is of `answers_table`."""
    lines = []
    reasons = [*_FAILURES, "not_judged"]
    for judge, sums in table.groupby("judge")[["places", *reasons]].sum().iterrows():
        why = ", ".join(
            f"{sums[r]:,} {r.replace('_', ' ')}" for r in reasons if sums[r]
        )
        if why:
            places = counted(int(sums["places"]), "place")
            lines.append(
                f"{judge} has no answer in {sums[reasons].sum():,} of {places}: {why}."
            )
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


class _Pair(NamedTuple):
    """A question as it was asked; of a rubric, `context` is a criterion."""

    pair_id: str
    settled: str | None
    instrument: str
    context: str | None


_Text = tuple[str, str]  # doc_id, author
_Place = tuple[str, str, int, int]  # measure, part, position, citation
# part, start and end of a unit
Locate = Callable[[str, int | None, int | None], tuple[int, int]]


@dataclass(frozen=True)
class Judgments:
    """Units, pairs and judgments, by where they belong; `graders` answered a rubric."""

    judges: list[str]
    graders: list[str]
    units: dict[tuple[str, str, str], list[_Unit]]
    questions: dict[_Text, dict[_Place, _Pair]]
    answers: dict[tuple[str, str], Answer]
    aligned: dict[tuple[str, str, str, int], list[int]]
    rivals: dict[str, list[str]]

    def judgment(self, text: _Text, place: _Place, judge: str) -> Judgment | None:
        """None where the question was not asked."""
        pair = self.questions.get(text, {}).get(place)
        if pair is None:
            return None
        if pair.settled is not None:
            return _SETTLED[pair.settled]
        return judgment_of(self.answers.get((pair.pair_id, judge)), _question(place[0]))


def _question(measure: str) -> Question:
    return QUESTIONS[base_metric(measure)]


def who_answered(
    pairs: pd.DataFrame, judgments: pd.DataFrame
) -> tuple[list[str], list[str]]:
    """Return judges, and those of them who answered a rubric."""
    graded = judgments["pair_id"].isin(
        pairs["pair_id"][pairs["instrument"].isin(RUBRIC)]
    )
    return sorted(set(judgments["judge"])), sorted(set(judgments["judge"][graded]))


def index_judgments(
    units: pd.DataFrame,
    pairs: pd.DataFrame,
    judgments: pd.DataFrame,
    alignments: pd.DataFrame | None,
    names: Mapping[str, str] | None = None,
    judges: tuple[list[str], list[str]] | None = None,
) -> Judgments:
    """Index the tables; premises are not touched.

    `names` are of authors as table `pairs` was made, by how they are called now: rivals
    are counted in the order of those. `judges` are of `who_answered`, where these
    tables are a part of all.
    """
    by_text: dict[tuple[str, str, str], list[_Unit]] = {}
    for doc_id, author, *unit in rows(units, "doc_id", "author", *_Unit._fields):
        by_text.setdefault((doc_id, author, unit[0]), []).append(_Unit(*unit))
    questions: dict[_Text, dict[_Place, _Pair]] = {}
    place = ("measure", "part", "position", "citation")
    for doc_id, author, *row in rows(pairs, "doc_id", "author", *place, *_Pair._fields):
        measure, part, position, citation, *question = row
        of_text = questions.setdefault((doc_id, author), {})
        of_text[measure, part, position, citation] = _Pair(*question)
    answers = {
        (pair_id, judge): Answer(*answer)
        for pair_id, judge, *answer in rows(
            judgments, "pair_id", "judge", *Answer._fields
        )
    }
    # best first; methods by their name
    aligned: dict[tuple[str, str, str, int], list[int]] = {}
    statement = ("doc_id", "author", "part", "position")
    for *key, passages in (
        () if alignments is None else rows(alignments, *statement, "passages")
    ):
        numbers = aligned.setdefault(tuple(key), [])
        numbers += [int(number) for number in passages if number not in numbers]
    # Of each document the systems that are compared, by their place in
    # `pairs.position`.
    compared = [
        name for name, question in QUESTIONS.items() if question.units == "rival"
    ]
    authors = (
        pairs[pairs["measure"].isin(compared)].groupby("doc_id")["author"].unique()
    )
    rivals = {
        str(doc_id): sorted(of, key=lambda author: (names or {}).get(author, author))
        for doc_id, of in authors.items()
    }
    judges = judges or who_answered(pairs, judgments)
    return Judgments(*judges, by_text, questions, answers, aligned, rivals)


# block and number of a unit in the whole text
Rated = Mapping[tuple[str, int], Sequence[Rating]]


def blocks(
    judgments: Judgments, doc_id: str, author: str, rated: Rated, locate: Locate
) -> list[Block]:
    """Return the blocks of one text: reference claims in it, its claims, statements, rubrics.

    `rated` are people's ratings of single units, by id of the block and the unit's
    number in the whole text; `locate` says where a unit of the text itself stands in
    it.
    """
    text, blocks = (doc_id, author), []
    measures = sorted({measure for measure, *_ in judgments.questions.get(text, {})})
    others = ("claim_recall", "claim_precision") if author == REFERENCE else ("claims",)
    for name, words in _BLOCKS.items():
        owner, kind = words.owner, words.units
        if name in others:
            continue
        about = [
            q.name for q in QUESTIONS.values() if (q.whose, q.units) == (owner, kind)
        ]
        of_block = [
            m for question in about for m in measures if base_metric(m) == question
        ]
        if name == "claims":
            of_block = []
        if author == REFERENCE and not _cites(judgments, text):
            of_block = [m for m in of_block if base_metric(m) != _CITED]
        if kind not in ("claim", "statement") and not of_block:
            continue
        heads = [
            BlockHead(
                _ASKS.get(base_metric(m)) or _question(m).instrument.asks,
                m,
                judge,
            )
            for m in of_block
            for judge in judgments.judges
        ]
        place = locate if owner == "text" or author == REFERENCE else None
        lines = [
            _line(judgments, text, unit, heads, place, rated.get((name, number), ()))
            for number, unit in enumerate(_units(judgments, text, owner, kind))
        ]
        lines.sort(key=lambda line: (part_rank(line.part), line.number))
        noun = kind if kind in ("claim", "statement") else "text"
        blocks.append(Block(name, words.title, noun, heads, lines, _no_text(lines)))
    return [block for block in [*blocks, *_rubrics(judgments, text)] if block.lines]


def _cites(judgments: Judgments, text: _Text) -> bool:
    """Whether some statement of the text has a citation."""
    statements = judgments.units.get((*text, "statement"), [])
    return any(len(statement.citations) > 0 for statement in statements)


def _units(judgments: Judgments, text: _Text, owner: str, kind: str) -> list[_Unit]:
    """Return units in the order in which `index_judgments` met them: that of the whole text."""
    doc_id, author = text
    whole = _Unit(kind, FULL, 0, "this text", [], None, None)
    if kind == "text":
        return [whole]
    if kind == "rival":
        rivals = [
            r for r in enumerate(judgments.rivals.get(doc_id, [])) if r[1] != author
        ]
        return [
            whole._replace(position=n, text=f"beside {rival}") for n, rival in rivals
        ]
    return judgments.units.get(
        (doc_id, REFERENCE if owner == "reference" else author, kind), []
    )


def _line(
    judgments: Judgments,
    text: _Text,
    unit: _Unit,
    heads: Sequence[BlockHead],
    locate: Locate | None,
    people: Sequence[Rating],
) -> Line:
    place = (unit.part, unit.position)
    start, end = locate(unit.part, unit.start, unit.end) if locate else (-1, -1)
    return Line(
        unit.position,
        unit.part,
        unit.text or "(the part could not be taken apart)",
        start,
        end,
        [int(number) for number in unit.citations],
        judgments.aligned.get((*text, *place), []) if unit.kind == "statement" else [],
        [
            judgments.judgment(text, (head.measure, *place, ALL_CITATIONS), head.judge)
            or _UNASKED
            for head in heads
        ],
        [*_each_citation(judgments, text, unit, heads)],
        people,
    )


def _no_text(lines: Sequence[Line]) -> str:
    """Return what is shown for lines that were all settled, because there is no text."""
    every = [judgment for line in lines for judgment in line.judgments]
    if not every or any(judgment != _SETTLED["no_text"] for judgment in every):
        return ""
    return (
        f"All {len(lines)} questions failed, because there is no text to read; none counts as “not"
        " entailed”."
    )


def _each_citation(
    judgments: Judgments, text: _Text, unit: _Unit, heads: Sequence[BlockHead]
) -> Iterator[EachCitation]:
    """Nothing for a statement with one citation: all of them together are that one."""
    for place, head in enumerate(heads):
        if head.measure != _CITED or len(unit.citations) < 2:
            continue
        for number in unit.citations:
            alone, rest = (
                judgments.judgment(
                    text, (name, unit.part, unit.position, number), head.judge
                )
                for name in ("citation_alone", "citation_rest")
            )
            if alone or rest:
                yield EachCitation(place, int(number), alone, rest)


def _rubrics(judgments: Judgments, text: _Text) -> Iterator[Block]:
    """Yield a block per rubric that asks about a text: its criteria, and what each judge said."""
    rubrics: dict[str, list[tuple[_Place, _Pair, Criterion]]] = {}
    for place, pair in judgments.questions.get(text, {}).items():
        if pair.instrument in RUBRIC:
            criterion = read_criterion(str(pair.context))
            name = place[0].removesuffix(f"_{criterion.criterion}")
            rubrics.setdefault(name, []).append((place, pair, criterion))
    for rubric, questions in sorted(rubrics.items()):
        lines = []
        for place, pair, criterion in sorted(
            questions, key=lambda q: (*q[0][2:], q[0][0])
        ):
            _, part, position, citation = place
            beside = "" if citation == ALL_CITATIONS else f" (reference {citation + 1})"
            asks = f"{criterion.criterion}: {criterion.asks}{beside}"
            grades = [
                judgment_of(judgments.answers.get((pair.pair_id, judge)), criterion)
                if pair.settled is None
                else _SETTLED_GRADES[pair.settled]
                for judge in judgments.graders
            ]
            lines.append(Line(position, part, asks, -1, -1, [], [], grades))
        heads = [
            BlockHead("which grade?", rubric, judge) for judge in judgments.graders
        ]
        title = f"Rubric {rubric}: what grade does each criterion give?"
        yield Block(f"rubric {rubric}", title, "criterion", heads, lines)
