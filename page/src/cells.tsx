/** Columns of tables as they are shown: an estimate with its interval, and a link to the texts behind. */
import type { JSX } from "preact";
import type { CellInfo, ColumnInfo, TableInfo, TextsInfo } from "./contract";
import { type At, type Changes, key } from "./address";
import { type Table } from "./data";
import { cellText, grouped, interval, label, shown } from "./format";
import type { Column } from "./table";
import { measures, PEOPLE } from "./texts";
import { T, usePage } from "./ui";

/** Which texts a row of a table is about; null where that cannot be told. */
export function textsOf(info: TextsInfo | null, table: Table, row: number): Changes | null {
  if (!info) return null;
  const known = new Set(measures(info).map((m) => m.key));
  const among = (name: string): string | null => (known.has(name) ? name : null);
  const author = info.authors.find(
    ({ name }) => name === table.at("author", row) || name === table.at("system", row),
  );
  const metric = table.has("metric")
    ? among(label(table.at("metric", row), table.at("judge", row)))
    : null;
  const people = table.has("criterion") ? among(PEOPLE + table.text("criterion", row)) : null;
  const doc = table.text("doc_id", row);
  const judge = info.judges.includes(table.text("judge", row)) ? table.text("judge", row) : null;
  if (!author && !metric && !people && !doc) return null;
  const of = {
    ...{ view: "texts", x: metric ?? people, y: metric && people, sort: metric ?? people },
    judge: judge && key(judge),
  };
  const by = author ? key(author.name) : null;
  return doc ? { ...of, doc: key(doc), text: by } : { ...of, author: by };
}

interface NumberProps {
  table: Table;
  row: number;
  cell: CellInfo;
  first?: boolean; // of its row: the others are reached by it
}
/** An estimate, its interval, and what is missing; a link to its texts. */
export function Estimate({ table, row, cell, first = true }: NumberProps): JSX.Element {
  const { head, to } = usePage();
  const value = table.at(cell.value, row);
  const [low, high] = [table.number(cell.low, row), table.number(cell.high, row)];
  const missing = table.number(cell.missing, row);
  const n = table.number(cell.n, row);
  const texts = textsOf(head.texts, table, row);
  const text = typeof value === "number" ? shown(value) : value === null ? "undefined" : String(value);
  return (
    <span class="estimate">
      {texts ? (
        <a href={to(texts)} tabIndex={first ? 0 : -1}>
          {text}
        </a>
      ) : (
        text
      )}
      {low !== null && <small>{interval(low, high)}</small>}
      {missing !== null && missing > 0 && (
        <small class="bad" title={n === null ? "" : `rests on ${grouped(n)}`}>
          {grouped(missing)} missing
        </small>
      )}
    </span>
  );
}

/** A plain column; numbers are links to their texts. */
function Plain({ table, row, info }: { table: Table; row: number; info: ColumnInfo }): JSX.Element {
  const { head, to } = usePage();
  const value = table.at(info.name, row);
  const text = cellText(value, info);
  const texts = typeof value === "number" ? textsOf(head.texts, table, row) : null;
  if (!texts) return <T text={text} />;
  return (
    <a href={to(texts)} tabIndex={-1} class="quiet">
      {text}
    </a>
  );
}

/** Columns of a plain table: those that name a row first; ends of an interval stand with the value. */
export function plainColumns(info: TableInfo, table: Table, hidden: ReadonlySet<string>): Column[] {
  const { cell } = info;
  const ends = cell ? [cell.low, cell.high] : [];
  const lead = info.lead.flatMap((name) => info.columns.filter((c) => c.name === name));
  const rest = info.columns.filter((c) => !info.lead.includes(c.name) && !ends.includes(c.name));
  return [...lead, ...rest]
    .filter((column) => !hidden.has(column.name))
    .map((column) => ({
      id: column.name,
      title: column.name.replaceAll("_", " "),
      means: column.means,
      type: column.type,
      value: (row) => table.at(column.name, row),
      show: (row) =>
        column.name === cell?.value ? (
          <Estimate table={table} row={row} cell={cell} />
        ) : (
          <Plain table={table} row={row} info={column} />
        ),
      lead: column === lead[0],
    }));
}

/** A matrix: a row for each value of `lead`, a column for each value of `across`. */
export function matrix(
  lead: readonly string[],
  across: (row: number) => string,
  cell: CellInfo,
  table: Table,
  rows: readonly number[],
  title = (value: string): string => value,
): { columns: Column[]; rows: number[] } {
  const name = (row: number): string => JSON.stringify(lead.map((c) => table.at(c, row)));
  const places = new Map<string, Map<string, number>>();
  const firsts: number[] = [];
  for (const row of rows) {
    const of = places.get(name(row)) ?? new Map<string, number>();
    if (!of.size) firsts.push(row);
    if (!of.has(across(row))) of.set(across(row), row);
    places.set(name(row), of);
  }
  const names = lead.map((id, i): Column => ({
    ...{ id, title: id.replaceAll("_", " "), type: "text", lead: i === 0 },
    value: (row) => table.at(id, row),
    show: (row) => <T text={table.text(id, row)} />,
  }));
  const values = [...new Set(rows.map(across))].map((value, i): Column => {
    const at = (row: number): number | undefined => places.get(name(row))?.get(value);
    return {
      ...{ id: `at.${value}`, title: title(value), type: "number" },
      value: (row) => {
        const place = at(row);
        return place === undefined ? null : table.at(cell.value, place);
      },
      show: (row) => {
        const place = at(row);
        return place === undefined ? "" : <Estimate table={table} row={place} cell={cell} first={i === 0} />;
      },
    };
  });
  return { columns: [...names, ...values], rows: firsts };
}

export interface Picked {
  column: string;
  values: string[];
  value: string;
}

/** One value of each column of `pick`, by the address or the first there is; and the rows that are left. */
export function picked(info: TableInfo, table: Table, at: At): { picks: Picked[]; rows: number[] } {
  const wanted = Object.fromEntries(
    info.columns
      .filter(({ name }) => !info.pick.includes(name) && at[`is.${name}`])
      .map(({ name }) => [name, at[`is.${name}`]!]),
  );
  let rows = table.where(wanted);
  const picks = info.pick.map((column) => {
    const values = table.different(column, rows);
    const asked = at[`is.${column}`];
    const value = values.find((v) => key(v) === asked) ?? values[0] ?? "";
    rows = rows.filter((row) => table.text(column, row) === value);
    return { column, values, value };
  });
  return { picks, rows };
}
