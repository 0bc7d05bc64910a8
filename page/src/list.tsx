/** The list of texts, with search and filters. */
import { useMemo } from "preact/hooks";
import type { TextsInfo } from "./contract";
import { key } from "./address";
import { headLabel, headOf, ofHead } from "./claims";
import { DocumentView } from "./document";
import { range, type Table, tableOf } from "./data";
import { counted, grouped, shown } from "./format";
import { mean } from "./order";
import { type Column, DataTable } from "./table";
import { chosen, type Listed, listed, type Search, searcher } from "./texts";
import { Check, Failed, MeanOf, named, type Options, Select, SIGNS, t, Typed, useLoaded, usePage, Wait } from "./ui";

export function Texts({ info }: { info: TextsInfo }) {
  return <Wait promise={tableOf(info.table)}>{(index) => <Chosen index={index} info={info} />}</Wait>;
}

interface Props {
  index: Table;
  info: TextsInfo;
}
/** What of the address says which texts, and in which order; `x`, `y` and `q` beside. */
const FILTERS = ["author", "status", "task", "part", "side", "measure", "judge", "split", "min", "max", "sort"];
let loading: Promise<Search> | null = null;

function Chosen({ index, info }: Props) {
  const { at } = usePage();
  const { x = "", y = "", q = "" } = at;
  if (q) loading ??= searcher(info);
  const search = useLoaded(q ? loading : null);
  const columns = useMemo(() => listed(index, info, at), [index, info, x, y, at.measure, at.judge]);
  const hits = useMemo(() => (q && search.value ? search.value.hits(q) : null), [q, search.value]);
  const filters = FILTERS.map((name) => at[name]);
  const rows = useMemo(() => chosen(index, info, columns, at, hits), [columns, hits, ...filters]);
  if (at.doc) return <DocumentView index={index} info={info} rows={rows} />;
  return (
    <section class="texts">
      <h1>Texts</h1>
      <Filters info={info} index={index} />
      {search.error && <Failed error={search.error.message} />}
      <Summary rows={rows} columns={columns} info={info} busy={Boolean(q) && !hits} />
      <List rows={rows} index={index} info={info} columns={columns} search={hits && search.value} />
    </section>
  );
}

const SIDES: Options = [
  ["against", "against the text"],
  ["for", "for the text"],
  ["unknown", "unknown"],
];

function Filters({ info, index }: Props) {
  const { at, go } = usePage();
  const all = info.measures.map((m) => [m.key, m.key] as const);
  const kinds = useMemo(() => ["status", "task"].map((name) => named(index.different(name))), [index]);
  const field = (name: string, label: string, options: Options, any: string, least = 1) =>
    options.length >= least && (
      <Select label={label} value={at[name] ?? ""} any={any} options={options} change={(v) => go({ [name]: v })} />
    );
  const { scorers: asked } = info;
  const judged = asked.length > 0;
  const heads = asked.map((head, i) => [String(i), headLabel(head)] as const);
  const differ = (on: boolean) => go({ split: on ? 1 : "", sort: on ? "-split" : "" });
  return (
    <form class="fields" role="search" onSubmit={(event) => event.preventDefault()}>
      <Typed name="q" label="Search" />
      {field("author", "Author", named(info.authors), "all")}
      {field("status", "Status", kinds[0]!, "all", 2)}
      {field("task", "Task", kinds[1]!, "all", 2)}
      {field("part", "Has part", named(info.parts), "any")}
      {judged && field("side", "With judgments", SIDES, "any")}
      {asked.length > 1 && (
        <Select
          label="Count judgments of"
          value={String(headOf(asked, at))}
          options={heads}
          change={(i) => go(ofHead(asked[Number(i)]!))}
        />
      )}
      {judged && <Check label="judge and people differ" on={!!at.split} change={differ} />}
      {field("x", "Measure", all, "none")}
      {at.x && <Typed name="min" label="from" />}
      {at.x && <Typed name="max" label="to" />}
      {at.x && field("y", "beside", all, "none")}
      <a href="#texts">Clear</a>
    </form>
  );
}

interface SummaryProps {
  rows: readonly number[];
  columns: Listed;
  info: TextsInfo;
  busy: boolean;
}
/** How many texts, and means over them: the same numbers as in the tables. */
function Summary({ rows, columns, info, busy }: SummaryProps) {
  const { at } = usePage();
  const means = [at.x, at.y].flatMap((name) => {
    const value = name && columns[name];
    return value ? [{ name, of: mean(rows, value) }] : [];
  });
  return (
    <p class="summary" role="status">
      <span>{busy ? "Searching…" : `${grouped(rows.length)} of ${counted(info.texts, "text")}`}</span>
      {means.map(({ name, of }) => (
        <MeanOf key={name} title={<>mean {t(name)}</>} of={of} />
      ))}
    </p>
  );
}

interface ListProps extends Props {
  rows: readonly number[];
  columns: Listed;
  search: Search | null | undefined;
}
function List({ rows, index, info, columns, search }: ListProps) {
  const { at, to } = usePage();
  const list = useMemo(() => {
    const of = (row: number) => ({ doc: key(index.text("document", row)), text: key(index.text("author", row)) });
    const text = (id: string, show?: Column["show"]): Column => ({
      ...{ id, title: id, type: "text", value: columns[id] ?? (() => null) },
      show: show ?? ((row) => t(index.text(id, row))),
    });
    const number = (id: string, means = ""): Column => ({
      ...{ id, title: id, means, type: "number", value: columns[id]! },
      show: (row) => shown(columns[id]!(row) as number | null),
    });
    const count = (id: string, title: string): Column => ({
      ...{ id, title, type: "integer", value: columns[id]! },
      show: (row) => grouped(columns[id]!(row) as number),
    });
    const judged = Object.entries(SIGNS)
      .slice(0, 3)
      .filter(([side]) => range(index.rows).some((row) => Number(columns[side]!(row))));
    /** Leads to the first such line of the text. */
    const leading = (column: Column, seek: string, sign: string): Column => ({
      ...column,
      show: (row) => {
        const n = column.value(row) as number;
        return n > 0 && <a class={`side ${seek}`} href={to({ ...of(row), seek })} children={`${sign} ${n}`} />;
      },
    });
    const sides = judged.map(([side, sign]) => leading(count(side, side), side, sign));
    const noted = [at.x, at.y, at.sort?.replace(/^-/, "")];
    return [
      {
        ...text("document", (row) => <a href={to(of(row))}>{t(index.text("document", row))}</a>),
        ...{ title: info.noun, lead: true },
      },
      text("author", (row) => {
        const status = index.text("status", row);
        return [t(index.text("author", row)), status !== "ok" && <span class="bad"> ! {status}</span>];
      }),
      ...(search ? [text("found", (row) => t(search.around(row, at.q ?? "")))] : []),
      ...sides,
      ...(at.split ? [leading(count("split", "differ"), "split", "")] : []),
      ...(columns.apart ? [number("apart", "difference between the shares of texts that it is better than")] : []),
      ...info.measures
        .filter((m, i) => noted.includes(m.key) || i < 3)
        .map((m) => number(m.key, m.better === "lower" ? "lower is better" : "")),
      count("words", "words"),
      count("rated", "ratings"),
    ];
  }, [index, columns, at, search]);
  return <DataTable label="Texts" columns={list} rows={rows} inOrder />;
}
