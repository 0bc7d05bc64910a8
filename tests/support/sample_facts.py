"""Make data/sample_facts: invented visits, reports and sections, texts with planted
faults, what two annotators counted or marked in them.

    python -m tests.support.sample_facts data/sample_facts

The same files on every machine. What is planted is in planted/: facts.csv has every
fact of every text, rates.json what they were drawn by.
"""

import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.hospital_course import Course, Draws

MATERIAL = Path(__file__).with_suffix(".txt")
STATUSES = ("correct", "incorrect", "hallucinated", "omitted")
# System: how often it gets a fact of the reference wrong, leaves it out, adds one of
# its own (a chance for each fact of the reference), and says one in the reference's
# words.
SYSTEMS = {
    "careful": {"incorrect": 0.04, "omitted": 0.1, "hallucinated": 0.03, "copied": 0.6},
    "brief": {"incorrect": 0.06, "omitted": 0.45, "hallucinated": 0.02, "copied": 0.8},
    "wordy": {"incorrect": 0.1, "omitted": 0.12, "hallucinated": 0.3, "copied": 0.2},
    "careless": {
        "incorrect": 0.3,
        "omitted": 0.25,
        "hallucinated": 0.12,
        "copied": 0.4,
    },
}
# How often annotator_2 takes what was planted for something else, and for what.
MISREAD = dict.fromkeys(STATUSES, 0.15)
READ_AS = {
    "correct": ("incorrect",),
    "incorrect": ("correct", "hallucinated and omitted"),
    "hallucinated": ("incorrect",),
    "omitted": ("unnoticed",),
}
# The same where phrases are marked: most of what is correct is left alone.
MISMARKED = {**MISREAD, "correct": 0.05}
MARKED_AS = {
    "correct": ("hallucinated", "omitted"),
    "incorrect": ("correct",),
    "hallucinated": ("unnoticed",),
    "omitted": ("unnoticed",),
}


class Study(NamedTuple):
    """Documents of a kind; its name begins the headings of MATERIAL that they are made of.

    `facts`: of a document, from and to. `marked`: annotators mark phrases, and do not
    count facts.
    """

    name: str
    course: Course
    facts: tuple[int, int]
    task: str = "note"
    filler: str = "filler"
    marked: bool = False


def _section(name: str) -> Study:
    return Study(name, Course(20261126, 16, name, {}), (5, 8), marked=True)


STUDIES = (
    Study("facts", Course(20261126, 30, "visit", {}), (6, 9)),
    Study(
        "radiology",
        Course(20261126, 30, "report", {}),
        (6, 9),
        "impression",
        "radiology filler",
    ),
    *map(_section, ("hpi", "assessment", "exam", "results")),
)


class Fact(NamedTuple):
    """Who says it, if anybody, and the three wordings; the first has the slot, the others $."""

    speaker: str
    says: str
    noted: str
    reworded: str


Chosen = list[tuple[Fact, str]]  # the facts of a document, each with its value


def material(path: Path = MATERIAL) -> dict[str, list[str]]:
    """The lines of each heading."""
    by_heading: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            by_heading[line[2:]] = []
        elif not line.startswith("#"):
            list(by_heading.values())[-1].append(line)
    return by_heading


def spoken(line: str) -> tuple[str, str]:
    """Who speaks, if anybody, and the rest."""
    match = re.fullmatch(r"(?:(patient|doctor): )?(.+)", line)
    assert match is not None
    return match[1] or "", match[2]


def fact_of(line: str) -> Fact:
    speaker, rest = spoken(line)
    return Fact(speaker, *rest.split(" ~ "))


def slot(fact: Fact) -> list[str]:
    match = re.search(r"\{(.+?)\}", fact.says)
    assert match is not None
    return match[1].split("|")


def fill_in(text: str, value: str) -> str:
    text = re.sub(r"\{.+?\}", value, text).replace("$", value)
    return re.sub(r"^\[?.", lambda match: match[0].upper(), text)


def make_source(
    draws: Draws, facts: tuple[int, int], pool: Sequence[Fact], filler: Sequence[str]
) -> tuple[Chosen, list[dict[str, str]]]:
    """A document's facts, and the passages: one for each, and two without."""
    chosen = draws.some(pool, draws.choice(range(facts[0], facts[1] + 1)))
    valued = [(fact, draws.choice(slot(fact))) for fact in chosen]
    turns = [
        {"speaker": f.speaker, "text": fill_in(f.says, value)} for f, value in valued
    ]
    for line in draws.some(filler, 2):
        speaker, text = spoken(line)
        turns.insert(
            draws.choice(range(len(turns))), {"speaker": speaker, "text": text}
        )
    return valued, turns


def make_text(
    draws: Draws, facts: Chosen, unsaid: Sequence[str], rates: Mapping[str, float]
) -> tuple[list[str], list[dict[str, Any]]]:
    """The sentences of a system's text, and its facts with the status that was planted."""
    sentences, planted, extra = [], [], 0
    for number, (fact, right) in enumerate(facts):
        chances = {name: rates[name] for name in ("incorrect", "omitted")}
        status = draws.weighed({**chances, "correct": 1 - sum(chances.values())})
        copied = draws.chance(rates["copied"])
        wrong = [other for other in slot(fact) if other != right]
        value = draws.choice(wrong) if status == "incorrect" else right
        if status != "omitted":
            sentences.append(fill_in(fact.noted if copied else fact.reworded, value))
        planted.append({"fact": number, "status": status})
        extra += draws.chance(rates["hallucinated"])
    more = draws.some(unsaid, extra)
    planted += [
        {"fact": len(facts) + n, "status": "hallucinated"} for n in range(extra)
    ]
    return sentences + more, planted


