"""The probability of each label: from the log-probabilities of tokens, or from several answers.

From tokens it is the probability that the model writes this label and not another,
given the answer before it. At each token of the label, the probability of the likeliest
alternatives (`top`) goes to the label that they start, until a token tells the labels
apart. The probability of tokens outside the list is left out, unless it could move the
result by more than OPEN.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from metassay.core.options import Options
from metassay.judges.llm_calls import JSON_STYLES, Style
from metassay.judges.protocol import Status
from metassay.llm.answers import json_entries
from metassay.llm.lines import value_starts
from metassay.llm.messages import Reply, TokenLogprobs
from metassay.llm.repair import whole

OPEN = 0.05

Probability = Literal["none", "logprobs", "samples"]
Shares = Mapping[str, float]  # probability by label

NOT_FOUND = "the label was not found among the answer's tokens"
_OPEN = "the likeliest tokens leave more than 5 % open"
_MARKS = re.compile(r"[\W_]+")
_WORD = re.compile(r"[a-z_]*")
_LABEL = re.compile(r'"label"\s*:')


class Samples(Options):
    """`k` answers to each question, drawn at a temperature; null: the temperature of the model."""

    k: Annotated[int, Field(ge=2, le=100)] = 10
    temperature: Annotated[float, Field(gt=0, le=2)] | None = 1.0


def starts_of(reply: Reply, style: Style) -> dict[int | None, int]:
    """Return where the answer to each number starts in the text of a reply's tokens, in characters.

    The key None stands for a single answer without a number. Empty if any start is not
    clear.
    """
    text = "".join(map(_text, reply.logprobs or ()))
    if style not in JSON_STYLES:
        return value_starts(text)
    numbers = [
        whole(entry.get("number")) for entry in json_entries(text, lenient=True).entries
    ]
    places = [match.end() for match in _LABEL.finditer(text)]
    clear = len(numbers) == len(places) == len(set(numbers))
    return dict(zip(numbers, places, strict=True)) if clear else {}


def label_shares(
    tokens: Sequence[TokenLogprobs], start: int, labels: Sequence[str], label: str
) -> Shares | str:
    """Return each label's probability, where `label` starts at `start`; or why there is none."""
    mass = dict.fromkeys(labels, 0.0)
    path = 1.0
    hidden = 0.0
    written = ""
    left = list(labels)
    end = 0
    for token in tokens:
        before = _text(token)[: max(0, start - end)]
        end = end + len(_text(token))
        if end <= start:
            continue
        p = math.exp(token.logprob)
        others = {
            text: math.exp(logprob)
            for text, logprob in token.top
            if text != token.token
        }
        for text, probability in others.items():
            prefix = _extend(written, text.removeprefix(before))
            fits = _find_labels(prefix, left) if text.startswith(before) else []
            if len(fits) == 1:
                mass[fits[0]] += path * probability
            elif fits and prefix != written:
                hidden += path * probability
        prefix = _extend(written, _text(token).removeprefix(before))
        if prefix != written:
            hidden += path * max(0.0, 1 - p - math.fsum(others.values()))
            left = _find_labels(prefix, left)
        if len(left) <= 1:
            break
        path = path * p
        written = prefix
    if left != [label]:
        return NOT_FOUND
    mass[label] += path * p
    total = math.fsum(mass.values())
    if not total or hidden > OPEN * (total + hidden):
        return _OPEN
    return {name: m / total for name, m in mass.items()}


def decide(
    shares: Shares, label: str, threshold: float, band: Sequence[float] | None
) -> tuple[Status, str | None, float]:
    """Return the status, the label, and the probability of the positive label, which is the first.

    Of two labels the threshold decides; strictly inside the band the judge abstains. Of
    three the answer is `label`, if its probability reaches the band's upper end.
    """
    (positive, other, *more) = shares
    probability = min(1.0, next(iter(shares.values())))
    if more:
        unsure = band is not None and shares[label] < band[1]
    else:
        unsure = band is not None and band[0] < probability < band[1]
        label = positive if probability >= threshold else other
    return ("abstained", None, probability) if unsure else ("ok", label, probability)


def _text(token: TokenLogprobs) -> str:
    """Return the token's text; "?" for a part of a character, which endpoints show as bytes."""
    return "?" if token.token.startswith("bytes:\\x") else token.token


def _extend(written: str, text: str) -> str:
    """Extend the written part of a label by a token's text, lower-cased, without leading marks."""
    if not written:
        text = _MARKS.sub("", text, count=1) if _MARKS.match(text) else text
    text = re.sub(r"[\s_-]+", "_", text.replace("\\", "").lower())
    word = _WORD.match(text)
    return written + (word[0] if word else "")


def _find_labels(written: str, labels: Sequence[str]) -> list[str]:
    """Find the labels that start with the written text, or that the written text starts with."""
    return [
        label
        for label in labels
        if label.startswith(written) or written.startswith(label)
    ]
