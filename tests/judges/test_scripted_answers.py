"""300 answers as models write them: each with what it says, worked out by hand.

Two questions, unless the row says otherwise. What is expected has a word for each: E entailed, N
not_entailed, U neutral, C contradicted, a grade, `-` unparsed; `*` marks what is repaired.
"""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from metassay.judges.llm import LlmJudge
from metassay.judges.protocol import Judgment, Pair
from metassay.llm.http import read_answer
from metassay.llm.messages import ChatRequest, Reply
from tests.judges.llm_setup import DECODING, PROMPTS, options, pair

WORDS = {"E": "entailed", "N": "not_entailed", "U": "neutral", "C": "contradicted", "-": None}
Rows = list[tuple[str, str]]

PLAIN: Rows = [
    # Just the form; words may stand before.
    ("1: entailed\n2: not_entailed", "E N"),
    ("2: not_entailed\n1: entailed", "E N"),
    ("Sure!\n\n1: entailed\n2: not_entailed", "E N"),
    ("```\n1: entailed\n2: not_entailed\n```", "E N"),
    ("1: entailed\r\n2: not_entailed\r\n", "E N"),
    ("  1: entailed\n\n\n  2: not_entailed  \n", "E N"),
    ("The first is not_entailed? No.\n1: entailed\n2: entailed", "E E"),
    ("1) is hard.\n1: entailed\n2: not_entailed", "E N"),
    # Marked up otherwise.
    ("1. entailed\n2. not_entailed", "E* N*"),
    ("1) entailed\n2) not_entailed", "E* N*"),
    ("(1) entailed\n(2) not_entailed", "E* N*"),
    ("[1] entailed\n[2] not_entailed", "E* N*"),
    ("[1]: entailed\n[2]: not_entailed", "E* N*"),
    ("- 1: entailed\n- 2: not_entailed", "E* N*"),
    ("* 1: entailed\n* 2: not_entailed", "E* N*"),
    ("• 1: entailed\n• 2: not_entailed", "E* N*"),
    ("+ 1. entailed\n+ 2. not_entailed", "E* N*"),
    ("**1**: entailed\n**2**: not_entailed", "E* N*"),
    ("**1:** entailed\n**2:** not_entailed", "E* N*"),
    ("**1: entailed**\n**2: not_entailed**", "E* N*"),
    ("- **1**: Entailed.\n- **2**: Not_entailed.", "E* N*"),
    ("1: **entailed**\n2: **not_entailed**", "E* N*"),
    ("1: *entailed*\n2: *not_entailed*", "E* N*"),
    ("1: `entailed`\n2: `not_entailed`", "E* N*"),
    ("`1: entailed`\n`2: not_entailed`", "E* N*"),
    ("### 1: entailed\n### 2: not_entailed", "E* N*"),
    ("#1: entailed\n#2: not_entailed", "E* N*"),
    ("1 - entailed\n2 - not_entailed", "E* N*"),
    ("1 – entailed\n2 — not_entailed", "E* N*"),
    ("1 entailed\n2 not_entailed", "E* N*"),
    ("1:entailed\n2:not_entailed", "E* N*"),
    ("1 : entailed\n2 : not_entailed", "E* N*"),
    ("1:\tentailed\n2:\tnot_entailed", "E* N*"),
    ("01: entailed\n02: not_entailed", "E* N*"),
    # The label written otherwise.
    ("1: Entailed\n2: Not_Entailed", "E* N*"),
    ("1: ENTAILED\n2: NOT_ENTAILED", "E* N*"),
    ("1: entailed.\n2: not_entailed.", "E* N*"),
    ("1: entailed,\n2: not_entailed", "E* N"),
    ("1: entailed;\n2: not_entailed;", "E* N*"),
    ('1: "entailed"\n2: "not_entailed"', "E* N*"),
    ("1: 'entailed'\n2: ‘not_entailed’", "E* N*"),
    ("1: entailed\n2: not entailed", "E N*"),
    ("1: entailed\n2: not-entailed", "E N*"),
    ("1: entailed\n2: Not Entailed.", "E N*"),
    (r"1: entailed" + "\n" + r"2: not\_entailed", "E N*"),
    ("**Answers:**\n1. entailed\n2. not entailed", "E* N*"),
    ("## Answers\n\n- 1: entailed\n- 2: entailed", "E* E*"),
    ("1: entailed\n1: entailed\n2: not_entailed", "E* N"),  # the same line twice says one thing
    # One of two can be read.
    ("1: entailed\n2: perhaps", "E -"),
    ("1: entailed", "E -"),
    ("2: Entailed.", "- E*"),
    ("1: entailed\n2: entailed or not_entailed", "E -"),
    ("1: entailed\n2: (not) entailed", "E -"),
    ("1: entailed\n2: ~~entailed~~ not_entailed", "E -"),
    ("1: entailed\n2: not_entailed?", "E -"),
    ("1: entailed\n2: not sure", "E -"),
    ("1: entailed\n2: entailed (in part)", "E -"),
    ("1: entailed\n2: not_entailed, since the dose differs", "E -"),
    ("1: entailed\n2: not_entailed\n2: entailed", "E -"),
    ("1: entailed\n2: not_entailed\n2. Entailed", "E* -"),
    ("1. entailed\n2. not_entailed\n2. entailed", "E* -"),
    ("1: entailed\n2: nicht belegt", "E -"),
    ("1: impliqué\n2: not_entailed", "- N"),
    ("1: entailment\n2: not_entailed", "- N"),
    ("1: yes\n2: not_entailed", "- N"),
    ("1: true\n2: false", "- -"),
    # Nothing can.
    ("", "- -"),
    ("Both are entailed.", "- -"),
    ("The first is entailed, the second is not_entailed.", "- -"),
    ("entailed\nnot_entailed", "- -"),
    ("- entailed\n- not_entailed", "- -"),
    ("1: entailed\n2: not_entailed\nI hope this helps.", "- -"),
    ("1: entailed\nFor the second one:\n2: not_entailed", "- -"),
    ("0: entailed\n1: not_entailed", "- -"),
    ("0. entailed\n1. not_entailed", "- -"),
    ("1: entailed\n2: not_entailed\n3: entailed", "- -"),
    ("1. entailed\n2. not_entailed\n3. entailed", "- -"),
    ("1: entailed, 2: not_entailed", "- -"),
    ("1: entailed 2: not_entailed", "- -"),
    ("The text says\n1: not_entailed\n2: not_entailed\nbut I say\n1: entailed\n2: entailed", "- -"),
    ("1. It says so.\n2. It does not.\n\n**1**: entailed\n**2**: not_entailed", "- -"),
    ("1.1 entailed\n1.2 not_entailed", "- -"),
    ("-1: entailed\n-2: not_entailed", "- -"),
    ("one: entailed\ntwo: not_entailed", "- -"),
    ("| 1 | entailed |\n| 2 | not_entailed |", "- -"),
    ('{"items": [{"number": 1, "label": "entailed"}, {"number": 2, "label": "entailed"}]}', "- -"),
    ("\u0661: entailed\n\u0662: not_entailed", "- -"),
    ("I'm sorry, but I can't help with that.", "- -"),
]
# One question: what has no number can only be its answer.
PLAIN_ALONE: Rows = [
    ("1: entailed", "E"),
    ("entailed", "E*"),
    ("Entailed.", "E*"),
    ("**Not entailed**", "N*"),
    ("- not_entailed", "N*"),
    ("```\nentailed\n```", "E*"),
    ("1. Entailed", "E*"),
    ("Answer: entailed", "-"),
    ("It is entailed.", "-"),
    ("Sure.\nentailed", "-"),
    ("entailed\nnot_entailed", "-"),
    ("1", "-"),
    ("2: entailed", "-"),
    ("entailed or not_entailed", "-"),
]
COT: Rows = [
    ("1: So.\n2: No.\n\nANSWERS\n1: entailed\n2: not_entailed", "E N"),
    ("ANSWERS\n1: entailed\n2: not_entailed", "E N"),
    ("So it is.\nANSWERS\n2: not_entailed\n1: entailed\n", "E N"),
    ("1: not_entailed, one might think.\nANSWERS\n1: entailed\n2: entailed", "E E"),
    ("```\n1: So.\n\nANSWERS\n1: entailed\n2: entailed\n```", "E E"),
    ("1: So.\n\n**ANSWERS**\n1: entailed\n2: not_entailed", "E* N*"),
    ("1: So.\n\n**Answers:**\n1: entailed\n2: not_entailed", "E* N*"),
    ("1: So.\n\n## Answers\n1: entailed\n2: not_entailed", "E* N*"),
    ("1: So.\n\nAnswers:\n1. Entailed.\n2. Not entailed.", "E* N*"),
    ("1: So.\n\nFinal answers:\n- **1**: entailed\n- **2**: not_entailed", "E* N*"),
    ("1: So.\n\nANSWERS\n1: entailed\n2: Not entailed", "E N*"),
    ("1: So.\n\nANSWERS:\n1: entailed\n2: not_entailed", "E* N*"),
    ("1. So.\n2. No.\n\nANSWERS\n1. entailed\n2. not_entailed", "E* N*"),
    ("1: So.\n\n__ANSWERS__\n1: entailed\n2: entailed", "E* E*"),
    ("ANSWERS\n1: entailed\n2: who knows", "E -"),
    ("ANSWERS\n1: entailed\n1: not_entailed\n2: entailed", "- E"),
    ("1: So.\nANSWERS\n2: entailed", "- E"),
    ("1: entailed\n2: not_entailed", "- -"),
    ("1: So.\n2: No.\n1: entailed\n2: not_entailed", "- -"),
    ("ANSWERS\n1: entailed\n2: entailed\nThat is all.", "- -"),
    ("ANSWERS\n1: entailed\nANSWERS\n2: entailed", "- -"),
    ("The text quotes\nANSWERS\n1: entailed\nso\nANSWERS\n1: not_entailed\n2: entailed", "- -"),
    ("ANSWERS 1: entailed\n2: entailed", "- -"),
    ("ANSWERS: 1: entailed, 2: entailed", "- -"),
    ("ANSWERS\n0: entailed\n1: entailed", "- -"),
    ("My answers are these.\n1: entailed\n2: entailed", "- -"),
    ("ANTWORTEN\n1: entailed\n2: entailed", "- -"),
    ("ANSWERS", "- -"),
    ("ANSWERS\nBoth are entailed.", "- -"),
    ("ANSWERS\nentailed\nnot_entailed", "- -"),
    ("1: So.\nAnswers:\n**Answers:**\n1: entailed\n2: entailed", "- -"),
]
COT_ALONE: Rows = [
    ("It says so.\nANSWERS\n1: entailed", "E"),
    ("It says so.\n\n**Answer:** \nentailed", "E*"),
    ("It says so.\nANSWERS\nNot entailed.", "N*"),
    ("It says so.\nANSWERS\nIt is entailed.", "-"),
    ("entailed", "-"),
]


