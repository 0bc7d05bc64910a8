"""What a text asserts: its claims one by one, and what the premise says in the same way.

A judge that looks for words, or for similar ones, finds a claim in "It is unclear
whether she has a fever", "About another patient: fever" and in an alphabetical list of
the record's words. None of these asserts that she has one. So like is held against
like: what a hypothesis asserts against what the premise asserts, what it leaves open
against what the premise leaves open, and so on. These are the ways of saying something
(`Manner`):

- asserted: what follows no frame;
- open: doubted, not known, assumed. A frame is a lead-in ("Unconfirmed: ..."), a main
  clause ("Nobody knows whether ...") or a comment ("... This is not certain.");
- denied: the frame says that it is wrong, and what it takes back is negated by itself.
  A denial of something positive is asserted, as a negation: "It is wrong that she has a
  fever" is read as "no: she has a fever";
- of another: about somebody else than the record's patient;
- examined: what a study or a test was to find out, in a hypothesis ("We tested
  whether ..."). It is held against all that the premise asserts or leaves open, since
  the same aim can be said without a frame ("Video was compared with visits");
- asked: a question of the hypothesis. Those of a premise stay among what it asserts,
  too, since in a dialogue the answer follows;
- in no order: a list of words is no sentence. Such a premise says nothing.

A hypothesis of several sentences holds if each does; equal ones count once, and
sentences that say nothing of this patient alone ("Everything relevant was discussed.")
do not count. The rules know frames, not what is meant: irony, fiction, and "possible"
or "may" within a sentence are not seen.
"""

import re
from collections.abc import Callable, Sequence
from enum import Enum
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from metassay.judges.reading import NEGATIONS, SUBJECTS, Reading
from metassay.text.boundaries import boundaries
from metassay.text.headings import stands_alone
from metassay.text.tokens import content_tokens


class Manner(Enum):
    """How something is said."""

    ASSERTED = "asserted"
    OPEN = "open"
    DENIED = "denied"
    OF_ANOTHER = "of another"
    EXAMINED = "examined"
    QUESTION = "asked"
    IN_NO_ORDER = "in no order"


class Sentence(NamedTuple):
    """A sentence, and how it is said; `is_rewritten`: it stood in a frame, which is left out;
    `is_denied`: the frame denied it. `is_specific`: it does not fit every record."""

    manner: Manner
    text: str
    is_rewritten: bool = False
    is_denied: bool = False
    is_specific: bool = True


class Question(NamedTuple):
    """One claim of a hypothesis, and what the premise says in the same manner."""

    premise: str
    hypothesis: str


def _any_of(phrases: str) -> str:
    """Return a pattern of phrases that commas divide; an ending * stands for any letters."""
    patterns = []
    for phrase in phrases.split(","):
        words = " ".join(phrase.split())
        patterns.append(
            re.escape(words).replace(r"\*", r"\w*").replace("'", "['\u2019]")
        )
    return rf"(?<!\bnot )\b(?:{'|'.join(patterns)})\b"


