"""A rubric of rubrics/NAME.yaml, filled in by people: the same criteria that judges are asked."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from metassay import options as scales
from metassay.errors import BadInput
from metassay.rubrics.ask import applies, attributes_of, cap_of, expanded, items_of, not_applicable
from metassay.rubrics.read import RUBRICS, load_rubric
from metassay.rubrics.record import SOURCE, Criterion, Rubric
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
from metassay.studies.texts import attributes, inputs, parts_of, written
from metassay.tables.names import FULL, REFERENCE

NO_END = 100  # the most penalties that a sheet takes where the rubric has no cap


def loaded(options: Options) -> Rubric:
    """The rubric that is named; BadInput if none is."""
    if not options.rubric:
        raise BadInput(f"--rubric: is not given; name a file of {RUBRICS}/ without its ending")
    return load_rubric(options.root / RUBRICS / f"{Path(options.rubric).name}.yaml")


def asked_of(
    rubric: Rubric, criterion: Criterion, doc: str, author: str, about: Mapping[str, object]
) -> Asked:
    """One criterion as a question; its rating is called as the metric that asks judges the same."""
    name = f"{rubric.name}_{criterion.name}"
    target = Target(doc, author, FULL, "text", name)
    if criterion.kind == "scale":
        choices = tuple(Choice(str(n), float(n), means) for n, means in criterion.levels.items())
        return Asked(Question(name, name, "choice", criterion.asks, choices), target)
    cap = cap_of(criterion, about)
    listed = (
        ""
        if criterion.items is None
        else " One for each of: " + "; ".join(_bare(criterion.items)) + "."
    )
    most = NO_END if cap is None else cap
    question = Question(
        f"{name} up to {most}",
        name,
        "number",
        f"{criterion.asks} Count them.{listed}",
        low=0.0,
        high=float(most),
        whole=True,
        capped=cap is not None,
    )
    return Asked(question, target)


def scale_of(criterion: Criterion) -> scales.Criterion:
    """The scale of its ratings: the grades as they are, penalties as counts."""
    if criterion.kind == "scale":
        low, high = float(criterion.lowest), float(criterion.highest or 0)
        return scales.Criterion(low=low, high=high, better=criterion.better, scale="ordinal")
    high = float(NO_END if criterion.highest is None else criterion.highest)
    return scales.Criterion(low=0.0, high=high, better="lower", scale="count")


def _make(read: Reads, options: Options) -> Made:
    """A text is an item and a row, a criterion a column; what does not apply is not asked.

    Criteria that read every facet are asked of each facet that the texts have. Where a rubric
    compares with the reference, documents without one are left out.
    """
    texts, given, about = written(read), inputs(read), attributes(read)
    facets = sorted({part for parts in parts_of(read).values() for part in parts})
    rubric = expanded(loaded(options), facets)
    drafts, lacking, others = [], 0, 0
    for doc, author in texts.of_systems:
        known = attributes_of(about[doc])
        reference = texts.whole.get((doc, REFERENCE))
        if not applies(rubric.applies, known):
            others += 1
            continue
        if rubric.compares and reference is None:
            lacking += 1
            continue
        criteria = [one for one in rubric.criteria if not not_applicable(one, known)]
        asked = tuple(asked_of(rubric, one, doc, author, known) for one in criteria)
        shown = [*_held_against(rubric, given[doc], reference), *_lists(rubric, criteria, known)]
        shown.append(Shown("text", texts.whole[doc, author]))
        if asked:
            drafts.append(Draft((doc, author), (author,), (), (DraftRow(tuple(shown), asked),)))
    notes = [*texts.notes]
    if lacking:
        notes.append(f"{lacking} text(s) are left out: their document has no reference")
    if others:
        notes.append(f"{others} text(s) are left out: the rubric is not for their document")
    return Made(
        drafts,
        {f"{rubric.name}_{one.name}": scale_of(one) for one in rubric.criteria},
        (
            rubric.title,
            f"Read what the text is held against, then the text. Source: {rubric.source}",
        ),
        tuple(notes),
        texts.datasets,
    )


def _bare(items: Sequence[str]) -> Iterator[str]:
    """Without the full stops that some have and others lack: they stand in one sentence."""
    return (item.strip().rstrip(".") for item in items)


def _held_against(rubric: Rubric, given: str, reference: str | None) -> Iterator[Shown]:
    if any(SOURCE in one.against for one in rubric.criteria):
        yield Shown("input", given)
    if rubric.compares and reference is not None:
        yield Shown("reference", reference)


def _lists(
    rubric: Rubric, criteria: Sequence[Criterion], about: Mapping[str, object]
) -> Iterator[Shown]:
    """What penalties are given for once each, where every document has its own list."""
    for one in criteria:
        if one.items_from is not None:
            items = items_of(one, about) or ()
            yield Shown(f"items of {rubric.name}_{one.name}", "\n".join(items))


KIND = Form("rubric", _make)
