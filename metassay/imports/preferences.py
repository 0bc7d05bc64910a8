"""Preferences between two texts: AlpacaEval, MT-bench, Arena, JudgeBench, LLMBar, and tables.

Each row names two systems, or has their two texts, and says which is better. Judges that were asked
in both orders have one verdict: the text that they prefer in both, else a tie.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from metassay.core.errors import shown
from metassay.imports.items import (
    PERSON,
    Comparison,
    Item,
    Object,
    Task,
    Tool,
    digest,
    field_of,
    first,
    key,
    number,
    objects,
    text,
    usual_field,
)
from metassay.imports.records import records
from metassay.tabular.column_synonyms import WINNERS, Role, fold_name
from metassay.tabular.numbers import is_blank
from metassay.tabular.preferences import (
    CONTENTS,
    NAMES,
    SYSTEMS,
    TEXTS,
    Pair,
    is_pairs,
    preferred_share,
    two_fields,
)
from metassay.tabular.rows import Place

NAME = "preference"
_RATERS = (
    "annotator",
    "judge",
    "rater",
    "worker",
    "annotator_id",
    "worker_id",
    "user",
    "expert",
)
# Names of judges that are programs; every other name is a person's.
_JUDGE = re.compile(
    r"(?:.*_)?(?:gpt\w*|chatgpt\w*|claude\w*|gemini\w*|llama\w*|mistral\w*|mixtral\w*|qwen\w*"
    r"|deepseek\w*|palm\w*|command|cohere|prometheus\w*|judgelm|pandalm|autoj|alpaca\w*|weighted"
    r"|llm|auto\w*|reward\w*|judge|evaluator|arena_hard|vanilla|skywork\w*|o[134]|pair)(?:_.*)?"
)


def read(task: Task) -> Iterator[Item | Comparison]:
    """Yield each comparison, and its two texts where the record has them."""
    counts = _Counts()
    for place, record in records(task.path, task.problems):
        pair = _pair(record)
        if pair is None:
            what = "does not name two systems or two texts"
            task.problems.add(
                place, what, "docs/importing.md has the fields that are read"
            )
            continue
        yield from _texts(place, record, pair)
        for judgment in _judgments(record, pair, task, counts):
            yield Comparison(
                place=place,
                record=record,
                doc=_document(record),
                first=pair.first,
                second=pair.second,
                name=NAME,
                share=judgment.share,
                by=judgment.by,
                person=judgment.person,
                games=judgment.games,
            )
    _note(task, counts)


@dataclass(frozen=True)
class _Pair:
    """The names of the two systems, and the names of the fields with their texts."""

    first: str
    second: str
    names: tuple[str, str]  # the fields that tell them apart
    texts: tuple[object, object]


@dataclass(frozen=True)
class _Judgment:
    share: float | None
    by: str
    person: bool
    # In favour of the first text, shown first and shown second; where both were tried.
    games: tuple[float | None, float | None] | None = None


@dataclass
class _Counts:
    ties: int = 0
    inconsistent: int = 0
    unnamed: int = 0
    unread: Counter[str] = field(default_factory=Counter)


def _pair(record: Object) -> _Pair | None:
    """Find the two systems of a record; without names they are called by their fields' endings."""
    by_name = {fold_name(str(name)): str(name) for name in record}
    named = two_fields(by_name, SYSTEMS, NAMES)
    texts = two_fields(by_name, TEXTS, CONTENTS)
    contents = (record.get(texts[0]), record.get(texts[1])) if texts else (None, None)
    if named:
        first_name, second_name = key(record[named[0]]), key(record[named[1]])
        if first_name and second_name:
            return _Pair(first_name, second_name, named, contents)
    if texts:
        model = key(first(record, "response_model", "model"))
        ends = [fold_name(name).rpartition("_")[2].upper() for name in texts]
        if "CHOSEN" in ends:
            ends = ["chosen", "rejected"]
        names = [f"{model} {end}".strip() for end in ends]
        return _Pair(names[0], names[1], texts, contents)
    return None


def _document(record: Object) -> object:
    """Return the id of what both texts answer; turns of a dialogue are documents of their own."""
    doc = first(record, "question_id", "pair_id", "conversation_id")
    if doc is None:
        doc = usual_field([record], Role.DOC)
    if doc is None:
        doc = record.get("id")
    if doc is None:
        question = first(record, "instruction", "question", "prompt", "input")
        doc = (
            digest([question, first(record, "input")]) if question is not None else None
        )
    turn = first(record, "turn")
    return doc if doc is None or turn in (None, 1, "1") else f"{doc}#{turn}"


def _texts(place: Place, record: Object, pair: _Pair) -> Iterator[Item]:
    question = first(record, "instruction", "question", "prompt", "input", "context")
    for system, content in zip((pair.first, pair.second), pair.texts, strict=True):
        if content is not None:
            yield Item(
                place, record, (), _document(record), system, content, [text(question)]
            )


# ---- who prefers what


