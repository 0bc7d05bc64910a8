"""Negations added and taken away.

A sentence with exactly one negation may lose it, one without any may get one. Conditions,
exceptions and words that live only under a negation ("anything", "yet") are left alone, since what
becomes of them is not clear, or no English.
"""

import re
from collections.abc import Iterator

from metassay.text.edits.wording import (
    any_of,
    in_case_of,
    listed,
    pairs,
    phrase,
    replaced,
    tidy,
    without,
)
from metassay.text.vocabulary.inflection import PAST, THIRD, verb_forms

CUE = phrase(r"""
    no not never none nor neither without den(?:y|ies|ied|ying) cannot \w+n['\u2019]t unable
    negative absent absence lack\w* nothing nobody nowhere unlikely refus\w+ declin\w+ hardly
    barely rarely seldom fail\w* avoid\w* non\w+ un(?:remarkable|controlled|changed|sure|known)
    a?febrile anicteric resist\w* free\sof rule[sd]?\sout
""")
_UNCLEAR = phrase(
    r"""
    if unless whether except other\sthan until in\scase rather\sthan instead\sof should\syou
    or\snot not\sonly so\sthat as\slong\sas when(?:ever)? once\s(?:we|i|he|she|the)
    """,
    r"|\A(?:All|Both|Every)\b",
)
_ONLY_NEGATED = phrase(r"""
    any(?:thing|one|body|where|more) any\slonger ever yet at\sall either much necessarily only
    as\s(?:much|well) always really be\sable so
""")
_CLAUSE = re.compile(r";|\bbut\b|\bhowever\b|, (?:he|she|they|I|we|the patient|and|which|who)\b")

_OPPOSITES = pairs("""
    negative: positive; positive: negative; unable to: able to; able to: unable to;
    nontender: tender; non-tender: tender; afebrile: febrile; unremarkable: abnormal;
    normal: abnormal; abnormal: normal; absent: present; intact: impaired
""")
_OPPOSITE = re.compile(rf"(?<![\w-])(?:{'|'.join(_OPPOSITES)})(?![\w-])", re.IGNORECASE)
_NOT_BEHIND = phrase(  # these words make it another sense, or a part of a phrase
    "to than the new his her their from near within otherwise or and false of back be being",
    r"\s\Z",
)
_NOT_BEFORE = re.compile(
    rf"\s(?:{any_of('saline limits? range pressure outlook attitude and or pain tenderness')}"
    r"|difficulty|sinus)\b"
)
_PRESENT = re.compile(
    r"(?<=\w )present(?= (?:on|in|at|along|throughout|bilaterally)\b|[.,]|\Z)", re.IGNORECASE
)
_YES = re.compile(r": (yes|no)(?=\.?\Z)", re.IGNORECASE)

_REPORTING = pairs("denies: reports; denied: reported; denying: reporting; deny: report")
_FINDING = (
    r"((?:\w+ ){0,2}(?:fracture|mass|murmur|nodule|lesion|rash|effusion|history|injury|tumor|lump"
    r"|blockage|abnormality|wound|hernia|ulcer|bruit|cyst|problem|break|clot|tear|hematoma))\b"
)
_REMOVALS = tuple(
    (re.compile(pattern, re.IGNORECASE), put)
    for pattern, put in (
        (rf"\b(?:{'|'.join(_REPORTING)})\b", ""),
        (rf"(?<=\w )no {_FINDING}(?=[.,;]|\Z| on\b| in\b| of\b)", r"a \1"),
        (r"\bno (?!longer|more than|one\b|matter|later)(?=[a-z])", ""),
        (r"(?<!or )\bwithout(?! (?:saying|any(?:thing|one)))\b", "with"),
        (r"\bcan(?:not|['\u2019]t)\b", "can"),
        (r"\bwon['\u2019]t\b", "will"),
        (
            r"\b(is|was|are|were|has|have|had|do|does|did|could|would|should)"
            r"(?:n['\u2019]t| not)(?! (?:only|yet|sure if|all|very|in)\b)\b",
            r"\1",
        ),
        (r"\bwill not\b", "will"),
        (r"(?<=has )never |(?<=have )never |(?<=had )never ", ""),
    )
)

