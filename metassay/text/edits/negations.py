"""Edits that negate a sentence: an only negation is removed, or one is added."""

import re
from collections.abc import Iterator

from metassay.text.edits.wording import (
    copy_case,
    replace_text,
    substitute,
    tidy,
    uncapitalize,
)
from metassay.text.patterns import any_of
from metassay.text.vocabulary.inflection import PAST, THIRD, verb_forms

# What negates, in any form.
CUE = re.compile(
    r"\b"
    + any_of(
        "no|not|never|none|nor|neither|without",
        "den(?:y|ies|ied|ying)",
        r"cannot|\w+n['\u2019]t|unable",
        r"negative|absent|absence|lack\w*",
        "nothing|nobody|nowhere",
        "unlikely",
        r"refus\w+|declin\w+",
        "hardly|barely|rarely|seldom",
        r"fail\w*|avoid\w*",
        r"non\w+|un(?:remarkable|controlled|changed|sure|known)|a?febrile|anicteric",
        r"resist\w*",
        r"free\sof|rule[sd]?\sout",
    )
    + r"\b",
    re.IGNORECASE,
)
# Conditions, exceptions, intentions and universal statements: a negation within them
# changes something else, or nothing.
_UNCLEAR = re.compile(
    r"\b"
    + any_of(
        r"if|unless|whether|except|other\sthan|until|in\scase|rather\sthan|instead\sof",
        r"should\syou|or\snot|not\sonly|so\sthat|as\slong\sas|when(?:ever)?",
        r"once\s(?:we|i|he|she|the)",
    )
    + r"\b|\A(?:All|Both|Every)\b",
    re.IGNORECASE,
)
_YES = re.compile(r": (yes|no)(?=\.?\Z)", re.IGNORECASE)  # "Uses a cane: Yes."


def negation(sentence: str) -> Iterator[str]:
    """Remove the only negation, or add a negation to a sentence without any."""
    if yes := _YES.search(sentence):
        other = "no" if yes[1].lower() == "yes" else "yes"
        yield replace_text(sentence, *yes.span(1), other)
        return
    cues = len(CUE.findall(sentence))
    if cues > 1 or _UNCLEAR.search(sentence):
        return
    yield from _replace_opposites(sentence, cues)
    if cues:
        yield from _remove_negation(sentence)
        return
    yield from _replace_present(sentence)
    for rule in (_add_not, _add_denial, _add_no, _add_do):
        yield from rule(sentence)


# ---- words for their opposites

_OPPOSITES = {
    "negative": "positive",
    "positive": "negative",
    "unable to": "able to",
    "able to": "unable to",
    "nontender": "tender",
    "non-tender": "tender",
    "afebrile": "febrile",
    "unremarkable": "abnormal",
    "normal": "abnormal",
    "abnormal": "normal",
    "absent": "present",
    "intact": "impaired",
}
_OPPOSITE = re.compile(rf"(?<![\w-]){any_of(*_OPPOSITES)}(?![\w-])", re.IGNORECASE)
_PRESENT = re.compile(
    r"(?<=\w )present"
    r"(?= (?:on|in|at|along|throughout|bilaterally)\b|[.,]|\Z)",
    re.IGNORECASE,
)
# Beside these words they have another sense, or are a part of a phrase.
_NOT_BEHIND = re.compile(
    r"\b"
    + any_of(
        "to|than|the|new|his|her|their|from|near|within|otherwise|or|and|false|of|back|be|being"
    )
    + r"\b\s\Z",
    re.IGNORECASE,
)
_NOT_BEFORE = re.compile(
    r"\s"
    + any_of(
        "saline|limits?|range|pressure|outlook|attitude|and|or|pain|tenderness|difficulty|sinus"
    )
    + r"\b",
)


def _replace_opposites(sentence: str, cues: int) -> Iterator[str]:
    """Write "normal" for "abnormal" and the like; `cues`: the sentence's negations."""
    for match in _OPPOSITE.finditer(sentence):
        before = sentence[: match.start()]
        after = sentence[match.end() :]
        has_every_cue = len(CUE.findall(match[0])) >= cues
        if not has_every_cue:
            continue
        if not _NOT_BEHIND.search(before) and not _NOT_BEFORE.match(after):
            new = _OPPOSITES[match[0].lower()]
            yield replace_text(sentence, *match.span(), new)


def _replace_present(sentence: str) -> Iterator[str]:
    for match in _PRESENT.finditer(sentence):
        if not _NOT_BEHIND.search(sentence[: match.start()]):
            yield replace_text(sentence, *match.span(), "absent")


# ---- a negation removed

