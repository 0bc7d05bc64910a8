"""Make data/sample: texts of 8 systems with planted faults, and three raters around the truth.

    python -m tests.support.planted_sample data/sample

The same files on every machine. The sources were written by hand and are read, not
written. planted/statements.csv has what became of every statement in every text,
rates.json what that was drawn by.
"""

import json
import math
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.support import sample_facts
from tests.support.hospital_course import Course, Draws

SOURCES = Path(__file__).parents[2] / "data/sample/sources.jsonl"
MATERIAL = Path(__file__).with_suffix(".txt")
SEED = 20261126
# How often a statement is left out; has another number, another side or its negation,
# where its words have a slot for that; gets an invented end; is followed by a sentence
# that says nothing; is said in the words of its passages, where nobody spoke these; has
# a wrong citation.
RATES = (
    "omission",
    "number",
    "side",
    "negation",
    "invention",
    "padding",
    "copying",
    "citation",
)
SYSTEMS = {
    "careful": (0.03, 0.02, 0.02, 0.01, 0.02, 0.05, 0.2, 0.02),
    "copying": (0.1, 0.02, 0.0, 0.0, 0.0, 0.05, 0.8, 0.02),
    "inventive": (0.12, 0.05, 0.05, 0.05, 0.4, 0.1, 0.1, 0.2),
    "mirrored": (0.2, 0.05, 0.9, 0.05, 0.1, 0.05, 0.1, 0.05),
    "miscounting": (0.2, 0.6, 0.05, 0.05, 0.05, 0.3, 0.1, 0.05),
    "negating": (0.25, 0.05, 0.05, 0.6, 0.05, 0.05, 0.1, 0.05),
    "rambling": (0.5, 0.05, 0.05, 0.02, 0.1, 0.9, 0.1, 0.1),
    "brief": (0.7, 0.02, 0.0, 0.01, 0.02, 0.0, 0.1, 0.0),
}
SLOTS = {"number": "#", "side": "@", "negation": "!"}
WRONG = (*SLOTS, "invention")
REWORDED = 0.6  # how often a statement is not in the reference's words
COPIED = ("impression", "question", "abstract")
UNCITED = ("brief",)
PAST_THE_END = 0.2  # of wrong citations: there is no such passage
FAILED = {("note_08", "brief"): "error"}
# Rater: how often a statement is misjudged, and how many points of 100 too many a text
# gets.
RATERS = {"rater_a": (0.02, 0), "rater_b": (0.05, -4), "rater_c": (0.08, 5)}
DOUBLED = 20  # points of 100 that twice the words add to a text's usefulness
FEWEST = 8  # words that are worth none
NOISE = 10  # the largest deviation from the points of a text
ABSTAINED = 0.01
COMPARED = 3  # of so many documents, the texts of one are compared
# what all right, beside all wrong, adds to the odds (logarithm) of being preferred
FEWER = 2.0
TIES = 0.1


class Statement(NamedTuple):
    """What texts about a document say: the passages that it is from, two wordings with slots."""

    passages: tuple[int, ...]
    wordings: tuple[str, str]


class Text(NamedTuple):
    """A system's text, and what became of each statement."""

    text: str
    planted: list[dict[str, Any]]


def statement(line: str) -> Statement:
    passages, _, rest = line.partition(" ")
    first, second = rest.split(" ~ ")
    return Statement(tuple(map(int, passages.split(","))), (first, second))


def slots(wording: str) -> list[str]:
    """The faults that the wording has a slot for."""
    return [kind for kind, mark in SLOTS.items() if "{" + mark in wording]


def fill_in(wording: str, fault: str = "", draws: Draws | None = None) -> str:
    """The wording with what is right in its slots, but for one slot of the fault."""
    wrong = [
        match.start() for match in re.finditer(r"\{" + SLOTS.get(fault, "$"), wording)
    ]
    at = draws.choice(wrong) if draws and wrong else -1
    return re.sub(
        r"\{.(.+?)\|(.+?)\}",
        lambda match: match[2] if match.start() == at else match[1],
        wording,
    )


def ended(text: str, ending: str) -> str:
    """With the ending before the last mark."""
    return text[:-1] + ending + text[-1]