def items(*said: str) -> str:
    return '{"items": [' + ", ".join(said) + "]}"


E1, N2 = '{"number": 1, "label": "entailed"}', '{"number": 2, "label": "not_entailed"}'
N1, E2 = '{"number": 1, "label": "not_entailed"}', '{"number": 2, "label": "entailed"}'
E3 = '{"number": 3, "label": "entailed"}'
JSON: Rows = [
    (items(E1, N2), "E N"),
    (items(N2, E1), "E N"),
    (f"[{E1}, {N2}]", "E N"),
    (f"```json\n{items(E1, N2)}\n```", "E N"),
    (f"Sure!\n{items(E1, N2)}\nAnything else?", "E N"),
    (items(E1, N2).replace(" ", ""), "E N"),
    (json.dumps(json.loads(items(E1, N2)), indent=2), "E N"),
    (f"By passage [3]: {items(E1, N2)}", "E N"),
    # Commas, keys, places.
    (f'{{"items": [{E1}, {N2},]}}', "E* N*"),
    (f'{{"items": [{E1}, {N2}],}}', "E* N*"),
    ('{"items": [{"number": 1, "label": "entailed",}, ' + N2 + "]}", "E* N*"),
    (f"```json\n[{E1},\n {N2},\n]\n```", "E* N*"),
    (f'{{"items": [{E1}, {N2}], "note": "done"}}', "E* N*"),
    (f'{{"reasoning": "so", "items": [{E1}, {N2}]}}', "E* N*"),
    (f'{{"answers": [{E1}, {N2}]}}', "E* N*"),
    (f'{{"result": {{"items": [{E1}, {N2}]}}}}', "E* N*"),
    (f'{{"items": {{"a": {E1}, "b": {N2}}}}}', "E* N*"),
    (items('{"number": 1, "label": "entailed", "sure": 0.9}', N2), "E* N"),
    (items('{"number": 1, "reason": "It says so.", "label": "entailed"}', N2), "E* N"),
    (items('{"number": 1, "hypothesis": "h", "label": "entailed"}', N2), "E* N"),
    (items('{"number": 1, "label": "entailed", "verdict": "Entailed"}', N2), "E* N"),
    # Numbers and labels.
    (items('{"number": "1", "label": "entailed"}', N2), "E* N"),
    (items('{"number": 1.0, "label": "entailed"}', N2), "E* N"),
    (items('{"number": "1.", "label": "entailed"}', N2), "E* N"),
    (items('{"number": 1, "label": "Entailed"}', N2), "E* N"),
    (items('{"number": 1, "label": "ENTAILED"}', N2), "E* N"),
    (items('{"number": 1, "label": "entailed."}', N2), "E* N"),
    (items('{"number": 1, "label": " entailed "}', N2), "E* N"),
    (items('{"number": 1, "label": "**entailed**"}', N2), "E* N"),
    (items(E1, '{"number": 2, "label": "not entailed"}'), "E N*"),
    (items(E1, '{"number": 2, "label": "Not-Entailed"}'), "E N*"),
    (items(E1, E1, N2), "E* N"),
    (items(E1, N2) + "\n" + items(E1, N2), "E* N*"),
    (f"{items(E1, N2)}\nAs JSON:\n```json\n{items(E1, N2)}\n```", "E* N*"),
    # One of two can be read.
    (items(E1), "E -"),
    (items(E1, '{"number": 2, "label": "perhaps"}'), "E -"),
    (items(E1, '{"number": 2, "label": null}'), "E -"),
    (items(E1, '{"number": 2, "label": true}'), "E -"),
    (items(E1, '{"number": 2, "label": 0}'), "E -"),
    (items(E1, '{"number": 2, "label": ["entailed"]}'), "E -"),
    (items(E1, '{"number": 2, "label": "entailed or not_entailed"}'), "E -"),
    (items(E1, '{"number": 2, "label": "belegt"}'), "E -"),
    (items(E1, '{"number": 2, "label": "It is entailed"}'), "E -"),
    (items(E1, '{"number": 2}'), "E -"),
    (items(E1, '{"number": 2, "answer": "entailed"}'), "E -"),
    (items(E1, '{"number": 2, "label": "entailed", "label": "not_entailed"}'), "E -"),
    (items(E1, '{"number": 2, "label": "entailed", "final": "not_entailed"}'), "E -"),
    (items(E1, E2, N2), "E -"),
    (items(E1, '{"number": "two", "label": "entailed"}'), "E -"),
    (items(E1, '{"number": "1", "label": "not_entailed"}', N2), "- N"),
    (items(E1, '{"number": true, "label": "entailed"}', N2), "E N"),
    (items(E1, "null", N2), "E N"),
    (f'{{"items": [{E1}], "more": [{N2}]}}', "E* N*"),
    # Nothing can.
    ("", "- -"),
    ("1: entailed\n2: not_entailed", "- -"),
    ("[1, 0]", "- -"),
    ('["entailed", "not_entailed"]', "- -"),
    ('{"1": "entailed", "2": "not_entailed"}', "- -"),
    (items(E1, N2)[:-1], "- -"),
    (items(E1, N2)[:-2], "- -"),
    (items(E1, N2)[:-9], "- -"),
    (items(E1, N2)[1:], "- -"),
    (items(E1, N2) + items(N1, N2), "- -"),
    (f"{E1}\n{N2}", "- -"),
    (items('{"number": 0, "label": "entailed"}', E1), "- -"),
    (items(E1, N2, E3), "- -"),
    (items(E1, N2, '{"number": "3", "label": "entailed"}'), "- -"),
    (items('{"label": "entailed"}', '{"label": "not_entailed"}'), "- -"),
    (items(E1, N2).replace('"', "'"), "- -"),
    (items(E1, N2).replace('"number"', "number"), "- -"),
    (f'The text says "{items(E1, N2)}"', "- -"),
    (json.dumps(items(E1, N2)), "- -"),
    (items(E1, N2).replace("1", "NaN"), "- N"),
    (f'{{"draft": x, "items": [{E1}, {N2}]}}', "- -"),
    ("I'm sorry, but I can't help with that.", "- -"),
]
JSON_ALONE: Rows = [
    (items(E1), "E"),
    (E1, "E*"),
    ('{"label": "entailed"}', "E*"),
    ('{"items": [{"label": "Not entailed"}]}', "N*"),
    ('[{"label": "entailed"}]', "E*"),
    ('{"answer": "entailed"}', "-"),
    ('"entailed"', "-"),
    ("entailed", "-"),
    ('{"label": "entailed"} or {"label": "not_entailed"}', "-"),
    (items(E2), "-"),
]
R1 = '{"number": 1, "reason": "It says so.", "label": "entailed"}'
R2 = '{"number": 2, "reason": "not_entailed: \\"10 mg\\" [2]", "label": "not_entailed"}'
JSON_COT: Rows = [
    (items(R1, R2), "E N"),
    (items(R2, R1), "E N"),
    (f"```json\n{items(R1, R2)}\n```", "E N"),
    (items(R1.replace("It says so.", ""), R2), "E N"),
    (items('{"number": 1, "label": "entailed", "reason": "so"}', R2), "E N"),
    (items('{"number": 1, "reason": "a, ] b,} c", "label": "Entailed",}', R2), "E* N*"),
    (items(R1.replace("1,", '"1",'), R2), "E* N"),
    (items(R1.replace('"entailed"', '"Entailed."'), R2), "E* N"),
    (items(R1, R2.replace('"label": "not_entailed"', '"label": "not entailed"')), "E N*"),
    (items(R1.replace("}", ', "confidence": "high"}'), R2), "E* N"),
    (f'{{"analysis": "Both.", "items": [{R1}, {R2}]}}', "E* N*"),
    (items(R1, R2) + items(R1, R2), "E* N*"),
    (items(R1, R1, R2), "E* N"),
    (items(R1, R1.replace("It says so.", "So."), R2), "- N"),  # another reason: another answer
    (items(E1, R2), "- N"),
    (items(R1.replace('"It says so."', "null"), R2), "- N"),
    (items(R1.replace('"It says so."', '["so"]'), R2), "- N"),
    (items(R1, R2.replace('"label": "not_entailed"', '"label": "unclear"')), "E -"),
    (items(R1, R2)[:-30], "- -"),
    (items(R1.replace("It says so.", 'It says "so".'), R2), "- -"),
    (items(R1.replace("It says so.", "It says\nso."), R2), "- -"),
    ("It says so.\nANSWERS\n1: entailed\n2: not_entailed", "- -"),
    (f"{items(R1)} {items(R2)}", "- -"),
]
THREE: Rows = [
    ("1: entailed\n2: neutral", "E U"),
    ("1: contradicted\n2: Neutral", "C U*"),
    ("1. Contradicted.\n2. Entailed.", "C* E*"),
    ("1: contradiction\n2: neutral", "- U"),
    ("1: not_entailed\n2: neutral", "- U"),
    ("**1**: neutral\n**2**: contradicted", "U* C*"),
]
GRADES: Rows = [
    ("1: 3\n2: 0", "3 0"),
    ("1. 3\n2. 0", "3* 0*"),
    ("1) 3\n2) 0", "3* 0*"),
    ("- 1: 3\n- 2: 0", "3* 0*"),
    ("**1**: 3\n**2**: 0", "3* 0*"),
    ("1: **3**\n2: 0.", "3* 0*"),
    ("1: 3.0\n2: 0", "3* 0"),
    ("1: 03\n2: 0", "3* 0"),
    ("1: 3/3\n2: 0", "- 0"),
    ("1: 3 of 3\n2: 0", "- 0"),
    ("1: 2.5\n2: .5", "- -"),
    ("1: 4\n2: -1", "- -"),
    ("1: three\n2: 0", "- 0"),
    ("1 - 3\n2 - 0", "- -"),
    ("1.3\n2.0", "- -"),
    ("1 3\n2 0", "- -"),
    ("3\n0", "- -"),
    ("1: 2-3\n2: 0", "- 0"),
]
GRADES_JSON: Rows = [
    (items('{"number": 1, "grade": 3}', '{"number": 2, "grade": 0}'), "3 0"),
    (items('{"number": 1, "grade": "3"}', '{"number": 2, "grade": 0}'), "3* 0"),
    (items('{"number": 1, "grade": 3.0}', '{"number": "2", "grade": "0"}'), "3* 0*"),
    (items('{"number": 1, "grade": 3.5}', '{"number": 2, "grade": 0}'), "- 0"),
    (items('{"number": 1, "grade": "3/3"}', '{"number": 2, "grade": ".5"}'), "- -"),
    (items('{"number": 1, "grade": true}', '{"number": 2, "grade": false}'), "- -"),
    (items('{"number": 1, "grade": 4}', '{"number": 2, "grade": -1}'), "- -"),
    (items('{"number": 1, "label": 3}', '{"number": 2, "grade": 0}'), "- 0"),
]
# A statement with two passages; E1, E12 name those that it rests on.
CITED: Rows = [
    ("1: entailed by 1", "E1"),
    ("1: entailed by 1, 2", "E12"),
    ("1: not_entailed", "N"),
    ("1: Entailed by 1.", "E1*"),
    ("1. entailed by 1 and 2", "E12*"),
    ("1: entailed by [1], [2]", "E12*"),
    ("1: entailed by [1, 2]", "E12*"),
    ("1: entailed by (2)", "E2*"),
    ("1: entailed by passages 1 and 2", "E12*"),
    ("1: entailed by passage 2", "E2*"),
    ("**1**: **entailed by 1; 2**", "E12*"),
    ("1: not entailed", "N*"),
    ("entailed by 2", "E2*"),
    ("1: entailed", "-"),
    ("1: entailed by 3", "-"),
    ("1: entailed by 1-2", "-"),
    ("1: entailed by one", "-"),
    ("1: entailed by all", "-"),
    ("1: not_entailed by 1", "-"),
    ("1: entailed (1)", "-"),
]
CITED_JSON: Rows = [
    (items('{"number": 1, "label": "entailed", "passages": [2]}'), "E2"),
    (items('{"number": 1, "label": "not_entailed", "passages": []}'), "N"),
    (items('{"number": 1, "label": "entailed", "passages": ["1", "2"]}'), "E12*"),
    (items('{"number": 1, "label": "Entailed", "passages": [1.0,]}'), "E1*"),
    (items('{"number": 1, "label": "entailed", "passages": [1], "others": []}'), "E1*"),
    (items('{"number": 1, "label": "entailed", "passages": [1], "others": [2]}'), "-"),
    (items('{"number": 1, "label": "entailed", "passages": []}'), "-"),
    (items('{"number": 1, "label": "entailed", "passages": "1"}'), "-"),
    (items('{"number": 1, "label": "entailed", "passages": [true]}'), "-"),
    (items('{"number": 1, "label": "entailed", "passages": [3]}'), "-"),
    (items('{"number": 1, "label": "entailed"}'), "-"),
]