def _judgments(
    record: Object, pair: _Pair, task: Task, counts: _Counts
) -> Iterator[_Judgment]:
    """Yield the preference of each judge and person of a record."""
    by, person = _rater(record)
    if "winner_model_a" in record:  # a column per answer, of which one is 1
        yield _Judgment(_one_hot(record), by, person=True)
        return
    if "g1_winner" in record:  # FastChat's judge, in both orders
        games = [_share(record.get(name), pair, counts) for name in _GAMES]
        yield _join_orders(games, by, counts)
        return
    label = _winner_field(record)
    if "chosen" in record and "rejected" in record and not label:
        yield _Judgment(1.0, by, person)
        return
    if label:
        yield _Judgment(_share(record[label], pair, counts), by, person)
    if (
        "judgments" in record
    ):  # JudgeBench, the second game with the texts in the other order
        decisions = [
            field_of(judgment, "decision") for judgment in record["judgments"] or []
        ]
        games = [_share(decision, pair, counts) for decision in decisions]
        games[1:2] = [None if share is None else 1.0 - share for share in games[1:2]]
        by = key(record.get("judge_name")) or "judge"
        yield _join_orders(games, by, counts)
    for result in objects(
        record.get("results")
    ):  # LLMBar, already in the order of the record
        games = [
            _share(field_of(game, "winner"), pair, counts)
            for game in result.values()
            if isinstance(game, Mapping) and "winner" in game
        ]
        if games:
            by = key(task.path.parent.name) or "judge"
            yield _join_orders(games, by, counts)
            break


_GAMES = ("g1_winner", "g2_winner")


def _rater(record: Object) -> tuple[str, bool]:
    """Return who prefers, and whether that is a person."""
    by_name = {fold_name(str(name)): name for name in record}
    column = next((by_name[name] for name in _RATERS if name in by_name), None)
    value = record[column] if column is not None else None
    if isinstance(value, list):  # FastChat: the judge and its prompt
        value = " ".join(map(str, value))
    name = key(value)
    if not name:
        return PERSON, True
    is_judge = bool(_JUDGE.fullmatch(fold_name(name)))
    if column == "annotator" and "generator_1" in record:
        # AlpacaEval: annotators are configurations; people have numbers.
        is_judge = not name.isdecimal()
    return name, not is_judge


def _winner_field(record: Object) -> str | None:
    by_name = {fold_name(str(name)): str(name) for name in record}
    fields = [by_name[name] for name in WINNERS if name in by_name]
    if "rejected" in by_name:  # of two texts called chosen and rejected
        fields = [name for name in fields if fold_name(name) != "chosen"]
    return next(
        (name for name in fields if not isinstance(record[name], Mapping | list)), None
    )


def _one_hot(record: Object) -> float | None:
    won = [
        number(record.get(f"winner_{name}")) for name in ("model_a", "model_b", "tie")
    ]
    shares = [
        share for share, flag in zip((1.0, 0.0, 0.5), won, strict=True) if flag == 1
    ]
    return shares[0] if len(shares) == 1 else None


def _join_orders(games: list[float | None], by: str, counts: _Counts) -> _Judgment:
    """Return the verdict of a judge that was asked in both orders of the texts."""
    two = (games[0], games[1]) if len(games) == 2 else None
    return _Judgment(_combine(games, counts), by, person=False, games=two)


def _combine(games: list[float | None], counts: _Counts) -> float | None:
    """Return the text preferred in both orders, else a tie; with one verdict missing, the other."""
    known = [share for share in games if share is not None]
    if not known:
        return None
    counts.inconsistent += len(set(known)) > 1
    decided = {share for share in known if share != 0.5}
    return decided.pop() if len(decided) == 1 else 0.5


def _share(value: object, pair: _Pair, counts: _Counts) -> float | None:
    """Return 1 for the first text, 0 for the second, .5 for a tie; None if missing or unknown."""
    if value is None or (
        isinstance(value, str) and (is_blank(value) or value == "error")
    ):
        return None
    two = Pair(first=pair.first, second=pair.second, columns=pair.names)
    share = preferred_share(value, number(value), two)
    if share is None:
        counts.unread[key(value)] += 1
    elif share == 0.5:
        counts.ties += 1
    return share


def _note(task: Task, counts: _Counts) -> None:
    for word, count in counts.unread.items():
        what = (
            f"for {shown(word)}, which is neither of the two texts nor a tie: missing"
        )
        task.note(count, "preference", what, "write A, B or tie")
    what = "different in the two orders of the texts: a tie"
    task.note(counts.inconsistent, "preference", what)
    task.note(counts.ties, "tie", "counted as half a win of each text")


TOOL = Tool(
    name="preferences",
    what="preferences between two texts",
    read=read,
    patterns=("*.json", "*.jsonl", "*.csv", "*.parquet"),
    marks=(
        ("preference", "generator_1", "generator_2"),
        ("model_a", "model_b", "winner*"),
        ("model_1", "model_2", "g1_winner"),
        ("pair_id", "response_A", "response_B"),
        ("output_1", "output_2", "label"),
    ),
    weak_marks=(("chosen", "rejected"),),
    recognize=is_pairs,
)
