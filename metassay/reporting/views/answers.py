"""What came of every question that judges were asked: counted, so that nothing is silent."""

from typing import NamedTuple

import pandas as pd

from metassay.pairing.instruments import Grade
from metassay.pairing.measures import MEASURES
from metassay.pairing.record import Question
from metassay.reporting.numbers import counted, per_cent, short
from metassay.reporting.tables import records
from metassay.reporting.views.section import Cell, Grid, Row, Section, count
from metassay.tables.names import metric_label

ENTAILED, NOT_ENTAILED = "entailed", "not entailed"
GRADED, LABELLED = "graded", "labelled"  # answers to other instruments
NO_EVIDENCE, ABSTAINED, FAILED = "no evidence", "abstained", "failed"
NOT_NEEDED, NOT_JUDGED, NOT_APPLICABLE = "not needed", "not judged", "not applicable"

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
_SETTLED = ("no_evidence", "not_applicable", "no_text", "no_claims", "no_reference")
COLUMNS = (
    *("judge", "measure", "places", "questions", "answered", "repaired", "abstained"),
    *(*_FAILURES, "not_needed", "not_judged", *_SETTLED),
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
    asked = row["places"] - sum(row[name] for name in ("not_needed", *_SETTLED))
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
