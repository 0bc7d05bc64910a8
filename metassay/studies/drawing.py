"""Draw by lot: items, their raters, their order, and meaningless ids.

A lot is a hash of the seed and of what is drawn: the same seed draws the same on every machine, and
an additional item changes no other lot. Whoever has the seed and the data can draw again and so
unblind; the seed is part of the key.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations, count

from metassay.studies.record import Draft

# Only consonants: no word, no month and no number that a spreadsheet would rewrite.
_LETTERS = "bcdfghjklmnpqrstvwxz"
_SHORTEST = 8


def lot(seed: int, *key: str) -> int:
    """Return the 256-bit number of a key under this seed."""
    data = "\x1f".join([str(seed), *key]).encode("utf-8")
    return int.from_bytes(hashlib.sha256(data).digest())


def draw_ids(identities: Sequence[tuple[str, ...]], seed: int) -> list[str]:
    """Return a unique id of letters for each of these distinct identities."""
    lots = [lot(seed, "id", *identity) for identity in identities]
    of_lengths = ([_letters(number, length) for number in lots] for length in count(_SHORTEST))
    return next(ids for ids in of_lengths if len(set(ids)) == len(ids))


def draw_items(drafts: Sequence[Draft], n: int | None, seed: int, *, together: bool) -> list[Draft]:
    """Draw `n` items (all if None or too few), nearly equally many of every system.

    `together`: draw all items of a document before those of the next, so that systems are
    compared on the same documents; the last document may have only some. Otherwise each combination
    of systems has nearly equally many items, of any documents. `identity[0]` is the document.
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
    items: Mapping[str, tuple[str, ...]], raters: Sequence[str], per_item: int, seed: int
) -> dict[str, tuple[str, ...]]:
    """Assign each item to `per_item` raters; return each rater's items in a random order.

    `items` maps an item's id to the systems whose texts it shows. The raters' numbers of items
    differ by at most 1 for each combination of systems, and by at most 2 in total. Among equals,
    raters who have shared few items get it. Raises ValueError for fewer raters than `per_item`.
    """
    if not 1 <= per_item <= len(raters):
        raise ValueError(f"want 1 to {len(raters)} raters per item, not {per_item}")
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
        r: tuple(sorted(ids, key=partial(lot, seed, "order", r))) for r, ids in by_rater.items()
    }


def _letters(number: int, length: int) -> str:
    base = len(_LETTERS)
    return "".join(_LETTERS[number // base**place % base] for place in range(length))
