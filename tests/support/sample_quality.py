"""Make data/sample_quality: invented visits, notes with errors of three severities, two counts.

    python -m tests.support.sample_quality data/sample_quality

The same files on every machine. planted/errors.csv has every error of every text,
rates.json what they were drawn by.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support import sample_facts
from tests.support.hospital_course import Course, Draws

VISITS = Course(20261129, 60, "quality", {})
FACTS = (7, 10)  # of a visit
SEVERITIES = ("critical", "non_critical", "spelling")
# As in sample_facts; what is hallucinated harms nobody.
SYSTEMS = {
    "careful": {
        "incorrect": 0.04,
        "omitted": 0.05,
        "hallucinated": 0.03,
        "copied": 0.6,
    },
    "brief": {"incorrect": 0.08, "omitted": 0.3, "hallucinated": 0.02, "copied": 0.8},
    "wordy": {"incorrect": 0.12, "omitted": 0.05, "hallucinated": 0.35, "copied": 0.2},
    "careless": {"incorrect": 0.35, "omitted": 0.1, "hallucinated": 0.1, "copied": 0.4},
}
# A chance for each sentence with a long word.
SPELLING = {"careful": 0.05, "brief": 0.1, "wordy": 0.1, "careless": 0.4}
MISSED = 0.2  # how often annotator_2 does not see an error
LONG = 5  # letters of a word, at least, in which two may change places


def misspelt(draws: Draws, sentence: str) -> str:
    """Two letters within a long word have changed places; as it was where it has no such word."""
    words = sentence.split()
    places = [
        (at, letter)
        for at, word in enumerate(words)
        if word.isalpha() and len(word) >= LONG
        for letter in range(1, len(word) - 2)
        if word[letter] != word[letter + 1]
    ]
    if not places:
        return sentence
    at, letter = draws.choice(places)
    word = words[at]
    words[at] = word[:letter] + word[letter + 1] + word[letter] + word[letter + 2 :]
    return " ".join(words)


def severity(planted: Mapping[str, Any], critical: Sequence[bool]) -> str | None:
    """Of a fact, by whether the visit's facts are critical; what is left out is no such error."""
    if planted["status"] == "hallucinated":
        return "non_critical"
    if planted["status"] != "incorrect":
        return None
    return "critical" if critical[planted["fact"]] else "non_critical"


def write(folder: Path) -> None:
    """Write the folder's files."""
    lines = sample_facts.material(Path(__file__).with_suffix(".txt"))
    filler = sample_facts.material()["filler"]
    grave = [sample_facts.fact_of(line) for line in lines["critical"]]
    pool = grave + [sample_facts.fact_of(line) for line in lines["minor"]]
    sources, texts, errors, counts = [], [], list[dict[str, Any]](), []
    for number in range(VISITS.stays):
        doc_id = f"{VISITS.doc_id}_{number + 1:02d}"
        draws = Draws(VISITS, "sample_quality", number)
        facts, turns = sample_facts.make_source(draws, FACTS, pool, filler)
        sources.append({"doc_id": doc_id, "task": "note", "passages": turns})
        noted = "\n".join(
            sample_facts.fill_in(fact.noted, value) for fact, value in facts
        )
        texts.append({"doc_id": doc_id, "author": "reference", "text": noted})
        for system, rates in SYSTEMS.items():
            of = {"doc_id": doc_id, "author": system}
            draws = Draws(VISITS, "sample_quality", number, system)
            sentences, its = sample_facts.make_text(
                draws, facts, lines["unsaid"], rates
            )
            spelt = [
                misspelt(draws, sentence)
                if draws.chance(SPELLING[system])
                else sentence
                for sentence in sentences
            ]
            texts.append(of | {"text": "\n".join(spelt)})
            severities = [
                severity(planted, [fact in grave for fact, _ in facts])
                for planted in its
            ]
            typos = sum(a != b for a, b in zip(sentences, spelt, strict=True))
            kinds = [*filter(None, severities), *["spelling"] * typos]
            seen = [not draws.chance(MISSED) for _ in kinds]
            errors += [
                of | {"severity": kind, "annotator_2": int(saw)}
                for kind, saw in zip(kinds, seen, strict=True)
            ]
            second = [kind for kind, saw in zip(kinds, seen, strict=True) if saw]
            for rater, read in (("annotator_1", kinds), ("annotator_2", second)):
                by = of | {"rater": rater}
                counts.append(by | {kind: read.count(kind) for kind in SEVERITIES})
    sample_facts.write_rows(folder / "sources.jsonl", sources)
    sample_facts.write_rows(folder / "texts.jsonl", texts)
    sample_facts.write_rows(folder / "errors.csv", counts)
    sample_facts.write_rows(folder / "planted/errors.csv", errors)
    drawn_by = {"systems": SYSTEMS, "spelling": SPELLING, "missed": MISSED}
    (folder / "planted/rates.json").write_text(
        json.dumps(drawn_by, indent=2) + "\n", "utf-8"
    )


if __name__ == "__main__":
    write(Path(sys.argv[1]))
