/** Systems: the leaderboard, one metric as a picture, and two systems document by document. */
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { SystemsInfo, TableInfo, TextsInfo } from "./contract";
import { type Changes, key } from "./address";
import { Estimate, matrix, picked } from "./cells";
import { range, type Table, tableOf } from "./data";
import { counted, label, shown, words } from "./format";
import { sorted } from "./order";
import { Axis, Dot, scaleOf } from "./plot";
import { type Column, DataTable } from "./table";
import { difference, type Measure, measures, versus } from "./texts";
import { Select, T, usePage, Wait } from "./ui";

export function Systems({ info }: { info: SystemsInfo }): JSX.Element {
  const { head } = usePage();
  const board = head.tables.find((table) => table.name === info.table);
  const groups = head.tables.find((table) => table.name === info.groups);
  if (!board) return <p>There is no table {info.table}.</p>;
  const both = useMemo(
    () => Promise.all([tableOf(board), groups ? tableOf(groups) : null]),
    [board, groups],
  );
  return (
    <section class="systems">
      <h1>{counted(2, info.noun).replace(/^2 (.)/, (_, c: string) => c.toUpperCase())}</h1>
      <Wait promise={both}>
        {([table, letters]) => (
          <Board info={info} board={board} table={table} letters={letters} />
        )}
      </Wait>
      {head.texts && <Versus texts={head.texts} info={info} />}
    </section>
  );
}

interface BoardProps {
  info: SystemsInfo;
  board: TableInfo;
  table: Table;
  letters: Table | null;
}
const ARROWS: Readonly<Record<string, string>> = { higher: " ↑", lower: " ↓" };

function Board({ info, board, table, letters }: BoardProps): JSX.Element {
  const { at, go, to } = usePage();
  const { picks, rows } = useMemo(() => picked(board, table, at), [board, table, at]);
  const named = (row: number): string => metricOf(info, table, row);
  const metrics = useMemo(() => [...new Set(rows.map(named))], [rows]);
  const metric = metrics.find((m) => key(m) === at.metric) ?? info.headline[0] ?? metrics[0] ?? "";
  const shape = useMemo(() => {
    const wanted = [...info.headline, metric];
    const arrow = (m: string): string => {
      const row = rows.find((r) => named(r) === m);
      return m + (row === undefined ? "" : (ARROWS[table.text(info.better, row)] ?? ""));
    };
    const some = rows.filter((row) => wanted.includes(named(row)));
    return matrix([info.system], named, info.cell, table, some, arrow);
  }, [rows, metric]);
  return (
    <>
      <div class="fields">
        {picks.map(({ column, values, value }) => (
          <Select
            key={column}
            label={words(column)}
            value={key(value)}
            options={values.map((v) => [key(v), v])}
            change={(v) => go({ [`is.${column}`]: v })}
          />
        ))}
        <Select
          label="Metric"
          value={key(metric)}
          options={metrics.map((m) => [key(m), m])}
          change={(m) => go({ metric: m })}
        />
      </div>
      <DataTable
        label="Leaderboard"
        columns={shape.columns}
        rows={shape.rows}
        sort={at.sort ?? ""}
        setSort={(sort) => go({ sort })}
      />
      <Ranked
        info={info}
        table={table}
        rows={rows.filter((row) => named(row) === metric)}
        letters={letters}
      />
      <p class="links">
        <a href={to({ view: "evidence", table: board.name })}>The whole table</a>
        {letters && <a href={to({ view: "evidence", table: info.groups })}>All groups</a>}
      </p>
    </>
  );
}

function metricOf(info: SystemsInfo, table: Table, row: number): string {
  const [metric, judge] = info.metric;
  return label(metric ? table.at(metric, row) : "", judge ? table.at(judge, row) : null);
}

