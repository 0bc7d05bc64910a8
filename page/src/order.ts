/** Sorting, means and ranks of columns. What is null comes last, whichever way one sorts. */
import {
  type ColumnDef,
  constructTable,
  createSortedRowModel,
  rowSortingFeature,
  tableFeatures,
} from "@tanstack/table-core";
import { storeReactivityBindings } from "@tanstack/table-core/store-reactivity-bindings";
import type { Value } from "./contract";

export type ValueOf = (row: number) => Value;

const features = tableFeatures({
  coreReactivityFeature: storeReactivityBindings(),
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
});
const collator = new Intl.Collator("en", { numeric: true });

export function compare(a: Value, b: Value): number {
  if (typeof a === "string" && typeof b === "string") return collator.compare(a, b);
  return Number(a) - Number(b);
}

/** Rows in the order that `sort` says: `words` ascending, `-words` descending. */
export function sorted(
  rows: readonly number[],
  columns: Readonly<Record<string, ValueOf>>,
  sort: string,
): readonly number[] {
  const id = sort.replace(/^-/, "");
  const value = Object.hasOwn(columns, id) && columns[id];
  if (!value) return rows;
  const column: ColumnDef<typeof features, { row: number }> = {
    id,
    accessorFn: ({ row }) => value(row) ?? undefined,
    sortUndefined: "last",
    sortFn: (a, b) => compare(a.getValue<Value>(id), b.getValue<Value>(id)),
  };
  const table = constructTable({
    features,
    data: rows.map((row) => ({ row })),
    columns: [column],
    state: { sorting: [{ id, desc: sort.startsWith("-") }] },
  });
  return table.getRowModel().rows.map(({ original }) => original.row);
}

export interface Mean {
  mean: number | null;
  n: number;
  missing: number;
}

/** The mean of what there is; Neumaier's sum, so that no order of the rows changes a shown digit. */
export function mean(rows: readonly number[], value: ValueOf): Mean {
  let sum = 0;
  let rest = 0;
  let n = 0;
  for (const row of rows) {
    const x = value(row);
    if (typeof x !== "number") continue;
    const next = sum + x;
    rest += Math.abs(sum) >= Math.abs(x) ? sum - next + x : x - next + sum;
    sum = next;
    n += 1;
  }
  return { mean: n ? (sum + rest) / n : null, n, missing: rows.length - n };
}

/** Of each row the share of others that it is above, ties counting half; null stays null. */
export function ranks(rows: number, value: ValueOf, lower: boolean): (number | null)[] {
  const values = Array.from({ length: rows }, (_, row) => value(row));
  const order = values.flatMap((v, row) => (typeof v === "number" ? [row] : []));
  order.sort((a, b) => (values[a] as number) - (values[b] as number));
  const found: (number | null)[] = values.map(() => null);
  for (let from = 0, to; from < order.length; from = to) {
    to = from + 1;
    while (to < order.length && values[order[to]!] === values[order[from]!]) to += 1;
    const share = order.length > 1 ? (from + to - 1) / 2 / (order.length - 1) : 0.5;
    for (let i = from; i < to; i += 1) found[order[i]!] = lower ? 1 - share : share;
  }
  return found;
}
