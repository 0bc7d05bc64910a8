"""What a page is handed. `PYTHONPATH=. python tests/reporting/test_contract.py` writes
it as types of the page: page/src/contract.ts.

A page is a folder: index.html (the shell), page/app.js and page/app.css (the same for
every page), page/data/head.js (what the first screen needs), and shards,
page/data/ID.js, that are loaded when a view needs them. Each data file is a classic
script that calls `metassay("ID", VALUE)`, since a page that was opened from the disk
may load scripts but may not fetch files. No file is larger than 2 MB: a larger value is
`{ pieces: [ID, ...] }`, whose texts together are its JSON. Texts stand in values only,
in no keys but those of Metassay.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

CONTRACT = 5


class Dataset(NamedTuple):
    """What the data are, for the footer."""

    title: str
    licence: str  # "" where it is not stated
    citation: str
    counts: Sequence[str]  # "24 documents", "3 raters"
    seen: Sequence[str]  # whether choices saw these data


class Problem(NamedTuple):
    """What the line on the data counts.

    missing: answers that lack; warning: notes on the data; limit: what the study is too
    small for; change: since accepted.
    """

    kind: str  # "missing" | "warning" | "limit" | "change"
    text: str


class GridCell(NamedTuple):
    """For one criterion and decision a metric to `use`; one that is promising or
    undecided, the closest, to `confirm`; or `no` metric.
    """

    state: str  # "use" | "confirm" | "no"
    metric: str  # label of the metric to use, or the closest; "" where there is none
    value: float | None  # its correlation, corrected for the choice
    low: float | None
    high: float | None
    verdict: str
    says: str  # one short line: "best of 35 metrics", "rate 5 or more systems"


class GridRow(NamedTuple):
    """A criterion with a cell per decision."""

    study: str
    criterion: str  # value of column `criterion` in table certificates
    part: str  # "full" or a part
    title: str  # as shown
    cells: Sequence[GridCell | None]  # per decision; null where nothing was tested


class VerdictWord(NamedTuple):
    """A kind of verdict, and what it means."""

    kind: str  # the verdict, or what it begins with ("explained by")
    state: str  # "use" | "confirm" | "no"
    means: str


class Link(NamedTuple):
    """Another page."""

    href: str  # relative
    title: str


class ColumnInfo(NamedTuple):
    """A column of a table."""

    name: str  # as in the CSV
    type: str
    means: str  # "" where nothing is known


class CellInfo(NamedTuple):
    """Which columns stand together in a cell."""

    value: str  # column names
    low: str = ""  # "" where there is no interval
    high: str = ""
    n: str = ""  # what it rests on, "" where unknown
    missing: str = ""  # how many are missing, "" where unknown
    least: str = ""  # the bounds of the value with what is missing, "" where unknown
    most: str = ""


class TableInfo(NamedTuple):
    """A table of the view Evidence, and how it is shown; values come in shards of its rows."""

    name: str  # "certificates"; unique
    title: str  # heading
    group: str  # heading over several tables
    says: Sequence[str]  # paragraphs: how to read it
    columns: Sequence[ColumnInfo]
    rows: int
    shards: Sequence[str]  # ids, in order
    csv: str  # path relative to index.html; "" where there is none
    command: str  # what makes it again: "metassay run sample"
    # columns of which a reader selects one value: ["study", "criterion", "level"]
    pick: Sequence[str] = ()
    # columns that name a row: ["metric", "judge"]; shown first, as its header
    lead: Sequence[str] = ()
    # a column whose values become columns (a matrix), "" for a plain table
    across: str = ""
    # what stands in a cell of the matrix, or an estimate in a plain table
    cell: CellInfo | None = None
    hide: Sequence[str] = ()  # columns not shown until asked for ("recipe")
    # drawings, figures/NAME.svg and .png: titles by name
    figures: Mapping[str, str] = {}
    # "tiles": the larger a number, the darker its cell; "pairs": such tiles with a
    # mirrored half; "dots": values and intervals on one scale
    picture: str = ""


class SystemsInfo(NamedTuple):
    """Which table the view Systems shows."""

    noun: str  # "system"; "judge" in a test of judges
    table: str  # table with a row per metric and system: leaderboard
    system: str  # its column of names: author
    metric: Sequence[str]  # its columns that name a metric: metric, judge
    cell: CellInfo
    headline: Sequence[str]  # labels of metrics shown first
    # its column with higher, lower, neither; "" where higher is better
    better: str = ""
    # table with a row per metric and system: `group`, letters; who shares a letter
    # cannot be told apart
    groups: str = ""
    no_groups: str = ""  # why there are no letters, where somebody would look for them


class Measure(NamedTuple):
    """A column of the index by which texts are compared: a metric, or the mean of raters."""

    # in addresses, and as shown: a metric's label, or "people: " and a criterion
    key: str
    column: str  # in the index
    better: str  # "higher" | "lower" | "neither"


class Scorer(NamedTuple):
    """A measure, and a judge that answers its questions."""

    measure: str  # "" in tests of judges
    judge: str
    # what a line is that counts against its text: "not supported by the source"
    fails: str


class ClaimCount(NamedTuple):
    """How many lines of all texts of an author a judge counts against them."""

    measure: str
    judge: str
    author: str
    against: int
    n_lines: int  # all lines, also those without an answer


class ClaimsInfo(NamedTuple):
    """What the view Claims lists.

    Columns of the table, a row per line and measure: `document`, `author`, `line` (as
    in addresses: "claim_recall:4"), `noun`, `part`, `measure`, `text`, `people` (their
    ratings in words), `rated` (Line.rated), then for each judge i `side_i`, `word_i`,
    `probability_i`, `why_i`.
    """

    table: TableInfo
    counts: Sequence[ClaimCount]


class TextsInfo(NamedTuple):
    """What the view Texts lists, filters, searches and opens.

    Columns of the index: `document` (doc_id), `author`, `task`, `home` (shard of its
    document), `status` ("ok" or why there is no text), `words`, `rated` (number of
    ratings), then for each i of `scorers` `for_i`, `against_i`, `unknown_i` (judgments in
    favour, against, and not known), `split` (claims on which a judge and most people
    differ), `parts` (places in TextsInfo.parts, joined by a space), then the columns of
    measures.
    """

    documents: int
    texts: int
    noun: str  # "document"; "item" in a test of judges
    authors: Sequence[str]
    references: Sequence[str]  # authors that are no systems
    # columns of the index after the fixed ones: metrics, then people
    measures: Sequence[Measure]
    judges: Sequence[str]
    scorers: Sequence[Scorer]  # that which a reader sees first comes first
    parts: Sequence[str]  # facets or sections that texts may have
    table: TableInfo  # the index: a row per text
    # ids of what a search reads: shards of rows of the index, in order
    search: Sequence[str]
    # ids of shards of documents: value of column `home` is a place in it
    documents_in: Sequence[str]
    claims: ClaimsInfo | None = None


class Passage(NamedTuple):
    """A passage of a source."""

    speaker: str
    group: str
    text: str


class Mark(NamedTuple):
    """A stretch of a text that is of a part; ends in UTF-16 code units."""

    start: int  # in UTF-16 code units, as JavaScript counts
    end: int
    part: str  # name


class Rating(NamedTuple):
    """What a rater gave; `of` is what the text was compared with."""

    criterion: str
    rater: str
    value: float | None  # null: abstained
    of: str = ""  # "" or what the text was compared with: the name of the other system


class Judgment(NamedTuple):
    """What a judge answered; side: whether it counts for the text, against it, or not."""

    word: str  # "entailed", "not entailed", "graded 2 of 3", "failed: refused"
    side: str  # "for" | "against" | "unknown" | "neutral"
    probability: float | None = None
    why: str = ""  # the judge's explanation
    quotes: Sequence[str] = ()


class EachCitation(NamedTuple):
    """What a judge answered about a single citation."""

    head: int  # of Block.heads: whose judge
    passage: int
    alone: Judgment | None
    rest: Judgment | None  # without this one


class Line(NamedTuple):
    """A claim, statement or criterion, with a judgment per head of its block."""

    number: int  # within its part
    part: str
    text: str
    start: int  # where it stands in the text; -1 where it does not
    end: int
    cites: Sequence[int]  # passages that it cites; may be beyond the last
    aligned: Sequence[int]  # passages that it was read against
    judgments: Sequence[Judgment]  # per head
    each: Sequence[EachCitation] = ()  # judgments about single citations
    people: Sequence[Rating] = ()  # ratings of this line
    rated: str = ""  # what most people said: "for", "against", or "" where neither


class BlockHead(NamedTuple):
    """Who was asked what."""

    question: str
    measure: str
    judge: str


class Block(NamedTuple):
    """Lines of one noun, and what was asked of each."""

    id: str  # "claim_recall": unique within the text
    title: str  # a question
    noun: str  # "claim" | "statement" | "criterion" | "text"
    heads: Sequence[BlockHead]  # who was asked what, a column each
    lines: Sequence[Line]
    note: str = ""  # said instead of lines where none was asked


class Text(NamedTuple):
    """A text with everything that people, metrics and judges made of it."""

    author: str
    problems: Sequence[str]  # why there is no text
    text: str
    # stretches that are of a part or facet; may touch, never overlap
    marks: Sequence[Mark] = ()
    ratings: Sequence[Rating] = ()  # of the whole text
    scores: Sequence[tuple[str, float | None]] = ()  # label of a metric, value
    # claims, statements, criteria with what judges and people said
    blocks: Sequence[Block] = ()


class Document(NamedTuple):
    """A source and the texts about it."""

    id: str
    task: str
    attributes: Sequence[str]  # "name: value"
    passages: Sequence[Passage]  # [n] cites passage n
    texts: Sequence[Text]


class SinceChange(NamedTuple):
    """A score that differs from the accepted one, or of which one cannot tell."""

    metric: str  # its label
    author: str
    verdict: str  # as in table `changes`
    before: float | None
    after: float | None
    difference: float | None
    low: float | None  # of the difference
    high: float | None
    p: float | None  # adjusted for all scores
    notes: Sequence[str]  # "41 of 60 differ", "measured by another recipe"
    documents: Sequence[str]  # those that moved furthest


class SincePoint(NamedTuple):
    """A score after a run that made it again."""

    run: str  # when: "2026-01-05T06:00:12Z"
    mean: float | None
    low: float | None
    high: float | None
    verdict: str  # beside the accepted score; "" where nothing was compared
    another_recipe: bool  # whether the run before measured it in another way


class SinceScore(NamedTuple):
    """A score of a system, run after run, the earliest first."""

    metric: str  # its label
    author: str
    better: str  # "higher" | "lower" | "neither"
    points: Sequence[SincePoint]


class Since(NamedTuple):
    """page/data/since.js: what the view Since shows of the last `metassay watch check`.

    Keys and numbers alone. The file is null where no check was made since the numbers
    were accepted.
    """

    run: str  # when: "2026-01-05T06:00:12Z"
    revision: str  # git's commit, with + if files differ from it; "" without git
    # start of the hash of the accepted lock; "" where nothing is accepted
    accepted: str
    title: str  # of the line on the first screen; "" where nothing was compared
    answer: Sequence[str]  # sentences
    causes: Sequence[str]  # what differs from what made the accepted numbers
    drift: Sequence[str]  # a sentence per judge that has anchors
    certificates: Sequence[str]  # verdicts that changed
    changes: Sequence[SinceChange]
    others: str  # the scores that are not in `changes`: "70 same numbers"
    scores: Sequence[SinceScore]
    earlier: int  # runs that are older than the points of `scores`
    href: str  # the change report, relative; "" where it is not beside the page


class Head(NamedTuple):
    """page/data/head.js: everything that the first screen needs."""

    # "benchmark" | "judge test" | "segmentation test" | "meta-eval" | "judge check" |
    # "changes" | "comparison"
    kind: str
    name: str  # the benchmark's name, or the title of the page
    about: str  # one sentence: what this page is
    program: str  # "Metassay 0.1.0"
    dataset: Dataset | None = None
    banners: Sequence[str] = ()  # what nobody may miss: invented data, a lexical judge
    answer: Sequence[str] = ()  # sentences, the first is the most important
    problems: Sequence[Problem] = ()  # what the line on the data counts and opens
    # columns of the grid: titles by value of column `level` in table certificates; none
    # where nothing was tested against people
    decisions: Mapping[str, str] = {}
    grid: Sequence[GridRow] = ()  # a row per criterion
    verdicts: Sequence[VerdictWord] = ()  # every kind of verdict, best first
    # meanings of the glossary's terms that this page uses
    terms: Mapping[str, str] = {}
    tables: Sequence[TableInfo] = ()  # in the order of the list of evidence
    systems: SystemsInfo | None = None
    texts: TextsInfo | None = None
    links: Sequence[Link] = ()  # other pages: the report that a change report is about
    contract: int = CONTRACT
