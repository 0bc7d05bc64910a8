"""Forms of code that cost a second reading; test_architecture.py forbids them."""

import ast
from collections.abc import Iterator

# First words of names that say nothing of what a function does or returns.
PREPOSITIONS = {
    "about",
    "above",
    "after",
    "against",
    "among",
    "around",
    "as",
    "at",
    "before",
    "behind",
    "below",
    "beside",
    "between",
    "beyond",
    "by",
    "for",
    "from",
    "in",
    "into",
    "like",
    "near",
    "of",
    "off",
    "on",
    "over",
    "per",
    "since",
    "than",
    "through",
    "to",
    "under",
    "until",
    "with",
    "within",
    "without",
}

# Names that do not say what a thing is.
VAGUE = {
    "asked",
    "found",
    "given",
    "held",
    "kept",
    "made",
    "meant",
    "mine",
    "one",
    "own",
    "said",
    "told",
}


def vague_names(tree: ast.AST) -> Iterator[str]:
    """Names in VAGUE of variables, arguments, functions and classes, with their lines."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Name(id=name, ctx=ast.Store())
                | ast.Attribute(attr=name, ctx=ast.Store())
                | ast.arg(arg=name)
                | ast.FunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                if name.strip("_").lower() in VAGUE:
                    yield f"{node.lineno}: {name}"


def prepositional_names(tree: ast.AST) -> Iterator[str]:
    """Names of functions that begin with a preposition, such as `_of_json`.

    >>> list(prepositional_names(ast.parse("def _of_json(): ...\ndef read_json(): ...")))
    ['_of_json']
    """
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        first_word = node.name.strip("_").partition("_")[0]
        if first_word in PREPOSITIONS:
            yield node.name


def unpacked_literals(tree: ast.AST) -> Iterator[int]:
    """Lines where a literal stands in another one, or in a call, only to be unpacked there."""
    for node in ast.walk(tree):
        is_starred = isinstance(node, ast.Starred)
        if is_starred and isinstance(node.value, ast.Tuple | ast.List | ast.Set):
            yield node.lineno
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if key is None and isinstance(value, ast.Dict):
                    yield value.lineno


def chained_conditionals(tree: ast.AST) -> Iterator[int]:
    """Lines of conditional expressions that have another one inside."""
    for node in ast.walk(tree):
        if isinstance(node, ast.IfExp):
            parts = [node.test, node.body, node.orelse]
            inside = [child for part in parts for child in ast.walk(part)]
            if any(isinstance(child, ast.IfExp) for child in inside):
                yield node.lineno


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def loops_in_loops(tree: ast.AST) -> Iterator[int]:
    """Lines of comprehensions with three loops or more, those inside them included."""
    for node in ast.walk(tree):
        if isinstance(node, _COMPREHENSIONS):
            inside = ast.walk(node)
            parts = [each for each in inside if isinstance(each, _COMPREHENSIONS)]
            if sum(len(part.generators) for part in parts) > 2:
                yield node.lineno


def conditional_unpacks(tree: ast.AST) -> Iterator[int]:
    """Lines where something is unpacked on a condition: `[*(more if wanted else []), last]`."""
    for node in ast.walk(tree):
        unpacked: list[ast.expr | None] = []
        if isinstance(node, ast.Starred):
            unpacked.append(node.value)
        elif isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            unpacked += [value for key, value in pairs if key is None]
        elif isinstance(node, ast.keyword) and node.arg is None:
            unpacked.append(node.value)
        for value in unpacked:
            if isinstance(value, ast.IfExp):
                yield value.lineno