_NO_PLACE = any_of(r"""
    not\b only just also still too\b either almost at\sleast all\b both now\b nearly likely possibly
    probably an?\s(?:little|bit|few|lot|pleasant|\d) always often some\b very so\b then about around
    approximately currently quite pretty
""")
_AUXILIARY = re.compile(
    r"(?<=\w )(?:(?:is|was|are|were|will|could|would|should|did|does)\b|can\b(?! test)"
    r"|(?:has|have|had)(?= (?:been|become|gone|done|seen|taken|felt|made|lost|had|\w{3,}ed)\b))"
    rf"(?= (?!{_NO_PLACE})\w)"
)
_ONLY = re.compile(r"\bonly\b", re.IGNORECASE)
_NO_SUBJECT = re.compile(
    rf"\b(?:{any_of('as how there than what which that empty where who and or but')})\s\Z"
    r"|\b(?:after|before|because|since|as|while) (?:\w+ ){1,2}\Z",
    re.IGNORECASE,
)
_SAYING = pairs("""
    reports: denies; endorses: denies; complains of: denies; admits to: denies; reported: denied;
    endorsed: denied; complained of: denied
""")
_SAID = re.compile(
    r"(?:\A|(?<=: )|(?<=\bpatient )|(?<=\b[Hh]e )|(?<=\b[Ss]he )|(?<=\balso ))"
    rf"(?:{'|'.join(_SAYING)})"
    r"(?= (?!(?:to|no|that|he|she|they|it|there|his \w+ (?:is|has)|her \w+ (?:is|has))\b)\w)",
    re.IGNORECASE,
)
_THERE = re.compile(
    r"\bthere (?:is|was|are|were)(?P<some> (?:an?|some|any))?(?= [a-z])", re.IGNORECASE
)
_HAS_A = re.compile(
    r"(?<=\w )(?P<has>has|had|have)(?: (?:an?|some) (?!few|lot|little|bit|couple|number|half)"
    r"| (?=(?:pain|swelling|tenderness|numbness|difficulty|allergies|fatigue|diabetes|fever|nausea"
    r"|trouble|symptoms|tingling|weakness)\b))(?=[a-z])"
)
_NOTED = re.compile(  # a finding without a verb, to its end
    r"(?:\A|(?<=: ))(?P<some>some )?"
    rf"(?=(?:{any_of('pain tenderness swelling edema effusion redness evidence signs? bruising')}"
    r"|numbness|weakness|crepitus|scattered|mild|slight|trace|history)\b)"
    r"(?!.*\b(?:is|was|are|were|has|have|reports?|states?|will|in the past)\b)",
    re.IGNORECASE,
)
_ORDER = re.compile(
    rf"(?:\A|(?<=: ))(?:{any_of('continue take apply return start increase decrease use begin')}"
    r"|monitor|repeat|consider|wear|schedule|refer|perform|elevate|stop|follow up)"
    r"(?= \w)(?! (?:of|is|was|in office)\b)",
    re.IGNORECASE,
)
# Verbs in forms that "does not" and "did not" take back to the base; "has" is mostly auxiliary.
_BASES = listed("""
    attend appear ask believe call check complain consume continue contact cough describe develop
    discuss demonstrate drink eat enjoy exercise experience explain exhibit feel follow happen help
    improve increase decrease injure land lift limit live locate look monitor need notice order
    perform play prefer prescribe purchase reach receive recommend refer refill require recall
    remain reveal report schedule see show sleep smoke sprain start stop suffer take tolerate travel
    treat try twist undergo use utilize visit walk want watch wear work
""")
_PRESENT_OF = {verb_forms(base)[THIRD]: base for base in _BASES}
_PAST_OF = {verb_forms(base)[PAST]: base for base in _BASES}
_BASE_OF = _PRESENT_OF | _PAST_OF
_VERB_FORMS = "|".join(sorted(_BASE_OF))
_VERB = re.compile(
    r"\b(?:he|she|patient|I|we|they|\w+ (?:exam|examination|x-ray|MRI|ultrasound|panel)) "
    rf"(?P<verb>{_VERB_FORMS})(?= [a-z\d])",
    re.IGNORECASE,
)
_SECOND_VERB = re.compile(rf"\b(?:and|or|but|then)(?: \w+ly)? (?:{_VERB_FORMS})\b|\w+ed\b")