# Nothing is said about whether it is so.
_DOUBTS = _any_of("""
    whether, unclear, uncertain*, unconfirmed, unproven, unproved, unverified, unknown,
    unsure, undecided, undetermined, unresolved, unsettled, unsubstantiated, unlikely,
    not clear, not certain, not sure, not confirmed, not proven, not known,
    not established, not yet, yet to be, remains to be, to be confirmed,
    to be determined, to be clarified, cannot be confirmed, cannot be excluded,
    cannot be determined, cannot say, cannot tell, could not say, could not tell,
    nobody knows, no one knows, open question, matter of debate, remains open,
    left open, in question, in doubt, doubt*, questionable, debatable, debated,
    disputed, contested, dubious, tentative, equivocal, possible, possibly,
    possibility, perhaps, maybe, may be, might be, could be, speculat*, suspect*,
    suspicion, hypothe*, presum*, suppos*, assum*, conjectur*, guess*, wonder*,
    alleg*, purported*, rumor*, rumour*, hearsay, little evidence
""")
# It is not so.
_DENIALS = _any_of("""
    false, falsely, untru*, wrong, wrongly, incorrect*, inaccurate, invalid, error,
    erroneous*, mistak*, opposite, contrary, reverse, refut*, disprov*, contradict*,
    retract*, fabricat*, invented, fiction, myth, a lie, no truth, no evidence,
    not true, not so, not the case, not correct, not right, not hold, not apply,
    isn't true, isn't so, isn't the case, wasn't true, doesn't hold, doesn't apply,
    not possible, impossible, never happened, did not happen, not present, absent,
    ruled out, excluded, denied, denies, deny, negative for
""")
# Who says so: it is a claim by itself, and the words after it are read without it.
_VOUCHING = (
    r"\b(?:according to|(?:verified|confirmed|approved|endorsed|certified|attested|agreed"
    r"|guaranteed|signed|checked|validated|reviewed) by|as\b.*\b(?:confirm|state|agree|show|note"
    r"|report|attest|certif|verif|document|establish|recommend)\w*)"
)
# Somebody else than the patient of the record, wherever a sentence says so.
_ANOTHER = r"\b(?:another|other|different|next|neighbou?ring|adjacent|unrelated|wrong)"
_RECORDS = (
    rf"{_ANOTHER}(?:\s+[\w-]+)?\s+"
    r"(?:patient|inpatient|bed|chart|record|file)(?:['\u2019]?s|s['\u2019])?\b"
)
# In a lead-in, any other person: "Her roommate says that the patient ..." is no lead-in.
_OTHERS = (
    rf"{_RECORDS}|{_ANOTHER}(?:\s+[\w-]+)?\s+"
    r"(?:person|man|woman|individual|resident|case|client|room|ward|cubicle)\b|"
    + _any_of("""
    somebody else, someone else, anybody else, anyone else, roommate*, room-mate*,
    neighbor*, neighbour*, stranger*, not this patient, not our patient
    """)
)
# "It has not been shown that", "Nobody could confirm that".
_NOT_SHOWN = (
    r"(?:\b(?:not|never|cannot|nobody|no one|none|no(?= \w+ (?:has|have|can|could)))|n['\u2019]t)"
    r"(?:\s+\w+){0,3}?\s+(?:establish|show|confirm|prove[nd]?|know|said|say|tell|told|demonstrat"
    r"|verif|clear|certain|sure|determin|document|support|clarif|substantiat|evident)\w*"
)
# Cues are sought in lower case: to ignore case takes ten times as long.
_CUES = (
    (Manner.OPEN, re.compile(f"{_DOUBTS}|{_NOT_SHOWN}")),
    (Manner.DENIED, re.compile(_DENIALS)),
)
_OF_RECORD = re.compile(_RECORDS)
_OF_PERSON = re.compile(_OTHERS)
_VOUCHED = re.compile(_VOUCHING)