TABLES: dict[str, tuple[str, str, int, Rows]] = {
    "plain": ("plain", "entailment", 2, PLAIN),
    "plain, alone": ("plain", "entailment", 1, PLAIN_ALONE),
    "cot": ("cot", "entailment", 2, COT),
    "cot, alone": ("cot", "entailment", 1, COT_ALONE),
    "json": ("json", "entailment", 2, JSON),
    "json, alone": ("json", "entailment", 1, JSON_ALONE),
    "json_cot": ("json_cot", "entailment", 2, JSON_COT),
    "three labels": ("plain", "three_way", 2, THREE),
    "grades": ("plain", "support_grade", 2, GRADES),
    "grades, json": ("json", "support_grade", 2, GRADES_JSON),
    "citations": ("plain", "attribution", 1, CITED),
    "citations, json": ("json", "attribution", 1, CITED_JSON),
}


def asked(instrument: str, count: int) -> list[Pair]:
    if instrument != "attribution":
        return [pair(f"h{n}", instrument) for n in range(count)]
    alone = [pair("s", "attribution_alone", premise=one, context="a\nb") for one in "ab"]
    return [pair("s", "attribution", premise="a\nb"), *alone]


def judged(reply: Any, style: str, pairs: Sequence[Pair], **more: Any) -> list[Judgment]:
    """Judgments where every request gets this reply: a text, or what makes a reply of it."""

    def ask(requests: Sequence[ChatRequest]) -> list[Reply]:
        made = reply if callable(reply) else lambda r: Reply(r.key, "ok", reply, "stop", 9, 9, 1)
        return [made(request) for request in requests]

    judge = LlmJudge(options(style=style, rounds=0, **more), ask, DECODING, prompts=PROMPTS)
    return [one for one in judge.judge(pairs) if one is not None]


