/** Verdicts: which certificates one sees, and in which order. */
import type { GridCell, GridRow, Head, TableInfo, VerdictWord } from "./contract";
import type { At } from "./address";
import { labelOf, type Table } from "./data";

/** How a verdict looks: its sign, the class of its colour, and its dot, as figures draw it. */
export interface Look {
  sign: string;
  name: "use" | "confirm" | "unsure" | "no";
  dot: "full" | "half" | "open";
}
const NO: Look = { sign: "✗", name: "no", dot: "open" };
const USE: Look = { sign: "✓", name: "use", dot: "full" };
const LOOKS: Readonly<Record<string, Look>> = {
  promising: { sign: "◐", name: "confirm", dot: "half" },
  "cannot tell": { sign: "?", name: "unsure", dot: "open" },
};

/** The look of a verdict of this state; only those that leave a metric to confirm differ by kind. */
export const lookOf = (verdict: string, state: GridCell["state"] | undefined): Look =>
  state === "use" ? USE : (LOOKS[verdict] ?? NO);

/** The verdict's kind: it or what it begins with ("explained by words"). */
export function kindOf(verdict: string, kinds: readonly VerdictWord[]): VerdictWord | undefined {
  return kinds.filter((kind) => verdict.startsWith(kind.kind)).sort((a, b) => b.kind.length - a.kind.length)[0];
}

export const certificates = (head: Head): TableInfo | undefined =>
  head.tables.find((table) => table.name === "certificates");

/** The row and the column of the grid that the address asks for, or the first of each. */
export function selected(head: Head, at: At): { row: GridRow; level: string } | null {
  const row =
    head.grid.find(
      (r) => r.criterion === at.criterion && (!at.study || r.study === at.study) && (!at.part || r.part === at.part),
    ) ?? head.grid[0];
  const levels = Object.keys(head.decisions);
  const level = levels.find((name) => name === at.level) ?? levels[0];
  return row && level ? { row, level } : null;
}

export const ofRow = ({ study, criterion, part }: GridRow) => ({ study, criterion, part });

/** Rows of certificates, the best verdict first, then the largest correlation, as the answer chooses; ties by name. */
export function ranked(table: Table, rows: readonly number[], kinds: readonly VerdictWord[]): number[] {
  const place = (row: number) => {
    const kind = kindOf(table.text("verdict", row), kinds);
    return kind ? kinds.indexOf(kind) : kinds.length;
  };
  const value = (row: number) => table.number("value", row) ?? -Infinity;
  const name = (row: number) => labelOf(table, row);
  return rows.toSorted((a, b) => place(a) - place(b) || value(b) - value(a) || (name(a) < name(b) ? -1 : 1));
}
