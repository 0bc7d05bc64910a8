/** Columns of tables as they are shown: an estimate with its interval, and a link to the texts behind. */
import type { CellInfo, ColumnInfo, TableInfo, TextsInfo } from "./contract";
import { type At, type Changes, key } from "./address";
import { failures, ofHead } from "./claims";
import { groupBy, labelOf, type Table } from "./data";
import { brief, cellText, grouped, interval, shown, words } from "./format";
import type { Column } from "./table";
import { PEOPLE } from "./texts";
import { Select, t, usePage } from "./ui";

/** Which texts a row of a table is about; null where that cannot be told. Measures are those of whole texts. */
export function textsOf(info: TextsInfo | null, table: Table, row: number): Changes | null {
  if (!info) return null;
  const part = info.parts.find((name) => name === table.text("part", row));
  const whole = ["", "full"].includes(table.text("part", row));
  const known = whole ? info.measures.map((m) => m.key) : [];
  const among = (name: string): string | null => (known.includes(name) ? name : null);
  const names = ["author", "system"].map((column) => table.text(column, row));
  const author = info.authors.find((name) => names.includes(name));
  const metric = among(labelOf(table, row));
  const people = among(PEOPLE + table.text("criterion", row));
  const doc = table.text("doc_id", row);
  const judge = info.judges.find((name) => name === table.text("judge", row));
  const asked = info.scorers.find((head) => head.judge === judge && head.measure === table.text("metric", row));
  if (!author && !metric && !people && !doc && !part) {
    return judge === undefined ? null : { view: "texts", judge: key(judge), split: 1 };
  }
  const [by, of, at] = [author, judge, part].map((name) => (name === undefined ? null : key(name)));
  const measure = asked && key(asked.measure);
  const texts = { view: "texts", x: metric ?? people, y: metric && people, judge: of, measure };
  return doc ? { ...texts, doc: key(doc), text: by } : { ...texts, author: by, part: at, sort: metric ?? people };
}

/** How many lines of a system fail by the metric of a row; leads to them, the worst first. */
function Failing({ table, row }: { table: Table; row: number }) {
  const { head, to } = usePage();
  if (!["", "full"].includes(table.text("part", row))) return null;
  const author = table.text("author", row);
  const fails = failures(head.texts, table.text("metric", row), table.text("judge", row), author);
  if (!fails?.against) return null;
  const claims = to({ view: "claims", author: key(author), ...ofHead(fails) });
  return (
    <small>
      <a
        class="fails"
        href={claims}
        tabIndex={-1}
        children={`✗ ${grouped(fails.against)} of ${grouped(fails.n_lines)}`}
      />
    </small>
  );
}

/** From where to where a column of bars goes: 0 is on it, and shares go to 1. */
export interface Scale {
  from: number;
  to: number;
}

export function barScale(values: readonly (number | null)[]): Scale {
  const known = values.filter((value) => value !== null);
  const [least, most] = [Math.min(0, ...known), Math.max(0, ...known)];
  return { from: least < 0 ? Math.min(least, most <= 1 && least >= -1 ? -1 : least) : 0, to: most <= 1 ? 1 : most };
}

/** A value as a bar from 0. */
function Bar({ value, scale: { from, to } }: { value: number; scale: Scale }) {
  const place = (of: number) => (100 * (of - from)) / (to - from);
  const [left, right] = [place(Math.min(0, value)), place(Math.max(0, value))];
  return (
    <span class="bar" aria-hidden="true">
      <i style={{ left: `${left}%`, width: `${right - left}%` }} />
    </span>
  );
}

interface EstimateProps {
  table: Table;
  row: number;
  cell: CellInfo;
  first?: boolean; // of its row: the keyboard reaches the others by it
  scale?: Scale | undefined; // in a narrow cell: short numbers, and a bar on this scale
}
/** An estimate, its interval, and what is missing, with the bounds that it leaves; a link to its texts. */
export function Estimate({ table, row, cell, first = true, scale }: EstimateProps) {
  const { head, to } = usePage();
  const value = table.at(cell.value, row);
  const missing = table.number(cell.missing, row);
  const bounds = interval(table.number(cell.least, row), table.number(cell.most, row));
  const n = table.number(cell.n, row);
  const texts = textsOf(head.texts, table, row);
  const as = scale ? brief : shown;
  const text = typeof value === "number" ? as(value) : t(value === null ? "undefined" : String(value));
  const around = [table.number(cell.low, row), table.number(cell.high, row)] as const;
  const exact = typeof value === "number" ? `${shown(value)} ${interval(...around)}, ` : "";
  return (
    <span class="estimate" title={n === null ? undefined : `${scale ? exact : ""}n = ${grouped(n)}`}>
      {texts ? <a href={to(texts)} tabIndex={first ? 0 : -1} children={text} /> : text}
      {scale && typeof value === "number" && <Bar value={value} scale={scale} />}
      <small>{interval(...around, as)}</small>
      {missing !== null && missing > 0 && (
        <small class="bad" title={bounds && `what the value could be with what is missing: ${bounds}`}>
          {grouped(missing)} missing{bounds && !scale && `: ${bounds}`}
        </small>
      )}
      {value !== null && <Failing table={table} row={row} />}
    </span>
  );
}

