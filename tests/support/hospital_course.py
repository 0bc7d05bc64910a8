"""Make data/hospital_course: invented hospital stays, summaries with planted errors, labels.

    python -m tests.support.hospital_course data/hospital_course
    python -m tests.support.hospital_course data/hospital_course_training

The same files on every machine: the numbers are drawn by `random.Random.random` alone.
What is planted is in planted/: elements.csv has every element, rates.json what they
were drawn by.
"""

import csv
import json
import random
import re
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

MATERIAL = Path(__file__).with_suffix(".txt")
NOTES = {
    "E": "Emergency department note",
    "A": "Admission note",
    "P": "Progress note, day 2",
    "C": "Consult note",
    "Q": "Progress note, day 4",
    "D": "Discharge note",
}
# System: how often it copies an element, and how many more errors it makes than the
# average one.
SYSTEMS = {"copying": (0.95, 0.6), "trimming": (0.7, 0.9), "rewording": (0.35, 1.2)}
SYSTEMS |= {"retelling": (0.05, 1.3)}
# the chance of an error in the first sentence, and how it rises
FIRST, MORE = 0.06, 0.04
CATEGORIES = {"incorrect": 0.4, "missing": 0.25, "not_in_notes": 0.35}
CRITICAL, DISAGREEMENT = 0.35, 0.1
SENTENCES = (5, 9)
REPEATED = 3  # sentences that the note of day 4 has from earlier ones
# who makes no error, and how often it copies
FAITHFUL, FAITHFUL_COPIES = "reference", 0.3

_T = TypeVar("_T")


class Course(NamedTuple):
    """A set of stays: what its draws begin with, and how large it is.

    `elements`: the share of sentences that have so many. `others`: the set whose
    sentences no summary of this one has. Only with `others` it has a reference by
    FAITHFUL.
    """

    seed: int
    stays: int
    doc_id: str
    elements: dict[int, float]
    raters: int = 2
    others: str = ""


COURSES = {
    "hospital_course": Course(20261126, 24, "stay", {1: 0.35, 2: 0.45, 3: 0.2}),
    # Sentences of one element are too few for two sets to have none in common.
    "hospital_course_training": Course(
        20261127,
        40,
        "training_stay",
        {2: 0.7, 3: 0.3},
        raters=1,
        others="hospital_course",
    ),
}


class Fact(NamedTuple):
    """What a note says and how a summary says it, with {a|b}, $0, (...) and %s in it."""

    note: str
    source: str
    reworded: str


class Stay(NamedTuple):
    """One stay: its facts in the order of the notes, each with the values that were drawn."""

    words: dict[str, str]
    facts: list[tuple[Fact, list[str]]]


class Draws:
    """Draws that are the same in every version of Python."""

    def __init__(self, course: Course, *key: object) -> None:
        self._random = random.Random("/".join(map(str, (course.seed, *key))))

    def chance(self, share: float) -> bool:
        return self._random.random() < share

    def choice(self, among: Sequence[_T]) -> _T:
        return among[int(self._random.random() * len(among))]

    def weighed(self, shares: dict[_T, float]) -> _T:
        left = self._random.random() * sum(shares.values())
        for name, share in shares.items():
            left -= share
            if left < 0:
                return name
        return name

    def some(self, among: Sequence[_T], count: int) -> list[_T]:
        """So many of them, in their order."""
        keys = sorted((self._random.random(), place) for place in range(len(among)))
        return [among[place] for place in sorted(place for _, place in keys[:count])]


def material() -> dict[str, list[str]]:
    """The lines of each heading."""
    by_heading: dict[str, list[str]] = {}
    for line in MATERIAL.read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            by_heading[line[2:]] = []
        elif not line.startswith("#"):
            list(by_heading.values())[-1].append(line)
    return by_heading


def facts_of(lines: Sequence[str]) -> list[Fact]:
    each = (re.fullmatch(r"(\w): (.+?)(?: ~ (.+))?", line) for line in lines)
    return [Fact(match[1], match[2], match[3] or "") for match in each if match]


def choices(fact: Fact) -> list[list[str]]:
    return [slot.split("|") for slot in re.findall(r"\{(.+?)\}", fact.source)]


