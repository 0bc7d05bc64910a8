"""Make data/sample_facts: invented visits, notes with planted faults, counts by two annotators.

    python -m tests.support.sample_facts data/sample_facts

The same files on every machine. What is planted is in planted/: facts.csv has every fact of every
text, rates.json what they were drawn by.
"""

import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.hospital_course import Course, Draws

MATERIAL = Path(__file__).with_suffix(".txt")
VISITS = Course(20261126, 30, "visit", {})
FACTS = (6, 9)  # of a visit
STATUSES = ("correct", "incorrect", "hallucinated", "omitted")
# System: how often it gets a fact of the reference wrong, leaves it out, adds one of its own (a
# chance for each fact of the reference), and says one in the reference's words.
SYSTEMS = {
    "careful": {"incorrect": 0.04, "omitted": 0.1, "hallucinated": 0.03, "copied": 0.6},
    "brief": {"incorrect": 0.06, "omitted": 0.45, "hallucinated": 0.02, "copied": 0.8},
    "wordy": {"incorrect": 0.1, "omitted": 0.12, "hallucinated": 0.3, "copied": 0.2},
    "careless": {"incorrect": 0.3, "omitted": 0.25, "hallucinated": 0.12, "copied": 0.4},
}
# How often annotator_2 takes what was planted for something else, and for what.
MISREAD = 0.15
READ_AS = {
    "correct": ("incorrect",),
    "incorrect": ("correct", "hallucinated and omitted"),
    "hallucinated": ("incorrect",),
    "omitted": ("unnoticed",),
}


class Fact(NamedTuple):
    """Who says it, and the three wordings; the first has the slot, the others $."""

    speaker: str
    says: str
    noted: str
    reworded: str


def material() -> dict[str, list[str]]:
    """The lines of each heading."""
    found: dict[str, list[str]] = {}
    for line in MATERIAL.read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            found[line[2:]] = []
        elif not line.startswith("#"):
            list(found.values())[-1].append(line)
    return found


def fact_of(line: str) -> Fact:
    speaker, _, rest = line.partition(": ")
    return Fact(speaker, *rest.split(" ~ "))


def slot(fact: Fact) -> list[str]:
    found = re.search(r"\{(.+?)\}", fact.says)
    assert found is not None
    return found[1].split("|")


def said(text: str, value: str) -> str:
    text = re.sub(r"\{.+?\}", value, text).replace("$", value)
    return text[0].upper() + text[1:]


def make_text(
    draws: Draws, facts: Sequence[tuple[Fact, str]], unsaid: Sequence[str], system: str
) -> tuple[list[str], list[dict[str, Any]]]:
    """The sentences of a system's text, and its facts with the status that was planted."""
    rates = SYSTEMS[system]
    sentences, planted, extra = [], [], 0
    for number, (fact, right) in enumerate(facts):
        chances = {name: rates[name] for name in ("incorrect", "omitted")}
        status = draws.weighed({**chances, "correct": 1 - sum(chances.values())})
        copied = draws.chance(rates["copied"])
        wrong = [other for other in slot(fact) if other != right]
        value = draws.one(wrong) if status == "incorrect" else right
        if status != "omitted":
            sentences.append(said(fact.noted if copied else fact.reworded, value))
        planted.append({"fact": number, "status": status})
        extra += draws.chance(rates["hallucinated"])
    more = draws.some(unsaid, extra)
    planted += [{"fact": len(facts) + n, "status": "hallucinated"} for n in range(extra)]
    return sentences + more, planted


def count(statuses: Iterable[str]) -> dict[str, int]:
    """The counts of what an annotator read; `unnoticed` is no fact of the reference either."""
    found = Counter(one for status in statuses for one in status.split(" and "))
    return {name: found[name] for name in STATUSES}


def second_reading(draws: Draws, status: str) -> str:
    return draws.one(READ_AS[status]) if draws.chance(MISREAD) else status


def write(folder: Path) -> None:
    """Write the folder's files."""
    lines = material()
    pool = [fact_of(line) for line in lines["facts"]]
    sources, texts, planted, counts = [], [], list[dict[str, Any]](), []
    for number in range(VISITS.stays):
        draws = Draws(VISITS, "sample_facts", number)
        doc_id = f"{VISITS.doc_id}_{number + 1:02d}"
        chosen = draws.some(pool, draws.one(range(FACTS[0], FACTS[1] + 1)))
        facts = [(fact, draws.one(slot(fact))) for fact in chosen]
        turns = [{"speaker": f.speaker, "text": said(f.says, value)} for f, value in facts]
        for line in draws.some(lines["filler"], 2):
            speaker, _, text = line.partition(": ")
            turns.insert(draws.one(range(len(turns))), {"speaker": speaker, "text": text})
        sources.append({"doc_id": doc_id, "task": "note", "passages": turns})
        reference = "\n".join(said(fact.noted, value) for fact, value in facts)
        texts.append({"doc_id": doc_id, "author": "reference", "text": reference})
        for system in SYSTEMS:
            key = {"doc_id": doc_id, "author": system}
            own = Draws(VISITS, "sample_facts", number, system)
            sentences, its = make_text(own, facts, lines["unsaid"], system)
            text = {"text": "\n".join(sentences)} if sentences else {"status": "error"}
            texts.append(key | text)
            second = [second_reading(own, one["status"]) for one in its]
            planted += [
                key | one | {"annotator_2": read} for one, read in zip(its, second, strict=True)
            ]
            for rater, read in (
                ("annotator_1", [o["status"] for o in its]),
                ("annotator_2", second),
            ):
                known = {"reference_facts": len(facts) - read.count("unnoticed")}
                counts.append(key | {"rater": rater} | count(read) | known)
    (folder / "planted").mkdir(parents=True, exist_ok=True)
    for name, rows in (("sources.jsonl", sources), ("texts.jsonl", texts)):
        content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / name).write_text(content, encoding="utf-8")
    rates = {"systems": SYSTEMS, "misread": MISREAD, "read_as": READ_AS}
    (folder / "planted/rates.json").write_text(json.dumps(rates, indent=2) + "\n", "utf-8")
    for name, rows in (("fact_counts.csv", counts), ("planted/facts.csv", planted)):
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