function Plain({ table, row, column }: { table: Table; row: number; column: ColumnInfo }) {
  const { head, to } = usePage();
  const value = table.at(column.name, row);
  const texts = typeof value === "number" ? textsOf(head.texts, table, row) : null;
  const text = t(cellText(value, column));
  return texts ? <a href={to(texts)} tabIndex={-1} class="quiet" children={text} /> : text;
}

/** Columns of a plain table: those that name a row first; ends of an interval stand with the value. */
export function plainColumns(info: TableInfo, table: Table, hidden: readonly string[]): Column[] {
  const { cell } = info;
  const lead = info.lead.flatMap((name) => info.columns.filter((c) => c.name === name));
  const rest = info.columns.filter((c) => !lead.includes(c) && c.name !== cell?.low && c.name !== cell?.high);
  const columns = [...lead, ...rest].filter((column) => !hidden.includes(column.name));
  return columns.map((column, i) => ({
    ...{ id: column.name, title: words(column.name), means: column.means, type: column.type, lead: i === 0 },
    value: (row) => table.at(column.name, row),
    show: (row) =>
      column.name === cell?.value ? (
        <Estimate table={table} row={row} cell={cell} />
      ) : (
        <Plain table={table} row={row} column={column} />
      ),
  }));
}

interface Matrix {
  table: Table;
  rows: readonly number[];
  lead: readonly string[]; // a row for each of their values
  across: (row: number) => string; // a column for each value
  cell: CellInfo;
  title?: (value: string) => string;
  picture?: string; // of TableInfo: the larger a number, the darker its cell
  bars?: boolean; // narrow cells with bars
}
export function matrix({ table, rows, lead, across, cell, title, picture, bars }: Matrix): {
  columns: Column[];
  rows: number[];
} {
  const name = (row: number) => JSON.stringify(lead.map((c) => table.at(c, row)));
  const groups = [...groupBy(rows, name)];
  const places = new Map(groups.map(([name, of]) => [name, new Map(of.toReversed().map((row) => [across(row), row]))]));
  const names = lead.map((id, i): Column => ({
    ...{ id, title: words(id), type: "text", lead: i === 0 },
    value: (row) => table.at(id, row),
    show: (row) => t(table.text(id, row)),
  }));
  const most = rows.reduce((most, row) => Math.max(most, Math.abs(table.number(cell.value, row) ?? 0)), 1);
  const values = [...new Set(rows.map(across))].map((of, i): Column => {
    const at = (row: number) => {
      const mirrored = () => places.get(JSON.stringify([of]))?.get(table.text(lead[0]!, row));
      return places.get(name(row))?.get(of) ?? (picture === "pairs" ? mirrored() : undefined);
    };
    const scale = bars
      ? barScale(rows.filter((row) => across(row) === of).map((row) => table.number(cell.value, row)))
      : undefined;
    return {
      ...{ id: `at.${of}`, title: title?.(of) ?? (picture ? of.replaceAll("_", "_\u200b") : of), type: "number" },
      value: (row) => table.at(cell.value, at(row) ?? -1),
      ...(picture && { tint: (row) => (table.number(cell.value, at(row) ?? -1) ?? 0) / most }),
      show(row) {
        const place = at(row);
        return place !== undefined && <Estimate table={table} row={place} cell={cell} first={i === 0} scale={scale} />;
      },
    };
  });
  return { columns: [...names, ...values], rows: groups.map(([, of]) => of[0]!) };
}

interface Pick {
  column: string;
  values: string[];
  value: string;
}
/** One value of each column of `pick`, by the address or the first there is; and the rows that are left. */
export function picked(info: TableInfo, table: Table, at: At): { picks: Pick[]; rows: number[] } {
  const others = info.columns.filter(({ name }) => !info.pick.includes(name) && at[`is.${name}`]);
  let rows = table.where(Object.fromEntries(others.map(({ name }) => [name, at[`is.${name}`]!])));
  const picks = info.pick.map((column) => {
    const values = table.different(column, rows);
    const value = values.find((v) => key(v) === at[`is.${column}`]) ?? values[0] ?? "";
    rows = rows.filter((row) => table.text(column, row) === value);
    return { column, values, value };
  });
  return { picks, rows };
}

export function Picks({ picks }: { picks: readonly Pick[] }) {
  const { go } = usePage();
  return (
    <>
      {picks.map(({ column, values, value }) => {
        const options = values.map((v) => [key(v), v || "–"] as const);
        const change = (v: string) => go({ [`is.${column}`]: v });
        return <Select key={column} label={words(column)} value={key(value)} options={options} change={change} />;
      })}
    </>
  );
}
