"""Read a table of claims that people labelled: what a judge would read, and what is right."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from metassay.api.labels import Choices
from metassay.api.verdict_table import read_passes
from metassay.core.errors import hint, quoted, raise_problems
from metassay.format.numbers import counted
from metassay.scoring.pairing.instruments import (
    ENTAILMENT,
    INSTRUMENTS,
    SUPPORT_GRADE,
    THREE_WAY,
    Grade,
    Labels,
)
from metassay.statistics.exact_sums import Array
from metassay.statistics.layout import Index
from metassay.tabular.column_synonyms import USUAL, Role, fold_name
from metassay.tabular.guess import listed
from metassay.tabular.rows import Findings
from metassay.tabular.sheet import Sheet, to_keys

# Questions whose labels can be read; each is about a premise and a hypothesis.
QUESTIONS = (ENTAILMENT.name, THREE_WAY.name, SUPPORT_GRADE.name)

# Usual names of columns by role; the user names others.
_NAMES: Mapping[str, Sequence[str]] = {
    "premise": ("premise", "evidence", *USUAL[Role.SOURCE]),
    "hypothesis": ("hypothesis", "claim", "statement", "sentence", *USUAL[Role.TEXT]),
    "label": ("label", "human", "human_label", "gold", "gold_label"),
    "doc": ("doc_id", "doc", "document_id", "document", "note_id", "case_id"),
    "key": ("id", "key", "item", "item_id", "row_id", "claim_id"),
    "reason": ("reason", "comment", "explanation", "rationale"),
}
ROLES = tuple(_NAMES)
_NEEDED = ("premise", "hypothesis", "label")
# Words of labels as other data sets write them.
_WORDS = {
    "entailment": "entailed",
    "contradiction": "contradicted",
    "contradictory": "contradicted",
    "not entailed": "not_entailed",
    "non-entailment": "not_entailed",
}


class ClaimLabels(NamedTuple):
    """Claims with the answer that people gave to a question about each.

    `frame` has, by row, `key`, `doc`, `premise`, `hypothesis`, `reason` ("" where nobody
    gave one) and `label`, an answer of the instrument; a grade as a text, such as 3.
    """

    name: str
    instrument: str
    frame: pd.DataFrame
    notes: tuple[str, ...]

    @property
    def cluster(self) -> Index:
        """The documents (rows,), as whole numbers from 0."""
        documents = self.frame["doc"].to_numpy(dtype=object)
        codes: Index = np.unique(documents, return_inverse=True)[1]
        return codes

    @property
    def passed(self) -> Array:
        """1 where the answer is the first of the instrument's labels, else 0 (rows,)."""
        answer = INSTRUMENTS[self.instrument].answer
        first = answer.names[0] if isinstance(answer, Labels) else ""
        return np.asarray(self.frame["label"] == first, dtype=np.float64)


def read_claim_labels(
    sheet: Sheet, instrument: str, columns: Mapping[str, str], choices: Choices
) -> ClaimLabels:
    """Read the claims of a sheet; raises BadInput with every column that is unclear.

    `columns`: the names of columns by role, of ROLES. A row without a label, a premise or
    a hypothesis is left out and counted. Rows with the same premise are of one document if
    no column names it.
    """
    if instrument not in QUESTIONS:
        raise_problems(
            [
                f"--question {instrument}: write one of {', '.join(QUESTIONS)}"
                f"{hint(instrument, QUESTIONS)}"
            ]
        )
    if instrument != ENTAILMENT.name:
        named = {"--pass": choices.passes, "--pass-from": choices.pass_from}
        raise_problems(
            f"{option}: passes answer --question {ENTAILMENT.name}, not {instrument}; leave"
            f" it out, or say --question {ENTAILMENT.name}"
            for option, value in named.items()
            if value not in ((), None)
        )
    faults = Findings()
    roles = _find_columns(sheet, columns, faults)
    raise_problems(faults.lines())
    labels, rule = _read_labels(sheet, roles["label"], instrument, choices, faults)
    raise_problems(faults.lines())
    cells = {role: to_keys(sheet.frame[name]) for role, name in roles.items()}
    frame = pd.DataFrame({role: cells[role] for role in ("premise", "hypothesis")})
    frame["label"] = labels
    numbers = [f"{sheet.kind} {sheet.at(row).row}" for row in range(len(frame))]
    keys = cells.get("key")
    is_key = keys is not None and keys.is_unique and not (keys == "").any()
    frame["key"] = keys if is_key else numbers
    frame["doc"] = cells.get("doc", frame["premise"].map(_name_text))
    frame["reason"] = cells.get("reason", "")
    whole = frame["label"].notna()
    for role in ("premise", "hypothesis", "doc"):
        whole &= frame[role].str.strip() != ""
    notes = [f"columns: {', '.join(f'{r} is {quoted(c)}' for r, c in roles.items())}"]
    notes += [rule] if rule else []
    if "doc" not in roles:
        notes.append(
            "rows with the same premise are of one document; --columns doc=COLUMN says"
            " otherwise"
        )
    if left_out := int((~whole).sum()):
        notes.append(
            f"{counted(left_out, 'row')} without a label, a text or a document left out"
        )
    frame = frame[whole].reset_index(drop=True)
    joined = _join_documents(frame)
    if n_joined := frame["doc"].nunique() - joined.nunique():
        notes.append(
            f"{counted(n_joined, 'document')} with a claim and a premise of another document"
            " counted as one with it"
        )
    return ClaimLabels(
        name=sheet.name,
        instrument=instrument,
        frame=frame.assign(doc=joined),
        notes=tuple(notes),
    )


