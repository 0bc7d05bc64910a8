/** Sorting, means and ranks of columns. What is null comes last, whichever way one sorts. */
import type { Value } from "./data";

export type ValueOf = (row: number) => Value;

const collator = new Intl.Collator("en", { numeric: true });

/** Rows in the order that `sort` says: `words` ascending, `-words` descending; equal ones as they were. */
export function sorted(rows: readonly number[], columns: Readonly<Record<string, ValueOf>>, sort: string) {
  const id = sort.replace(/^-/, "");
  const value = Object.hasOwn(columns, id) && columns[id];
  if (!value) return rows;
  const sign = sort.startsWith("-") ? -1 : 1;
  const known = rows.flatMap((row) => [{ row, value: value(row) }]).filter((r) => r.value !== null);
  known.sort((a, b) => sign * compare(a.value, b.value));
  return [...known.map(({ row }) => row), ...rows.filter((row) => value(row) === null)];
}

function compare(a: Value, b: Value): number {
  return typeof a === "string" && typeof b === "string" ? collator.compare(a, b) : Number(a) - Number(b);
}

export interface Mean {
  mean: number | null;
  n: number;
  missing: number;
}

/** The mean of what there is; Neumaier's sum, so that no order of the rows changes a shown digit. */
export function mean(rows: readonly number[], value: ValueOf): Mean {
  let [sum, rest, n] = [0, 0, 0];
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
  const shares: (number | null)[] = values.map(() => null);
  for (let from = 0, to; from < order.length; from = to) {
    to = from + 1;
    while (to < order.length && values[order[to]!] === values[order[from]!]) to += 1;
    const share = order.length > 1 ? (from + to - 1) / 2 / (order.length - 1) : 0.5;
    for (const row of order.slice(from, to)) shares[row] = lower ? 1 - share : share;
  }
  return shares;
}
