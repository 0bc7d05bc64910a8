"""Forms of English verbs and nouns: by rule, and by a list of irregular ones."""

from metassay.text.patterns import read_words

_IRREGULAR = " ".join(read_words(__file__, "irregular")).split("; ")
_FORMS = {
    base: (past, participle) for base, past, participle in map(str.split, _IRREGULAR)
}
_DOUBLED = read_words(__file__, "doubled")
_VOWELS = "aeiou"
BASE, THIRD, PAST, PARTICIPLE, ING = range(5)


def verb_forms(verb: str) -> tuple[str, str, str, str, str]:
    """Return base, third person, past, participle and -ing form; only the first word changes."""
    base, blank, rest = verb.partition(" ")
    past, participle = _FORMS.get(base, (_ended(base, "ed"),) * 2)
    forms = (base, _with_s(base), past, participle, _ended(base, "ing"))
    first, second, third, fourth, fifth = (form + blank + rest for form in forms)
    return first, second, third, fourth, fifth


def plural(noun: str) -> str:
    """Return the plural of a noun by rule; of "loss of appetite" that of its first word."""
    head, of, rest = noun.partition(" of ")
    return (f"{head}s" if head.isupper() else _with_s(head)) + of + rest


def _with_s(word: str) -> str:
    if word in ("have", "be"):
        return {"have": "has", "be": "is"}[word]
    if word.endswith("y") and word[-2:-1] not in _VOWELS:
        return f"{word[:-1]}ies"
    return (
        f"{word}es" if word.endswith(("s", "x", "z", "ch", "sh", "go")) else f"{word}s"
    )


def _ended(base: str, ending: str) -> str:
    if base in _DOUBLED:
        return f"{base}{base[-1]}{ending}"
    if base.endswith("ie") and ending == "ing":
        return f"{base[:-2]}ying"
    if base.endswith("e") and not (
        ending == "ing" and base.endswith(("ee", "oe", "ye"))
    ):
        return base[:-1] + ending
    if base.endswith("y") and base[-2] not in _VOWELS and ending == "ed":
        return f"{base[:-1]}ied"
    return base + ending
