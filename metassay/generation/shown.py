"""The examples that a text's writer was shown, as its recipe names them.

Texts may repeat examples, so whoever sends texts on must know where those came from: from the
texts' own recipes, since params.yaml may have been changed since. An example's name is
`dataset/split/id`.
"""

from collections.abc import Iterable, Sequence

_FIELD = "examples:"
# Every other character stays as it is: these part the fields of a recipe, and the names in one.
_PARTING = str.maketrans({"%": "%25", ",": "%2C", "|": "%7C"})


def field(names: Sequence[str]) -> str:
    """The field of a recipe that names the examples, in their order."""
    return _FIELD + ",".join(name.translate(_PARTING) for name in names)


def datasets_shown(recipes: Iterable[str]) -> list[str]:
    """The datasets whose examples any of these recipes names, whoever wrote it.

    Raises nothing: a recipe in another form can name a dataset too many, and never one less.
    """
    fields = {part for recipe in recipes for part in recipe.split("|") if part.startswith(_FIELD)}
    return datasets_of(name for part in fields for name in part.removeprefix(_FIELD).split(","))


def datasets_of(examples: Iterable[str]) -> list[str]:
    """The datasets that few-shot examples come from: where their text goes, these must be cleared
    as well.
    """
    return sorted({name.split("/", 1)[0] for name in examples})
