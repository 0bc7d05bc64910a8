/** Written by tests/reporting/test_contract.py from metassay/reporting/contract.py. */
export const CONTRACT = 5;

/** What the data are, for the footer. */
export interface Dataset {
  title: string;
  licence: string; // "" where it is not stated
  citation: string;
  counts: string[]; // "24 documents", "3 raters"
  seen: string[]; // whether choices saw these data
}

/** What the line on the data counts. missing: answers that lack; warning: notes on the data; limit: what the study is too small for; change: since accepted. */
export interface Problem {
  kind: "missing" | "warning" | "limit" | "change"; // "missing" | "warning" | "limit" | "change"
  text: string;
}

/** For one criterion and decision a metric to `use`; one that is promising or undecided, the closest, to `confirm`; or `no` metric. */
export interface GridCell {
  state: "use" | "confirm" | "no"; // "use" | "confirm" | "no"
  metric: string; // label of the metric to use, or the closest; "" where there is none
  value: number | null; // its correlation, corrected for the choice
  low: number | null;
  high: number | null;
  verdict: string;
  says: string; // one short line: "best of 35 metrics", "rate 5 or more systems"
}

/** A criterion with a cell per decision. */
export interface GridRow {
  study: string;
  criterion: string; // value of column `criterion` in table certificates
  part: string; // "full" or a part
  title: string; // as shown
  cells: (GridCell | null)[]; // per decision; null where nothing was tested
}

/** A kind of verdict, and what it means. */
export interface VerdictWord {
  kind: string; // the verdict, or what it begins with ("explained by")
  state: "use" | "confirm" | "no"; // "use" | "confirm" | "no"
  means: string;
}

/** Another page. */
export interface Link {
  href: string; // relative
  title: string;
}

/** A column of a table. */
export interface ColumnInfo {
  name: string; // as in the CSV
  type: string;
  means: string; // "" where nothing is known
}

/** Which columns stand together in a cell. */
export interface CellInfo {
  value: string; // column names
  low: string; // "" where there is no interval
  high: string;
  n: string; // what it rests on, "" where unknown
  missing: string; // how many are missing, "" where unknown
  least: string; // the bounds of the value with what is missing, "" where unknown
  most: string;
}

/** A table of the view Evidence, and how it is shown; values come in shards of its rows. */
export interface TableInfo {
  name: string; // "certificates"; unique
  title: string; // heading
  group: string; // heading over several tables
  says: string[]; // paragraphs: how to read it
  columns: ColumnInfo[];
  rows: number;
  shards: string[]; // ids, in order
  csv: string; // path relative to index.html; "" where there is none
  command: string; // what makes it again: "metassay run sample"
  pick: string[]; // columns of which a reader selects one value: ["study", "criterion", "level"]
  lead: string[]; // columns that name a row: ["metric", "judge"]; shown first, as its header
  across: string; // a column whose values become columns (a matrix), "" for a plain table
  cell: CellInfo | null; // what stands in a cell of the matrix, or an estimate in a plain table
  hide: string[]; // columns not shown until asked for ("recipe")
  figures: Record<string, string>; // drawings, figures/NAME.svg and .png: titles by name
  picture: string; // "tiles": the larger a number, the darker its cell; "pairs": such tiles with a mirrored half; "dots": values and intervals on one scale
}

/** Which table the view Systems shows. */
export interface SystemsInfo {
  noun: string; // "system"; "judge" in a test of judges
  table: string; // table with a row per metric and system: leaderboard
  system: string; // its column of names: author
  metric: string[]; // its columns that name a metric: metric, judge
  cell: CellInfo;
  headline: string[]; // labels of metrics shown first
  better: string; // its column with higher, lower, neither; "" where higher is better
  groups: string; // table with a row per metric and system: `group`, letters; who shares a letter cannot be told apart
  no_groups: string; // why there are no letters, where somebody would look for them
}

