"""What is drawn by lot: which items, who gets which, in what order, and ids that tell nothing.

Lots are hashes of the seed and of what is drawn, so that the same seed draws the same everywhere,
and an item more or less changes no other lot. Who has the seed and the data can draw again and so
unblind: the seed is part of the key.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations, count

from metassay.studies.record import Draft

# Consonants alone: no word, no month and no number that a spreadsheet would rewrite.
_LETTERS = "bcdfghjklmnpqrstvwxz"
_SHORTEST = 8


def lot(seed: int, *key: str) -> int:
    """A number of 256 bits that belongs to the key under this seed."""
    said = "\x1f".join([str(seed), *key]).encode("utf-8")
    return int.from_bytes(hashlib.sha256(said).digest())


def ids(identities: Sequence[tuple[str, ...]], seed: int) -> list[str]:
    """An id of letters for each of the identities, which are all different."""
    lengths = (
        [_letters(lot(seed, "id", *identity), length) for identity in identities]
        for length in count(_SHORTEST)
    )
    return next(found for found in lengths if len(set(found)) == len(found))


def chosen(drafts: Sequence[Draft], n: int | None, seed: int, *, together: bool) -> list[Draft]:
    """`n` of the items (all of them if None or too few), of every system nearly equally many.

    `together`: all items of a document are taken before those of the next one, so that systems are
    compared on the same documents; the last document may have some. Else each combination of
    systems has nearly equally many items, of whatever documents. `identity[0]` is the document.
    """
    drawn = sorted(drafts, key=lambda one: lot(seed, "choose", *one.identity))
    if n is None or n >= len(drawn):
        return sorted(drawn, key=lambda one: one.identity)
    counted: Counter[tuple[str, ...]] = Counter()
    place: dict[tuple[str, ...], tuple[int, int]] = {}
    for one in drawn:
        group = (one.identity[0],) if together else one.systems
        document = lot(seed, "document", one.identity[0]) if together else 0
        place[one.identity] = (document, counted[group])
        counted[group] += 1
    taken = sorted(drawn, key=lambda one: place[one.identity])[:n]
    if together:
        taken = _evened(taken, drawn)
    return sorted(taken, key=lambda one: one.identity)


def _evened(taken: Sequence[Draft], drawn: Sequence[Draft]) -> list[Draft]:
    """The same, with the last document's items those of the systems that have the fewest."""
    last = taken[-1].identity[0]
    kept = [one for one in taken if one.identity[0] != last]
    had = Counter(system for one in kept for system in one.systems)
    rest = [one for one in drawn if one.identity[0] == last]
    rest.sort(key=lambda one: sum(had[system] for system in one.systems))
    return [*kept, *rest[: len(taken) - len(kept)]]


def assigned(
    items: Mapping[str, tuple[str, ...]], raters: Sequence[str], per_item: int, seed: int
) -> dict[str, tuple[str, ...]]:
    """The items of each rater, in an order of their own; each item is given to `per_item` raters.

    `items` maps an item's id to the systems whose texts it shows. Of each combination of systems
    the raters' numbers of items differ by at most 1, and in all by at most 2; after that, two
    raters share items who have shared few. ValueError if there are fewer raters than `per_item`.
    """
    if not 1 <= per_item <= len(raters):
        raise ValueError(f"want 1 to {len(raters)} raters per item, not {per_item}")
    dealt: dict[str, list[str]] = {rater: [] for rater in raters}
    of_systems: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    shared: Counter[frozenset[str]] = Counter()
    for item in sorted(items, key=lambda one: (items[one], lot(seed, "deal", one))):
        counts, got = of_systems[items[item]], list[str]()
        while len(got) < per_item:
            ranks = {
                rater: (
                    counts[rater],
                    len(dealt[rater]),
                    sum(shared[frozenset((rater, other))] for other in got),
                    lot(seed, "rater", item, rater),
                )
                for rater in raters
                if rater not in got
            }
            got.append(min(ranks, key=ranks.__getitem__))
        shared.update(map(frozenset, combinations(got, 2)))
        counts.update(got)
        for rater in got:
            dealt[rater].append(item)
    return {
        rater: tuple(sorted(of_rater, key=partial(lot, seed, "order", rater)))
        for rater, of_rater in dealt.items()
    }


def _letters(number: int, length: int) -> str:
    found = ""
    for _ in range(length):
        number, place = divmod(number, len(_LETTERS))
        found += _LETTERS[place]
    return found
