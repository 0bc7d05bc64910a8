/** Verdicts: which certificates one sees, and in which order. */
import type { GridRow, Head, TableInfo, VerdictWord } from "./contract";
import type { At } from "./address";
import { groupBy, labelOf, range, type Table } from "./data";
import { mean } from "./order";

export const SIGNS = { use: "✓", confirm: "◐", no: "✗" } as const;

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

/** Labels of all metrics, by their mean correlation over all criteria and decisions; ties by name. */
export function fixedOrder(table: Table): string[] {
  const rows = groupBy(range(table.rows), (row) => labelOf(table, row));
  const value = (row: number) => table.at("value", row);
  const means = [...rows].map(([name, of]) => ({ name, mean: mean(of, value).mean ?? -Infinity }));
  means.sort((a, b) => b.mean - a.mean || (a.name < b.name ? -1 : 1));
  return means.map(({ name }) => name);
}
