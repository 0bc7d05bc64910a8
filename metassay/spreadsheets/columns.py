"""What each column of a spreadsheet holds: as somebody says, by usual names, or by its cells."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from metassay.datasets.rows import Findings, Place
from metassay.errors import shown
from metassay.spreadsheets.sheet import Sheet

DOC, SYSTEM, TEXT, SOURCE, REFERENCE = "doc", "system", "text", "source", "reference"
RATER, CRITERION, METRIC, VALUE = "rater", "criterion", "metric", "value"

# What a column may hold, in each of the three files.
ROLES = {
    "texts": (DOC, SYSTEM, SOURCE, REFERENCE, TEXT),
    "ratings": (DOC, SYSTEM, RATER, CRITERION, VALUE),
    "scores": (DOC, SYSTEM, METRIC, VALUE),
}
# Columns side by side that hold one thing each: what `--columns` calls them, and what each is.
SPREAD = {"systems": SYSTEM, "criteria": CRITERION, "raters": RATER, "metrics": METRIC}
SPREADS = {"texts": ("systems",), "ratings": ("criteria", "raters"), "scores": ("metrics",)}

# In English, and what German spreadsheets write.
_USUAL = {
    DOC: "doc_id doc document_id document docid id visit_id visit encounter_id encounter case_id"
    " case note_id item_id item sample_id sample example_id example instance_id record_id"
    " patient_id patient dokument fall fall_id fallnummer fall_nr",
    SYSTEM: "system system_id author model model_name system_name method generator summarizer"
    " modell",
    TEXT: "text output system_output prediction generated generated_text summary response"
    " hypothesis candidate answer note generated_note generated_summary note_text summary_text"
    " zusammenfassung ausgabe",
    SOURCE: "source input dialogue dialog transcript conversation article source_text input_text"
    " document_text context report findings passage quelle quelltext",
    REFERENCE: "reference gold target reference_text reference_summary reference_note ref"
    " ground_truth human_reference gold_note gold_summary referenz",
    RATER: "rater rater_id annotator annotator_id judge coder expert reviewer evaluator worker_id"
    " reader participant participant_id user username email e_mail email_address bewerter"
    " gutachter",
    CRITERION: "criterion dimension aspect question quality category criteria kriterium",
    METRIC: "metric metric_name measure",
    VALUE: "value score rating grade label judgment judgement wert bewertung",
}
_USUAL_NAMES = {role: words.split() for role, words in _USUAL.items()}
_OF_RATER = re.compile(r"(rater|annotator|expert|judge|coder|reviewer|r|a)_?\d+")
_SHARE = 0.5  # of a column's keys that must be known for it to be taken for the texts' documents
_WORDS = 3  # on average, from which cells are taken for texts
_MOST_SYSTEMS = 60


@dataclass(frozen=True)
class Columns:
    """Which column has which role; `spread` are columns that hold one `each` of something."""

    roles: Mapping[str, str]
    each: str = ""  # a value of SPREAD; "" in a long table
    spread: tuple[str, ...] = ()

    def get(self, role: str) -> str | None:
        """The role's column, if there is one."""
        return self.roles.get(role)

    def unread(self, sheet: Sheet) -> list[str]:
        """Columns that hold nothing of these."""
        return [one for one in sheet.columns if one not in {*self.roles.values(), *self.spread}]

    def named(self, kind: str) -> Iterator[str]:
        """As `--columns` takes them, `texts.doc=visit_id`."""
        yield from (f"{kind}.{role}={column}" for role, column in self.roles.items())
        for word, each in SPREAD.items():
            if self.each == each:
                yield f"{kind}.{word}={','.join(self.spread)}"


@dataclass(frozen=True)
class Keys:
    """The documents and systems of the texts, by which other files' columns are known."""

    documents: Collection[str] = ()
    systems: Collection[str] = ()