def fill_in(
    text: str, values: Sequence[str], words: dict[str, str], *, short: bool = False
) -> str:
    """A fact's text with its values in it; `short`: without the qualifier."""
    for number, value in enumerate(values):
        text = text.replace(f"${number}", value)
        text = re.sub(r"\{.+?\}", lambda _, value=value: value, text, count=1)
    text = re.sub(r"\(.*?\)", "", text) if short else re.sub(r"[()]", " ", text)
    for mark, word in words.items():
        text = text.replace(mark, word)
    return " ".join(text.split())


def sentence(clauses: Sequence[str]) -> str:
    first, *others = clauses
    lower = [
        re.sub(r"^(She|He) ", lambda match: match[0].lower(), clause)
        for clause in others
    ]
    return ", and ".join([first[0].upper() + first[1:], *lower]) + "."


def doc_id_of(course: Course, number: int) -> str:
    return f"{course.doc_id}_{number + 1:02d}"


def make_stay(
    course: Course, number: int, lines: dict[str, list[str]]
) -> tuple[Stay, dict[str, Any]]:
    """A stay, and its line of sources.jsonl."""
    draws = Draws(course, "stay", number)
    illnesses = [name for name in lines if name not in ("common", "filler", "unsaid")]
    illness = illnesses[number % len(illnesses)]
    words = dict(
        zip(("%S", "%s", "%h", "%o"), ("She", "she", "her", "her"), strict=True)
    )
    if draws.chance(0.5):
        words = dict(zip(words, ("He", "he", "his", "him"), strict=True))
    common = facts_of(lines["common"])
    common = draws.some(common, 10 + draws.choice(range(len(common) - 9)))
    filler = facts_of(lines["filler"])
    filler = draws.some(filler, 4 + draws.choice(range(len(filler) - 3)))
    known, passages = [], []
    for letter, title in NOTES.items():
        facts = [
            fact
            for fact in (*facts_of(lines[illness]), *common, *filler)
            if fact.note == letter
        ]
        repeats = draws.some(passages, REPEATED) if letter == "Q" else []
        passages += [passage | {"group": title} for passage in repeats]
        for fact in facts:
            values = [draws.choice(slot) for slot in choices(fact)]
            passages.append(
                {
                    "text": sentence([fill_in(fact.source, values, words)]),
                    "group": title,
                }
            )
            known += [(fact, values)] if fact.reworded else []
    about = {"illness": illness}
    doc_id = doc_id_of(course, number)
    source = {
        "doc_id": doc_id,
        "task": "other",
        "passages": passages,
        "attributes": about,
    }
    return Stay(words, known), source


def error_rate(system: str, position: int) -> float:
    """The chance that an element of the sentence at this position, from 0, is an error."""
    if system == FAITHFUL:
        return 0.0
    return round(SYSTEMS[system][1] * (FIRST + MORE * position), 6)


def element(
    draws: Draws,
    stay: Stay,
    fact: tuple[Fact, list[str]],
    unsaid: Sequence[str],
    system: str,
    n: int,
) -> tuple[str, dict[str, Any]]:
    """An element of sentence n, and what was planted there."""
    (of, values), label, severity = fact, "correct", ""
    copied = draws.chance(FAITHFUL_COPIES if system == FAITHFUL else SYSTEMS[system][0])
    if draws.chance(error_rate(system, n)):
        label = draws.weighed(CATEGORIES)
        severity = "critical" if draws.chance(CRITICAL) else "minor"
    text = of.source if copied else of.reworded
    planted = {"copied": int(copied), "label": label, "severity": severity}
    if label == "not_in_notes":
        return draws.choice(unsaid), planted | {"copied": 0}
    if label == "incorrect":
        place = draws.choice(range(len(values)))
        others = [value for value in choices(of)[place] if value != values[place]]
        values = [*values[:place], draws.choice(others), *values[place + 1 :]]
    return fill_in(text, values, stay.words, short=label == "missing"), planted


