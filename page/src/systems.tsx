/** Systems: the leaderboard, one metric as a picture, and two systems document by document. */
import { useMemo } from "preact/hooks";
import type { Measure, SystemsInfo, TableInfo, TextsInfo } from "./contract";
import { key } from "./address";
import { Estimate, matrix, picked, Picks } from "./cells";
import { range, type Table, tableOf } from "./data";
import { capital, counted, label, shown, words } from "./format";
import { sorted } from "./order";
import { Dots } from "./plot";
import { type Column, DataTable } from "./table";
import { difference, versus } from "./texts";
import { Failed, MeanOf, named, Select, t, usePage, Wait } from "./ui";

export function Systems({ info }: { info: SystemsInfo }) {
  const { head } = usePage();
  const [board, groups] = [info.table, info.groups].map((name) => head.tables.find((table) => table.name === name));
  const both = useMemo(() => board && Promise.all([tableOf(board), groups ? tableOf(groups) : null]), [board, groups]);
  if (!board || !both) return <Failed error={`There is no table ${info.table}.`} />;
  return (
    <section class="systems">
      <h1>{capital(info.noun)}s</h1>
      <Wait promise={both}>
        {([table, letters]) => <Board info={info} board={board} table={table} letters={letters} />}
      </Wait>
      {head.texts && head.texts.authors.length > 1 && <Versus texts={head.texts} info={info} />}
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

function Board({ info, board, table, letters }: BoardProps) {
  const { at, go, to } = usePage();
  const { picks, rows } = useMemo(() => picked(board, table, at), [board, table, at]);
  const metricAt = (row: number) => metricOf(info, table, row);
  const firsts = useMemo(() => new Map(rows.toReversed().map((row) => [metricAt(row), row])), [rows]);
  const metrics = useMemo(() => [...new Set(rows.map(metricAt))], [rows]);
  const better = (m: string) => table.text(info.better, firsts.get(m) ?? -1);
  // Metrics of one judge at a time, without its name; those that need no judge stay.
  const judgeOf = (m: string) => table.text("judge", firsts.get(m) ?? -1);
  const judges = [...new Set(info.headline.map(judgeOf))].filter((name) => !["", "none"].includes(name));
  const judge = judges.find((name) => key(name) === at.judge) ?? judges[0] ?? "";
  const ofJudge = (m: string) => judges.length < 2 || !judges.includes(judgeOf(m)) || judgeOf(m) === judge;
  const chosen = metrics.find((m) => key(m) === at.metric);
  const metric = chosen ?? info.headline.find(ofJudge) ?? metrics[0] ?? "";
  const shape = useMemo(() => {
    const columns = [...new Set([...info.headline.filter(ofJudge), metric])];
    const some = columns.flatMap((m) => rows.filter((row) => metricAt(row) === m));
    const title = (m: string) => words(m.replace(` (${judge})`, "")) + (ARROWS[better(m)] ?? "");
    const how = { lead: [info.system], across: metricAt, cell: info.cell, title, bars: true };
    const shape = matrix({ table, rows: some, ...how });
    return { ...shape, columns: shape.columns.map((column, i) => (i ? column : { ...column, title: info.noun })) };
  }, [rows, metric, judge]);
  const best = `${better(metric) === "lower" ? "" : "-"}at.${metric}`;
  const ofMetric = rows.filter((row) => metricAt(row) === metric);
  const byValue = { v: (row: number) => table.at(info.cell.value, row) };
  const lines = sorted(ofMetric, byValue, best.startsWith("-") ? "-v" : "v").map((row) => {
    const names = [...info.metric, info.system].map((column) => [column, table.text(column, row)] as const);
    const letter = letters?.text("group", letters.where(Object.fromEntries(names))[0] ?? -1);
    const says = [<Estimate table={table} row={row} cell={info.cell} />, <span class="letters">{letter}</span>];
    return { row, name: table.text(info.system, row), says };
  });
  return (
    <>
      <div class="fields">
        <Picks picks={picks} />
        {judges.length > 1 && (
          <Select
            label="Judge"
            value={key(judge)}
            options={named(judges)}
            change={(name) => go({ judge: name, metric: null, sort: null })}
          />
        )}
        <Select
          label="Metric"
          value={key(metric)}
          options={named(metrics)}
          change={(m) => go({ metric: m, sort: null })}
        />
      </div>
      {judges.length === 1 && <p class="soft">Judged by {t(judge)}, where a metric needs a judge.</p>}
      <DataTable label="Leaderboard" columns={shape.columns} rows={shape.rows} order={best} narrow />
      <h2>{t(metric)}</h2>
      {letters && <p class="soft">{capital(info.noun)}s that share a letter cannot be told apart.</p>}
      {info.no_groups && <p class="soft">{t(info.no_groups)}</p>}
      <section class="dots">
        <Dots table={table} cell={info.cell} lines={lines} />
      </section>
      <p class="links">
        <a href={to({ view: "evidence", table: board.name })}>The whole table</a>
        {letters && <a href={to({ view: "evidence", table: info.groups })}>All groups</a>}
      </p>
    </>
  );
}

function metricOf(info: SystemsInfo, table: Table, row: number): string {
  const [metric = "", judge = ""] = info.metric;
  return label(table.at(metric, row), table.at(judge, row));
}

/** Two systems, document by document. */
function Versus({ texts, info }: { texts: TextsInfo; info: SystemsInfo }) {
  const { at, go } = usePage();
  const all = texts.measures;
  const measure = all.find((m) => m.key === (at.x ?? at.metric)) ?? all[0];
  const names = named(texts.authors);
  const author = (side: "a" | "b") => names.find(([name]) => name === at[side])?.[1];
  const [a, b] = [author("a"), author("b")];
  const field = (side: "a" | "b", title: string) => {
    const change = (name: string) => go({ [side]: name });
    return <Select label={title} value={at[side] ?? ""} any="choose" options={names} change={change} />;
  };
  const by = all.map((m) => [m.key, m.key] as const);
  return (
    <section>
      <h2>{`Two ${info.noun}s, ${texts.noun} by ${texts.noun}`}</h2>
      <div class="fields">
        {field("a", "Compare")}
        {field("b", "with")}
        {measure && <Select label="by" value={measure.key} options={by} change={(x) => go({ x })} />}
      </div>
      {a !== undefined && b !== undefined && measure && (
        <Wait promise={tableOf(texts.table)}>
          {(index) => <Pairs index={index} a={a} b={b} measure={measure} noun={texts.noun} />}
        </Wait>
      )}
    </section>
  );
}

function Pairs({ index, a, b, measure, noun }: { index: Table; a: string; b: string; measure: Measure; noun: string }) {
  const { to } = usePage();
  const both = useMemo(() => versus(index, measure, a, b), [index, a, b, measure.key]);
  const { pairs, alone, unscored, wins, ties, losses } = both;
  const columns = useMemo((): Column[] => {
    const document = (i: number) => index.text("document", pairs[i]!.row);
    const opened = (i: number) =>
      to({ view: "texts", doc: key(document(i)), text: key(a), beside: key(b), x: measure.key, diff: 1 });
    const number = (id: string, title: string, of: (i: number) => number | null): Column => ({
      ...{ id, title, type: "number", value: of, show: (i) => shown(of(i)) },
    });
    return [
      {
        ...{ id: "document", title: noun, type: "text", lead: true, value: document },
        show: (i) => <a href={opened(i)}>{t(document(i))}</a>,
      },
      number("a", a, (i) => pairs[i]!.a),
      number("b", b, (i) => pairs[i]!.b),
      number("difference", "difference", (i) => difference(pairs[i]!)),
    ];
  }, [both]);
  const of = ` of ${counted(pairs.length, noun)}`;
  return (
    <>
      <p class="summary">
        <span>
          {t(a)} is better in {wins}, {t(b)} in {losses}, equal in {ties}
          {of}
        </span>
        <MeanOf title="mean difference" of={both.difference} />
      </p>
      {alone[0] + alone[1] + unscored > 0 && (
        <p class="soft">
          Left out:{" "}
          {[
            alone[0] > 0 && `${counted(alone[0], noun)} that only ${a} wrote about`,
            alone[1] > 0 && `${counted(alone[1], noun)} that only ${b} wrote about`,
            unscored > 0 && `${counted(unscored, noun)} in which one has no value`,
          ]
            .filter(Boolean)
            .join(", ")}
          .
        </p>
      )}
      <DataTable label={`${a} and ${b}`} columns={columns} rows={range(pairs.length)} by="by" order="-difference" />
    </>
  );
}