/** A column of the index by which texts are compared: a metric, or the mean of raters. */
export interface Measure {
  key: string; // in addresses, and as shown: a metric's label, or "people: " and a criterion
  column: string; // in the index
  better: "higher" | "lower" | "neither"; // "higher" | "lower" | "neither"
}

/** A measure, and a judge that answers its questions. */
export interface Scorer {
  measure: string; // "" in tests of judges
  judge: string;
  fails: string; // what a line is that counts against its text: "not supported by the source"
}

/** How many lines of all texts of an author a judge counts against them. */
export interface ClaimCount {
  measure: string;
  judge: string;
  author: string;
  against: number;
  n_lines: number; // all lines, also those without an answer
}

/** What the view Claims lists. Columns of the table, a row per line and measure: `document`, `author`, `line` (as in addresses: "claim_recall:4"), `noun`, `part`, `measure`, `text`, `people` (their ratings in words), `rated` (Line.rated), then for each judge i `side_i`, `word_i`, `probability_i`, `why_i`. */
export interface ClaimsInfo {
  table: TableInfo;
  counts: ClaimCount[];
}

/** What the view Texts lists, filters, searches and opens. Columns of the index: `document` (doc_id), `author`, `task`, `home` (shard of its document), `status` ("ok" or why there is no text), `words`, `rated` (number of ratings), then for each i of `scorers` `for_i`, `against_i`, `unknown_i` (judgments in favour, against, and not known), `split` (claims on which a judge and most people differ), `parts` (places in TextsInfo.parts, joined by a space), then the columns of measures. */
export interface TextsInfo {
  documents: number;
  texts: number;
  noun: string; // "document"; "item" in a test of judges
  authors: string[];
  references: string[]; // authors that are no systems
  measures: Measure[]; // columns of the index after the fixed ones: metrics, then people
  judges: string[];
  scorers: Scorer[]; // that which a reader sees first comes first
  parts: string[]; // facets or sections that texts may have
  table: TableInfo; // the index: a row per text
  search: string[]; // ids of what a search reads: shards of rows of the index, in order
  documents_in: string[]; // ids of shards of documents: value of column `home` is a place in it
  claims: ClaimsInfo | null;
}

/** A passage of a source. */
export interface Passage {
  speaker: string;
  group: string;
  text: string;
}

/** A stretch of a text that is of a part; ends in UTF-16 code units. */
export interface Mark {
  start: number; // in UTF-16 code units, as JavaScript counts
  end: number;
  part: string; // name
}

/** What a rater gave; `of` is what the text was compared with. */
export interface Rating {
  criterion: string;
  rater: string;
  value: number | null; // null: abstained
  of: string; // "" or what the text was compared with: the name of the other system
}

/** What a judge answered; side: whether it counts for the text, against it, or not. */
export interface Judgment {
  word: string; // "entailed", "not entailed", "graded 2 of 3", "failed: refused"
  side: "for" | "against" | "unknown" | "neutral"; // "for" | "against" | "unknown" | "neutral"
  probability: number | null;
  why: string; // the judge's explanation
  quotes: string[];
}

/** What a judge answered about a single citation. */
export interface EachCitation {
  head: number; // of Block.heads: whose judge
  passage: number;
  alone: Judgment | null;
  rest: Judgment | null; // without this one
}

/** A claim, statement or criterion, with a judgment per head of its block. */
export interface Line {
  number: number; // within its part
  part: string;
  text: string;
  start: number; // where it stands in the text; -1 where it does not
  end: number;
  cites: number[]; // passages that it cites; may be beyond the last
  aligned: number[]; // passages that it was read against
  judgments: Judgment[]; // per head
  each: EachCitation[]; // judgments about single citations
  people: Rating[]; // ratings of this line
  rated: string; // what most people said: "for", "against", or "" where neither
}

/** Who was asked what. */
export interface BlockHead {
  question: string;
  measure: string;
  judge: string;
}

