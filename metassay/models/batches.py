"""Batches of texts of about one length, so that little of a batch is padding."""

from collections.abc import Callable, Iterable, Iterator, Sequence


def by_length(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Places of texts in batches, shortest first; with padding a batch has at most `most` tokens.

    A text that is longer than that is a batch of its own. Equally long ones keep their order, so
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


def by_texts(
    rows: Sequence[Iterable[str]], order: Iterable[int], weigh: Callable[[str], int], most: int
) -> Iterator[list[int]]:
    """Places of rows of texts, in order, in blocks whose distinct texts weigh at most `most`.

    A row that weighs more is a block of its own.
    """
    block: list[int] = []
    held: set[str] = set()
    size = 0
    for place in order:
        more = set(rows[place]) - held
        if block and size + sum(map(weigh, more)) > most:
            yield block
            block, held, size, more = [], set(), 0, set(rows[place])
        block.append(place)
        held |= more
        size += sum(map(weigh, more))
    if block:
        yield block


def padded(
    rows: Sequence[Sequence[int]], pad: int, *, left: bool = False
) -> tuple[list[list[int]], list[list[int]]]:
    """The rows filled up with `pad` to the longest, and masks: 1 for a token, 0 for padding."""
    longest = max(map(len, rows))
    filled, masks = [], []
    for row in rows:
        tokens, mask = list(row), [1] * len(row)
        pads, blanks = [pad] * (longest - len(tokens)), [0] * (longest - len(tokens))
        filled.append(pads + tokens if left else tokens + pads)
        masks.append(blanks + mask if left else mask + blanks)
    return filled, masks