# "Unconfirmed: ...", also at the end of a line; not "10:30".
_LEAD_IN = re.compile(r"([^:\n]{2,120}):(?:\s+|$)")
_LONGEST_LEAD_IN = 14  # words
# "It is not known whether ...", "She denies that ...": at most three words stand between
# the cue and what it frames, since in "He denies pain and says that ..." it frames nothing.
_CLAUSE = re.compile(
    r"([^:;,.\n]{1,80}?)\b(whether|that"
    # no relative clause: "the error that was found"
    r"(?!\s+(?:is|was|are|were|has|had|have|will|would|can|could|should|do|does|did)\b))\s+",
    re.IGNORECASE,
)
_NEAR_CUE = 3
_JOINING = frozenset({"and", "or", "but"})
# "..., which is not true", "... (unconfirmed)": a comment at the end of its sentence.
_REMARK = re.compile(
    r"(?:[,;]\s*(?:which|but (?:this|that|it))\s+"
    r"|\s[\u2013\u2014-]+\s*(?:which|this|that|it|but)?\s*|\s\()([^,;()]{3,60})\)?[.!]?\s*$",
    re.IGNORECASE,
)
# "This is not certain.": a sentence about the one before.
_COMMENT = re.compile(
    r"(?:this|that|it|which|the (?:above|foregoing|former|last|preceding|previous)"
    r"|(?:the|this|that) (?:statement|sentence|claim|report|entry|note|information|finding"
    r"|assertion|diagnosis))\b",
    re.IGNORECASE,
)
# "We tested whether ...", "A trial asked whether ...": nobody doubts that it was tested.
_EXAMINED = re.compile(
    r"\b(?:test|examin|investigat|assess|evaluat|stud|compar|ask|determin|explor|measur"
    r"|analy[sz])\w*"
)
# "Tests are needed to determine whether ...": nothing was examined yet.
_TO_COME = re.compile(r"\b(?:need|requir|await|pending|remain|plan|should|must)\w*")
# What a comment has besides its subject and the cue.
_OF_COMMENTS = frozenset(
    """
    above all apply been claim completely considered diagnosis entirely entry far finding
    foregoing former found hold however information last later meantime note now out
    preceding previous proved proven quite regarded report sentence shown simply since
    so statement still turned yet
    """.split()
)
# "The following is not certain.": a sentence about the one after it.
_ANNOUNCEMENT = re.compile(
    r"\b(?:what follows|(?:the )?(?:following|next)(?: (?:sentence|statement|claim|entry))?)\b",
    re.IGNORECASE,
)
# A text without any of these has no frame.
_ANY_CUE = re.compile(f"{_OTHERS}|{_DOUBTS}|{_NOT_SHOWN}|{_DENIALS}|{_VOUCHING}")
# Words of sentences that fit every record: what was seen, said or done is not named.
_OF_EVERY_RECORD = frozenset(
    """
    account accordingly additional address addressed all appropriate appropriately
    approach aspect assess assessed assessment available care careful carefully case
    clinical clinically complete completed concern condition consider considered
    consideration course current depend detail detailed develop development discuss
    discussed discussion document documented done due evaluate evaluated evaluation
    every everything examination examine examined factor finding follow followed
    following further general given good handle handled health history important
    individual individually information involved issue made make manage managed
    management matter measure medical medically meet met monitor monitored nature need
    needed necessary note noted option overall particular patient plan planned point
    possible proceed properly provide provided question record recorded relevant remain
    require required respond response result review reviewed routine see seen several
    situation specific standard state status step suitable take taken talk talked thing
    time today treat treated treatment usual usually variety various visit visited way
    well within
    """.split()
)


@lru_cache(maxsize=16384)
def says_nothing_specific(sentence: str) -> bool:
    """Return whether a sentence fits every record: no finding, number, name or negation.

    >>> says_nothing_specific("The patient was seen and evaluated.")
    True
    >>> says_nothing_specific("The patient was seen for a cough.")
    False
    """
    tokens = content_tokens(sentence)
    return bool(tokens) and _OF_EVERY_RECORD.issuperset({*tokens} - SUBJECTS)


def questions(premise: str, hypothesis: str) -> list[Question]:
    """Return what has to be asked, so that the hypothesis holds if every answer is yes.

    One question per claim of the hypothesis, with what the premise says in the same
    manner. None if the hypothesis is empty.

    >>> asked = questions("It is unclear whether she has a fever. Cough.", "Fever.")
    >>> [(question.premise, question.hypothesis) for question in asked]
    [('Cough.', 'Fever.')]
    """
    claims = claims_of(hypothesis)
    return [Question(select_alike(premise, claim), claim.text) for claim in claims]


@lru_cache(maxsize=8192)
def claims_of(hypothesis: str) -> tuple[Sentence, ...]:
    """Return the distinct claims of a hypothesis, in order.

    Known headings, and sentences that say nothing specific, are left out if there is
    anything else.
    """
    whole = hypothesis.strip()
    if not whole:
        return ()
    if not is_running_text(whole):
        return (Sentence(Manner.IN_NO_ORDER, whole),)
    claims = [
        sentence
        for sentence in _read_sentences(whole, _read_claim)
        if any(map(str.isalnum, sentence.text)) and not stands_alone(sentence.text)
    ]
    if not claims:
        return (Sentence(Manner.ASSERTED, whole),)
    specific = [claim for claim in claims if not says_nothing_specific(claim.text)]
    if not specific:
        specific = [claim._replace(is_specific=False) for claim in claims]
    return tuple(dict.fromkeys(specific))


