"""How likely each label is: by the tokens that an answer was written in, or by several answers.

Of tokens it is the probability that the model writes this label rather than another one, as the
answer stands up to there: where its first token tells the labels apart, what that token and the
likeliest others in its place (`top`) say of each; else on to the token that does. What the list
leaves open is left out, unless it could move the probability by more than OPEN.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from metassay.core.options import Options
from metassay.judges.llm_calls import JSON_STYLES, Style
from metassay.judges.protocol import Status
from metassay.llm.answers import value_starts, whole
from metassay.llm.messages import Reply, TokenLogprobs
from metassay.llm.structured import json_entries

OPEN = 0.05

Probability = Literal["none", "logprobs", "samples"]
Shares = Mapping[str, float]  # probability by label
Why = Literal[
    "the endpoint gave no log-probabilities",
    "the label was not found among the answer's tokens",
    "the likeliest tokens leave more than 5 % open",
]

NOT_FOUND: Why = "the label was not found among the answer's tokens"
_MARKS = re.compile(r"[\W_]+")
_WORD = re.compile(r"[a-z_]*")
_LABEL = re.compile(r'"label"\s*:')


class Samples(Options):
    """`k` answers to each question, drawn at a temperature; null: at the model's own."""

    k: Annotated[int, Field(ge=2, le=100)] = 10
    temperature: Annotated[float, Field(gt=0, le=2)] | None = 1.0


def starts_of(reply: Reply, style: Style) -> dict[int | None, int]:
    """Where the answer to each number starts among a reply's tokens, in characters.

    None stands for the only answer without a number. Empty where that is not clear for each.
    """
    text = "".join(map(_shown, reply.logprobs or ()))
    if style not in JSON_STYLES:
        return value_starts(text)
    numbers = [whole(one.get("number")) for one in json_entries(text, lenient=True)]
    places = [match.end() for match in _LABEL.finditer(text)]
    sound = len(numbers) == len(places) == len(set(numbers))
    return dict(zip(numbers, places, strict=True)) if sound else {}


def by_tokens(
    tokens: Sequence[TokenLogprobs], start: int, labels: Sequence[str], label: str
) -> Shares | Why:
    """The probability of each label where `label` was written, from `start` on; or why none."""
    mass = dict.fromkeys(labels, 0.0)
    path, hidden, written, left, at = 1.0, 0.0, "", list(labels), 0
    for token in tokens:
        before, at = _shown(token)[: max(0, start - at)], at + len(_shown(token))
        if at <= start:
            continue
        own, others = _options(token)
        for text, probability in others.items():
            said = _continued(written, text.removeprefix(before))
            fits = _fitting(said, left) if text.startswith(before) else []
            if len(fits) == 1:
                mass[fits[0]] += path * probability
            elif fits and said != written:
                hidden += path * probability
        said = _continued(written, _shown(token).removeprefix(before))
        if said != written:
            hidden += path * max(0.0, 1 - own - math.fsum(others.values()))
            left = _fitting(said, left)
        if len(left) <= 1:
            break
        path, written = path * own, said
    if left != [label]:
        return NOT_FOUND
    mass[label] += path * own
    total = math.fsum(mass.values())
    if not total or hidden > OPEN * (total + hidden):
        return "the likeliest tokens leave more than 5 % open"
    return {name: one / total for name, one in mass.items()}


def by_samples(said: Sequence[str], labels: Sequence[str]) -> Shares:
    """The share of each label among several answers."""
    counts = Counter(said)
    return {label: counts[label] / len(said) for label in labels}


def decided(
    shares: Shares, label: str, threshold: float, band: Sequence[float] | None
) -> tuple[Status, str | None, float]:
    """Status, label and the positive label's probability, which is that of the first one.

    Of two labels the threshold decides, and inside of the band nothing does. Of three it is the
    given one, if its own probability reaches the band's upper end.
    """
    (positive, other, *more), probability = shares, min(1.0, next(iter(shares.values())))
    if more:
        unsure = band is not None and shares[label] < band[1]
    else:
        unsure = band is not None and band[0] < probability < band[1]
        label = positive if probability >= threshold else other
    return ("abstained", None, probability) if unsure else ("ok", label, probability)


def _shown(token: TokenLogprobs) -> str:
    """The token's text; of a piece of a character, which some endpoints write as bytes, a mark."""
    return "?" if token.token.startswith("bytes:\\x") else token.token


def _options(token: TokenLogprobs) -> tuple[float, dict[str, float]]:
    others = {text: math.exp(logprob) for text, logprob in token.top if text != token.token}
    return math.exp(token.logprob), others


def _continued(written: str, text: str) -> str:
    """The label as far as it is written, in small letters; marks before it are none of it."""
    if not written:
        text = _MARKS.sub("", text, count=1) if _MARKS.match(text) else text
    text = re.sub(r"[\s_-]+", "_", text.replace("\\", "").lower())
    word = _WORD.match(text)
    return written + (word[0] if word else "")


def _fitting(written: str, labels: Sequence[str]) -> list[str]:
    """The labels that what is written can be the beginning of, or begins with."""
    return [one for one in labels if one.startswith(written) or written.startswith(one)]
