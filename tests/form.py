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
