"""Draw a form's items by lot, blind and assign them, and write them as the sheets of raters.

A lot is a hash of the seed and of what is drawn: the same seed draws the same on every
machine, and an additional item changes no other lot. Whoever has the seed and the data
can draw again and so unblind; the seed is part of the key.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations, count
from pathlib import Path
from typing import NamedTuple

from metassay.core.atomic import whole_folder
from metassay.core.errors import raise_problems
from metassay.core.naming import name_problems
from metassay.core.visible import visible
from metassay.core.work import owner_alone
from metassay.studies import key
from metassay.studies.record import (
    Draft,
    Form,
    Format,
    Item,
    Sheet,
    SheetRow,
    SheetText,
    StudyDraft,
    Target,
)

SHEETS = "sheets"
# Only consonants: no word, no month and no number that a spreadsheet would rewrite.
_LETTERS = "bcdfghjklmnpqrstvwxz"
_SHORTEST = 8
# controls and surrogates
_UNWRITABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def lot(seed: int, *key: str) -> int:
    """Return the 256-bit number of a key under this seed."""
    data = "\x1f".join([str(seed), *key]).encode("utf-8")
    return int.from_bytes(hashlib.sha256(data).digest())


def draw_ids(identities: Sequence[tuple[str, ...]], seed: int) -> list[str]:
    """Return a unique id of letters for each of these distinct identities."""
    lots = [lot(seed, "id", *identity) for identity in identities]
    for length in count(_SHORTEST):
        ids = [_write_letters(n, length) for n in lots]
        if len(set(ids)) == len(ids):
            break
    return ids


def _write_letters(number: int, length: int) -> str:
    """Write the last digits of a number as letters, the last digit first."""
    base = len(_LETTERS)
    digits = (number // base**place % base for place in range(length))
    return "".join(_LETTERS[digit] for digit in digits)


def draw_items(
    drafts: Sequence[Draft], n: int | None, seed: int, *, together: bool
) -> list[Draft]:
    """Draw `n` items (all if None or too few), nearly equally many of every system.

    `together`: draw all items of a document before those of the next, so that systems
    are compared on the same documents; the last document may have only some. Otherwise
    each combination of systems has nearly equally many items, of any documents.
    `identity[0]` is the document.
    """
    shuffled = sorted(drafts, key=lambda draft: lot(seed, "choose", *draft.identity))
    if n is None or n >= len(shuffled):
        return sorted(shuffled, key=lambda draft: draft.identity)
    counts: Counter[tuple[str, ...]] = Counter()
    place: dict[tuple[str, ...], tuple[int, int]] = {}
    for draft in shuffled:
        group = (draft.identity[0],) if together else draft.systems
        document = lot(seed, "document", draft.identity[0]) if together else 0
        place[draft.identity] = (document, counts[group])
        counts[group] += 1
    chosen = sorted(shuffled, key=lambda draft: place[draft.identity])[:n]
    if together:  # of the last document, the items of the systems that have the fewest
        last = chosen[-1].identity[0]
        whole = [draft for draft in chosen if draft.identity[0] != last]
        n_items = Counter(system for draft in whole for system in draft.systems)
        rest = [draft for draft in shuffled if draft.identity[0] == last]
        rest.sort(key=lambda draft: sum(n_items[system] for system in draft.systems))
        chosen = [*whole, *rest[: n - len(whole)]]
    return sorted(chosen, key=lambda draft: draft.identity)


def assign(
    items: Mapping[str, tuple[str, ...]],
    raters: Sequence[str],
    per_item: int,
    seed: int,
) -> dict[str, tuple[str, ...]]:
    """Assign each item to `per_item` raters; return each rater's items in a random order.

    `items` maps an item's id to the systems whose texts it shows. The raters' numbers
    of items differ by at most 1 for each combination of systems, and by at most 2 in
    total. Among equals, raters who have shared few items get it. Raises ValueError for
    fewer raters than `per_item`.
    """
    if not 1 <= per_item <= len(raters):
        raise ValueError(f"expected 1 to {len(raters)} raters per item, not {per_item}")
    by_rater: dict[str, list[str]] = {rater: [] for rater in raters}
    of_systems: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    shared: Counter[frozenset[str]] = Counter()
    for item in sorted(items, key=lambda item: (items[item], lot(seed, "deal", item))):
        counts, of_item = of_systems[items[item]], list[str]()
        while len(of_item) < per_item:
            ranks = {
                rater: (
                    counts[rater],
                    len(by_rater[rater]),
                    sum(shared[frozenset((rater, other))] for other in of_item),
                    lot(seed, "rater", item, rater),
                )
                for rater in raters
                if rater not in of_item
            }
            of_item.append(min(ranks, key=ranks.__getitem__))
        shared.update(map(frozenset, combinations(of_item, 2)))
        counts.update(of_item)
        for rater in of_item:
            by_rater[rater].append(item)
    return {
        r: tuple(sorted(ids, key=partial(lot, seed, "order", r)))
        for r, ids in by_rater.items()
    }


class Design(NamedTuple):
    """Who rates how much: raters' names, raters per item, items (None: all), and the seed."""

    raters: tuple[str, ...]
    per_item: int
    items: int | None
    seed: int


