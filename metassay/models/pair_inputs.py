"""A premise and a hypothesis as one input of a model, cut to what the model reads.

Either the tokenizer joins the two (as it was trained to), or a template does. What a text says is
never taken for more than text: a template's places are filled in one pass, and where a text
contains a special token of the tokenizer (such as `</s>`), a space is put into it, so that it is
read as the characters that it is.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import jinja2

from metassay.core.errors import BadInput
from metassay.models.loading import places, told_limit

PREMISE, HYPOTHESIS = "{premise}", "{hypothesis}"

_PLACES = re.compile(r"\{(premise|hypothesis)\}")


class Wording(NamedTuple):
    """How the two texts are put to a model.

    `template`: a text with the places {premise} and {hypothesis}; None: the tokenizer joins the
    two. `chat`: the filled template is what a user says, in the model's own chat template, after
    what `system` says there if it says anything.
    """

    template: str | None
    chat: bool = False
    system: str | None = None


class Input(NamedTuple):
    """The tokens to read, and whether an end of the premise or of the hypothesis is not in them.

    `types` says of each token whether it is of the first or the second text, where that is told.
    `premise_unread`: the share of the premise's tokens that are not in them.
    """

    tokens: list[int]
    types: list[int] | None
    premise_cut: bool = False
    hypothesis_cut: bool = False
    premise_unread: float = 0.0


def filled(template: str, premise: str, hypothesis: str) -> str:
    """The template with both texts in their places, whatever the texts hold."""
    texts = {"premise": premise, "hypothesis": hypothesis}
    return _PLACES.sub(lambda place: texts[place[1]], template)


def longest_input(tokenizer: Any, weights: Any, wanted: int | None) -> int | None:
    """How many tokens a model reads at once, special ones included; None: it knows no limit.

    `wanted` takes the place of what the tokenizer says, and of what the configuration says of
    models that know distances between tokens instead of places (T5, DeBERTa): these can read more
    than they were trained on. A table of places is a limit that nothing lifts.
    """
    limits = places(weights)
    if wanted is None:
        return min([*limits, *told_limit(tokenizer)], default=None)
    by_distance = getattr(weights.config, "position_biased_input", True) is False
    return wanted if by_distance else min([*limits, wanted])


@dataclass(frozen=True)
class Reader:
    """A tokenizer, the wording in which it is given two texts, and the longest input, if any."""

    tokenizer: Any
    wording: Wording
    limit: int | None

    def read(self, premise: str, hypothesis: str) -> Input:
        """The input that these texts become.

        Where that is too long, the hypothesis keeps at least half of the room (all, if it needs no
        more), and the premise has what remains; each loses its end. Raises BadInput if not even
        one token of each fits, or if the tokenizer cannot say where its tokens are in a text.
        """
        premise, hypothesis = self._plain(premise), self._plain(hypothesis)
        read = self._encoded(premise, hypothesis)
        if self.limit is None or len(read.tokens) <= self.limit:
            return read
        # Not of empty texts: without a second text tokenizers leave out its marks.
        room = self.limit - len(self._encoded("a", "a").tokens) + 2 * self.count("a")
        if room < 2:
            raise BadInput(f"an input of {self.limit} tokens has no room; give more `max_tokens`")
        long, said = self.count(premise), self.count(hypothesis)
        of_hypothesis = min(said, max(room - long, room // 2))
        of_premise = min(long, room - of_hypothesis)
        while True:  # texts that are joined can make more tokens than they have by themselves
            parts = self._first(premise, of_premise), self._first(hypothesis, of_hypothesis)
            read = self._encoded(*parts)
            over = len(read.tokens) - self.limit
            if over <= 0:
                return read._replace(
                    premise_cut=parts[0] != premise,
                    hypothesis_cut=parts[1] != hypothesis,
                    premise_unread=1 - self.count(parts[0]) / long if long else 0.0,
                )
            of_hypothesis -= max(over - of_premise, 0)
            of_premise = max(of_premise - over, 0)

    def count(self, text: str) -> int:
        """How many tokens a text has by itself."""
        return len(self.tokenizer(self._plain(text), add_special_tokens=False)["input_ids"])

    def _encoded(self, premise: str, hypothesis: str) -> Input:
        wording = self.wording
        if wording.template is None:
            encoded = self.tokenizer(premise, hypothesis)
        elif wording.chat:
            messages = [{"role": "system", "content": wording.system}] if wording.system else []
            content = filled(wording.template, premise, hypothesis)
            messages.append({"role": "user", "content": content})
            try:
                encoded = self.tokenizer.apply_chat_template(messages, add_generation_prompt=True)
            except jinja2.TemplateError as error:
                raise BadInput(
                    "the model's chat template refuses these messages"
                    f" ({type(error).__name__}); take out `system`, or `chat`"
                ) from None
        else:
            encoded = self.tokenizer(filled(wording.template, premise, hypothesis))
        types = encoded.get("token_type_ids")
        return Input(list(encoded["input_ids"]), None if types is None else list(types))

    def _first(self, text: str, most: int) -> str:
        """The beginning of a text that has at most so many tokens."""
        if not self.tokenizer.is_fast:
            raise BadInput(
                "a text is longer than the model reads, and its tokenizer cannot say where to cut"
                " it; set a smaller `window`, or take a model with a fast tokenizer"
            )
        settings = {"add_special_tokens": False, "return_offsets_mapping": True}
        ends = [end for _, end in self.tokenizer(text, **settings)["offset_mapping"]]
        return text if len(ends) <= most else text[: ends[most - 1] if most > 0 else 0]

    def _plain(self, text: str) -> str:
        return self._special.sub(lambda found: f"{found[0][0]} {found[0][1:]}", text)

    @cached_property
    def _special(self) -> re.Pattern[str]:
        added = self.tokenizer.added_tokens_decoder.values()
        tokens = {token.content for token in added if token.special}
        written = sorted((token for token in tokens if token.strip()[1:]), key=len, reverse=True)
        return re.compile("|".join(map(re.escape, written)) or r"(?!)")
