"""Batches of texts of similar length, with little padding."""

from collections.abc import Callable, Iterable, Iterator, Sequence


def batch_by_length(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Yield batches of places of texts, shortest first, of at most `most` tokens with padding.

    A longer text is a batch of its own. Texts of equal length keep their order, so that
    the same lengths give the same batches.
    """
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[place] > most:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def batch_by_texts(
    rows: Sequence[Iterable[str]],
    order: Iterable[int],
    weigh: Callable[[str], int],
    most: int,
) -> Iterator[list[int]]:
    """Yield blocks of places of rows of texts, in order, whose distinct texts weigh at most `most`.

    A heavier row is a block of its own.
    """
    block: list[int] = []
    texts: set[str] = set()
    size = 0
    for place in order:
        new = set(rows[place]) - texts
        if block and size + sum(map(weigh, new)) > most:
            yield block
            block, texts, size, new = [], set(), 0, set(rows[place])
        block.append(place)
        texts |= new
        size += sum(map(weigh, new))
    if block:
        yield block


def pad_rows(
    rows: Sequence[Sequence[int]], pad: int, *, left: bool = False
) -> tuple[list[list[int]], list[list[int]]]:
    """Pad rows to the longest with `pad`; also return masks: 1 for a token, 0 for padding."""
    longest = max(map(len, rows))
    filled, masks = [], []
    for row in rows:
        tokens, mask = list(row), [1] * len(row)
        pads, blanks = [pad] * (longest - len(tokens)), [0] * (longest - len(tokens))
        filled.append(pads + tokens if left else tokens + pads)
        masks.append(blanks + mask if left else mask + blanks)
    return filled, masks