def cited(text: str, passages: Sequence[int]) -> str:
    return (
        ended(text, " " + "".join(f"[{passage}]" for passage in passages))
        if passages
        else text
    )


def laid_out(lines: Sequence[str]) -> str:
    """Sentences under their headings, which begin with >; a heading of nothing is left out."""
    text, heading = "", ""
    for line in lines:
        if line.startswith("> "):
            heading = line[2:] + "\n"
        else:
            text += ("\n\n" if heading else " ") * bool(text) + heading + line
            heading = ""
    return text


def fault_of(
    draws: Draws, wording: str, rates: Mapping[str, float], *, first: bool
) -> str:
    """The fault that is planted, or "": one at most; the first statement is never left out."""
    if draws.chance(rates["omission"]) and not first:
        return "omission"
    fits = [*slots(wording)]
    if not wording.endswith("?"):
        fits.append("invention")
    return next(
        (kind for kind in WRONG if draws.chance(rates[kind]) and kind in fits), ""
    )


def citation(
    draws: Draws, right: Sequence[int], count: int, system: str, rate: float
) -> tuple[str, Sequence[int]]:
    """What is wrong with it, and the passages that are cited."""
    wrong, past, other = (
        draws.chance(rate),
        draws.chance(PAST_THE_END),
        draws.choice(range(count)),
    )
    if system in UNCITED:
        return "none", ()
    if not wrong or (other in right and not past):
        return "right", right
    return ("missing", [count]) if past else ("wrong", [other])


def make_text(
    draws: Draws,
    lines: Sequence[str],
    source: dict[str, Any],
    system: str,
    more: dict[str, Any],
) -> Text:
    """A system's text about a source; `more` has what is invented, and the padding."""
    rates = dict(zip(RATES, SYSTEMS[system], strict=True))
    passages = [
        passage["text"] if isinstance(passage, dict) else passage
        for passage in source["passages"]
    ]
    written, planted, copied = list[str](), list[dict[str, Any]](), set[int]()
    padding = list(more["padding"])
    for line in lines:
        if line.startswith(">"):
            written.append(line)
            continue
        claim = statement(line)
        reworded = draws.chance(REWORDED)
        wording = claim.wordings[reworded]
        fault = fault_of(draws, wording, rates, first=not planted)
        copies = draws.chance(rates["copying"]) and source["task"] in COPIED
        pads = draws.chance(rates["padding"]) and bool(padding)
        how, cites = citation(
            draws, claim.passages, len(passages), system, rates["citation"]
        )
        tail, words = (
            draws.choice(more["invented"]),
            "other" if reworded else "reference",
        )
        if copied.issuperset(claim.passages):
            fault, words, how = "", "copied before", ""
        elif copies and not fault:
            words, how = "passages", "none" if system in UNCITED else "right"
            for at in sorted({*claim.passages} - copied):
                each = re.split(r"(?<=[.?!]) (?=[A-Z])", passages[at])
                written += [cited(text, () if how == "none" else [at]) for text in each]
            copied.update(claim.passages)
        elif fault == "omission":
            words, how = "", ""
        else:
            text = fill_in(wording, fault, draws)
            written.append(
                cited(ended(text, tail) if fault == "invention" else text, cites)
            )
        written += [padding.pop(draws.choice(range(len(padding))))] if pads else []
        fits = " ".join(slots(wording))
        row = {"claim": len(planted), "fault": fault, "words": words, "slots": fits}
        planted.append(row | {"padded": int(pads), "citation": how})
    return Text(laid_out(written), planted)


def is_covered(planted: Mapping[str, Any]) -> bool:
    """Whether the text says the reference's statement, and says it right."""
    return planted["fault"] in ("", "invention")


def share_wrong(text: Text) -> float:
    """Of what it says of the reference's statements."""
    faults = [row["fault"] for row in text.planted if row["fault"] != "omission"]
    return sum(map(bool, faults)) / len(faults)


