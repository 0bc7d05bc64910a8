"""Blind a form's items, and write them into a folder as the sheets of raters."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from metassay.core.atomic import whole_folder
from metassay.core.errors import raise_problems
from metassay.core.naming import name_problems
from metassay.core.visible import visible
from metassay.core.work import owner_alone
from metassay.studies import key
from metassay.studies.drawing import assign, draw_ids, draw_items
from metassay.studies.record import (
    Draft,
    Form,
    Format,
    Item,
    SheetRow,
    SheetText,
    Study,
    StudyDraft,
    Target,
)

SHEETS = "sheets"
_UNWRITABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")  # controls and surrogates


class Design(NamedTuple):
    """Who rates how much: raters' names, raters per item, items (None: all), and the seed."""

    raters: tuple[str, ...]
    per_item: int
    items: int | None
    seed: int


def build_study(benchmark: str, name: str, form: Form, plan: StudyDraft, design: Design) -> Study:
    """Draw items, blind and assign them; BadInput if the design is impossible."""
    _check(plan, design)
    items = draw_items(plan.drafts, design.items, design.seed, together=form.together)
    drafts = _drop_repeats(items)
    ids = draw_ids([draft.identity for draft in drafts], design.seed)
    by_id = dict(zip(ids, drafts, strict=True))
    targets = {
        (_row_id(item_id, number), question.column): target
        for item_id, draft in by_id.items()
        for number, row in enumerate(draft.rows)
        for question, target in row.questions
    }
    systems = {item_id: draft.systems for item_id, draft in by_id.items()}
    return Study(
        benchmark,
        name,
        form.name,
        design.seed,
        plan.criteria,
        plan.instructions,
        tuple(_blind(*pair) for pair in sorted(by_id.items())),  # not in the order of documents
        assign(systems, design.raters, design.per_item, design.seed),
        targets,
    )


def write(study: Study, form: Format, folder: Path) -> list[str]:
    """Write sheets and key; return the sheets' names. BadInput if the folder holds something."""
    with whole_folder(folder, "--out") as new:
        (new / SHEETS).mkdir()
        names = [name for sheet in study.sheets() for name in form.write(sheet, new / SHEETS)]
        with owner_alone():
            (new / key.FILE).write_bytes(key.to_bytes(study))
    return list(dict.fromkeys(names))


def _check(plan: StudyDraft, design: Design) -> None:
    problems = [f"--raters > {line}" for line in name_problems(design.raters)]
    twice = sorted({name for name in design.raters if design.raters.count(name) > 1})
    problems += [f"--raters > {name}: is named twice; name each rater once" for name in twice]
    if not 1 <= design.per_item <= len(design.raters):
        problems.append(
            f"--per-item: {design.per_item} of {len(design.raters)} raters cannot rate an item;"
            " give a number from 1 to that of the raters"
        )
    if not plan.drafts:
        problems.append(
            "nothing is left to rate with these choices; "
            + ("; ".join(plan.notes) or "choose another form, or other metrics")
        )
    raise_problems(problems)


def _drop_repeats(drafts: Sequence[Draft]) -> list[Draft]:
    """Drop later questions with the same target, for example of a text that is in two pairs."""
    seen: set[Target] = set()
    items = []
    for draft in drafts:
        rows = []
        for row in draft.rows:
            questions = tuple(q for q in row.questions if q.target not in seen)
            seen.update(target for _, target in questions)
            if questions:
                rows.append(row._replace(questions=questions))
        if rows:
            items.append(draft._replace(rows=tuple(rows)))
    return items


def _blind(item_id: str, draft: Draft) -> Item:
    rows = (
        SheetRow(_row_id(item_id, n), _clean(row.texts), tuple(q for q, _ in row.questions))
        for n, row in enumerate(draft.rows)
    )
    return Item(item_id, _clean(draft.texts), tuple(rows))


def _row_id(item_id: str, number: int) -> str:
    return f"{item_id}-{number + 1:02d}"


def _clean(texts: Sequence[SheetText]) -> tuple[SheetText, ...]:
    """Blank out characters that no spreadsheet holds; make visible those that reverse text."""
    return tuple(SheetText(heading, visible(_UNWRITABLE.sub(" ", text))) for heading, text in texts)