def find_columns(
    kind: str, sheet: Sheet, said: Mapping[str, str], keys: Keys, problems: Findings
) -> Columns | None:
    """The columns of a file of texts, ratings or scores; None with problems if they can't be told.

    `said`: what its user says of them, by role or by a word of SPREAD, of this file alone.
    """
    roles: dict[str, str] = {}
    for role in ROLES[kind]:
        if role in said:
            roles[role] = said[role]
    spread: tuple[str, ...] = ()
    each = ""
    for word in SPREADS[kind]:
        if word in said:
            spread, each = _several(said[word], sheet), SPREAD[word]
    at = Place(sheet.name, sheet.rows[0][0].row, sheet.rows[0][0].kind) if sheet.rows else None
    named = [*roles.values(), *spread]
    for column in named:
        if column not in sheet.columns:
            what = f"there is no column {shown(column)}"
            fix = f"--columns takes names of the first row: {_listed(sheet.columns)}"
            problems.add(Place(sheet.name), what, fix)
    if at is None or any(column not in sheet.columns for column in named):
        return None
    free = [column for column in sheet.columns if column not in named]
    finder = {"texts": _of_texts, "ratings": _of_ratings, "scores": _of_scores}[kind]
    return finder(sheet, _Found(roles, each, spread, free, keys), problems)


@dataclass
class _Found:
    """What is known so far: `free` are columns without a role yet."""

    roles: dict[str, str]
    each: str
    spread: tuple[str, ...]
    free: list[str]
    keys: Keys

    def take(self, role: str, column: str | None) -> None:
        if role not in self.roles and column in self.free:
            self.roles[role] = column
            self.free.remove(column)

    def by_name(self, role: str) -> None:
        if role not in self.roles:
            known = {_plain(column): column for column in reversed(self.free)}
            self.take(role, next((known[n] for n in _USUAL_NAMES[role] if n in known), None))

    def thing_by_name(self, role: str, sheet: Sheet) -> None:
        """As `by_name`; but a column `quality` of numbers is a criterion, and names none."""
        free, numbers = self.free, _numeric(sheet, self.free)
        named = {_plain(column) for column in numbers} & set(_USUAL_NAMES[VALUE])
        self.free = free if named else [column for column in free if column not in numbers]
        self.by_name(role)
        self.free = [column for column in free if column != self.roles.get(role)]

    def columns(self) -> Columns:
        return Columns(self.roles, self.each, self.spread)


def _of_texts(sheet: Sheet, found: _Found, problems: Findings) -> Columns | None:
    for role in (DOC, SYSTEM, REFERENCE, SOURCE):
        if not (role == SYSTEM and found.each):
            found.by_name(role)
    if not found.each:
        found.by_name(TEXT)
    if DOC not in found.roles:
        found.take(DOC, _key_column(sheet, found))
    long = [column for column in found.free if _wordy(sheet, column)]
    if SYSTEM in found.roles and TEXT not in found.roles and long:
        found.take(TEXT, max(long, key=lambda column: _words(sheet, column)))
    if SYSTEM not in found.roles and not found.each:
        found.each = SYSTEM
        own = [found.roles.pop(TEXT)] if TEXT in found.roles else []
        found.spread = tuple(c for c in sheet.columns if c in own or c in long)
    lacks = [role for role in (DOC,) if role not in found.roles]
    if not found.spread and TEXT not in found.roles:
        lacks.append(TEXT)
    return found.columns() if _told(sheet, "texts", lacks, problems) else None


def _of_ratings(sheet: Sheet, found: _Found, problems: Findings) -> Columns | None:
    _keys_of(sheet, found)
    if found.each != RATER:
        found.by_name(RATER)
    if found.each != CRITERION:
        found.thing_by_name(CRITERION, sheet)
    numeric = _numeric(sheet, found.free)
    if not found.each and VALUE not in found.roles:
        if CRITERION in found.roles:
            found.by_name(VALUE)
            if len(numeric) == 1:
                found.take(VALUE, numeric[0])
            if VALUE not in found.roles:
                found.each, found.spread = RATER, tuple(numeric)
        elif numeric:
            raters = RATER not in found.roles and all(
                _OF_RATER.fullmatch(_plain(n)) for n in numeric
            )
            found.each, found.spread = (RATER if raters else CRITERION), tuple(numeric)
    lacks = [role for role in (DOC,) if role not in found.roles]
    if not found.spread and VALUE not in found.roles:
        lacks.append(VALUE)
    return found.columns() if _told(sheet, "ratings", lacks, problems) else None