def joined(sentences: Iterable[str]) -> tuple[str, list[dict[str, Any]]]:
    """A line for each, and where in the text the phrases lie that had brackets around them."""
    text, spans = "", []
    for sentence in sentences:
        before, _, rest = sentence.partition("[")
        phrase, _, after = rest.partition("]")
        start = len(text) + len(before)
        spans.append({"start": start, "end": start + len(phrase), "text": phrase})
        text += before + phrase + after + "\n"
    return text.removesuffix("\n"), spans


def count(statuses: Sequence[str], facts: int) -> dict[str, int]:
    """The counts of what an annotator read; `unnoticed` is no fact of the reference either."""
    counts = Counter(part for status in statuses for part in status.split(" and "))
    known = facts - statuses.count("unnoticed")
    return {name: counts[name] for name in STATUSES} | {"reference_facts": known}


def mark(
    planted: Sequence[dict[str, Any]],
    statuses: Sequence[str],
    spans: Iterable[dict[str, Any]],
    reference: Sequence[dict[str, Any]],
) -> dict[str, list[dict[str, Any]]]:
    """The phrases that an annotator marks: wrong values are hallucinated too."""
    marked: dict[str, list[dict[str, Any]]] = {"hallucinated": [], "omitted": []}
    its = iter(spans)
    for fact, status in zip(planted, statuses, strict=True):
        span = None if fact["status"] == "omitted" else next(its)
        if span and status in ("hallucinated", "incorrect"):
            marked["hallucinated"].append(span)
        elif status == "omitted":
            marked["omitted"].append(reference[fact["fact"]])
    return marked


def second_reading(
    draws: Draws,
    status: str,
    chances: Mapping[str, float],
    read_as: Mapping[str, Sequence[str]],
) -> str:
    return draws.choice(read_as[status]) if draws.chance(chances[status]) else status


class Files(NamedTuple):
    """The rows of the folder's files."""

    sources: list[dict[str, Any]]
    texts: list[dict[str, Any]]
    counts: list[dict[str, Any]]
    phrases: list[dict[str, Any]]
    planted: list[dict[str, Any]]


def add(
    study: Study, number: int, lines: Mapping[str, Sequence[str]], files: Files
) -> None:
    """Add a document, its texts and what was planted and found in them."""
    key, pool = f"sample_{study.name}", [fact_of(line) for line in lines[study.name]]
    doc_id = f"{study.course.doc_id}_{number + 1:02d}"
    draws = Draws(study.course, key, number)
    facts, turns = make_source(draws, study.facts, pool, lines[study.filler])
    files.sources.append({"doc_id": doc_id, "task": study.task, "passages": turns})
    reference, noted = joined(fill_in(fact.noted, value) for fact, value in facts)
    files.texts.append({"doc_id": doc_id, "author": "reference", "text": reference})
    readings = (MISMARKED, MARKED_AS) if study.marked else (MISREAD, READ_AS)
    for system, rates in SYSTEMS.items():
        of = {"doc_id": doc_id, "author": system}
        draws = Draws(study.course, key, number, system)
        sentences, its = make_text(draws, facts, lines[unsaid_of(study)], rates)
        text, spans = joined(sentences)
        files.texts.append(of | ({"text": text} if text else {"status": "error"}))
        first = [fact["status"] for fact in its]
        second = [second_reading(draws, status, *readings) for status in first]
        of = {"study": study.name} | of
        for fact, read in zip(its, second, strict=True):
            files.planted.append(of | fact | {"annotator_2": read})
        for rater, read in (("annotator_1", first), ("annotator_2", second)):
            by = of | {"rater": rater}
            if study.marked:
                files.phrases.append(by | mark(its, read, spans, noted))
            else:
                files.counts.append(by | count(read, len(facts)))


def unsaid_of(study: Study) -> str:
    """The heading of what no document of the study says."""
    return "unsaid" if study.name == "facts" else f"{study.name} unsaid"


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a .csv or .jsonl."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        if path.suffix == ".jsonl":
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            return
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write(folder: Path) -> None:
    """Write the folder's files."""
    lines, files = material(), Files([], [], [], [], [])
    for study in STUDIES:
        for number in range(study.course.stays):
            add(study, number, lines, files)
    write_rows(folder / "sources.jsonl", files.sources)
    write_rows(folder / "texts.jsonl", files.texts)
    write_rows(folder / "fact_counts.csv", files.counts)
    write_rows(folder / "phrases.jsonl", files.phrases)
    write_rows(folder / "planted/facts.csv", files.planted)
    rates = {"systems": SYSTEMS, "misread": MISREAD, "read_as": READ_AS}
    rates |= {"mismarked": MISMARKED, "marked_as": MARKED_AS}
    (folder / "planted/rates.json").write_text(
        json.dumps(rates, indent=2) + "\n", "utf-8"
    )


if __name__ == "__main__":
    write(Path(sys.argv[1]))
