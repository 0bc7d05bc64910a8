"""What is wrong with each element of each sentence? As hospital-course summaries were annotated.

Source of the categories and of the error share: Adams et al. 2023, a meta-evaluation of
faithfulness metrics for hospital-course summarization.
"""

from collections.abc import Iterator, Sequence

from metassay.options import Criterion
from metassay.studies.record import (
    Answer,
    Asked,
    Choice,
    Draft,
    DraftRow,
    Form,
    Made,
    Options,
    Question,
    Reads,
    Shown,
    Target,
)
from metassay.studies.texts import Claim, inputs, units_of, written
from metassay.tables.names import FULL

_CORRECT = 0.0
_CATEGORIES = ("incorrect", "missing", "not_in_notes")
_MEANS = {
    "incorrect": "the input says something else",
    "missing": "something is left out without which the element misleads",
    "not_in_notes": "the input says nothing of the kind",
}
_LABEL = "label"
_SCALE = Criterion(low=0, high=1, better="lower")
# Codes of labels while they are on their way: 2 i + 1 is category i, minor; 2 i + 2 critical.
_CHOICES = (
    Choice("correct", _CORRECT, "the input says so"),
    *(
        Choice(f"{category.replace('_', ' ')} ({grave})", 2.0 * i + 1 + j, _MEANS[category])
        for i, category in enumerate(_CATEGORIES)
        for j, grave in enumerate(("minor", "critical"))
    ),
)
_QUESTION = Question(_LABEL, _LABEL, "choice", "Is the element right, by the input?", _CHOICES)
_INSTRUCTIONS = (
    "Each row has one element (a single statement of fact) of a sentence, the sentence that it is"
    " from, and the input. Say whether the element is right by the input.",
    "An error is critical if it could change what is done for the patient, or what a reader"
    " concludes; else it is minor.",
)


def _make(read: Reads, _: Options) -> Made:
    """A text is an item, an element (a claim of a sentence) a row.

    Claims that are of no single sentence are left out, and sentences without claims are their own
    element. Texts whose claims are not known are left out.
    """
    texts, given = written(read), inputs(read)
    claims, sentences = units_of(read, "claim"), units_of(read, "statement")
    drafts, lacking = [], 0
    for doc, author in texts.of_systems:
        said, elements = sentences.get((doc, author)), claims.get((doc, author))
        if not said or elements is None:
            lacking += 1
            continue
        rows = tuple(_rows(doc, author, said, elements))
        shown = (Shown("input", given[doc]),)
        drafts.append(Draft((doc, author), (author,), shown, rows))
    notes = [*texts.notes]
    if lacking:
        notes.append(f"{lacking} text(s) are left out: their sentences or claims are not known")
    names = ("error", *_CATEGORIES, "critical")
    return Made(drafts, dict.fromkeys(names, _SCALE), _INSTRUCTIONS, tuple(notes), texts.datasets)


def _rows(
    doc: str, author: str, sentences: Sequence[Claim], elements: Sequence[Claim]
) -> Iterator[DraftRow]:
    for sentence in sentences:
        unit = f"statement:{sentence.number}"
        mine = [one.text for one in elements if one.statement == sentence.number]
        for number, text in enumerate(mine or [sentence.text]):
            shown = (Shown("sentence", sentence.text), Shown("element", text))
            # No criterion of anybody's: `_rate` makes shares of a sentence's labels.
            target = Target(doc, author, FULL, unit, f"{_LABEL} {number}")
            yield DraftRow(shown, (Asked(_QUESTION, target),))


def _rate(answers: Sequence[Answer]) -> list[Answer]:
    """Shares of a sentence's elements, 0 to 1: with any error, of each category, critical.

    They are null where any element of the sentence has no label: an unknown share is not a small
    one.
    """
    labels: dict[Target, list[float | None]] = {}
    for answer in answers:
        labels.setdefault(answer.of._replace(criterion=_LABEL), []).append(answer.value)
    return [
        Answer(target._replace(criterion=name), share)
        for target, found in labels.items()
        for name, share in _shares(found).items()
    ]


def _shares(labels: Sequence[float | None]) -> dict[str, float | None]:
    names = ("error", *_CATEGORIES, "critical")
    known = [int(label) for label in labels if label is not None]
    if len(known) < len(labels):
        return dict.fromkeys(names)
    counts = {
        "error": sum(label > 0 for label in known),
        **{
            category: sum((label + 1) // 2 == i for label in known)
            for i, category in enumerate(_CATEGORIES, start=1)
        },
        "critical": sum(label > 0 and label % 2 == 0 for label in known),
    }
    return {name: counts[name] / len(known) for name in names}


KIND = Form("elements", _make, rate=_rate)
