"""Is each claim covered by the other text? Of the reference's claims, or of the system's own."""

from collections.abc import Iterator, Sequence

from metassay.options import Criterion
from metassay.studies.record import (
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
from metassay.studies.texts import Claim, units_of, written
from metassay.tables.names import FULL, REFERENCE

_SCALE = Criterion(low=0, high=1, better="higher", scale="ordinal")
_CHOICES = (
    Choice("yes", 1.0, "the text says so, in whatever words"),
    Choice("partly", 0.5, "some of the claim is there, some is not"),
    Choice("no", 0.0, "the text does not say so, or says something else"),
)
# Whose claims they are: the criterion, which is called as the metric that asks judges the same.
_CRITERIA = {"reference": "claim_recall", "output": "claim_precision"}
_INSTRUCTIONS = (
    "Read the text first. Then say of each claim whether the text covers it: whether somebody who"
    " knows the text alone would have to agree with the claim.",
    "Judge by the text alone, not by what you know. The rows of one text stand together; their row"
    " begins with the same letters.",
)


def _make(read: Reads, options: Options) -> Made:
    """A text is an item, a claim a row.

    The rating's unit is `claim:N` of part `full`: claims are counted over the whole text, in the
    order in which they stand there. Texts whose claims or reference are not known are left out.
    """
    texts, claims = written(read), units_of(read, "claim")
    whose = ("reference", "output") if options.claims == "both" else (options.claims,)
    drafts, lacking = [], 0
    for doc, author in texts.of_systems:
        for one in whose:
            says, reads = (REFERENCE, author) if one == "reference" else (author, REFERENCE)
            listed, text = claims.get((doc, says)), texts.whole.get((doc, reads))
            if not listed or text is None:
                lacking += 1
                continue
            rows = tuple(_rows(doc, author, _CRITERIA[one], listed))
            drafts.append(Draft((doc, author, one), (author,), (Shown("text", text),), rows))
    notes = [*texts.notes]
    if lacking:
        notes.append(f"{lacking} text(s) are left out: no reference or no claims are known")
    criteria = {_CRITERIA[one]: _SCALE for one in whose}
    return Made(drafts, criteria, _INSTRUCTIONS, tuple(notes), texts.datasets)


def _rows(doc: str, author: str, criterion: str, claims: Sequence[Claim]) -> Iterator[DraftRow]:
    asks = "Is the claim covered by the text?"
    question = Question(criterion, "covered", "choice", asks, _CHOICES)
    for claim in claims:
        target = Target(doc, author, FULL, f"claim:{claim.number}", criterion)
        yield DraftRow((Shown("claim", claim.text),), (Asked(question, target),))


KIND = Form("claims", _make)