def make_summary(
    course: Course,
    number: int,
    stay: Stay,
    unsaid: Sequence[str],
    system: str,
    others: Collection[str],
) -> tuple[list[str], list[dict[str, Any]]]:
    """The sentences of a summary, none of them in `others`, and what was planted in each element.

    The reference goes on until all facts are told.
    """
    draws = Draws(course, "summary", number, system)
    count = draws.choice(range(SENTENCES[0], SENTENCES[1] + 1))
    if system == FAITHFUL:
        count = len(stay.facts)
    sizes = [draws.weighed(course.elements) for _ in range(count)]
    facts = iter(draws.some(stay.facts, min(sum(sizes), len(stay.facts))))
    sentences, planted = list[str](), []
    for size in sizes:
        n = len(sentences)
        its = [fact for _, fact in zip(range(size), facts, strict=False)]
        elements = [element(draws, stay, fact, unsaid, system, n) for fact in its]
        text = sentence([text for text, _ in elements]) if elements else ""
        if text and text not in others:
            sentences.append(text)
            at = {"doc_id": doc_id_of(course, number), "author": system, "sentence": n}
            planted += [
                at | {"element": e} | drawn for e, (_, drawn) in enumerate(elements)
            ]
    return sentences, planted


def second_opinion(draws: Draws, planted: dict[str, Any]) -> dict[str, Any]:
    """What rater_2 says of an element: as planted, or now and then another label."""
    label, severity = planted["label"], planted["severity"]
    if draws.chance(DISAGREEMENT):
        label = draws.choice(
            [name for name in ("correct", *CATEGORIES) if name != label]
        )
        severity = "critical" if draws.chance(CRITICAL) else "minor"
    return labelled(label, severity)


def labelled(label: str, severity: str) -> dict[str, str]:
    return {"label": label} | ({} if label == "correct" else {"severity": severity})


def labels_of(
    course: Course, planted: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The lines of labels.jsonl: rater_1 labels what was planted."""
    by_sentence: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for row in planted:
        by_sentence.setdefault(
            (row["doc_id"], row["author"], row["sentence"]), []
        ).append(row)
    draws, lines = Draws(course, "labels"), []
    for key, its in by_sentence.items():
        at = dict(zip(("doc_id", "author", "sentence"), key, strict=True))
        first = [labelled(row["label"], row["severity"]) for row in its]
        second = [second_opinion(draws, row) for row in its]
        both = zip(("rater_1", "rater_2"), (first, second), strict=True)
        every = [at | {"rater": rater, "elements": labels} for rater, labels in both]
        lines += every[: course.raters]
    return lines


def rates(course: Course) -> dict[str, Any]:
    positions = range(SENTENCES[1])
    known = {
        "error_by_position": {
            system: [error_rate(system, n) for n in positions] for system in SYSTEMS
        },
        "category": CATEGORIES,
        "critical": CRITICAL,
        "copied": {system: copies for system, (copies, _) in SYSTEMS.items()},
        "disagreement": DISAGREEMENT,
    }
    if course.raters == 1:
        del known["disagreement"]
    return known


def make(course: Course) -> tuple[list[dict[str, Any]], ...]:
    """Lines of sources.jsonl and summaries.jsonl, and what was planted in each element."""
    lines = material()
    sources, summaries, planted = [], [], list[dict[str, Any]]()
    theirs = make(COURSES[course.others])[1] if course.others else []
    others = {text for summary in theirs for text in summary["sentences"]}
    for number in range(course.stays):
        stay, source = make_stay(course, number, lines)
        sources.append(source)
        for system in (*SYSTEMS, *[FAITHFUL] * bool(course.others)):
            sentences, its = make_summary(
                course, number, stay, lines["unsaid"], system, others
            )
            key = {"doc_id": source["doc_id"], "author": system}
            summaries.append(key | {"sentences": sentences})
            planted += its if system != FAITHFUL else []
    return sources, summaries, planted


def write(folder: Path, course: Course) -> None:
    """Write the folder's files."""
    sources, summaries, planted = make(course)
    (folder / "planted").mkdir(parents=True, exist_ok=True)
    _put(folder / "sources.jsonl", sources)
    _put(folder / "summaries.jsonl", summaries)
    _put(folder / "labels.jsonl", labels_of(course, planted))
    text = json.dumps(rates(course), indent=2) + "\n"
    (folder / "planted/rates.json").write_text(text, encoding="utf-8")
    with (folder / "planted/elements.csv").open(
        "w", encoding="utf-8", newline=""
    ) as file:
        writer = csv.DictWriter(file, list(planted[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(planted)


def _put(path: Path, lines: Sequence[dict[str, Any]]) -> None:
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]), COURSES[Path(sys.argv[1]).name])