@lru_cache(maxsize=64)
def sentences_of_premise(premise: str) -> tuple[Sentence, ...]:
    """Return the sentences of a premise and how each is said."""
    return tuple(_read_sentences(premise, _read_sentence))


def select_alike(premise: str, claim: Sentence) -> str:
    """Return what the premise says in a claim's manner: itself if it has no frames.

    A claim that says nothing specific is said only by its own words.
    """
    if claim.manner is Manner.IN_NO_ORDER:
        return premise if claim.text in premise else ""
    if not is_running_text(premise):
        return ""
    if not claim.is_specific or claim.manner is not Manner.ASSERTED:
        return _select_manner(premise, claim)
    if not _has_cues(premise):
        return premise
    sentences = sentences_of_premise(premise)
    if not any(s.is_rewritten or s.manner in _FRAMED for s in sentences):
        return premise
    # What is denied supports no claim without a negation.
    is_negated = not NEGATIONS.isdisjoint(content_tokens(claim.text))
    return "\n".join(
        s.text
        for s in sentences
        if s.manner not in _FRAMED and (is_negated or not s.is_denied)
    )


def _select_manner(premise: str, claim: Sentence) -> str:
    """Return the sentences of a claim's manner; of what is not specific, its own words."""
    sentences = sentences_of_premise(premise)
    if not claim.is_specific:
        return claim.text if claim.text in {s.text for s in sentences} else ""
    if claim.manner is Manner.EXAMINED:
        alike = [s for s in sentences if s.manner not in _NOT_SAID]
    elif claim.manner is Manner.OPEN:
        # also "Whether it helps is disputed", which has no frame that is left out
        alike = [
            s for s in sentences if s.manner is Manner.OPEN or _leaves_open(s.text)
        ]
    else:
        alike = [s for s in sentences if s.manner is claim.manner]
    return "\n".join(s.text for s in alike)


def _leaves_open(sentence: str) -> bool:
    return _manner(sentence) is Manner.OPEN


_NOT_SAID = (Manner.DENIED, Manner.OF_ANOTHER)
_FRAMED = (Manner.OPEN, *_NOT_SAID)


@lru_cache(maxsize=64)
def _has_cues(text: str) -> bool:
    return _ANY_CUE.search(text.lower()) is not None


def _read_sentences(text: str, read: Callable[[str], list[Sentence]]) -> list[Sentence]:
    """Return the sentences of a text in order, without frames.

    `read`: how a sentence is read that has no frame outside of it.
    """
    sentences: list[Sentence] = []
    has_cues = _has_cues(text)
    of_lines: Manner | None = None  # "Unconfirmed:" and lines below it
    of_next: Manner | None = None  # "The following is not certain."
    for line in text.splitlines():
        if not line.strip():
            of_lines = None
        for sentence in _sentences(line):
            if not has_cues:
                sentences.append(_plain(sentence))
            elif sentence.endswith(":") and (manner := _lead_in_manner(sentence[:-1])):
                of_lines = manner
            elif manner := _announced(sentence):
                of_next = manner
            elif sentences and (manner := _commented(sentence)):
                sentences[-1] = _framed(sentences[-1].text, manner)
            elif manner := of_next or of_lines:
                sentences.append(_framed(sentence, manner))
                of_next = None
            else:
                sentences += read(sentence)
    return sentences


def _sentences(line: str) -> list[str]:
    edges = [0, *boundaries(line), len(line)]
    parts = [line[start:end].strip() for start, end in pairwise(edges)]
    return [part for part in parts if part]


def _plain(sentence: str) -> Sentence:
    is_asked = sentence.endswith("?")
    return Sentence(Manner.QUESTION if is_asked else Manner.ASSERTED, sentence)


def _framed(inner: str, manner: Manner) -> Sentence:
    """Return what stands in a frame of this manner."""
    if manner is Manner.DENIED and NEGATIONS.isdisjoint(content_tokens(inner)):
        return Sentence(
            Manner.ASSERTED, f"no: {inner}", is_rewritten=True, is_denied=True
        )
    return Sentence(manner, inner, is_rewritten=True)