def said(found: Sequence[Judgment], instrument: str) -> str:
    """The judgments in the words of the tables."""
    letters = {label: letter for letter, label in WORDS.items()}
    words = []
    for one in found:
        assert (one.status == "ok") == (one.label is not None or one.grade is not None)
        assert one.status in ("ok", "unparsed")
        value = letters[one.label] if one.grade is None else f"{one.grade:g}"
        words.append(value + "*" * one.repaired)
    if instrument != "attribution":
        return " ".join(words)
    named = "".join(n for n, one in zip("12", found[1:], strict=True) if one.label == "entailed")
    return words[0][0] + named + words[0][1:]


CASES = [
    (style, instrument, count, text, expected)
    for style, instrument, count, rows in TABLES.values()
    for text, expected in rows
]


@pytest.mark.parametrize("table", TABLES)
def test_what_is_read_is_what_was_worked_out(table: str) -> None:
    style, instrument, count, rows = TABLES[table]
    pairs = asked(instrument, count)
    wrong = [
        (text, expected, read)
        for text, expected in rows
        for read in [said(judged(text, style, pairs), instrument)]
        if read != expected
    ]
    assert not wrong
    assert len({text for text, _ in rows}) == len(rows)


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
            **{"token": text, "logprob": logprob, "bytes": list(text.encode())},
            "top_logprobs": [{"token": t, "logprob": p, "bytes": None} for t, p in top.items()],
        }
        for text, logprob, top in each
    ]
    return {"logprobs": {"content": content}}


