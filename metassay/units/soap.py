"""SOAP sections of notes (subjective, objective, assessment, plan), and no division at all."""

from collections.abc import Sequence
from typing import Literal

from metassay.core.options import Options
from metassay.llm.needs import Resources
from metassay.text.headings import SECTIONS
from metassay.text.headings import divide as divide_note
from metassay.units.record import BETWEEN_PARTS, OK, Divided, Part, Segmentation, Text
from metassay.units.statements import EMPTY_SECTION, LINE_BREAK

VERSION = 1  # raised by whoever changes results of this module's kinds


class SoapOptions(Options):
    """Options of SOAP sections; `doclens-table24` keeps the artefacts of that table."""

    compat: Literal["none", "doclens-table24"]


def divide(
    texts: Sequence[Text],
    options: SoapOptions,
    resources: Resources,  # noqa: ARG001
) -> Divided:
    """Divide each text of task `note` into its sections, in the order of the note.

    The pieces of a section are spans of the full text; its text is the pieces joined by
    a blank line. An absent section has no part, and a note without headings has none at
    all. A text that was written section by section keeps its sections, whatever the
    task.

    compat doclens-table24: a note always has all four sections: an absent section is
    the literal `#####EMPTY#####` without span, newlines in a section are the literal
    `__lf1__`, and a note that failed as a whole has four failed sections.
    """
    return Divided([_divide_text(text, options) for text in texts])


def _divide_text(text: Text, options: SoapOptions) -> list[Part]:
    parts = list(text.sections)
    note = text.full.text
    if not parts and text.task == "note" and note is not None:
        for section, pieces in divide_note(note, compat=options.compat).items():
            joined = BETWEEN_PARTS.join(note[start:end] for start, end in pieces)
            parts.append(Part(section, joined, pieces, OK))
    if text.task == "note" and options.compat == "doclens-table24":
        parts = _arrange_as_table24(parts, OK if parts else text.full.status)
    return parts


def _arrange_as_table24(parts: Sequence[Part], status: str) -> list[Part]:
    by_name = {part.name: part for part in parts}
    absent_text = EMPTY_SECTION if status == OK else None
    sections = [
        by_name.get(name) or Part(name, absent_text, [], status) for name in SECTIONS
    ]
    sections += [part for part in parts if part.name not in SECTIONS]
    return [
        part._replace(text=part.text and part.text.replace("\n", LINE_BREAK))
        for part in sections
    ]


KIND = Segmentation(options=SoapOptions, divide=divide)
# Of a text that was written section by section, only the whole remains.
WHOLE = Segmentation(
    options=Options, divide=lambda texts, *_: Divided([[] for _ in texts])
)