_FINDING = (
    r"((?:\w+ ){0,2}(?:fracture|mass|murmur|nodule|lesion|rash|effusion|history|injury|tumor|lump"
    r"|blockage|abnormality|wound|hernia|ulcer|bruit|cyst|problem|break|clot|tear|hematoma))\b"
)
_NEGATED_AUXILIARY = (
    r"\b(is|was|are|were|has|have|had|do|does|did|could|would|should)"
    r"(?:n['\u2019]t| not)(?! (?:only|yet|sure if|all|very|in)\b)\b"
)
# A negation, and what remains of it. The first that a sentence has is removed.
_REMOVALS = [
    (re.compile(pattern, re.IGNORECASE), remains)
    for pattern, remains in (
        (r"\b(?:denies|denied|denying|deny)\b", ""),
        (rf"(?<=\w )no {_FINDING}(?=[.,;]|\Z| on\b| in\b| of\b)", r"a \1"),
        (r"\bno (?!longer|more than|one\b|matter|later)(?=[a-z])", ""),
        (r"(?<!or )\bwithout(?! (?:saying|any(?:thing|one)))\b", "with"),
        (r"\bcan(?:not|['\u2019]t)\b", "can"),
        (r"\bwon['\u2019]t\b", "will"),
        (_NEGATED_AUXILIARY, r"\1"),
        (r"\bwill not\b", "will"),
        (r"(?<=has )never |(?<=have )never |(?<=had )never ", ""),
    )
]
_REPORTING = {
    "denies": "reports",
    "denied": "reported",
    "denying": "reporting",
    "deny": "report",
}
# Words that occur only under a negation.
_ONLY_NEGATED = re.compile(
    r"\b"
    + any_of(
        r"any(?:thing|one|body|where|more)|any\slonger|ever|yet|at\sall|either|much|necessarily",
        r"only|as\s(?:much|well)|always|really|be\sable|so",
    )
    + r"\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r";|\bbut\b|\bhowever\b|, (?:he|she|they|I|we|the patient|and|which|who)\b",
)


def _remove_negation(sentence: str) -> Iterator[str]:
    for pattern, remains in _REMOVALS:
        match = pattern.search(sentence)
        if match is None:
            continue
        tail = sentence[match.end() :]
        if not _ONLY_NEGATED.search(tail):
            new = _REPORTING.get(match[0].lower(), match.expand(remains))
            affirmed = copy_case(match[0], new + _affirm(tail))
            yield tidy(sentence[: match.start()] + affirmed, like=sentence)
        return


def _affirm(tail: str) -> str:
    """Return words that followed a negation as they are without it: some for any, and for or."""
    end = _CLAUSE.search(tail)
    stop = end.start() if end else len(tail)
    scope = re.sub(r"\bany\b", "some", tail[:stop])
    return re.sub(r"\bor\b", "and", scope) + tail[stop:]


# ---- a negation added: "not"

# "is", "can" and "has been", but not before "not", "only" and the like.
_NO_PLACE = any_of(
    r"not\b|only|just|also|still|too\b|either|almost|at\sleast|all\b|both|now\b|nearly",
    r"likely|possibly|probably|an?\s(?:little|bit|few|lot|pleasant|\d)",
    r"always|often|some\b|very|so\b|then|about|around|approximately|currently|quite|pretty",
)
_PARTICIPLE = any_of("been|become|gone|done|seen|taken|felt|made|lost|had", r"\w{3,}ed")
_AUXILIARY = re.compile(
    r"(?<=\w )"
    + any_of(
        r"(?:is|was|are|were|will|could|would|should|did|does)\b",
        r"can\b(?! test)",
        rf"(?:has|have|had)(?= {_PARTICIPLE}\b)",
    )
    + rf"(?= (?!{_NO_PLACE})\w)"
)
_ONLY = re.compile(r"\bonly\b", re.IGNORECASE)
_NO_SUBJECT = re.compile(
    r"\b(?:as|how|there|than|what|which|that|empty|where|who|and|or|but)\s\Z"
    r"|\b(?:after|before|because|since|as|while) (?:\w+ ){1,2}\Z",
    re.IGNORECASE,
)


def _add_not(sentence: str) -> Iterator[str]:
    """Write "is not" for "is", at the first place that allows it."""
    if _ONLY.search(sentence):
        return
    for match in _AUXILIARY.finditer(sentence):
        if not _NO_SUBJECT.search(sentence[: match.start()]):
            negated = "cannot" if match[0] == "can" else f"{match[0]} not"
            yield replace_text(sentence, *match.span(), negated)
            return


# ---- a negation added: "denies"

_DENYING = {
    "reports": "denies",
    "endorses": "denies",
    "complains of": "denies",
    "admits to": "denies",
    "reported": "denied",
    "endorsed": "denied",
    "complained of": "denied",
}
_NO_FINDING = any_of(
    "to|no|that|he|she|they|it|there", r"his \w+ (?:is|has)", r"her \w+ (?:is|has)"
)
_STATEMENT = re.compile(
    r"(?:\A|(?<=: )|(?<=\bpatient )|(?<=\b[Hh]e )|(?<=\b[Ss]he )|(?<=\balso ))"
    rf"{any_of(*_DENYING)}(?= (?!{_NO_FINDING}\b)\w)",
    re.IGNORECASE,
)


