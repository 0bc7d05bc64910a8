"""Tell a model's thoughts from its answer.

Reasoning models write their thoughts before the answer, between two marks. A server can
take them out; many do not.
"""

import re

# How thoughts begin and end, by model family. They may stand anywhere in a line.
_MARKS: tuple[tuple[str, str], ...] = (
    ("<think>", "</think>"),  # DeepSeek R1, Qwen, QwQ, GLM, MiniMax
    ("<thinking>", "</thinking>"),  # Claude, if a prompt asks for thoughts
    ("<thought>", "</thought>"),  # EXAONE Deep, Gemma
    ("<reasoning>", "</reasoning>"),
    ("<analysis>", "</analysis>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<reflection>", "</reflection>"),
    ("<seed:think>", "</seed:think>"),  # Seed-OSS
    ("[THINK]", "[/THINK]"),  # Magistral
    ("◁think▷", "◁/think▷"),  # Kimi
    ("<|begin_of_thought|>", "<|end_of_thought|>"),  # Sky-T1, OpenThinker
    ("<|START_THINKING|>", "<|END_THINKING|>"),  # Command A
    ("<|channel|>analysis<|message|>", "<|end|>"),  # gpt-oss
    ("<unused94>", "<unused95>"),  # MedGemma
)
_START = re.compile("|".join(re.escape(start) for start, _ in _MARKS), re.IGNORECASE)
_END_OF = {
    start.casefold(): re.compile(re.escape(end), re.IGNORECASE) for start, end in _MARKS
}
_END = re.compile("|".join(re.escape(end) for _, end in _MARKS), re.IGNORECASE)
_AT_START = re.compile(rf"\s*({_START.pattern})", re.IGNORECASE)
# Valid JSON never contains such a line.
_END_ALONE = re.compile(r"^[ \t]*</think>[ \t]*$", re.MULTILINE)


def remove_thoughts(text: str) -> str | None:
    """Return a reply without the thoughts at its start; None if they have no end.

    If the model's template has opened the thoughts, they end with a line that is only
    `</think>`. Other texts are returned unchanged.

    >>> remove_thoughts("<think>Is it the left knee?</think> It hurts.")
    'It hurts.'
    """
    start = _AT_START.match(text)
    if start is None:
        return _remove_opened_thoughts(text)
    place = 0
    while start is not None:
        end = _END_OF[start[1].casefold()].search(text, start.end())
        if end is None:
            return None
        place = end.end()
        start = _AT_START.match(text, place)
    return text[place:].lstrip()


def remove_all_thoughts(text: str) -> str | None:
    """Return a reply without thoughts anywhere; None if some have no end.

    For replies that are read as answers. Texts that a model was asked to write may
    speak of marks.

    >>> remove_all_thoughts("So: <think>left?</think>1: entailed")
    'So: 1: entailed'
    """
    pieces: list[str] = []
    place = 0
    while start := _START.search(text, place):
        pieces.append(text[place : start.start()])
        end = _END_OF[start[0].casefold()].search(text, start.end())
        if end is None:
            return None
        place = end.end()
    return "".join([*pieces, text[place:]])


def has_thought_end(text: str) -> bool:
    """Return whether a text has the mark at the end of thoughts.

    A model that quotes it seems to end its thoughts there.
    """
    return _END.search(text) is not None


def _remove_opened_thoughts(text: str) -> str:
    alone = _END_ALONE.search(text)
    if alone is None or _START.search(text[: alone.start()]):
        return text
    return text[alone.end() :].lstrip()
