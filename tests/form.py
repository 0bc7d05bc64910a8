"""Forms of code that cost a second reading; test_architecture.py forbids them."""

import ast
from collections.abc import Iterator


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
