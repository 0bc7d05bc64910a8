/** Verdicts: which certificates one sees, and in which order. */
import type { GridRow, Head, TableInfo, VerdictWord } from "./contract";
import type { At } from "./address";
import type { Table } from "./data";
import { label } from "./format";
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

export const ofRow = (row: GridRow): { study: string; criterion: string; part: string } => ({
  study: row.study,
  criterion: row.criterion,
  part: row.part,
});

/** Labels of all metrics, by their mean correlation over all criteria and decisions; ties by name. */
export function fixedOrder(table: Table): string[] {
  const rows = new Map<string, number[]>();
  for (let row = 0; row < table.rows; row += 1) {
    const name = label(table.at("metric", row), table.at("judge", row));
    rows.set(name, [...(rows.get(name) ?? []), row]);
  }
  const means = [...rows].map(([name, of]) => ({
    name,
    mean: mean(of, (row) => table.at("value", row)).mean ?? -Infinity,
  }));
  means.sort((a, b) => b.mean - a.mean || (a.name < b.name ? -1 : 1));
  return means.map(({ name }) => name);
}
