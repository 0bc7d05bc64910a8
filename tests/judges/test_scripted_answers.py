"""300 answers as models write them: each with what it says, worked out by hand.

The tables of `scripted_answers.txt`, and whole responses of six providers.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from metassay.judges.llm import LlmJudge
from metassay.judges.protocol import Judgment, Pair
from metassay.llm.http import read_answer
from metassay.llm.messages import ChatRequest, Reply
from tests.judges.llm_setup import DECODING, PROMPTS, options, pair

LETTERS = {
    None: "-",
    "entailed": "E",
    "not_entailed": "N",
    "neutral": "U",
    "contradicted": "C",
}
E1, N1 = (
    f'{{"number": 1, "label": "{label}"}}' for label in ("entailed", "not_entailed")
)
R2 = r'{"number": 2, "reason": "not_entailed: \"10 mg\" [2]", "label": "not_entailed"}'
SHORT = {
    "$E1": E1,
    "$N1": N1,
    "$E2": E1.replace("1", "2"),
    "$N2": N1.replace("1", "2"),
    "$R2": R2,
    "$R1": E1.replace("1,", '1, "reason": "It says so.",'),
    "$[": '{"items": [',
    "$n": '"number"',
    "$l": '"label"',
    "%n": "not_entailed",
    "%e": "entailed",
    "¶": "\n",
    "␍": "\r",
    "␉": "\t",
}


def read_tables() -> dict[str, list[tuple[str, str]]]:
    """By name, style, instrument and number of questions: answers with what is read of them."""
    tables: dict[str, list[tuple[str, str]]] = {}
    content = (Path(__file__).parent / "scripted_answers.txt").read_text(
        encoding="utf-8"
    )
    for line in content.split("\n# ", 1)[1].splitlines():
        if " ‖ " not in line:
            rows = tables.setdefault(line.removeprefix("# "), [])
            continue
        expected, *answers = line.split(" ‖ ")
        for answer in answers:
            for short, whole in SHORT.items():
                answer = answer.replace(short, whole)  # noqa: PLW2901
            rows.append((answer, expected))
    return tables


TABLES = read_tables()


def judge(
    replies: Sequence[Any], style: str, pairs: Sequence[Pair]
) -> list[list[Judgment]]:
    """Judgments by reply, which every request gets: a text, or what makes a reply of it."""
    reply: Any = None

    def ask(requests: Sequence[ChatRequest]) -> list[Reply]:
        make = (
            reply
            if callable(reply)
            else lambda r: Reply(r.key, "ok", reply, "stop", 9, 9, 1)
        )
        return [make(request) for request in requests]

    block = {"style": style, "rounds": 0, "probability": "logprobs"}
    judge, judged = LlmJudge(options(**block), ask, DECODING, prompts=PROMPTS), []
    for reply in replies:  # noqa: B007 - `ask` gives it
        judged.append(
            [judgment for judgment in judge.judge(pairs) if judgment is not None]
        )
    return judged


def in_words(judgments: Sequence[Judgment], instrument: str) -> str:
    """The judgments in the words of the tables."""
    words = []
    for j in judgments:
        assert (j.status == "ok") == (j.label is not None or j.grade is not None)
        assert j.status in ("ok", "unparsed")
        value = LETTERS[j.label] if j.grade is None else f"{j.grade:g}"
        words.append(value + "*" * j.repaired)
    if instrument != "attribution":
        return " ".join(words)
    named = [
        n for n, j in zip("12", judgments[1:], strict=True) if j.label == "entailed"
    ]
    return words[0][0] + "".join(named) + words[0][1:]


@pytest.mark.parametrize("table", TABLES)
def test_what_is_read_is_what_was_worked_out(table: str) -> None:
    _, style, instrument, count = table.split(", ")
    pairs = [pair(f"h{n}", instrument) for n in range(int(count))]
    if instrument == "attribution":
        alone = [
            pair("s", "attribution_alone", premise=p, context="a\nb") for p in "ab"
        ]
        pairs = [pair("s", "attribution", premise="a\nb"), *alone]
    rows = TABLES[table]
    answers = [answer for answer, _ in rows]
    judged = judge(answers, style, pairs)
    read = [in_words(judgments, instrument) for judgments in judged]
    assert list(zip(answers, read, strict=True)) == rows
    assert len(dict(rows)) == len(rows)


# --- whole responses of six providers, and what becomes of one question in style json


def body(content: Any, reason: str | None = "stop", **more: Any) -> dict[str, Any]:
    usage = {"prompt_tokens": 9, "completion_tokens": 9}
    choice = {"index": 0, "message": {"role": "assistant", "content": content}}
    message = more.pop("message", {})
    choice["message"] |= message
    return {"choices": [choice | {"finish_reason": reason} | more], "usage": usage}


def tokens(*each: tuple[str, float, dict[str, float]]) -> dict[str, Any]:
    """Log-probabilities in OpenAI's form."""
    content = [
        {
            "token": text,
            "logprob": logprob,
            "bytes": list(text.encode()),
            "top_logprobs": [
                {"token": t, "logprob": p, "bytes": None} for t, p in top.items()
            ],
        }
        for text, logprob, top in each
    ]
    return {"logprobs": {"content": content}}


