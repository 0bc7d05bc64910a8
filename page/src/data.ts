/** Data files and what they hold. Files on the disk may be loaded as scripts, but not fetched. */
import type { ColumnInfo, TableInfo } from "./contract";
import { label } from "./format";

export type Value = string | number | boolean | null;
/** Consecutive rows of a table: a column each, in the order of TableInfo.columns. Reals have all digits. */
export interface Shard {
  columns: ColumnValues[];
}
/** All values; or, where they repeat, the different ones and a place per row (-1 is null). */
type ColumnValues = Value[] | { values: Value[]; codes: number[] };

declare global {
  interface Window {
    metassay: (id: string, value: unknown) => void;
    trustedTypes?: { createPolicy(name: string, rules: typeof RULES): typeof RULES };
  }
}

const files = new Map<string, Promise<unknown>>();
const waiting = new Map<string, (value: unknown) => void>();
const RULES = {
  createScriptURL(url: string): string {
    if (/^page\/data\/[\w.%/~!'()*-]+\.js$/.test(url) && !url.includes("..")) return url;
    throw new TypeError(`not a data file: ${url}`);
  },
};
let policy: typeof RULES | undefined;

/** What data files call. */
export function receive(id: string, value: unknown): void {
  waiting.get(id)?.(value);
  waiting.delete(id);
}

/** What index.html itself loads. */
export function awaited<T>(id: string): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    waiting.set(id, resolve as (value: unknown) => void);
    addEventListener("DOMContentLoaded", () => {
      if (waiting.has(id)) reject(new Error(`page/data/${id}.js is missing or damaged.`));
    });
  }).then(whole);
}

/** A file that the page itself holds, compressed: of a page that is one file. */
const heldBlock = (id: string): HTMLElement | undefined =>
  [...document.querySelectorAll<HTMLElement>("script[data-id]")].find((block) => block.dataset.id === id);

export const isHeld = (id: string): boolean => heldBlock(id) !== undefined;

/** The text of a held file. */
export async function heldText(id: string): Promise<string> {
  const bytes = Uint8Array.from(atob(heldBlock(id)!.textContent), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

/** The value of page/data/ID.js, asked for once. */
export const load = <T>(id: string): Promise<T> => loaded<T>(id).then(whole);

/** What no file could hold, put together of its pieces. */
async function whole<T>(value: T): Promise<T> {
  const ids = (value as { pieces?: string[] } | null)?.pieces;
  return ids ? (JSON.parse((await Promise.all(ids.map(loaded))).join("")) as T) : value;
}

function loaded<T>(id: string): Promise<T> {
  let file = files.get(id);
  if (!file) {
    file = isHeld(id)
      ? heldText(id).then(JSON.parse as (text: string) => unknown)
      : new Promise((resolve, reject) => {
          const fail = (why: string): void => {
            files.delete(id);
            reject(new Error(`page/data/${id}.js ${why}. Copy the whole folder, or write it again.`));
          };
          policy ??= window.trustedTypes?.createPolicy("metassay", RULES) ?? RULES;
          const script = document.createElement("script");
          waiting.set(id, resolve);
          script.src = policy.createScriptURL(`page/data/${id.split("/").map(encodeURIComponent).join("/")}.js`);
          script.onerror = () => {
            fail("is missing");
          };
          script.onload = () => {
            script.remove();
            if (waiting.has(id)) fail("is damaged");
          };
          document.head.append(script);
        });
    files.set(id, file);
  }
  return file as Promise<T>;
}

/** A table in memory, by columns; a column that it lacks is null in every row. */
export class Table {
  readonly rows: number;
  private readonly values: Map<string, Value[]>;
  readonly columns: readonly ColumnInfo[];

  constructor(columns: readonly ColumnInfo[], shards: readonly Shard[]) {
    this.columns = columns;
    this.values = new Map(columns.map((column, i) => [column.name, shards.flatMap((s) => decoded(s.columns[i]!))]));
    this.rows = columns[0] ? this.values.get(columns[0].name)!.length : 0;
  }

  has(column: string): boolean {
    return this.values.has(column);
  }

  at(column: string, row: number): Value {
    return this.values.get(column)?.[row] ?? null;
  }

  number(column: string, row: number): number | null {
    const value = this.at(column, row);
    return typeof value === "number" ? value : null;
  }

  text(column: string, row: number): string {
    const value = this.at(column, row);
    return value == null ? "" : String(value);
  }

  /** Rows in which columns have these values, as texts; columns that the table lacks say nothing. */
  where(values: Readonly<Record<string, string>>): number[] {
    const tests = Object.entries(values).filter(([name, value]) => value !== "" && this.has(name));
    return range(this.rows).filter((row) => tests.every(([n, v]) => this.text(n, row) === v));
  }

  /** The different values of a column, as texts, in the order in which they come. */
  different(column: string, rows: readonly number[] = range(this.rows)): string[] {
    return [...new Set(rows.map((row) => this.text(column, row)))];
  }
}

function decoded(column: Shard["columns"][number]): Value[] {
  if (Array.isArray(column)) return column;
  return column.codes.map((code) => column.values[code] ?? null);
}

const tables = new WeakMap<TableInfo, Promise<Table>>();
export function tableOf(info: TableInfo): Promise<Table> {
  let table = tables.get(info);
  if (!table) {
    table = Promise.all(info.shards.map((id) => load<Shard>(id))).then((shards) => new Table(info.columns, shards));
    table.catch(() => tables.delete(info));
    tables.set(info, table);
  }
  return table;
}

/** The label of the metric that a row is about. */
export const labelOf = (table: Table, row: number): string => label(table.at("metric", row), table.at("judge", row));

export function groupBy<K>(rows: readonly number[], key: (row: number) => K): Map<K, number[]> {
  const groups = new Map<K, number[]>(rows.map((row) => [key(row), []]));
  for (const row of rows) groups.get(key(row))!.push(row);
  return groups;
}

export function range(length: number): number[] {
  return Array.from({ length }, (_, i) => i);
}