def negation(sentence: str) -> Iterator[str]:
    """The sentence with its one negation removed, or with one added where it has none."""
    yes = _YES.search(sentence)
    if yes:
        yield replaced(sentence, *yes.span(1), "no" if yes[1].lower() == "yes" else "yes")
        return
    cues = len(CUE.findall(sentence))
    if cues > 1 or _UNCLEAR.search(sentence):
        return
    yield from _opposites(sentence, cues)
    if cues:
        yield from _removed(sentence)
        return
    for rule in (_with_not, _with_denial, _with_no, _with_do):
        yield from rule(sentence)


def _opposites(sentence: str, cues: int) -> Iterator[str]:
    """With "normal" for "abnormal" and the like; `cues` are the negations of the sentence."""
    for match in _OPPOSITE.finditer(sentence):
        before, after = sentence[: match.start()], sentence[match.end() :]
        if cues > len(CUE.findall(match[0])):
            continue
        if not _NOT_BEHIND.search(before) and not _NOT_BEFORE.match(after):
            yield replaced(sentence, *match.span(), _OPPOSITES[match[0].lower()])
    for match in () if cues else _PRESENT.finditer(sentence):
        if not _NOT_BEHIND.search(sentence[: match.start()]):
            yield replaced(sentence, *match.span(), "absent")


def _removed(sentence: str) -> Iterator[str]:
    for pattern, put in _REMOVALS:
        match = pattern.search(sentence)
        if match is None:
            continue
        tail = sentence[match.end() :]
        if not _ONLY_NEGATED.search(tail):
            new = _REPORTING.get(match[0].lower(), match.expand(put)) + _affirmed(tail)
            yield tidy(sentence[: match.start()] + in_case_of(match[0], new), like=sentence)
        return


def _affirmed(tail: str) -> str:
    """What followed a negation, as it stands without one: any is some, or is and."""
    end = _CLAUSE.search(tail)
    at = end.start() if end else len(tail)
    said = re.sub(r"\bany\b", "some", tail[:at])
    return re.sub(r"\bor\b", "and", said) + tail[at:]


def _with_not(sentence: str) -> Iterator[str]:
    for match in () if _ONLY.search(sentence) else _AUXILIARY.finditer(sentence):
        if not _NO_SUBJECT.search(sentence[: match.start()]):
            word = "cannot" if match[0] == "can" else f"{match[0]} not"
            yield replaced(sentence, *match.span(), word)
            return


def _with_denial(sentence: str) -> Iterator[str]:
    said = _SAID.search(sentence)
    if said:
        tail = re.sub(r"\A some\b", " any", sentence[said.end() :])
        new = in_case_of(said[0], _SAYING[said[0].lower()])
        yield sentence[: said.start()] + new + tail


def _with_no(sentence: str) -> Iterator[str]:
    there = _THERE.search(sentence)
    if there and not re.search(r"as well as|\bonly\b|\band\b", sentence[there.end() :]):
        kept = there.end() - len(there["some"] or "")
        yield f"{sentence[:kept]} no{sentence[there.end() :]}"
    has = _HAS_A.search(sentence)
    if has:
        yield f"{sentence[: has.end('has')]} no {sentence[has.end() :]}"
    noted = _NOTED.search(sentence)
    if noted:
        what = re.sub(r"\band\b", "or", sentence[noted.end() :])
        no = in_case_of(sentence[noted.start() :], "no")
        yield f"{sentence[: noted.start()]}{no} {what[0].lower()}{what[1:]}"


def _with_do(sentence: str) -> Iterator[str]:
    order = _ORDER.search(sentence)
    if order:
        new = f"{in_case_of(order[0], 'do')} not {order[0][0].lower()}{order[0][1:]}"
        yield without(sentence, order, new)
    verb = _VERB.search(sentence)
    if verb and not _SECOND_VERB.search(sentence[verb.end("verb") :]):
        written = verb["verb"].lower()
        does = "does" if written in _PRESENT_OF else "did"
        yield replaced(sentence, *verb.span("verb"), f"{does} not {_BASE_OF[written]}")