ALONE = f'{{"items": [{E1}]}}'
HALF = ALONE[:-20]
# ln .8 = -.2231, ln .2 = -1.6094, ln .9 = -.1054, ln .1 = -2.3026
LIKELY = tokens(
    ('{"items": [{"number": 1, "label": "', 0.0, {}),
    ("ent", -0.2231436, {"ent": -0.2231436, "not": -1.6094379}),
    ("ailed", 0.0, {}),
    ('"}]}', 0.0, {}),
)
BODIES: dict[str, list[tuple[dict[str, Any], str]]] = {
    "OpenAI": [
        (body(ALONE), "ok E"),
        (body(ALONE, **LIKELY), "ok E .80"),
        (body(ALONE, logprobs=None), "ok E"),
        (body(ALONE, **tokens()), "ok E"),
        (body(None, message={"refusal": "I can't help with that."}), "refused"),
        (body(ALONE, message={"refusal": None}), "ok E"),
        (body(HALF, "length"), "truncated"),
        (body(ALONE, "length"), "truncated"),  # however whole it looks
        (body("", "length"), "truncated"),  # all of it went into thoughts
        (body("", "content_filter"), "refused"),
        (body(HALF, "stop"), "unparsed"),
        (body(None), "unparsed"),
    ],
    "Azure": [
        (body(ALONE, content_filter_results={"hate": {"filtered": False}}), "ok E"),
        (body(None, "content_filter"), "refused"),
        (body(ALONE[:10], "content_filter"), "refused"),
        (body(ALONE, **LIKELY), "ok E .80"),
    ],
    "Anthropic": [
        (body(f"Here is the JSON:\n{ALONE}"), "ok E*"),
        (body(f"```json\n{ALONE.replace(E1, N1)}\n```"), "ok N"),
        (body([{"type": "text", "text": ALONE}]), "ok E"),
        (body('{"items": [{"number": 1, "label": "Not entailed"}]}'), "ok N*"),
        (body("I don't feel comfortable judging this."), "unparsed"),
        (body(ALONE, logprobs=None), "ok E"),
    ],
    "vLLM": [
        (body(ALONE, message={"reasoning_content": "not_entailed?"}), "ok E"),
        (body(ALONE, message={"reasoning": "Hm."}, stop_reason=None), "ok E"),
        (body(f"<think>\n{ALONE.replace(E1, N1)}?\n</think>\n\n{ALONE}"), "ok E"),
        (body(f"{ALONE.replace(E1, N1)}?\n</think>\n{ALONE}"), "ok E"),
        (body(f"<think>\n{ALONE.replace(E1, N1)}"), "truncated"),
        (body(f"<think>\n{ALONE.replace(E1, N1)}", "length"), "truncated"),
        (body(ALONE, **LIKELY), "ok E .80"),
        (
            body(
                f"<think>{ALONE.replace(E1, N1)}</think>{ALONE}",
                **tokens(
                    ("<think>", 0.0, {}),
                    (ALONE.replace(E1, N1), 0.0, {}),
                    ("</think>", 0.0, {}),
                    ('{"items": [{"number": 1, "label": "', 0.0, {}),
                    ("entailed", -0.1053605, {"not": -2.3025851}),
                    ('"}]}', 0.0, {}),
                    ("<|im_end|>", 0.0, {}),
                ),
            ),
            "ok E .90",
        ),
    ],
    "Ollama": [
        (body(ALONE.replace(" ", "\n")), "ok E"),
        (body('{"number": 1, "label": "entailed"}'), "ok E*"),
        (body('{"label": "entailed"}'), "ok E*"),
        (body(ALONE[:-3], "length"), "truncated"),
        (body("{" + " \n" * 40, "length"), "truncated"),  # blanks without end
        (body("{}"), "unparsed"),
    ],
    "OpenRouter": [
        (body(ALONE, native_finish_reason="end_turn"), "ok E"),
        (body(ALONE, message={"reasoning": "So.", "reasoning_details": []}), "ok E"),
        (body("", message={"reasoning": "So it is entailed."}), "unparsed"),
        (body(ALONE, None), "ok E"),
        (body(ALONE + ALONE), "ok E*"),
        (body(HALF, "length"), "truncated"),
    ],
}


@pytest.mark.parametrize("provider", BODIES)
def test_whole_responses_are_what_was_worked_out(provider: str) -> None:
    def reply_of(response: dict[str, Any]) -> Any:
        def reply(request: ChatRequest) -> Reply:
            entry = read_answer(json.dumps(response).encode(), request, request.key)
            assert entry is not None
            return entry.reply()

        return reply

    judged = judge(
        [reply_of(response) for response, _ in BODIES[provider]], "json", [pair("h")]
    )
    for (judgment,), (response, expected) in zip(judged, BODIES[provider], strict=True):
        label, p = judgment.label, judgment.probability
        words = [
            judgment.status,
            LETTERS[label] + "*" * judgment.repaired if label else "",
        ]
        words.append("" if p is None else f"{p:.2f}"[1:])
        assert " ".join(filter(None, words)) == expected, response


def test_there_are_three_hundred() -> None:
    assert sum(map(len, [*TABLES.values(), *BODIES.values()])) >= 300
