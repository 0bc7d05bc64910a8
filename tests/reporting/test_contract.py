"""The page is handed the records of contract.py: its types are written from them."""

import re
from pathlib import Path

from metassay.reporting import contract

TYPESCRIPT = Path(__file__).parents[2] / "page/src/contract.ts"
_TYPES = {
    "str": "string",
    "int": "number",
    "float": "number",
    "bool": "boolean",
    "None": "null",
}
_RECORD = re.compile(
    r'\nclass (\w+)\(NamedTuple\):\n    """(.*?)"""\n\n((?:    [^\n]+\n)+)', re.DOTALL
)
_FIELD = re.compile(r" +(\w+): (.+?)(?: = .+?)?(?:  # (.*))?")
_UNION = re.compile(r'"[^"]+"(?: \| "[^"]+")+')


def in_typescript(source: str) -> str:
    """The records of contract.py as interfaces; a comment that begins with texts is their union."""
    lines = [
        "/** Written by tests/reporting/test_contract.py from metassay/reporting/contract.py. */"
    ]
    lines.append(f"export const CONTRACT = {contract.CONTRACT};")
    for name, doc, body in _RECORD.findall(source):
        lines += ["", f"/** {' '.join(doc.split())} */", f"export interface {name} {{"]
        above: list[str] = []
        for line in body.splitlines():
            comment = re.fullmatch(r" +# (.*)", line)
            if comment:
                above.append(comment[1])
                continue
            field, kind, beside = _FIELD.fullmatch(line).groups()
            text = " ".join([*above, *filter(None, [beside])])
            union = _UNION.match(text)
            of = union[0] if union else _type(kind)
            lines.append(f"  {field}: {of};{text and f' // {text}'}")
            above = []
        lines.append("}")
    return "\n".join(lines) + "\n"


def _type(kind: str) -> str:
    if kind == "Mapping[str, str]":
        return "Record<string, string>"
    listed = re.fullmatch(r"Sequence\[(.+)\]", kind)
    if listed:
        inner = _type(listed[1])
        return (
            f"({inner})[]"
            if " | " in inner and not inner.startswith("[")
            else f"{inner}[]"
        )
    tupled = re.fullmatch(r"tuple\[(.+)\]", kind)
    if tupled:
        return f"[{', '.join(map(_type, tupled[1].split(', ')))}]"
    return " | ".join(_TYPES.get(name, name) for name in kind.split(" | "))


def test_the_page_has_the_types_of_the_records() -> None:
    source = Path(contract.__file__).read_text(encoding="utf-8")
    remedy = "PYTHONPATH=. python tests/reporting/test_contract.py"
    assert TYPESCRIPT.read_text(encoding="utf-8") == in_typescript(source), remedy


if __name__ == "__main__":
    written = in_typescript(Path(contract.__file__).read_text(encoding="utf-8"))
    TYPESCRIPT.write_text(written, encoding="utf-8")