def rate(draws: Draws, text: Text) -> list[dict[str, Any]]:
    """What the raters say of a text by itself: raters take length for use."""
    rows = list[dict[str, Any]]()
    truth = DOUBLED * math.log2(len(text.text.split()) / FEWEST)
    for rater, (misjudged, shift) in RATERS.items():
        values = [
            (
                f"claim:{place}",
                "completeness",
                int(is_covered(row) != draws.chance(misjudged)),
            )
            for place, row in enumerate(text.planted)
        ]
        noise = (
            NOISE * (draws.choice(range(101)) + draws.choice(range(101)) - 100) / 100
        )
        points = min(max(truth + shift + noise, 0), 100)
        values.append(("text", "usefulness", 5 * round(points / 5)))
        for unit, criterion, value in values:
            shown = "" if draws.chance(ABSTAINED) else value
            rows.append(
                {"unit": unit, "rater": rater, "criterion": criterion, "value": shown}
            )
    return rows


def compare(draws: Draws, texts: Mapping[str, Text]) -> list[dict[str, Any]]:
    """Each system beside two others, in a circle: fewer faults are preferred, mostly."""
    circle = [
        name for _, name in sorted((draws.choice(range(10**6)), name) for name in texts)
    ]
    rows = []
    for author, other in zip(circle, [*circle[1:], circle[0]], strict=True):
        better = share_wrong(texts[other]) - share_wrong(texts[author])
        chance = 1 / (1 + math.exp(-FEWER * better))
        for rater in RATERS:
            value = 0.5 if draws.chance(TIES) else int(draws.chance(chance))
            shown = "" if draws.chance(ABSTAINED) else value
            of = {"author": author, "unit": f"versus:{other}", "rater": rater}
            rows.append(of | {"criterion": "preference", "value": shown})
    return rows


def write(folder: Path, seed: int = SEED) -> None:
    """Write the folder's files, but for the sources."""
    lines, course = sample_facts.material(MATERIAL), Course(seed, 0, "", {})
    texts, ratings, planted = [], [], []
    for at, source in enumerate(
        map(json.loads, SOURCES.read_text("utf-8").splitlines())
    ):
        doc_id, written = source["doc_id"], dict[str, Text]()
        about = lines[doc_id]
        more = {
            kind: lines[f"{kind} {source['task']}"] for kind in ("invented", "padding")
        }
        right = [
            line if line.startswith(">") else fill_in(statement(line).wordings[0])
            for line in about
        ]
        texts.append({"doc_id": doc_id, "author": "reference", "text": laid_out(right)})
        for system in SYSTEMS:
            of = {"doc_id": doc_id, "author": system}
            if status := FAILED.get((doc_id, system)):
                texts.append(of | {"status": status})
                continue
            draws = Draws(course, "text", doc_id, system)
            text = written[system] = make_text(draws, about, source, system, more)
            texts.append(of | {"text": text.text})
            planted += [of | row for row in text.planted]
            ratings += [
                of | row for row in rate(Draws(course, "rating", doc_id, system), text)
            ]
        compared = (
            []
            if at % COMPARED
            else compare(Draws(course, "preference", doc_id), written)
        )
        ratings += [{"doc_id": doc_id} | row for row in compared]
    order = ("doc_id", "author", "unit", "rater", "criterion", "value")
    rows = [
        {"study": "sample"} | {name: row[name] for name in order} for row in ratings
    ]
    sample_facts.write_rows(folder / "texts.jsonl", texts)
    sample_facts.write_rows(folder / "ratings.csv", rows)
    sample_facts.write_rows(folder / "planted/statements.csv", planted)
    systems = {name: dict(zip(RATES, of, strict=True)) for name, of in SYSTEMS.items()}
    raters = {
        name: {"misjudged": misjudged, "points": points}
        for name, (misjudged, points) in RATERS.items()
    }
    drawn_by = {"systems": systems, "reworded": REWORDED, "past_the_end": PAST_THE_END}
    drawn_by |= {"raters": raters, "doubled": DOUBLED, "fewest": FEWEST, "noise": NOISE}
    drawn_by |= {"abstained": ABSTAINED, "compared": COMPARED, "fewer": FEWER}
    drawn_by |= {"ties": TIES}
    (folder / "planted/rates.json").write_text(
        json.dumps(drawn_by, indent=2) + "\n", "utf-8"
    )


if __name__ == "__main__":
    write(Path(sys.argv[1]))
