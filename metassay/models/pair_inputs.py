"""Combine a premise and a hypothesis into one input of a model, truncated to its limit.

The tokenizer joins them (as in training), or a template does. Texts are never read as
more than text: a template's placeholders are filled in one pass, and a space is put
into special tokens of the tokenizer (such as `</s>`) in a text, so that they are read
as plain characters.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from metassay.core.errors import BadInput
from metassay.models.loading import places, tokenizer_limit

PREMISE, HYPOTHESIS = "{premise}", "{hypothesis}"

_PLACES = re.compile(r"\{(premise|hypothesis)\}")


class Wording(NamedTuple):
    """How the two texts are presented to a model.

    `template`: a text with placeholders {premise} and {hypothesis}; None: the tokenizer
    joins the two. `chat`: the filled template is the user's message in the model's chat
    template, after the system message `system`, if any.
    """

    template: str | None
    chat: bool = False
    system: str | None = None


class Input(NamedTuple):
    """The tokens to read, and whether the premise or the hypothesis is truncated.

    `types`: whether each token is of the first or the second text, if the model
    distinguishes them. `premise_unread`: the share of the premise's tokens that are
    left out.
    """

    tokens: list[int]
    types: list[int] | None
    premise_cut: bool = False
    hypothesis_cut: bool = False
    premise_unread: float = 0.0


def fill_template(template: str, premise: str, hypothesis: str) -> str:
    """Fill the template with both texts, whatever they contain."""
    texts = {"premise": premise, "hypothesis": hypothesis}
    return _PLACES.sub(lambda place: texts[place[1]], template)


def longest_input(tokenizer: Any, weights: Any, max_tokens: int | None) -> int | None:
    """Return how many tokens a model reads at once, with special tokens; None: unlimited.

    `max_tokens` overrides the tokenizer's limit, and the configuration's for models
    with relative positions (T5, DeBERTa), which can read more than in training. It
    cannot exceed a table of absolute positions.
    """
    limits = places(weights)
    if max_tokens is None:
        return min([*limits, *tokenizer_limit(tokenizer)], default=None)
    by_distance = getattr(weights.config, "position_biased_input", True) is False
    return max_tokens if by_distance else min([*limits, max_tokens])


@dataclass(frozen=True)
class Reader:
    """A tokenizer, the wording of its inputs, and the longest input, if limited."""

    tokenizer: Any
    wording: Wording
    limit: int | None

    def read(self, premise: str, hypothesis: str) -> Input:
        """Return the input of two texts.

        If it is too long, the hypothesis gets at least half of the room (or all that it
        needs), the premise the rest; both are truncated at the end. Raises BadInput if
        not even a token of each fits, or if the tokenizer has no offsets.
        """
        premise, hypothesis = self._plain(premise), self._plain(hypothesis)
        read = self._encoded(premise, hypothesis)
        if self.limit is None or len(read.tokens) <= self.limit:
            return read
        # Not of empty texts: without a second text tokenizers leave out its special
        # tokens.
        room = self.limit - len(self._encoded("a", "a").tokens) + 2 * self.count("a")
        if room < 2:
            raise BadInput(
                f"an input of {self.limit} tokens is too short; increase `max_tokens`"
            )
        premise_size, hypothesis_size = self.count(premise), self.count(hypothesis)
        of_hypothesis = min(hypothesis_size, max(room - premise_size, room // 2))
        of_premise = min(premise_size, room - of_hypothesis)
        while True:  # joined texts can have more tokens than separate ones
            cut_texts = (
                self._first(premise, of_premise),
                self._first(hypothesis, of_hypothesis),
            )
            read = self._encoded(*cut_texts)
            excess = len(read.tokens) - self.limit
            if excess <= 0:
                return read._replace(
                    premise_cut=cut_texts[0] != premise,
                    hypothesis_cut=cut_texts[1] != hypothesis,
                    premise_unread=1 - self.count(cut_texts[0]) / premise_size
                    if premise_size
                    else 0.0,
                )
            of_hypothesis -= max(excess - of_premise, 0)
            of_premise = max(of_premise - excess, 0)

    def count(self, text: str) -> int:
        """Count the tokens of a text by itself."""
        return len(
            self.tokenizer(self._plain(text), add_special_tokens=False)["input_ids"]
        )

    def _encoded(self, premise: str, hypothesis: str) -> Input:
        wording = self.wording
        if wording.template is None:
            encoded = self.tokenizer(premise, hypothesis)
        elif wording.chat:
            messages = (
                [{"role": "system", "content": wording.system}]
                if wording.system
                else []
            )
            content = fill_template(wording.template, premise, hypothesis)
            messages.append({"role": "user", "content": content})
            import jinja2  # slow, and descriptions of metrics import this module

            try:
                encoded = self.tokenizer.apply_chat_template(
                    messages, add_generation_prompt=True
                )
            except jinja2.TemplateError as error:
                raise BadInput(
                    "the model's chat template refuses these messages"
                    f" ({type(error).__name__}); remove `system` or `chat`"
                ) from None
        else:
            encoded = self.tokenizer(
                fill_template(wording.template, premise, hypothesis)
            )
        types = encoded.get("token_type_ids")
        return Input(list(encoded["input_ids"]), None if types is None else list(types))

    def _first(self, text: str, most: int) -> str:
        """Truncate a text to at most `most` tokens."""
        if not self.tokenizer.is_fast:
            raise BadInput(
                "a text is longer than the model reads, and its tokenizer cannot say where to cut"
                " it; set a smaller `window`, or take a model with a fast tokenizer"
            )
        settings = {"add_special_tokens": False, "return_offsets_mapping": True}
        ends = [end for _, end in self.tokenizer(text, **settings)["offset_mapping"]]
        if len(ends) <= most:
            return text
        return text[: ends[most - 1]] if most > 0 else ""

    def _plain(self, text: str) -> str:
        return self._special.sub(lambda match: f"{match[0][0]} {match[0][1:]}", text)

    @cached_property
    def _special(self) -> re.Pattern[str]:
        added = self.tokenizer.added_tokens_decoder.values()
        tokens = {token.content for token in added if token.special}
        patterns = sorted(
            (token for token in tokens if token.strip()[1:]), key=len, reverse=True
        )
        return re.compile("|".join(map(re.escape, patterns)) or r"(?!)")
