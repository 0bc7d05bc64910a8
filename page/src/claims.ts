/** Which claims are listed, in which order, and as CSV. All state is in the address (`at`). */
import type { Scorer, ClaimCount, TextsInfo } from "./contract";
import { type At, key } from "./address";
import { range, type Table } from "./data";
import { label } from "./format";
import { sorted, type ValueOf } from "./order";
import { terms } from "./texts";

/** The place in `scorers` of the measure and judge that the address names, or of the first that fits. */
export function headOf(asked: readonly Scorer[], at: At): number {
  const fits = (head: Scorer) =>
    (at.measure === undefined || key(head.measure) === at.measure) &&
    (at.judge === undefined || key(head.judge) === at.judge);
  return Math.max(asked.findIndex(fits), 0);
}

/** What of an address chooses a measure and judge. */
export const ofHead = ({ measure, judge }: Pick<Scorer, "measure" | "judge">) => ({
  measure: key(measure),
  judge: key(judge),
});

export const headLabel = ({ measure, judge }: Scorer): string => (measure ? label(measure, judge) : judge);

/** How many judgments of a measure and judge count against the texts of an author, and of how many. */
export function failures(
  info: TextsInfo | null,
  measure: string,
  judge: string,
  author: string,
): ClaimCount | undefined {
  return info?.claims?.counts.find((of) => of.measure === measure && of.judge === judge && of.author === author);
}

/** Judges, and the place of each among TextsInfo.judges, that were asked by a measure. */
export function judgesOf(info: TextsInfo, measure: string): { judge: string; place: number }[] {
  const judges = info.scorers.filter((head) => head.measure === measure).map(({ judge }) => judge);
  return judges.map((judge) => ({ judge, place: info.judges.indexOf(judge) }));
}

const SIGN: Readonly<Record<string, number>> = { against: 1, for: -1 };
/** The address of another measure: its judge stays if the measure was asked of it. */
export function ofMeasure(info: TextsInfo, measure: string, judge: string) {
  const asked = info.scorers.some((head) => key(head.measure) === measure && head.judge === judge);
  return { measure, judge: asked ? key(judge) : null, word: null };
}

const OPPOSITE: Readonly<Record<string, string>> = { for: "against", against: "for" };

export interface Claims {
  rows: readonly number[]; // those that the address asks for, in its order
  words: string[]; // different answers of the judge, of all its lines that count on the chosen side
  all: number; // lines of the measure, of the chosen author or of all systems
}

/** Lines of one measure, chosen by what one judge said of them. The worst come first. */
export function chosenClaims(table: Table, info: TextsInfo, head: Scorer, at: At): Claims {
  const judges = judgesOf(info, head.measure);
  const judge = info.judges.indexOf(head.judge);
  const side = (row: number) => table.text(`side_${judge}`, row);
  const systems = info.authors.length > info.references.length;
  const written = (row: number) => {
    const author = table.text("author", row);
    return at.author ? key(author) === at.author : !systems || !info.references.includes(author);
  };
  const all = range(table.rows).filter((row) => table.at("measure", row) === head.measure && written(row));
  const wanted = at.side ?? "against";
  const onSide = all.filter((row) => wanted === "any" || side(row) === wanted);
  const words = table.different(`word_${judge}`, onSide);
  const tests: ((row: number) => boolean)[] = [];
  for (const name of ["noun", "part"]) {
    if (at[name]) tests.push((row) => key(table.text(name, row)) === at[name]);
  }
  if (at.word) tests.push((row) => key(table.text(`word_${judge}`, row)) === at.word);
  if (at.split === "raters") tests.push((row) => OPPOSITE[table.text("rated", row)] === side(row));
  if (at.split === "judges") {
    tests.push((row) => judges.some(({ place }) => OPPOSITE[table.text(`side_${place}`, row)] === side(row)));
  }
  if (at.q) {
    const asked = terms(at.q);
    tests.push((row) => {
      const text = ["text", `why_${judge}`, "document"].map((name) => table.text(name, row));
      const whole = text.join("\n").toLowerCase();
      return asked.every((word) => whole.includes(word));
    });
  }
  const rows = onSide.filter((row) => tests.every((test) => test(row)));
  return { rows: sorted(rows, orders(table, judges, judge), at.sort ?? "-against"), words, all: all.length };
}

/** How many judges and whether raters count a line against its text, of how many who said something. */
export function against(table: Table, judges: readonly { place: number }[], row: number): [number, number] {
  const sides = [...judges.map(({ place }) => table.text(`side_${place}`, row)), table.text("rated", row)];
  const count = (wanted: string) => sides.filter((side) => side === wanted).length;
  return [count("against"), count("against") + count("for")];
}

/** How sure a judge is, from 0 to 1; null where it gave no probability. */
export function certainty(table: Table, judge: number, row: number): number | null {
  const probability = table.number(`probability_${judge}`, row);
  return probability === null ? null : Math.max(probability, 1 - probability);
}

/** What lists of claims can be sorted by. */
function orders(table: Table, judges: readonly { place: number }[], judge: number): Record<string, ValueOf> {
  const text = (name: string): ValueOf => {
    return (row) => table.at(name, row);
  };
  return {
    ...{ text: text("text"), author: text("author"), document: text("document"), people: text("people") },
    certainty: (row) => certainty(table, judge, row),
    // Of two lines that as many count against, the worse is the one that the judge is surer to fail or less sure to
    // pass. Less than a half, so that no line passes one that more count against.
    against: (row) => {
      const sign = SIGN[table.text(`side_${judge}`, row)] ?? 0;
      return against(table, judges, row)[0] + (sign * (certainty(table, judge, row) ?? 0)) / 3;
    },
  };
}

/** What a spreadsheet could take for a formula gets a quote in front, as in metassay/core/csv_injection.py. */
function csvCell(text: string): string {
  const safe = /^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The listed claims with all that the table has of the measure's judges. */
export function claimsCsv(table: Table, info: TextsInfo, head: Scorer, rows: readonly number[]): string {
  const judges = judgesOf(info, head.measure);
  const fixed = ["document", "author", "part", "measure", "text", "people"];
  const ofJudges = judges.flatMap(({ judge, place }) =>
    ["word", "side", "probability", "why"].map((name) => ({ title: `${name} (${judge})`, column: `${name}_${place}` })),
  );
  const columns = [...fixed.map((name) => ({ title: name, column: name })), ...ofJudges];
  const cell = (column: string, row: number): string => {
    const value = table.at(column, row);
    return typeof value === "number" ? String(value) : csvCell(table.text(column, row));
  };
  const lines = rows.map((row) => columns.map(({ column }) => cell(column, row)).join(","));
  return [columns.map(({ title }) => csvCell(title)).join(","), ...lines].join("\n") + "\n";
}