class Study(NamedTuple):
    """A study as it is sent out: the key, which unblinds it, and what raters read."""

    key: key.Key
    instructions: tuple[str, ...]
    items: tuple[Item, ...]

    def sheets(self) -> list[Sheet]:
        """Return the sheet of each rater."""
        by_id = {item.id: item for item in self.items}
        return [
            Sheet(
                self.key.study,
                rater,
                self.instructions,
                tuple(by_id[item] for item in items),
            )
            for rater, items in self.key.assignments.items()
        ]


def build_study(
    benchmark: str, name: str, form: Form, plan: StudyDraft, design: Design
) -> Study:
    """Draw items, blind and assign them; BadInput if the design is impossible."""
    _check(plan, design)
    drafts = draw_items(plan.drafts, design.items, design.seed, together=form.together)
    drafts = _drop_repeats(drafts)
    ids = draw_ids([draft.identity for draft in drafts], design.seed)
    by_id = dict(sorted(zip(ids, drafts, strict=True)))  # not in the order of documents
    items, rows = list[Item](), dict[str, key.KeyRow]()
    for item_id, draft in by_id.items():
        texts, blinded = _clean(draft.texts), list[SheetRow]()
        for number, row in enumerate(draft.rows, start=1):
            row_id, of_row = f"{item_id}-{number:02d}", _clean(row.texts)
            digests = {heading: key.digest(text) for heading, text in (*texts, *of_row)}
            by_column = {pair.question.column: pair for pair in row.questions}
            rows[row_id] = key.KeyRow(item_id, digests, by_column)
            blinded.append(SheetRow(row_id, of_row, tuple(q for q, _ in row.questions)))
        items.append(Item(item_id, texts, tuple(blinded)))
    systems = {item_id: draft.systems for item_id, draft in by_id.items()}
    assignments = assign(systems, design.raters, design.per_item, design.seed)
    about = benchmark, name, form.name, design.seed, plan.criteria
    return Study(
        key.Key(*about, rows, assignments, plan.drawn_by),
        plan.instructions,
        tuple(items),
    )


def write(study: Study, form: Format, folder: Path) -> list[str]:
    """Write sheets and key; return the sheets' names. BadInput if the folder holds something."""
    with whole_folder(folder, "--out") as new:
        (new / SHEETS).mkdir()
        names = [
            name for sheet in study.sheets() for name in form.write(sheet, new / SHEETS)
        ]
        with owner_alone():
            (new / key.FILE).write_bytes(key.encode_key(study.key))
    return list(dict.fromkeys(names))


def _check(plan: StudyDraft, design: Design) -> None:
    problems = [f"--raters > {line}" for line in name_problems(design.raters)]
    twice = sorted({name for name in design.raters if design.raters.count(name) > 1})
    problems += [
        f"--raters > {name}: is named twice; name each rater once" for name in twice
    ]
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


def _clean(texts: Sequence[SheetText]) -> tuple[SheetText, ...]:
    """Blank out characters that no spreadsheet holds; make visible those that reverse text."""
    return tuple(
        SheetText(heading, visible(_UNWRITABLE.sub(" ", text)))
        for heading, text in texts
    )