interface RankedProps {
  info: SystemsInfo;
  table: Table;
  rows: readonly number[]; // of one metric
  letters: Table | null;
}
/** One metric, best system first; systems that share a letter cannot be told apart. */
function Ranked({ info, table, rows, letters }: RankedProps): JSX.Element | null {
  const { cell } = info;
  const first = rows[0];
  if (first === undefined) return null;
  const lower = table.text(info.better, first) === "lower";
  const order = sorted(rows, { v: (row) => table.at(cell.value, row) }, lower ? "v" : "-v");
  const scale = scaleOf(
    [cell.value, cell.low, cell.high].flatMap((c) => rows.map((row) => table.number(c, row))),
  );
  const group = (row: number): string => {
    const names = [...info.metric, info.system].map((c) => [c, table.text(c, row)]);
    const place = letters?.where(Object.fromEntries(names) as Record<string, string>)[0];
    return place === undefined ? "" : letters!.text("group", place);
  };
  return (
    <section class="picture">
      <h2>
        <T text={metricOf(info, table, first)} />
      </h2>
      {letters && (
        <p class="soft">
          {info.noun[0]!.toUpperCase() + info.noun.slice(1)}s that share a letter cannot be told apart.
        </p>
      )}
      <div class="row head" aria-hidden="true">
        <span />
        <Axis scale={scale} />
      </div>
      <ol class="metrics">
        {order.map((row) => (
          <li key={row}>
            <div class="row">
              <span class="name">
                <T text={table.text(info.system, row)} />
              </span>
              <Dot
                scale={scale}
                value={table.number(cell.value, row)}
                low={table.number(cell.low, row)}
                high={table.number(cell.high, row)}
                state="plain"
              />
              <Estimate table={table} row={row} cell={cell} />
              <span class="letters">{group(row)}</span>
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Two systems, document by document. */
function Versus({ texts, info }: { texts: TextsInfo; info: SystemsInfo }): JSX.Element {
  const { at, go } = usePage();
  const all = measures(texts);
  const measure = all.find((m) => m.key === (at.x ?? at.metric)) ?? all[0];
  const names = texts.authors.map(({ name }) => [key(name), name] as const);
  const [a, b] = [at.a, at.b].map((name) => names.find(([k]) => k === name)?.[1]);
  return (
    <section class="versus">
      <h2>Two {info.noun}s, {texts.noun} by {texts.noun}</h2>
      <div class="fields">
        {(["a", "b"] as const).map((side) => (
          <Select
            key={side}
            label={side === "a" ? "Compare" : "with"}
            value={at[side] ?? ""}
            any="choose"
            options={names}
            change={(name) => go({ [side]: name })}
          />
        ))}
        <Select
          label="by"
          value={measure?.key ?? ""}
          options={all.map((m) => [m.key, m.title])}
          change={(x) => go({ x })}
        />
      </div>
      {a !== undefined && b !== undefined && measure && (
        <Wait promise={tableOf(texts.index)}>
          {(index) => <Pairs {...{ index, a, b, measure }} noun={texts.noun} />}
        </Wait>
      )}
    </section>
  );
}

interface PairsProps {
  index: Table;
  a: string;
  b: string;
  measure: Measure;
  noun: string;
}
function Pairs({ index, a, b, measure, noun }: PairsProps): JSX.Element {
  const { at, to, go } = usePage();
  const both = useMemo(() => versus(index, measure, a, b), [index, a, b, measure.key]);
  const { pairs, wins, ties, losses } = both;
  const { mean, n, missing } = both.difference;
  const document = (i: number): string => index.text("document", pairs[i]!.row);
  const number = (id: string, title: string, of: (i: number) => number | null): Column => ({
    ...{ id, title, type: "number", value: of },
    show: (i) => shown(of(i)),
  });
  const opened = (i: number): Changes => ({
    ...{ view: "texts", doc: key(document(i)), text: key(a), beside: key(b), x: measure.key },
  });
  const columns: Column[] = [
    {
      ...{ id: "document", title: noun, type: "text", lead: true, value: document },
      show: (i) => (
        <a href={to(opened(i))}>
          <T text={document(i)} />
        </a>
      ),
    },
    number("a", a, (i) => pairs[i]!.a),
    number("b", b, (i) => pairs[i]!.b),
    number("difference", "difference", (i) => difference(pairs[i]!)),
  ];
  return (
    <>
      <p class="summary">
        <span>
          <T text={a} /> is better in {wins}, <T text={b} /> in {losses}, equal in {ties} of{" "}
          {counted(pairs.length, noun)}
        </span>
        <span>
          mean difference <b>{shown(mean) || "undefined"}</b> (n = {n}
          {missing > 0 && `, ${missing} without`})
        </span>
      </p>
      <DataTable
        label={`${a} and ${b}`}
        columns={columns}
        rows={range(pairs.length)}
        sort={at.by ?? "-difference"}
        setSort={(by) => go({ by })}
      />
    </>
  );
}
