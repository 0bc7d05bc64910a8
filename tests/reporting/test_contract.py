"""The records that Python hands to the page are those that the page's own code declares."""

import re
from dataclasses import fields, is_dataclass
from pathlib import Path

from metassay.reporting import contract

TYPESCRIPT = Path(__file__).parents[2] / "page/src/contract.ts"


def test_every_record_has_the_fields_that_the_page_declares() -> None:
    text = TYPESCRIPT.read_text(encoding="utf-8")
    declared = {
        name: re.findall(r"^ {2}(\w+): ", body, re.MULTILINE)
        for name, body in re.findall(r"export interface (\w+) \{\n(.*?)\n\}", text, re.DOTALL)
    }
    records = {n: r for n, r in vars(contract).items() if is_dataclass(r)}
    assert len(records) > 25
    for name, record in records.items():
        assert {field.name for field in fields(record)} == set(declared[name]), name
    assert f"CONTRACT = {contract.CONTRACT};" in text
