"""Some texts, sentence by sentence: the right label beside what each segmentation says."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from metassay.reporting.numbers import counted
from metassay.reporting.tables import rows
from metassay.segment_tests.documents import NONE

SHOWN = 12  # texts
COLOURS = 8  # classes of page.css; more labels begin again
_KEY = ["doc_id", "author"]


class Chip(NamedTuple):
    """A label and how it looks: by its colour, and whether it is wrong, or there is none."""

    label: str
    css: str


class Line(NamedTuple):
    """One sentence, its right label and those given, one per segmentation."""

    sentence: str
    label: Chip
    given: list[Chip]


class Example(NamedTuple):
    """One text."""

    key: str
    about: str
    lines: list[Line]


def examples_view(
    texts: pd.DataFrame,
    sentences: pd.DataFrame,
    segmented: pd.DataFrame,
    segmentations: Sequence[str],
    labels: Sequence[str],
) -> list[Example]:
    """SHOWN texts, evenly from those with the most wrong labels to those with the fewest.

    `labels` in the order of the page, which is that of colours. A label that is missing because the
    segmentation failed is not wrong.
    """
    columns = [*_KEY, "position"]
    wide = sentences.sort_values(columns).assign(wrong=0.0)
    for name in segmentations:
        mine = segmented.loc[segmented["segmentation"] == name, [*columns, "label"]]
        wide = wide.merge(mine.rename(columns={"label": name}), on=columns)
        wide["wrong"] += (wide[name] != wide["label"]) & wide[name].notna()
    share = wide.groupby(_KEY)["wrong"].mean().sort_values(ascending=False, kind="stable")
    places = np.linspace(0, len(share) - 1, min(SHOWN, len(share))).round().astype(int)
    chosen = [share.index[place] for place in places]
    written = {tuple(own[:-1]): own[-1] for own in rows(texts, *_KEY, "text")}
    by_text = {key: mine for key, mine in wide.groupby(_KEY) if key in set(chosen)}
    colours = {label: f"m m{place % COLOURS}" for place, label in enumerate(labels)}
    colours[NONE] = ""
    several = sentences["author"].nunique() > 1
    names = {key: ", ".join(key) if several else key[0] for key in chosen}
    return [
        _example(names[key], written[key], by_text[key], segmentations, colours) for key in chosen
    ]


def _example(
    key: str,
    text: str,
    mine: pd.DataFrame,
    segmentations: Sequence[str],
    colours: dict[str, str],
) -> Example:
    lines = []
    right = [0] * len(segmentations)
    for start, end, label, *given in rows(mine, "start", "end", "label", *segmentations):
        chips = [_chip(one, label, colours) for one in given]
        right = [n + (one == label) for n, one in zip(right, given, strict=True)]
        lines.append(Line(text[start:end], Chip(label, colours[label]), chips))
    of = ", ".join(f"{name} {n}" for name, n in zip(segmentations, right, strict=True))
    return Example(key, f"of {counted(len(lines), 'sentence')} right: {of}", lines)


def _chip(given: str | None, label: str, colours: dict[str, str]) -> Chip:
    if given is None:
        return Chip("failed", "unknown")
    return Chip(given, colours[given] if given == label else f"{colours[given]} wrong")