def _join_documents(frame: pd.DataFrame) -> pd.Series:
    """Return each row's document, by one name for all that share a claim and its premise.

    Else an example in a prompt, or the half that chooses, would have answers to rows of
    the half that tells.
    """
    if frame.empty:
        return frame["doc"]
    document, names = pd.factorize(frame["doc"])
    question = frame.groupby(["premise", "hypothesis"], sort=False).ngroup().to_numpy()
    size = len(names) + int(question.max()) + 1
    ones = np.ones(len(frame))
    links = coo_array((ones, (document, len(names) + question)), shape=(size, size))
    component = connected_components(links, directed=False)[1][document]
    return frame["doc"].groupby(component, sort=False).transform("first")


def _find_columns(
    sheet: Sheet, columns: Mapping[str, str], faults: Findings
) -> dict[str, str]:
    """Return the columns by role: the named ones, and those whose name leaves one choice."""
    roles: dict[str, str] = {}
    for role, names in _NAMES.items():
        option = f"--columns {role}=COLUMN"
        if role in columns:
            if columns[role] not in sheet.frame:
                what = f"there is no column {quoted(columns[role])}"
                faults.add(sheet.head, what, f"name one of {listed(sheet.columns)}")
            roles[role] = columns[role]
            continue
        taken = {*columns.values(), *roles.values()}
        likely = [
            name
            for name in sheet.columns
            if fold_name(name) in names and name not in taken
        ]
        if len(likely) == 1:
            roles[role] = likely[0]
        elif likely:
            what = f"{listed(likely)} can each be the {role}"
            faults.add(sheet.head, what, f"name it: {option}")
        elif role in _NEEDED:
            what = f"no column is clearly the {role}"
            faults.add(
                sheet.head, what, f"name one of {listed(sheet.columns)}: {option}"
            )
    return roles


def _read_labels(
    sheet: Sheet,
    column: str,
    instrument: str,
    choices: Choices,
    faults: Findings,
) -> tuple[list[str | None], str]:
    """Return each row's answer, None for none, and the rule by which passes were read."""
    answer = INSTRUMENTS[instrument].answer
    cells = [cell.strip() for cell in to_keys(sheet.frame[column])]
    missing = {word.casefold() for word in choices.missing} | {""}
    if isinstance(answer, Grade):
        return [*_grades(sheet, column, cells, missing, answer, faults)], ""
    names = answer.names if isinstance(answer, Labels) else ()
    words = [_WORDS.get(cell.casefold(), cell.casefold()) for cell in cells]
    unknown = {*words} - {*names} - missing
    if not unknown and not choices.passes:
        return [word if word in names else None for word in words], ""
    if instrument == ENTAILMENT.name:
        values, rule = read_passes(sheet, column, choices, faults)
        labels = {1.0: names[0], 0.0: names[1]}
        return [labels.get(value) for value in values.tolist()], rule
    row = next(row for row, word in enumerate(words) if word in unknown)
    what = f"column {quoted(column)} holds a word that is not an answer to {instrument}"
    fix = (
        f"write one of {', '.join(names)}; or say that nobody answered: --missing WORD"
    )
    faults.add(sheet.cell(row, column), what, fix)
    return [], ""


def _grades(
    sheet: Sheet,
    column: str,
    cells: Sequence[str],
    missing: set[str],
    answer: Grade,
    faults: Findings,
) -> Iterator[str | None]:
    """Yield each row's grade as a text; a problem for the first that is none."""
    grades = {f"{n}" for n in range(int(answer.low), int(answer.high) + 1)}
    for row, cell in enumerate(cells):
        if cell in grades:
            yield cell
        elif cell.casefold() in missing:
            yield None
        else:
            what = f"column {quoted(column)} holds a cell that is not a grade"
            fix = f"write whole numbers from {answer.low:g} to {answer.high:g}"
            faults.add(sheet.cell(row, column), what, fix)
            return


def _name_text(text: str) -> str:
    """Return a name for a text, without any of it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