def _add_denial(sentence: str) -> Iterator[str]:
    """Write "denies" for "reports"."""
    if statement := _STATEMENT.search(sentence):
        tail = re.sub(r"\A some\b", " any", sentence[statement.end() :])
        denies = copy_case(statement[0], _DENYING[statement[0].lower()])
        yield sentence[: statement.start()] + denies + tail


# ---- a negation added: "no"

_THERE = re.compile(
    r"\bthere (?:is|was|are|were)(?P<some> (?:an?|some|any))?(?= [a-z])", re.IGNORECASE
)
_HAS_A = re.compile(
    r"(?<=\w )(?P<has>has|had|have)"
    + any_of(
        " (?:an?|some) (?!few|lot|little|bit|couple|number|half)",
        " (?=(?:pain|swelling|tenderness|numbness|difficulty|allergies|fatigue|diabetes|fever"
        r"|nausea|trouble|symptoms|tingling|weakness)\b)",
    )
    + "(?=[a-z])",
)
# A finding without a verb, to its end.
_NOTED = re.compile(
    r"(?:\A|(?<=: ))(?P<some>some )?"
    r"(?=(?:pain|tenderness|swelling|edema|effusion|redness|evidence|signs?|bruising|numbness"
    r"|weakness|crepitus|scattered|mild|slight|trace|history)\b)"
    r"(?!.*\b(?:is|was|are|were|has|have|reports?|states?|will|in the past)\b)",
    re.IGNORECASE,
)


def _add_no(sentence: str) -> Iterator[str]:
    """Write "there is no" for "there is a", "has no" for "has a", and "No pain" for "Pain"."""
    if there := _THERE.search(sentence):
        rest = sentence[there.end() :]
        if not re.search(r"as well as|\bonly\b|\band\b", rest):
            stop = there.end() - len(there["some"] or "")
            yield f"{sentence[:stop]} no{rest}"
    if has := _HAS_A.search(sentence):
        yield f"{sentence[: has.end('has')]} no {sentence[has.end() :]}"
    if noted := _NOTED.search(sentence):
        finding = re.sub(r"\band\b", "or", sentence[noted.end() :])
        no = copy_case(sentence[noted.start() :], "no")
        yield f"{sentence[: noted.start()]}{no} {uncapitalize(finding)}"


# ---- a negation added: "do not"

_ORDER = re.compile(
    r"(?:\A|(?<=: ))"
    + any_of(
        "continue|take|apply|return|start|increase|decrease|use|begin|monitor|repeat|consider",
        "wear|schedule|refer|perform|elevate|stop|follow up",
    )
    + r"(?= \w)(?! (?:of|is|was|in office)\b)",
    re.IGNORECASE,
)
# Verbs in forms that "does not" and "did not" take back to the base; "has" is mostly
# auxiliary.
_VERBS = """
    attend appear ask believe call check complain consume continue contact cough describe develop
    discuss demonstrate drink eat enjoy exercise experience explain exhibit feel follow happen help
    improve increase decrease injure land lift limit live locate look monitor need notice order
    perform play prefer prescribe purchase reach receive recommend refer refill require recall
    remain reveal report schedule see show sleep smoke sprain start stop suffer take tolerate travel
    treat try twist undergo use utilize visit walk want watch wear work
""".split()
_PRESENT_OF = {verb_forms(base)[THIRD]: base for base in _VERBS}
_PAST_OF = {verb_forms(base)[PAST]: base for base in _VERBS}
_BASE_OF = _PRESENT_OF | _PAST_OF
_VERB_FORMS = any_of(*sorted(_BASE_OF))
_VERB = re.compile(
    r"\b(?:he|she|patient|I|we|they|\w+ (?:exam|examination|x-ray|MRI|ultrasound|panel)) "
    rf"(?P<verb>{_VERB_FORMS})(?= [a-z\d])",
    re.IGNORECASE,
)
_SECOND_VERB = re.compile(rf"\b(?:and|or|but|then)(?: \w+ly)? {_VERB_FORMS}\b|\w+ed\b")


def _add_do(sentence: str) -> Iterator[str]:
    """Write "do not take" for "take", and "does not take" for "takes"."""
    if order := _ORDER.search(sentence):
        do_not = f"{copy_case(order[0], 'do')} not {uncapitalize(order[0])}"
        yield substitute(sentence, order, do_not)
    verb = _VERB.search(sentence)
    if verb and not _SECOND_VERB.search(sentence[verb.end("verb") :]):
        written = verb["verb"].lower()
        auxiliary = "does" if written in _PRESENT_OF else "did"
        negated = f"{auxiliary} not {_BASE_OF[written]}"
        yield replace_text(sentence, *verb.span("verb"), negated)
