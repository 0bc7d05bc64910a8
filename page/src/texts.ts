/** The list of texts: measures, search, filters. All state is in the address (`at`). */
import type { Measure, TextsInfo } from "./contract";
import { key, type At } from "./address";
import { headOf } from "./claims";
import { load, range, type Table, type Value } from "./data";
import { type Mean, mean, ranks, sorted, type ValueOf } from "./order";

export const PEOPLE = "people: "; // begins the key of a criterion

export interface Search {
  hits(query: string): Uint8Array; // by row of the index: whether it has all words
  around(row: number, query: string): string; // what stands about the first word
}

/** Loads what a search reads: a text per row of the index, with what is in its claims; "" where there is none. */
export async function searcher(info: TextsInfo): Promise<Search> {
  const shards = await Promise.all(info.search.map((id) => load<{ texts: string[] }>(id)));
  const texts = shards.flatMap((shard) => shard.texts);
  const lower = texts.map((text) => text.toLowerCase());
  return {
    hits(query) {
      const words = terms(query);
      return Uint8Array.from(lower, (text) => +words.every((word) => text.includes(word)));
    },
    around(row, query) {
      const at = lower[row]!.indexOf(terms(query)[0] ?? "");
      return `${at > 30 ? "…" : ""}${texts[row]!.slice(Math.max(0, at - 30), at + 90)}`;
    },
  };
}

/** Words of a query; what stands in quotes stays together. */
export function terms(query: string): string[] {
  return Array.from(query.toLowerCase().matchAll(/"([^"]+)"|([^\s"]+)/g), (m) => m[1] ?? m[2]!);
}

export type Listed = Readonly<Record<string, ValueOf>>;

/** Columns that the list can sort by and filter: those of the index, and what is computed of them. */
export function listed(index: Table, info: TextsInfo, at: At): Listed {
  const columns = Object.create(null) as Record<string, ValueOf>; // no name of a measure has a meaning of its own
  for (const { name } of index.columns) columns[name] = (row) => index.at(name, row);
  const head = headOf(info.scorers, at);
  for (const side of ["for", "against", "unknown"] as const) {
    columns[side] = (row) => index.number(`${side}_${head}`, row) ?? 0;
  }
  const all = info.measures;
  for (const m of all) columns[m.key] = (row) => index.at(m.column, row);
  const [x, y] = [at.x, at.y].map((name) => all.find((m) => m.key === name));
  if (x && y) {
    const [a, b] = [x, y].map((m) => ranks(index.rows, (row) => index.at(m.column, row), m.better === "lower"));
    columns.apart = (row) => {
      const [p, q] = [a![row], b![row]];
      return p == null || q == null ? null : Math.abs(p - q);
    };
  }
  return columns;
}

/** Rows of the index that the address asks for, in its order. */
export function chosen(
  index: Table,
  info: TextsInfo,
  columns: Listed,
  at: At,
  hits: Uint8Array | null,
): readonly number[] {
  const tests: ((row: number) => boolean)[] = [];
  if (hits) tests.push((row) => hits[row] === 1);
  for (const name of ["author", "status", "task"]) {
    if (at[name]) tests.push((row) => key(index.text(name, row)) === at[name]);
  }
  if (at.part) {
    const part = info.parts.findIndex((name) => key(name) === at.part);
    tests.push((row) => index.text("parts", row).split(" ").includes(String(part)));
  }
  if (at.side) {
    const count = columns[at.side];
    tests.push((row) => Number(count?.(row) ?? 0) > 0);
  }
  if (at.split) tests.push((row) => (index.number("split", row) ?? 0) > 0);
  if (at.x && (at.min || at.max)) {
    const value = columns[at.x];
    const [min, max] = [at.min ? Number(at.min) : -Infinity, at.max ? Number(at.max) : Infinity];
    tests.push((row) => within(value?.(row) ?? null, min, max));
  }
  const rows = range(index.rows).filter((row) => tests.every((test) => test(row)));
  return sorted(rows, columns, at.sort ?? "");
}

function within(value: Value, min: number, max: number): boolean {
  return typeof value === "number" && value >= min && value <= max;
}

interface Pair {
  a: number | null;
  b: number | null;
  row: number; // of a's text
}
export interface Versus {
  pairs: Pair[];
  alone: [a: number, b: number]; // documents that the other one did not write about
  unscored: number; // documents that both wrote about, but one of them has no value
  wins: number; // documents in which a is better
  ties: number;
  losses: number;
  difference: Mean; // a less b
}

/** Two authors, document by document; documents that both wrote about. */
export function versus(index: Table, m: Measure, a: string, b: string): Versus {
  const others = new Map(index.where({ author: b }).map((row) => [index.text("document", row), row]));
  const pairs = index.where({ author: a }).flatMap((row) => {
    const other = others.get(index.text("document", row));
    if (other === undefined) return [];
    return [{ row, a: index.number(m.column, row), b: index.number(m.column, other) }];
  });
  const differences = pairs.map(difference);
  const known = differences.filter((d) => d !== null);
  const above = known.filter((d) => d > 0).length;
  const below = known.filter((d) => d < 0).length;
  const lower = m.better === "lower";
  return {
    pairs,
    alone: [index.where({ author: a }).length - pairs.length, others.size - pairs.length],
    unscored: pairs.length - known.length,
    wins: lower ? below : above,
    ties: known.length - above - below,
    losses: lower ? above : below,
    difference: mean(range(pairs.length), (i) => differences[i]!),
  };
}

export const difference = ({ a, b }: Pair): number | null => (a === null || b === null ? null : a - b);
