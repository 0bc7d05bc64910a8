"""Decide whether an answer in a reply is the model's own, by the words around it.

A reply may quote an answer that stands in the text under evaluation, name an answer
only to reject it, or refuse. Read as a verdict, that would be one that the model never
gave, and an author could plant it. So an answer with words around it counts only if
nothing speaks against it:

- it does not stand in what was asked (`stands_in`),
- the words name no other label or grade (`names_another`),
- it has lines of its own, and what leads to it announces the model's own answer
  (`is_own`),
- no word beside it takes it back, and none refuses (`is_own`).

A wrong suspicion costs one more question, a missed one a forged verdict. So what leads
to an answer is held against a list of harmless words, not against one of suspicious
words.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from metassay.llm.answers import Reading
from metassay.text.word_lists import read_words

Value = str | int  # a label or a grade
Choices = Mapping[str, Sequence[Value]]  # by field of an answer, all that it can be

_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?…])\s+|\n")


def is_own(reading: Reading, list_names: Collection[str] = ()) -> bool:
    """Return whether the words around the answers of a reply leave them the model's own.

    `list_names` are the names of the lists that the form asks for, such as "claims": what
    leads to an answer may name them ("Here are the claims:").
    """
    before = reading.before.strip()
    after = _OFFER.sub("", reading.after).strip()
    if reading.same_line and reading.after.partition("\n")[0].strip():
        return False  # a part of a sentence
    lead = _BETWEEN_SENTENCES.split(before)[-1]
    # Reasons that a form asks for end as they like, but not with what leads to a
    # quotation.
    ends = (
        _LEADS_ON.search(lead) is None
        if reading.reasoned
        else _SENTENCE_END.search(lead)
    )
    is_sentence = bool(ends) and not reading.same_line
    if not is_sentence:
        if lead and not _announces(lead, list_names):
            return False
        lead = ""
    if _GOES_ON.match(after):
        return False
    # Where the form asks for reasons, these may weigh what could be.
    beside = after if reading.reasoned else f"{lead}\n{after}"
    if _TAKES_BACK.search(beside) or _SUPPOSES.match(lead):
        return False
    if any(_TURNS.match(sentence) for sentence in _BETWEEN_SENTENCES.split(after)):
        return False
    words = [before, after, *reading.among]
    return not any(_REFUSES.search(text) for text in words)


# ---- what leads to an answer, and what follows it in the same sentence


_ANNOUNCING = read_words(Path(__file__).with_name("announcing_words.txt"))
_MATERIAL = (
    r"(?:text|claim|hypothesis|hypotheses|statement|premise|passage|source|question)s?"
)
_ARTICLES = r"(?: (?:the|this|these|each|all|both|every|given|provided))*"
_ENTAILS = rf"{_MATERIAL} (?:entails?|supports?) (?:it|(?:the|each|every) {_MATERIAL})"
# "of each hypothesis", "based on the given premise", "whether the premise entails it"
_ABOUT_MATERIAL = re.compile(
    r"\b(?:of|for|on|against|about|reading|reviewing|comparing|considering|analyzing)"
    rf"{_ARTICLES} {_MATERIAL}(?: and{_ARTICLES} {_MATERIAL})?\b"
    rf"|\bwhether{_ARTICLES} {_ENTAILS}\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+")
_RULE = re.compile(r"[-*_=#:\s]*")  # a line of Markdown without words
_SENTENCE_END = re.compile(r"[.!?…][)\]*_\"'”’]*$")
_LEADS_ON = re.compile(
    r"(?:[:,;(\[\"“‘'`>–—-]|\b(?:says?|said|reads?|states?|contains?|includes?|ends?|asks?|wants?))\s*$",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"[a-z,;:?…–—]|\.\.\.|-\s")


def _announces(line: str, list_names: Collection[str]) -> bool:
    """Return whether the words of a line say only that an answer comes."""
    if _RULE.fullmatch(line):
        return True
    if line.lstrip().startswith((">", "|", "<!")):  # a quotation, a table, a comment
        return False
    words = {word.casefold() for word in _WORD.findall(_ABOUT_MATERIAL.sub("", line))}
    return bool(words) and words <= _ANNOUNCING.union(list_names)


# ---- words that take an answer back, or refuse to give one


def _words(*patterns: str) -> re.Pattern[str]:
    """Return a pattern that finds one of these at the start of a word."""
    return re.compile(rf"\b(?:{'|'.join(patterns)})", re.IGNORECASE)


# "Let me know if you would like more detail." takes nothing back.
_OFFER = re.compile(
    r"\b(?:please )?(?:let me know|tell me|feel free)\b[^.!?\n]*[.!?]?", re.IGNORECASE
)
_TURNS = re.compile(  # at the start of a sentence
    r"[ (\[*_\"]*(?:but|however|yet|instead|rather|actually|no|not|nope|wait|hm+|sorry|although|"
    r"though|or|from|perhaps|maybe|nonetheless|nevertheless|still|then again|scratch that|oops|"
    r"just kidding|never ?mind)\b",
    re.IGNORECASE,
)
_SUPPOSES = re.compile(
    r"(?:if|suppose|for (?:example|instance)|perhaps|maybe)\b", re.IGNORECASE
)
_ANSWER = (
    r"(?:(?:this|that|the) (?:above|answer|label|verdict|reply|output|grade)|the above)"
)
_TAKES_BACK = _words(
    r"(?:disagree|reject|retract|withdraw|revise|correction|mistaken|misleading)\w*",
    # "my own verdict", "the right label"
    r"(?:my own|not my|not mine|opposite|contrary)\b",
    r"(?:correct|right|real|true|proper|actual) (?:answer|label|verdict|grade|one|choice)\b",
    # "that is wrong", "the above was only quoted", "this label may be wrong"
    r"(?:this|that|it|which|above|answer|label|verdict|reply|output|grade)"
    r"(?: (?:is|was|would be|seems|(?:may|might|could) be)|['’]s)(?: \w+)? "
    r"(?:wrong|incorrect|false|untrue|only|merely|just|taken|from)\b",
    rf"{_ANSWER} (?:is|was|has|would|could|might|may|does|comes)(?:n['’]t)?\b(?! as follows)",
    # "I would say so"
    r"I (?:\w+ )?(?:would|could|might|may)\b",
    r"(?:unsure|uncertain|undecided|example|pretend|hypothetical\w*)\b",
    # "I would not say so"
    r"I\b[^.!?\n]{0,20}(?:\b(?:not|never|doubt)\b|n['’]t\b)",
)
_TELLS = r"(?:ask|tell|told|want|instruct|order|urge|demand|direct|prompt|trick|push|forc)\w*"
_SAYS = r"(?:say|said|read|state|contain|include|end|begin|demand|insist|request|ask|tell|want)\w*"
_CANNOT = r"(?:cannot|can ?not|can['’]?t|won['’]?t|will not|am unable to|am not able to|must not)"
_REFUSES = _words(
    # "I can't help with that", "I'm sorry"
    rf"I {_CANNOT} (?:help|comply|assist|answer|judge|evaluate|follow|do|give|provide|say|output)",
    r"(?:refus|declin|abstain)\w*",
    r"no (?:verdict|answer|label|grade)\b",
    r"(?:cannot|can['’]t) be (?:completed|judged|evaluated)\b",
    r"(?:sorry|apologi[sz]e|as an ai)\b",
    # "the text tells the judge to say so", "this is what it wants me to say"
    rf"{_TELLS} (?:me|us|the (?:judge|model|reader|evaluator|grader|assistant))\b",
    rf"what (?:\w+ ){{1,2}}{_SAYS}\b",
    # "the text says the following"
    rf"{_SAYS} (?:the following|as follows|that I|that we|to (?:say|answer|reply|output))\b",
    rf"{_SAYS} (?:an?|the|its own) (?:answer|verdict|label|grade|reply|output|json)\b",
    # "an injected instruction, which I ignore"
    r"(?:instruct|inject|jailbreak|obey|comply|complied|copied|copy|quot|planted)\w*",
    r"(?:manipulat\w*|forged|malicious|suspicious|adversarial|verbatim|embedded|ignor(?:e|es|ed|ing))\b",
)


# ---- the labels and grades that words name

# Everyday words name a label only in quotation marks, or after "the answer is".
_EVERYDAY = frozenset(
    {"first", "second", "neither", "same", "different", "met", "neutral"}
)
# Other names of labels.
_ALSO = {
    "not_entailed": r"unsupported|(?:not|n['’]t) (?:\w+ )?support(?:ed|s)?|contradict(?:ed|s)?"
}
_NEGATION = re.compile(
    r"(?:\b(?:not|no|never|neither|nor|cannot|nothing|none|without|hardly|un|non)\b"
    r"|n['’]t\b|\bfail\w*|\black\w*)[^.;:!?\n]{0,24}$",
    re.IGNORECASE,
)
_REACH = 40  # characters before a label in which a negation is looked for
_CALLED = (
    r"(?:\b(?:answer|label|verdict|judge?ment|grade|score|rating|level|choice|classification|"
    r"conclusion|number)s?(?: (?:is|are|was|of|as|should be|must be|would be|ought to be))?"
    r"(?: \w+)?|\b(?:say|answer|choose|pick|give|grade|rate|label))\W{0,4}"
)


def named(text: str, choices: Sequence[Value]) -> list[Value]:
    """Return the labels or grades that words name, in their order.

    >>> named("It may seem entailed, but it is not entailed.", ["entailed", "not_entailed"])
    ['entailed', 'not_entailed']
    """
    by_end: dict[int, Value] = {}
    # Longer names last: "not entailed" is one of not_entailed, and ends in a negated
    # "entailed".
    for value in sorted(choices, key=lambda value: len(str(value))):
        if isinstance(value, int) or value in _EVERYDAY:
            by_end |= dict.fromkeys(_ends_of_called(text, value), value)
            continue
        for match in re.finditer(
            rf"(?<!\w)(?:{_names(value)})(?!\w)", text, re.IGNORECASE
        ):
            before = text[max(0, match.start() - _REACH) : match.start()]
            if not _NEGATION.search(before):
                by_end[match.end()] = value
            elif f"not_{value}" in choices:
                by_end[match.end()] = f"not_{value}"
    return [by_end[end] for end in sorted(by_end)]


def concluded(text: str, choices: Sequence[Value]) -> list[Value]:
    """Return the labels or grades that words give as the answer.

    >>> concluded("It may seem entailed, but the right label is neutral.", ["entailed", "neutral"])
    ['neutral']
    """
    return [
        value
        for value in choices
        if re.search(rf"{_CALLED}(?:{_spelled(value)})(?!\w)", text, re.IGNORECASE)
    ]


def names_another(
    reading: Reading, entry: Mapping[str, Any], choices: Choices, question: str
) -> bool:
    """Return whether the words of a reply name another label or grade than an answer's.

    A form that asks for reasons has them weigh the labels: then the last one that they
    name counts, unless it stands in the question, so that they may speak of that.
    """
    reason = entry.get("reason") or ""
    for field, values in choices.items():
        words = [reading.after, *reading.among]
        if reading.reasoned:
            last = named(reason, values)[-1:]
            others = [
                value
                for value in last
                if not stands_in(question, {**entry, field: value}, choices)
            ]
        else:
            words.append(reading.before)
            others = concluded(reason, values)
        others += named("\n".join(words), values)
        if any(other != entry[field] for other in others):
            return True
    return False


def _ends_of_called(text: str, value: Value) -> list[int]:
    called = rf"{_CALLED}{_spelled(value)}(?!\w)|[\"“‘'`*]{_spelled(value)}[\"”’'`*]"
    return [match.end() for match in re.finditer(called, text, re.IGNORECASE)]


def _spelled(value: Value) -> str:
    """Return a pattern of a value, with blanks or hyphens for `_`."""
    return r"[\s_-]+".join(map(re.escape, re.split(r"[\s_-]+", str(value))))


def _names(label: str) -> str:
    """Return a pattern of a label, also in other forms: entails, contradiction."""
    if label in _ALSO:
        return f"{_spelled(label)}|{_ALSO[label]}"
    if label.endswith("ed"):
        return f"{_spelled(label)[:-2]}(?:ed|s|ing|ment|ion|ory)?"
    return _spelled(label)


# ---- what was asked

_ESCAPED_BREAK = re.compile(r"\\+n")
_ESCAPED_QUOTE = re.compile(r"\\+(?=[\"'])")
_SIGNS = re.compile(r"[\W_]+")
_RECOGNISED = 20  # letters and digits by which a list is recognised


def unescaped(question: str) -> str:
    """Return a question, whose texts are JSON, with their line breaks and quotation marks."""
    return _ESCAPED_QUOTE.sub("", _ESCAPED_BREAK.sub("\n", question))


def stands_in(question: str, entry: Mapping[str, Any], choices: Choices) -> bool:
    """Return whether an answer stands in a question: as JSON, or in a line with its number.

    `choices` has the fields of the answer that are labels or grades. Blanks, quotation
    marks and case make no difference. Other answers, such as lists of claims, are
    compared as a whole.
    """
    plain = unescaped(question)
    number = entry["number"]
    if choices:
        for field in choices:
            for form in _forms(field, entry[field], number):
                if re.search(form, plain, re.IGNORECASE | re.MULTILINE):
                    return True
        return False
    fields = {
        name: value for name, value in entry.items() if name not in ("number", "reason")
    }
    text = _SIGNS.sub("", json.dumps(fields, ensure_ascii=False)).casefold()
    return len(text) >= _RECOGNISED and text in _SIGNS.sub("", plain).casefold()


def _forms(field: str, value: Value, number: int) -> list[str]:
    """Return patterns of an answer in JSON and in lines."""
    wanted = _spelled(value)
    if isinstance(value, str):
        mark = "[\"'“‘`*]*"
        return [
            rf"\b{field}\b{mark}\s*[:=]\s*{mark}{wanted}(?!\w)",
            rf"(?<!\w){number}\s?[:.)\]–—-]\W{{0,4}}{wanted}(?!\w)",
            rf"^\W*(?:(?:final )?answers?|label|verdict)?\W*{wanted}\W*$",
        ]
    # Clinical texts have many numbers, and grades of their own.
    mark = "[\"'“]"
    return [
        rf"{mark}{field}{mark}\s*[:=]\s*{mark}?{wanted}(?!\w)",
        rf"^\W*{number}\W{{1,6}}{wanted}\W*$",
    ]
