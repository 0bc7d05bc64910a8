"""Names of columns that say several things: `fluency_r1`, `Rate case01 by gpt4 [Fluency]`.

A template is the form that such names share, with a field for each thing that differs:
`{criterion}_{rater}`, `Rate {doc} by {system} [{criterion}]`. It is found by what all names have
in common. What a field holds is told by keys of the texts, by names of raters and criteria, or by
the word before it (`Case: case01`). Where that leaves a choice, the template is only a proposal.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import reduce
from itertools import combinations, pairwise
from typing import NamedTuple

from metassay.tabular.column_synonyms import (
    USUAL,
    Role,
    fold_name,
    is_rater_name,
    names_quality,
)
from metassay.tabular.columns import Keys, Named
from metassay.tabular.scales import guess_direction

_FIELD = re.compile(r"\{(\w+)\}")
_PLACE = re.compile(r"\d+\.\S")  # `0.fluency`
_SHARE = 0.5  # of a field's values that must be known for the field to be of their role
_ORDER = (Role.DOC, Role.SYSTEM, Role.CRITERION, Role.METRIC, Role.RATER, Role.PART)
_THINGS = (Role.CRITERION, Role.METRIC)
_KNOWN = 1000  # how much more a known value counts than another
_SEVERAL = 2  # the fewest names that have a form in common
_LONGEST = 200  # parses of a name that are compared


class Template(NamedTuple):
    """A form of names, and what each name says by it.

    `unclear`: roles of fields that are a guess, and the values of their fields.
    """

    pattern: str
    names: Named
    unclear: Mapping[str, Sequence[str]]

    @property
    def roles(self) -> frozenset[str]:
        """The roles of the fields."""
        return frozenset(_FIELD.findall(self.pattern))


def is_pattern(pattern: str, allowed: Collection[str]) -> bool:
    """Whether a pattern has fields, all different and all of them `allowed`."""
    fields = _FIELD.findall(pattern)
    return bool(fields) and len(set(fields)) == len(fields) and {*fields} <= {*allowed}


# ---- read names by a pattern


def read_names(pattern: str, columns: Sequence[str], keys: Keys) -> Named:
    """Return what each name says by a pattern; names of another form are left out.

    A name may fit in several ways: `a_b_r1` is the criterion `a_b` of rater `r1`, or `a` of
    `b_r1`. Then known documents, systems and raters count, and values that other names have,
    too; else the criterion is as long as possible.
    """
    known = _Known.sort_keys(keys)
    parses = {column: list(_parses(pattern, column)) for column in columns}
    counts: Counter[tuple[str, str]] = Counter()
    for ways in parses.values():
        counts.update({pair for parse in ways for pair in parse.items()})

    def support(parse: Mapping[str, str]) -> tuple[int, int, int]:
        # The place in a list belongs to the list's name before it.
        divided = sum(bool(_PLACE.match(value)) for value in parse.values())
        n_known = sum(known.has(role, value) for role, value in parse.items())
        shared = sum(counts[pair] for pair in parse.items())
        longest = max(
            (len(parse[role]) for role in _THINGS if role in parse), default=0
        )
        return -divided, _KNOWN * n_known + shared, longest

    best = {
        column: max(of_name, key=support)
        for column, of_name in parses.items()
        if of_name
    }
    return {column: known.write(parse) for column, parse in best.items()}


class _Known(NamedTuple):
    """Documents and systems of the texts, by their spelling without case."""

    by_role: Mapping[str, Mapping[str, str]]

    @classmethod
    def sort_keys(cls, keys: Keys) -> "_Known":
        """Return the keys by role."""
        of_role = {Role.DOC: keys.documents, Role.SYSTEM: keys.systems}
        return cls(
            {role: {k.casefold(): k for k in known} for role, known in of_role.items()}
        )

    def has(self, role: str, value: str) -> bool:
        """Whether a value is a key of the texts, or has the name of a rater."""
        if role == Role.RATER:
            return is_rater_name(value)
        return value.casefold() in self.by_role.get(role, {})

    def write(self, parse: Mapping[str, str]) -> dict[str, str]:
        """Write documents and systems in the case of the texts."""
        return {
            role: self.by_role.get(role, {}).get(value.casefold(), value)
            for role, value in parse.items()
        }


def _parses(pattern: str, name: str) -> Iterator[dict[str, str]]:
    """Yield the ways in which a name has the form of a pattern."""
    parts = _FIELD.split(pattern)  # literals and fields in turn
    if not name.casefold().startswith(parts[0].casefold()):
        return
    yield from _following(parts[1:], name[len(parts[0]) :], _LONGEST)


def _following(parts: Sequence[str], rest: str, most: int) -> Iterator[dict[str, str]]:
    """Yield the ways in which the rest of a name has the form `field, literal, field, ...`."""
    role, literal, *later = parts
    if not later:
        ends = rest.casefold().endswith(literal.casefold())
        value = rest[: len(rest) - len(literal)]
        if ends and value.strip():
            yield {role: value.strip()}
        return
    starts = [
        match.start() for match in re.finditer(f"(?i)(?={re.escape(literal)})", rest)
    ]
    for start in starts[:most]:
        value = rest[:start]
        if value.strip():
            for parse in _following(later, rest[start + len(literal) :], most):
                yield {role: value.strip()} | parse


# ---- find the pattern that names share


class _Field(NamedTuple):
    """A part in which names differ: its values by name, and the literals around it."""

    values: Mapping[str, str]
    before: str
    after: str
    # whether values are places in lists of JSON, as in `annotations.0.fluency`
    in_list: bool = False

    @property
    def different(self) -> list[str]:
        """The different values, in order."""
        return list(dict.fromkeys(self.values.values()))


def find_template(
    names: Sequence[str], keys: Keys, allowed: Collection[str]
) -> Template | None:
    """Find the form that all names share, with at least a field; None if there is none.

    `allowed` are the roles that fields can have: those without a column of their own.
    """
    if len(names) < _SEVERAL or any(set("{}") & {*name} for name in names):
        return None
    joined = "\n".join(names).casefold()
    of_role = {Role.DOC: keys.documents, Role.SYSTEM: keys.systems}
    atoms = [
        key
        for role, known in of_role.items()
        for key in (known if role in allowed else ())
        if not key.isalnum() and key.casefold() in joined
    ]
    for split_digits in (False, True):
        tokens = {
            name: _tokens(name, atoms, split_digits=split_digits) for name in names
        }
        literals = reduce(_common, tokens.values())
        fields = _fields(tokens, literals)
        template = _assign(fields, keys, allowed, sure=not split_digits)
        if template is not None and not _is_trivial(template, fields):
            return template
    return None


def _is_trivial(template: Template, fields: Sequence[_Field]) -> bool:
    """Whether each column is only a criterion or metric, or nothing tells what it is."""
    clear = not template.unclear or bool(fields[0].before or fields[0].after)
    return len(fields) == 1 and not (template.roles - {*_THINGS} and clear)


def _tokens(name: str, atoms: Sequence[str], *, split_digits: bool) -> list[str]:
    """Divide a name into words, known keys (`atoms`) and what separates them.

    With `split_digits`, nothing separates the word and the number of `fluency1`.
    """
    ordered = sorted(atoms, key=len, reverse=True)
    keys = [rf"(?<![^\W_]){re.escape(key)}(?![^\W_])" for key in ordered]
    words = [r"[^\W\d_]+(?=\d)", r"[^\W_]+"] if split_digits else [r"[^\W_]+"]
    tokens = re.findall("|".join([*keys, *words, r"[\W_]+"]), name, re.IGNORECASE)
    if not split_digits:
        return tokens
    divided = tokens[:1]
    for before, token in pairwise(tokens):
        if before[-1:].isalpha() and token[:1].isdigit():
            divided.append("")
        divided.append(token)
    return divided


def _common(a: Sequence[str], b: Sequence[str]) -> list[str]:
    """Return the longest sequence of tokens that two names have in common."""
    lengths = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in reversed(range(len(a))):
        for j in reversed(range(len(b))):
            longer = max(lengths[i + 1][j], lengths[i][j + 1])
            lengths[i][j] = lengths[i + 1][j + 1] + 1 if a[i] == b[j] else longer
    common, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            common.append(a[i])
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            i += 1
        else:
            j += 1
    return common


def _fields(
    tokens: Mapping[str, Sequence[str]], literals: Sequence[str]
) -> list[_Field]:
    """Return the parts between literals in which names differ, those together that go together."""
    gaps = {name: _gaps(of_name, literals) for name, of_name in tokens.items()}
    differ = [
        any(of_name[n] for of_name in gaps.values()) for n in range(len(literals) + 1)
    ]
    places = [n for n, differs in enumerate(differ) if differs]
    # Parts that go together, `gpt` and `4`, are a single field: the fewest values in all.
    # Two by two that are all combined are as many either way, and are two fields.
    groups = min(
        _partitions(places),
        key=lambda split: (
            sum(len(_values(gaps, literals, group)) for group in split),
            -len(split),
        ),
        default=[],
    )
    fields = []
    for number, group in enumerate(groups):
        start = groups[number - 1][-1] if number else 0
        end = groups[number + 1][0] if number + 1 < len(groups) else len(literals)
        values = {name: _joined(gaps[name], literals, group) for name in gaps}
        before = "".join(literals[start : group[0]])
        after = "".join(literals[group[-1] : end])
        fields.append(_trimmed(_Field(values=values, before=before, after=after)))
    return fields


def _trimmed(field: _Field) -> _Field:
    """Move blanks and marks at the ends of all values to the literals around them."""
    values = field.different
    start = _count_marks(values)
    end = _count_marks([value[::-1] for value in values])
    if not start and not end:
        return field
    first = values[0]
    return _Field(
        values={
            name: value[start : len(value) - end]
            for name, value in field.values.items()
        },
        before=field.before + first[:start],
        after=first[len(first) - end :] + field.after,
    )


def _count_marks(values: Sequence[str]) -> int:
    """Count the blanks and marks with which all values begin."""
    count = 0
    for characters in zip(*values, strict=False):
        if len({*characters}) > 1 or characters[0].isalnum():
            break
        count += 1
    return count


def _gaps(tokens: Sequence[str], literals: Sequence[str]) -> list[str]:
    """Return what a name has before, between and behind the literals."""
    gaps, waiting = [""], list(literals)
    for token in tokens:
        if waiting and token == waiting[0]:
            waiting.pop(0)
            gaps.append("")
        else:
            gaps[-1] += token
    return gaps


def _joined(gaps: Sequence[str], literals: Sequence[str], group: Sequence[int]) -> str:
    """Return the parts of a group with the literals between them."""
    parts = [gaps[group[0]]]
    for n in range(group[0], group[-1]):
        parts += [literals[n], gaps[n + 1]]
    return "".join(parts)


def _values(
    gaps: Mapping[str, Sequence[str]], literals: Sequence[str], group: Sequence[int]
) -> set[str]:
    return {_joined(of_name, literals, group) for of_name in gaps.values()}


def _partitions(places: Sequence[int]) -> Iterator[list[list[int]]]:
    """Yield the ways to divide places into neighbouring groups, from one group on."""
    inner = range(1, len(places))
    for n_cuts in range(min(len(places), len(_ORDER))):
        for cuts in combinations(inner, n_cuts):
            ends = [0, *cuts, len(places)]
            yield [list(places[a:b]) for a, b in pairwise(ends)]


# ---- what the fields hold


def _assign(
    fields: Sequence[_Field], keys: Keys, allowed: Collection[str], *, sure: bool
) -> Template | None:
    """Give fields their roles; None where there are more fields than roles."""
    if not fields:
        return None
    known = _Known.sort_keys(keys)
    fields = _join_lists(fields, known)
    roles: dict[int, str] = {}
    free = [role for role in _ORDER if role in allowed]
    for tell in _TELL:
        for number, field in enumerate(fields):
            if field.in_list:
                continue
            candidates = [role for role in tell(field, known) if role in free]
            if (
                number not in roles
                and candidates
                and candidates[0] not in roles.values()
            ):
                roles[number] = candidates[0]
    unclear = _guess_rest(fields, roles, free, known)
    if unclear is None:
        return None
    if not sure:
        unclear |= {role: fields[number].different for number, role in roles.items()}
    pattern = _pattern(fields, roles, free)
    names = read_names(pattern, list(fields[0].values), keys)
    if len(names) < len(fields[0].values):
        return None
    return Template(pattern, names, unclear)


def _guess_rest(
    fields: Sequence[_Field],
    roles: dict[int, str],
    free: Sequence[str],
    known: _Known,
) -> dict[str, Sequence[str]] | None:
    """Give a role to each field without one, those with most values first.

    Returns the roles that are a guess; None if there are too few roles.
    """
    unclear: dict[str, Sequence[str]] = {}
    rest = [number for number in range(len(fields)) if number not in roles]
    for number in sorted(rest, key=lambda number: -len(fields[number].different)):
        open_roles = [role for role in free if role not in roles.values()]
        if fields[number].in_list:  # each place has the answer of somebody else
            open_roles = [role for role in open_roles if role == Role.RATER]
        if len(fields) == 1 and _has_words(fields[0]):  # which say the criterion
            open_roles = [role for role in open_roles if role not in _THINGS]
        # Where documents and systems are known, other values are of neither.
        possible = [role for role in open_roles if not known.by_role.get(role)]
        if not possible:
            return None
        roles[number] = possible[0]
        if possible[0] not in _THINGS or possible[1:]:
            unclear[possible[0]] = fields[number].different
    return unclear


def _guess_by_keys(field: _Field, known: _Known) -> list[str]:
    """Return the role of a field whose values are keys of the texts."""
    values = field.different
    shares = {
        role: sum(known.has(role, value) for value in values) / len(values)
        for role in (Role.DOC, Role.SYSTEM)
    }
    return [role for role, share in shares.items() if share >= _SHARE]


def _guess_by_names(field: _Field, _: _Known) -> list[str]:
    """Return the role of a field whose values are called as raters or criteria are."""
    values = field.different
    label = _label(field)
    if all(
        is_rater_name(value) or is_rater_name(f"{label} {value}") for value in values
    ):
        return [Role.RATER]
    quality = [
        value
        for value in values
        if names_quality(value) or guess_direction(value) == "lower"
    ]
    return [*_THINGS] if len(quality) >= _SHARE * len(values) else []


def _guess_by_label(field: _Field, _: _Known) -> list[str]:
    """Return the role that the word before a field tells, as in `Case: case01`."""
    label = fold_name(_label(field))
    return [role for role in _ORDER if label in USUAL.get(role, ())]


_TELL = (_guess_by_keys, _guess_by_names, _guess_by_label)


def _join_lists(fields: Sequence[_Field], known: _Known) -> list[_Field]:
    """Mark fields that are places in lists, and join each with the name of its list.

    The lists of `experts.0.fluency` and `crowd.4.fluency` hold answers of different people,
    so `experts.0` is one of them.
    """
    joined: list[_Field] = []
    for field in fields:
        dotted = field.before.endswith(".") or field.after.startswith(".")
        if not dotted or not all(value.isdigit() for value in field.different):
            joined.append(field)
            continue
        before, values = field.before, field.values
        if joined and not joined[-1].in_list:
            names = joined[-1]
            if not any(tell(names, known) for tell in _TELL):
                joined.pop()
                before = names.before
                values = {
                    name: f"{of_list}{names.after}{values[name]}"
                    for name, of_list in names.values.items()
                }
        joined.append(
            _Field(values=values, before=before, after=field.after, in_list=True)
        )
    return joined


def _has_words(field: _Field) -> bool:
    return bool(re.search(r"[^\W\d_]", field.before + field.after))


def _label(field: _Field) -> str:
    words = re.findall(r"[^\W_]+", field.before)
    return words[-1] if words else ""


def _pattern(
    fields: Sequence[_Field], roles: Mapping[int, str], free: Collection[str]
) -> str:
    """Write the pattern: literals, and the role of each field in braces."""
    parts = [fields[0].before]
    for number, field in enumerate(fields):
        parts += [f"{{{roles[number]}}}", field.after]
    # `Annotator A` is the rater, and not A.
    for number, field in enumerate(fields):
        if roles[number] == Role.RATER and not all(map(is_rater_name, field.different)):
            label = _label(field)
            named = all(is_rater_name(f"{label} {value}") for value in field.different)
            place = 2 * number
            if label and named and parts[place].rstrip().endswith(label):
                parts[place] = parts[place].rstrip().removesuffix(label)
    thing = next((role for role in _THINGS if role in free), "")
    if thing and thing not in roles.values():
        parts = _name_thing(parts, thing)
    return "".join(parts)


def _name_thing(parts: list[str], thing: str) -> list[str]:
    """Take words that all names have for the criterion: those in brackets, or the last ones."""
    places = [n for n in range(0, len(parts), 2) if re.search(r"[^\W\d_]", parts[n])]
    if not places:
        return parts
    in_brackets = [n for n in places if re.search(r"\[[^\]]*[^\W\d_]", parts[n])]
    place = (in_brackets or places)[-1]
    literal = parts[place]
    inner = re.search(r"(?<=\[)[^\]]+(?=\])", literal) or re.search(
        r"[^\W_](?:.*[^\W_])?", literal, re.DOTALL
    )
    assert inner is not None
    head, tail = literal[: inner.start()], literal[inner.end() :]
    return [*parts[:place], f"{head}{{{thing}}}{tail}", *parts[place + 1 :]]
