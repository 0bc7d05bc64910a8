"""Forms of English verbs and nouns: by rule, and by a list of those that follow none."""

_IRREGULAR = """
    arise arose arisen; be was been; begin began begun; build built built; buy bought bought
    come came come; die died died; draw drew drawn; drink drank drunk; eat ate eaten
    fall fell fallen; feel felt felt; find found found; forbid forbade forbidden
    forget forgot forgotten; get got gotten; give gave given; go went gone; grow grew grown
    have had had; hide hid hidden; keep kept kept; know knew known; leave left left
    lend lent lent; let let let; look looked looked; lose lost lost; make made made; pay paid paid
    put put put; rise rose risen; run ran run; say said said; see saw seen; sell sold sold
    send sent sent; show showed shown; shrink shrank shrunk; shut shut shut; sleep slept slept
    speak spoke spoken; split split split; sweat sweated sweated; take took taken
    tell told told; think thought thought; throw threw thrown; undergo underwent undergone
    wear wore worn; win won won; withdraw withdrew withdrawn; write wrote written
"""
_FORMS = {
    base: (past, done)
    for entry in _IRREGULAR.replace("\n", ";").split(";")
    if entry.strip()
    for base, past, done in [entry.split()]
}
_DOUBLED = """
    abet admit cut drop equip fit forget get let occur permit plan prefer put quit recur refer
    regret run shut sit skip split stop submit swim transfer begin forbid win
"""  # verbs that double their last letter
_VOWELS = "aeiou"
BASE, THIRD, PAST, PARTICIPLE, ING = range(5)


def verb_forms(verb: str) -> tuple[str, str, str, str, str]:
    """Base, third person, past, past participle and -ing form; what follows a first word stays."""
    base, blank, rest = verb.partition(" ")
    past, done = _FORMS.get(base, (_ended(base, "ed"),) * 2)
    forms = (base, _with_s(base), past, done, _ended(base, "ing"))
    first, second, third, fourth, fifth = (form + blank + rest for form in forms)
    return first, second, third, fourth, fifth


def plural(noun: str) -> str:
    """The plural of a noun by rule; of "loss of appetite" that of its first word."""
    head, of, rest = noun.partition(" of ")
    return (f"{head}s" if head.isupper() else _with_s(head)) + of + rest


def _with_s(word: str) -> str:
    if word in ("have", "be"):
        return {"have": "has", "be": "is"}[word]
    if word.endswith("y") and word[-2:-1] not in _VOWELS:
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("s", "x", "z", "ch", "sh", "go")) else f"{word}s"


def _ended(base: str, ending: str) -> str:
    if base in _DOUBLED.split():
        return f"{base}{base[-1]}{ending}"
    if base.endswith("ie") and ending == "ing":
        return f"{base[:-2]}ying"
    if base.endswith("e") and not (ending == "ing" and base.endswith(("ee", "oe", "ye"))):
        return base[:-1] + ending
    if base.endswith("y") and base[-2] not in _VOWELS and ending == "ed":
        return f"{base[:-1]}ied"
    return base + ending
