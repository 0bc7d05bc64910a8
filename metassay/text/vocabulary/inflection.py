"""Forms of English verbs and nouns: by rule, and by a list of irregular verbs."""

BASE, THIRD, PAST, PARTICIPLE, ING = range(5)  # places in `verb_forms`

# Verbs with another past or participle than the rules give.
_PAST_AND_PARTICIPLE = {
    "arise": ("arose", "arisen"),
    "be": ("was", "been"),
    "begin": ("began", "begun"),
    "build": ("built", "built"),
    "buy": ("bought", "bought"),
    "come": ("came", "come"),
    "die": ("died", "died"),
    "draw": ("drew", "drawn"),
    "drink": ("drank", "drunk"),
    "eat": ("ate", "eaten"),
    "fall": ("fell", "fallen"),
    "feel": ("felt", "felt"),
    "find": ("found", "found"),
    "forbid": ("forbade", "forbidden"),
    "forget": ("forgot", "forgotten"),
    "get": ("got", "gotten"),
    "give": ("gave", "given"),
    "go": ("went", "gone"),
    "grow": ("grew", "grown"),
    "have": ("had", "had"),
    "hide": ("hid", "hidden"),
    "keep": ("kept", "kept"),
    "know": ("knew", "known"),
    "leave": ("left", "left"),
    "lend": ("lent", "lent"),
    "let": ("let", "let"),
    "look": ("looked", "looked"),
    "lose": ("lost", "lost"),
    "make": ("made", "made"),
    "pay": ("paid", "paid"),
    "put": ("put", "put"),
    "rise": ("rose", "risen"),
    "run": ("ran", "run"),
    "say": ("said", "said"),
    "see": ("saw", "seen"),
    "sell": ("sold", "sold"),
    "send": ("sent", "sent"),
    "show": ("showed", "shown"),
    "shrink": ("shrank", "shrunk"),
    "shut": ("shut", "shut"),
    "sleep": ("slept", "slept"),
    "speak": ("spoke", "spoken"),
    "split": ("split", "split"),
    "sweat": ("sweated", "sweated"),
    "take": ("took", "taken"),
    "tell": ("told", "told"),
    "think": ("thought", "thought"),
    "throw": ("threw", "thrown"),
    "undergo": ("underwent", "undergone"),
    "wear": ("wore", "worn"),
    "win": ("won", "won"),
    "withdraw": ("withdrew", "withdrawn"),
    "write": ("wrote", "written"),
}

# Verbs that double their last letter: stop, stopped, stopping.
_DOUBLED = frozenset(
    """
    abet admit cut drop equip fit forget get let occur permit plan prefer put quit
    recur refer regret run shut sit skip split stop submit swim transfer begin
    forbid win
    """.split()
)
_VOWELS = "aeiou"


def verb_forms(verb: str) -> tuple[str, str, str, str, str]:
    """Return base, third person, past, participle and -ing form; only the first word changes.

    >>> verb_forms("carry on")
    ('carry on', 'carries on', 'carried on', 'carried on', 'carrying on')
    """
    base, blank, rest = verb.partition(" ")
    regular_past = _append(base, "ed")
    past, participle = _PAST_AND_PARTICIPLE.get(base, (regular_past, regular_past))
    tail = blank + rest
    return (
        base + tail,
        _append_s(base) + tail,
        past + tail,
        participle + tail,
        _append(base, "ing") + tail,
    )


def plural(noun: str) -> str:
    """Return the plural of a noun by rule; of "loss of appetite" that of its first word.

    >>> plural("biopsy"), plural("loss of appetite"), plural("UTI")
    ('biopsies', 'losses of appetite', 'UTIs')
    """
    head, of, rest = noun.partition(" of ")
    plural_head = f"{head}s" if head.isupper() else _append_s(head)
    return plural_head + of + rest


def _append_s(word: str) -> str:
    if word == "have":
        return "has"
    if word == "be":
        return "is"
    if word.endswith("y") and word[-2:-1] not in _VOWELS:
        return f"{word[:-1]}ies"
    if word.endswith(("s", "x", "z", "ch", "sh", "go")):
        return f"{word}es"
    return f"{word}s"


def _append(base: str, ending: str) -> str:
    """Append -ed or -ing to a verb."""
    if base in _DOUBLED:
        return f"{base}{base[-1]}{ending}"
    if base.endswith("ie") and ending == "ing":  # die, dying
        return f"{base[:-2]}ying"
    keeps_e = ending == "ing" and base.endswith(("ee", "oe", "ye"))  # agreeing
    if base.endswith("e") and not keeps_e:
        return base[:-1] + ending
    if base.endswith("y") and base[-2] not in _VOWELS and ending == "ed":
        return f"{base[:-1]}ied"
    return base + ending