def _of_scores(sheet: Sheet, found: _Found, problems: Findings) -> Columns | None:
    _keys_of(sheet, found)
    if not found.each:
        found.thing_by_name(METRIC, sheet)
        if METRIC in found.roles:
            found.by_name(VALUE)
            numeric = _numeric(sheet, found.free)
            if len(numeric) == 1:
                found.take(VALUE, numeric[0])
        else:
            found.each, found.spread = METRIC, tuple(_numeric(sheet, found.free))
    lacks = [role for role in (DOC,) if role not in found.roles]
    if not found.spread and VALUE not in found.roles:
        lacks.append(VALUE)
    return found.columns() if _told(sheet, "scores", lacks, problems) else None


def _keys_of(sheet: Sheet, found: _Found) -> None:
    """Documents and systems: the column that holds the texts' own, else by its name."""
    for role, known in ((DOC, found.keys.documents), (SYSTEM, found.keys.systems)):
        shares = {column: _known(sheet, column, known) for column in found.free}
        held = {column: share for column, share in shares.items() if share >= _SHARE}
        # Grades from 1 to 5 look like the keys of five documents: the name goes first.
        usual = [column for column in held if _plain(column) in _USUAL_NAMES[role]]
        found.take(role, max(usual or held, key=held.__getitem__, default=None))
        found.by_name(role)


def _told(sheet: Sheet, kind: str, lacks: Sequence[str], problems: Findings) -> bool:
    for role in lacks:
        numbers = " of numbers" if role == VALUE else ""
        what = f"no column{numbers} could be told to hold the {role} of {kind}"
        fix = f"say which: --columns {kind}.{role}=COLUMN, of {_listed(sheet.columns)}"
        problems.add(Place(sheet.name), what, fix)
    return not lacks


def _key_column(sheet: Sheet, found: _Found) -> str | None:
    """A column of short keys, as many as there can be documents; None if there is none."""
    system = found.roles.get(SYSTEM)
    for column in found.free:
        keys = [(cells[column], cells[system] if system else "") for _, cells in sheet.rows]
        whole = all(key for key, _ in keys) and len(set(keys)) == len(keys)
        if whole and not _wordy(sheet, column):
            return column
    return None


def _known(sheet: Sheet, column: str, keys: Collection[str]) -> float:
    held = set(sheet.cells(column))
    return len(held & set(keys)) / len(held) if held else 0.0


def _numeric(sheet: Sheet, columns: Sequence[str]) -> list[str]:
    """Columns of numbers; a few cells may hold something else, which is a problem later."""
    found = []
    for column in columns:
        cells = sheet.cells(column)
        right = sum(sheet.number(cell) is not None for cell in cells)
        if cells and right >= 0.9 * len(cells):
            found.append(column)
    return found


def _wordy(sheet: Sheet, column: str) -> bool:
    return _words(sheet, column) >= _WORDS and not _numeric(sheet, [column])


def _words(sheet: Sheet, column: str) -> float:
    return fmean([len(cell.split()) for cell in sheet.cells(column)] or [0])


def _several(written: str, sheet: Sheet) -> tuple[str, ...]:
    """Names parted by commas; one name may hold a comma itself."""
    return (written,) if written in sheet.columns else tuple(map(str.strip, written.split(",")))


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_")


def _listed(columns: Sequence[str]) -> str:
    """Names of columns, a few of them; a first row that is no header may hold somebody's text."""
    more = f" and {len(columns) - 12} more" if len(columns) > 12 else ""
    return ", ".join(shown(column) for column in columns[:12]) + more