def _read_claim(sentence: str) -> list[Sentence]:
    """Return the claims of a sentence of a hypothesis."""
    match = _CLAUSE.match(sentence)
    if match and match[2].lower() == "whether":
        main = match[1].lower()
        is_examined = _EXAMINED.search(main) and not _TO_COME.search(main)
        if is_examined and _manner(main) is None:
            return [Sentence(Manner.EXAMINED, sentence)]
    return _read_sentence(sentence)


def _read_sentence(sentence: str) -> list[Sentence]:
    if _OF_RECORD.search(sentence.lower()):
        return [Sentence(Manner.OF_ANOTHER, sentence)]
    return (
        _read_lead_in(sentence)
        or _read_clause(sentence)
        or _read_remark(sentence)
        or [_plain(sentence)]
    )


def _read_lead_in(sentence: str) -> list[Sentence]:
    """Return what is said after a frame with a colon; nothing if there is none."""
    match = _LEAD_IN.match(sentence)
    if match is None:
        return []
    inner = sentence[match.end() :]
    manner = _lead_in_manner(match[1])
    if manner is Manner.OF_ANOTHER:  # who it is stays with it
        return [Sentence(manner, sentence)]
    if manner:
        return [_framed(inner, manner)]
    if inner and _VOUCHED.search(match[1].lower()):
        return [_plain(match[1]), Sentence(Manner.ASSERTED, inner, is_rewritten=True)]
    return []


def _read_clause(sentence: str) -> list[Sentence]:
    """Return what is said after a main clause that leaves it open or denies it.

    "An MRI was done to see whether" asserts that one was done.
    """
    match = _CLAUSE.match(sentence)
    manner = _clause_manner(match) if match else None
    if match is None or manner is None:
        return []
    inner = _framed(sentence[match.end() :], manner)
    main = match[1].strip()
    return [inner] if _is_only_cue(main) else [_plain(main), inner]


def _read_remark(sentence: str) -> list[Sentence]:
    match = _REMARK.search(sentence)
    if match is None or not _is_only_cue(match[1]):
        return []
    manner = _manner(match[1])
    return [_framed(sentence[: match.start()], manner)] if manner else []


def _manner(frame: str) -> Manner | None:
    for manner, cue in _CUES:
        if cue.search(frame.lower()):
            return manner
    return None


def _lead_in_manner(frame: str) -> Manner | None:
    if len(frame.split()) > _LONGEST_LEAD_IN:
        return None
    return Manner.OF_ANOTHER if _OF_PERSON.search(frame.lower()) else _manner(frame)


def _clause_manner(clause: re.Match[str]) -> Manner | None:
    if clause[2].lower() == "whether":
        return Manner.OPEN
    for manner, cue in _CUES:
        cues = list(cue.finditer(clause[1].lower()))
        between = clause[1][cues[-1].end() :].split() if cues else []
        if cues and len(between) <= _NEAR_CUE and _JOINING.isdisjoint(between):
            return manner
    return None


def _announced(sentence: str) -> Manner | None:
    """Return the manner of the sentence after "The following is not certain."."""
    match = _ANNOUNCEMENT.search(sentence)
    if match is None or not sentence.endswith("."):
        return None
    rest = sentence[: match.start()] + sentence[match.end() :]
    return _manner(rest) if _is_only_cue(rest) else None


def _commented(sentence: str) -> Manner | None:
    """Return the manner of the sentence before "This is not certain."."""
    match = _COMMENT.match(sentence)
    if match is None or not _is_only_cue(sentence[match.end() :]):
        return None
    return _manner(sentence)


def _is_only_cue(text: str) -> bool:
    """Return whether a text has a cue of a frame, and else only words of comments."""
    text = text.lower()
    for _, cue in _CUES:
        text = cue.sub(" ", text)
    return _OF_COMMENTS.union(NEGATIONS).issuperset(content_tokens(text))


# ---- order

