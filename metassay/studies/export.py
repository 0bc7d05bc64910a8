"""From a form's items to blinded sheets, and the folder that they are written to."""

import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from metassay.core.atomic import whole_folder
from metassay.core.errors import raise_problems
from metassay.core.naming import name_problems
from metassay.core.visible import visible
from metassay.core.work import owner_alone
from metassay.studies import key
from metassay.studies.drawing import assigned, chosen, ids
from metassay.studies.record import Draft, Form, Format, Item, Made, SheetRow, Shown, Study, Target

SHEETS = "sheets"


class Design(NamedTuple):
    """Who rates how much: raters' names, raters per item, items (None: all), and the seed."""

    raters: tuple[str, ...]
    per_item: int
    items: int | None
    seed: int


def study_of(benchmark: str, name: str, form: Form, made: Made, design: Design) -> Study:
    """Choose items, blind them, and deal them out; BadInput where the design cannot be had."""
    _check(made, design)
    drafts = _without_repeats(
        chosen(made.drafts, design.items, design.seed, together=form.together)
    )
    named = ids([draft.identity for draft in drafts], design.seed)
    by_id = dict(zip(named, drafts, strict=True))
    items = [_blinded(identity, draft) for identity, draft in by_id.items()]
    systems = {identity: draft.systems for identity, draft in by_id.items()}
    targets = {
        (_row_id(identity, number), question.column): target
        for identity, draft in by_id.items()
        for number, row in enumerate(draft.rows)
        for question, target in row.asked
    }
    return Study(
        benchmark,
        name,
        form.name,
        design.seed,
        made.criteria,
        made.instructions,
        tuple(sorted(items)),  # by id: the order of documents is not that of the key either
        assigned(systems, design.raters, design.per_item, design.seed),
        targets,
    )


def write(study: Study, form: Format, folder: Path) -> list[str]:
    """Write sheets and key into a new folder; the sheets' names. BadInput if it holds something."""
    with whole_folder(folder, "--out") as made:
        (made / SHEETS).mkdir()
        names = [name for sheet in study.sheets() for name in form.write(sheet, made / SHEETS)]
        with owner_alone():
            (made / key.FILE).write_bytes(key.written(study))
    return list(dict.fromkeys(names))


def _check(made: Made, design: Design) -> None:
    problems = [f"--raters > {line}" for line in name_problems(design.raters)]
    twice = sorted({name for name in design.raters if design.raters.count(name) > 1})
    problems += [f"--raters > {name}: is named twice; name each rater once" for name in twice]
    if not 1 <= design.per_item <= len(design.raters):
        problems.append(
            f"--per-item: {design.per_item} of {len(design.raters)} raters cannot rate an item;"
            " give a number from 1 to that of the raters"
        )
    if not made.drafts:
        problems.append(
            "nothing is left to rate with these choices; "
            + ("; ".join(made.notes) if made.notes else "choose another form, or other metrics")
        )
    raise_problems(problems)


def _without_repeats(drafts: Sequence[Draft]) -> list[Draft]:
    """Ask nobody the same of one text twice, as of a text that is in two pairs."""
    seen: set[Target] = set()
    found = []
    for draft in drafts:
        rows = []
        for row in draft.rows:
            asked = tuple(one for one in row.asked if one.of not in seen)
            seen.update(one.of for one in asked)
            if asked:
                rows.append(row._replace(asked=asked))
        if rows:
            found.append(draft._replace(rows=tuple(rows)))
    return found


def _blinded(identity: str, draft: Draft) -> Item:
    rows = (
        SheetRow(
            _row_id(identity, number), _clean(row.shown), tuple(one.question for one in row.asked)
        )
        for number, row in enumerate(draft.rows)
    )
    return Item(identity, _clean(draft.shown), tuple(rows))


def _row_id(identity: str, number: int) -> str:
    return f"{identity}-{number + 1:02d}"


def _clean(shown: Sequence[Shown]) -> tuple[Shown, ...]:
    """Without characters that no spreadsheet holds, or that turn what follows round."""
    return tuple(
        Shown(heading, visible("".join(" " if _unheld(c) else c for c in text)))
        for heading, text in shown
    )


def _unheld(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs") and character not in "\n\t"
