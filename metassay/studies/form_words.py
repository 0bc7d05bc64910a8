"""What forms tell raters and ask them."""

from collections.abc import Iterator

from metassay.datasets.annotations import MOST_FACTS
from metassay.studies.record import Choice, Question

CLAIMS_INSTRUCTIONS = (
    (
        "Read the text first. Then say of each claim whether the text covers it: "
        "whether somebody who knows the text alone would have to agree with the claim."
    ),
    (
        "Judge by the text alone, not by what you know. The rows of one text stand "
        "together; their row begins with the same letters."
    ),
)
COVERED = Question(
    name="covered",
    column="covered",
    kind="choice",
    asks="Is the claim covered by the text?",
    choices=(
        Choice(word="yes", value=1.0, means="the text says so, in whatever words"),
        Choice(
            word="partly", value=0.5, means="some of the claim is there, some is not"
        ),
        Choice(
            word="no",
            value=0.0,
            means="the text does not say so, or says something else",
        ),
    ),
)

# As hospital-course summaries were annotated. Source of the categories and of the error
# share: Adams et al. 2023, a meta-evaluation of faithfulness metrics for hospital-course
# summarization.
ELEMENTS_INSTRUCTIONS = (
    (
        "Each row has one element (a single statement of fact) of a sentence, the "
        "sentence that it is from, and the input. Say whether the element is right by "
        "the input."
    ),
    (
        "An error is critical if it could change what is done for the patient, or what "
        "a reader concludes; else it is minor."
    ),
)
_ERRORS = {
    "incorrect": "the input says something else",
    "missing": "something is left out without which the element misleads",
    "not in notes": "the input says nothing of the kind",
}


def _label_choices() -> Iterator[Choice]:
    """Yield a choice without an error, then each category of error, minor and critical.

    The value 2 i + 1 is category i, minor; 2 i + 2 is category i, critical.
    """
    yield Choice(word="correct", value=0.0, means="the input says so")
    value = 0.0
    for error, means in _ERRORS.items():
        for severity in ("minor", "critical"):
            value += 1
            yield Choice(word=f"{error} ({severity})", value=value, means=means)


LABEL = Question(
    name="label",
    column="label",
    kind="choice",
    asks="Is the element right, by the input?",
    choices=tuple(_label_choices()),
)

# Source of the statuses: Ben Abacha et al. 2023, evaluation metrics for medical note
# generation.
FACTS_INSTRUCTIONS = (
    (
        "Each row has one fact (what cannot be said in more than one sentence) that "
        "the text states. Say whether it is right, by the input and the reference."
    ),
    (
        "The row 'whole text' asks how many facts of the reference are nowhere in the "
        "text, right or wrong."
    ),
)
STATUS = Question(
    name="status",
    column="status",
    kind="choice",
    asks="Is the fact right?",
    choices=(
        Choice(word="correct", value=0.0, means="the input and the reference say so"),
        Choice(
            word="incorrect",
            value=1.0,
            means="a value or an attribute is wrong, such as a dose, a date or a side",
        ),
        Choice(
            word="hallucinated", value=2.0, means="nothing in the input supports it"
        ),
    ),
)
OMITTED = Question(
    name="omitted",
    column="omitted",
    kind="number",
    asks="How many facts of the reference does the text leave out?",
    low=0.0,
    high=float(MOST_FACTS),
    whole=True,
)

PAIRS_INSTRUCTIONS = (
    (
        "Two texts, A and B, were written from one input. Say which of them you would "
        "rather have, as a whole: what is right, complete and clear. If neither is "
        "better, say tie."
    ),
)
SHARES_INSTRUCTION = (
    "Then say how much of what is in the reference each text covers, in per cent from 0 "
    "to 100, without a sign."
)
PREFERENCE = Question(
    name="preference",
    column="better",
    kind="choice",
    asks="Which text is better?",
    choices=(
        Choice(word="A", value=1.0),
        Choice(word="B", value=0.0),
        Choice(word="tie", value=0.5),
    ),
)

READING_INSTRUCTIONS = (
    (
        "Start a watch when you begin to read a question, and stop it when you have "
        "chosen an answer. Write down the seconds. Take the first answer that you "
        "believe, and do not correct it later."
    ),
    (
        "Some texts have their parts marked, with the name of the part before each; "
        "others are plain. Answer by the text alone, not by what you know."
    ),
)
MOST_SECONDS = 3600.0
SECONDS = Question(
    name="seconds",
    column="seconds",
    kind="number",
    asks="How many seconds did it take, from reading the question to your answer?",
    low=0.0,
    high=MOST_SECONDS,
)

FACETS_INSTRUCTIONS = (
    (
        "A text was cut into facets by a program. Each row has one facet: grade it "
        "against the same facet of the reference, and say whether the right part of "
        "the text was found for it."
    ),
    "Where a facet was not found although the text has it, grade what the text says.",
    "The row 'whole text' asks for the text as a whole.",
)
FOUND_RIGHTLY = Question(
    name="found",
    column="found",
    kind="choice",
    asks="Was the right part of the text found for this facet?",
    choices=(
        Choice(
            word="yes",
            value=1.0,
            means="it is this facet, and all of it; or none was found and there is none",
        ),
        Choice(
            word="no",
            value=0.0,
            means="part of it is missing, something else is in it, or it is made up",
        ),
    ),
)