_ARTICLES = frozenset("a an the my their our its your".split())
_PREPOSITIONS = frozenset("of with for from into at by during to on in as".split())
_NEVER_LAST = _ARTICLES | frozenset("of from into during as".split())
_AUXILIARIES = frozenset("is are was were has had will would can could".split())
_NEVER_NAMED = frozenset(
    "and or but be been have i he she they we it that this which".split()
)
_AFTER_ARTICLE = _ARTICLES | _PREPOSITIONS | _AUXILIARIES | _NEVER_NAMED
_AFTER_PREPOSITION = _PREPOSITIONS | _AUXILIARIES
# "as of", "brought in by", "on and off": these can be followed by a preposition.
_JOINED = frozenset({"as", "in", "on"})
_FIGURE = re.compile(r"\bA(?=[.,;:?!)\n]|$)")  # a letter, no article: "Figure A."
_WORD_OR_STOP = re.compile(r"[a-z0-9][a-z0-9'\u2019]*|[.,;:?!\n]")
_FEWEST = 3  # articles and prepositions that can show it
_BROKEN = 0.2  # share of articles and prepositions before a word that cannot follow
_FEWEST_BROKEN = 2  # one alone is a phrase that the rules do not know: "of at least 30"


@lru_cache(maxsize=8192)
def is_running_text(text: str) -> bool:
    """Return whether the words of a text are in an order that English can have.

    After an article no other article, preposition, verb or stop can follow, and after a
    preposition none of most of these. At least a fifth of the articles and prepositions
    of a list of words break these rules, and of a text that is written by people, also
    of a transcript of a talk, next to none. A text with few articles and prepositions, or
    with one that breaks a rule, shows nothing.

    >>> is_running_text("The left knee is swollen, with a rash of two days.")
    True
    >>> is_running_text("of days the is left my with knee two a the rash")
    False
    """
    tokens = _WORD_OR_STOP.findall(_FIGURE.sub(" ", text).lower())
    read = broken = 0
    for word, following in pairwise([*tokens, "."]):
        is_end = not following[0].isalnum()
        if word in _ARTICLES:
            read += 1
            broken += is_end or following in _AFTER_ARTICLE
        elif word in _PREPOSITIONS:
            read += 1
            broken += (is_end and word in _NEVER_LAST) or (
                following in _AFTER_PREPOSITION and word not in _JOINED
            )
    return read < _FEWEST or broken < max(_FEWEST_BROKEN, _BROKEN * read)


# Content tokens that may stand between two words besides those that do in the claim, and if
# the two are exchanged ("knee pain", "pain of the knee").
_FARTHER = 3
_FARTHER_BEFORE = 1
_LEAST_SHARED = 0.9  # least share of a claim's content tokens that the premise has
_ORDERED = 0.5  # least share of neighbours of a claim that are near each other
# The same of a claim with fewer than five content tokens, in which one pair says much.
_ORDERED_SHORT = 0.3
_SHORT = 5


def is_disordered(hypothesis: Reading, premise: Reading) -> bool:
    """Return whether the premise has the hypothesis's words, but not in its order.

    That is so if it has at least nine tenths of the content tokens, and of the pairs of
    neighbouring ones fewer than half stand near each other; exchanged pairs count
    half. A list of a text's words has 0 to .2, a text that says the same .5 to 1. For
    fewer than five tokens three tenths are enough. What is said in other words is not
    judged here.
    """
    tokens: dict[int, str] = {}
    for token, places in hypothesis.places.items():
        if token not in NEGATIONS and token not in SUBJECTS:
            tokens |= dict.fromkeys(places, token)
    shared = [place for place in sorted(tokens) if tokens[place] in premise.places]
    if len(shared) < _LEAST_SHARED * len(tokens):
        return False
    scores = []
    for place, following in pairwise(shared):
        if tokens[place] != tokens[following]:
            first = premise.places[tokens[place]]
            second = premise.places[tokens[following]]
            scores.append(_nearness(first, second, following - place))
    least = _ORDERED_SHORT if len(shared) < _SHORT else _ORDERED
    return bool(scores) and sum(scores) < least * len(scores)


def _nearness(first: Sequence[int], second: Sequence[int], gap: int) -> float:
    """Return 1 for places near each other in this order, .5 for the other order, else 0.

    `gap`: their distance in the claim.
    """
    score = 0.0
    for place in first:
        for other in second:
            if 0 < other - place <= gap + _FARTHER:
                return 1.0
            if 0 < place - other <= gap + _FARTHER_BEFORE:
                score = 0.5
    return score