HALF = items(E1)[:-20]
# ln .8 = -.2231, ln .2 = -1.6094, ln .9 = -.1054, ln .1 = -2.3026
LIKELY = tokens(
    ('{"items": [{"number": 1, "label": "', 0.0, {}),
    ("ent", -0.2231436, {"ent": -0.2231436, "not": -1.6094379}),
    ("ailed", 0.0, {}),
    ('"}]}', 0.0, {}),
)
BODIES: dict[str, list[tuple[dict[str, Any], str]]] = {
    "OpenAI": [
        (body(items(E1)), "ok E"),
        (body(items(E1), **LIKELY), "ok E .80"),
        (body(items(E1), logprobs=None), "ok E"),
        (body(items(E1), **tokens()), "ok E"),
        (body(None, message={"refusal": "I can't help with that."}), "refused"),
        (body(items(E1), message={"refusal": None}), "ok E"),
        (body(HALF, "length"), "truncated"),
        (body(items(E1), "length"), "truncated"),  # however whole it looks
        (body("", "length"), "truncated"),  # all of it went into thoughts
        (body("", "content_filter"), "refused"),
        (body(HALF, "stop"), "unparsed"),
        (body(None), "unparsed"),
    ],
    "Azure": [
        (body(items(E1), content_filter_results={"hate": {"filtered": False}}), "ok E"),
        (body(None, "content_filter"), "refused"),
        (body(items(E1)[:10], "content_filter"), "refused"),
        (body(items(E1), **LIKELY), "ok E .80"),
    ],
    "Anthropic": [
        (body(f"Here is the JSON:\n{items(E1)}"), "ok E"),
        (body(f"```json\n{items(N1)}\n```"), "ok N"),
        (body([{"type": "text", "text": items(E1)}]), "ok E"),
        (body('{"items": [{"number": 1, "label": "Not entailed"}]}'), "ok N*"),
        (body("I don't feel comfortable judging this."), "unparsed"),
        (body(items(E1), logprobs=None), "ok E"),
    ],
    "vLLM": [
        (body(items(E1), message={"reasoning_content": "not_entailed?"}), "ok E"),
        (body(items(E1), message={"reasoning": "Hm."}, stop_reason=None), "ok E"),
        (body(f"<think>\n{items(N1)}?\n</think>\n\n{items(E1)}"), "ok E"),
        (body(f"{items(N1)}?\n</think>\n{items(E1)}"), "ok E"),
        (body(f"<think>\n{items(N1)}"), "truncated"),
        (body(f"<think>\n{items(N1)}", "length"), "truncated"),
        (body(items(E1), **LIKELY), "ok E .80"),
        (
            body(
                f"<think>{items(N1)}</think>{items(E1)}",
                **tokens(
                    ("<think>", 0.0, {}),
                    (items(N1), 0.0, {}),
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
        (body(items(E1).replace(" ", "\n")), "ok E"),
        (body('{"number": 1, "label": "entailed"}'), "ok E*"),
        (body('{"label": "entailed"}'), "ok E*"),
        (body(items(E1)[:-3], "length"), "truncated"),
        (body("{" + " \n" * 40, "length"), "truncated"),  # blanks without end
        (body("{}"), "unparsed"),
    ],
    "OpenRouter": [
        (body(items(E1), native_finish_reason="end_turn"), "ok E"),
        (body(items(E1), message={"reasoning": "So.", "reasoning_details": []}), "ok E"),
        (body("", message={"reasoning": "So it is entailed."}), "unparsed"),
        (body(items(E1), None), "ok E"),
        (body(items(E1) + items(E1)), "ok E*"),
        (body(HALF, "length"), "truncated"),
    ],
}


@pytest.mark.parametrize("provider", BODIES)
def test_whole_responses_are_what_was_worked_out(provider: str) -> None:
    for response, expected in BODIES[provider]:

        def reply(request: ChatRequest, response: dict[str, Any] = response) -> Reply:
            entry = read_answer(json.dumps(response).encode(), request, request.key)
            assert entry is not None
            return entry.reply()

        (found,) = judged(reply, "json", [pair("h")], probability="logprobs")
        words = [found.status]
        if found.label is not None:
            letters = {label: letter for letter, label in WORDS.items()}
            words.append(letters[found.label] + "*" * found.repaired)
        if found.probability is not None:
            words.append(f"{found.probability:.2f}"[1:])
        assert " ".join(words) == expected, response


def test_there_are_three_hundred() -> None:
    assert len(CASES) + sum(map(len, BODIES.values())) >= 300