/** Lines of one noun, and what was asked of each. */
export interface Block {
  id: string; // "claim_recall": unique within the text
  title: string; // a question
  noun: "claim" | "statement" | "criterion" | "text"; // "claim" | "statement" | "criterion" | "text"
  heads: BlockHead[]; // who was asked what, a column each
  lines: Line[];
  note: string; // said instead of lines where none was asked
}

/** A text with everything that people, metrics and judges made of it. */
export interface Text {
  author: string;
  problems: string[]; // why there is no text
  text: string;
  marks: Mark[]; // stretches that are of a part or facet; may touch, never overlap
  ratings: Rating[]; // of the whole text
  scores: [string, number | null][]; // label of a metric, value
  blocks: Block[]; // claims, statements, criteria with what judges and people said
}

/** A source and the texts about it. */
export interface Document {
  id: string;
  task: string;
  attributes: string[]; // "name: value"
  passages: Passage[]; // [n] cites passage n
  texts: Text[];
}

/** A score that differs from the accepted one, or of which one cannot tell. */
export interface SinceChange {
  metric: string; // its label
  author: string;
  verdict: string; // as in table `changes`
  before: number | null;
  after: number | null;
  difference: number | null;
  low: number | null; // of the difference
  high: number | null;
  p: number | null; // adjusted for all scores
  notes: string[]; // "41 of 60 differ", "measured by another recipe"
  documents: string[]; // those that moved furthest
}

/** A score after a run that made it again. */
export interface SincePoint {
  run: string; // when: "2026-01-05T06:00:12Z"
  mean: number | null;
  low: number | null;
  high: number | null;
  verdict: string; // beside the accepted score; "" where nothing was compared
  another_recipe: boolean; // whether the run before measured it in another way
}

/** A score of a system, run after run, the earliest first. */
export interface SinceScore {
  metric: string; // its label
  author: string;
  better: "higher" | "lower" | "neither"; // "higher" | "lower" | "neither"
  points: SincePoint[];
}

/** page/data/since.js: what the view Since shows of the last `metassay watch check`. Keys and numbers alone. The file is null where no check was made since the numbers were accepted. */
export interface Since {
  run: string; // when: "2026-01-05T06:00:12Z"
  revision: string; // git's commit, with + if files differ from it; "" without git
  accepted: string; // start of the hash of the accepted lock; "" where nothing is accepted
  title: string; // of the line on the first screen; "" where nothing was compared
  answer: string[]; // sentences
  causes: string[]; // what differs from what made the accepted numbers
  drift: string[]; // a sentence per judge that has anchors
  certificates: string[]; // verdicts that changed
  changes: SinceChange[];
  others: string; // the scores that are not in `changes`: "70 same numbers"
  scores: SinceScore[];
  earlier: number; // runs that are older than the points of `scores`
  href: string; // the change report, relative; "" where it is not beside the page
}

/** page/data/head.js: everything that the first screen needs. */
export interface Head {
  kind: "benchmark" | "judge test" | "segmentation test" | "meta-eval" | "judge check" | "changes" | "comparison"; // "benchmark" | "judge test" | "segmentation test" | "meta-eval" | "judge check" | "changes" | "comparison"
  name: string; // the benchmark's name, or the title of the page
  about: string; // one sentence: what this page is
  program: string; // "Metassay 0.1.0"
  dataset: Dataset | null;
  banners: string[]; // what nobody may miss: invented data, a lexical judge
  answer: string[]; // sentences, the first is the most important
  problems: Problem[]; // what the line on the data counts and opens
  decisions: Record<string, string>; // columns of the grid: titles by value of column `level` in table certificates; none where nothing was tested against people
  grid: GridRow[]; // a row per criterion
  verdicts: VerdictWord[]; // every kind of verdict, best first
  terms: Record<string, string>; // meanings of the glossary's terms that this page uses
  tables: TableInfo[]; // in the order of the list of evidence
  systems: SystemsInfo | null;
  texts: TextsInfo | null;
  links: Link[]; // other pages: the report that a change report is about
  contract: number;
}
