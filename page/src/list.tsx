/** The list of texts, with search and filters. */
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { TextsInfo } from "./contract";
import { key } from "./address";
import { DocumentView } from "./document";
import { type Table, tableOf } from "./data";
import { counted, grouped, shown } from "./format";
import { mean } from "./order";
import { type Column, DataTable } from "./table";
import { chosen, type Listed, listed, type Measure, measures, type Search, searcher } from "./texts";
import { Failed, Select, T, useLoaded, usePage, Wait } from "./ui";

export function Texts({ info }: { info: TextsInfo }): JSX.Element {
  return <Wait promise={tableOf(info.index)}>{(index) => <Chosen index={index} info={info} />}</Wait>;
}

interface Props {
  index: Table;
  info: TextsInfo;
}
/** What of the address says which texts, and in which order; `x`, `y` and `q` beside. */
const FILTERS = ["author", "status", "task", "of", "part", "side", "judge", "split", "min", "max", "sort"];
let loading: Promise<Search> | null = null;

function Chosen({ index, info }: Props): JSX.Element {
  const { at } = usePage();
  const { x, y, q } = at;
  if (q) loading ??= searcher(info);
  const search = useLoaded(q ? loading : null);
  const columns = useMemo(() => listed(index, info, { x: x ?? "", y: y ?? "" }), [index, info, x, y]);
  const hits = useMemo(() => (q && search.value ? search.value(q) : null), [q, search.value]);
  const rows = useMemo(
    () => chosen(index, info, columns, at, hits),
    [columns, hits, ...FILTERS.map((name) => at[name])],
  );
  if (at.doc) return <DocumentView index={index} info={info} rows={rows} />;
  return (
    <section class="texts">
      <h1>Texts</h1>
      <Filters info={info} index={index} />
      {search.error && <Failed error={search.error} />}
      <Summary rows={rows} columns={columns} info={info} busy={Boolean(q) && !hits} />
      <List rows={rows} index={index} info={info} columns={columns} />
    </section>
  );
}

function Filters({ info, index }: Props): JSX.Element {
  const { at, go } = usePage();
  const names = (all: readonly string[]): [string, string][] => all.map((name) => [key(name), name]);
  const pick = (name: string) => (value: string) => go({ [name]: value });
  const all = measures(info).map((m) => [m.key, m.title] as const);
  const statuses = useMemo(() => index.different("status"), [index]);
  const tasks = useMemo(() => index.different("task"), [index]);
  const field = (
    name: string,
    label: string,
    options: readonly (readonly [string, string])[],
    any = "all",
  ): JSX.Element | null =>
    options.length < 1 ? null : (
      <Select label={label} value={at[name] ?? ""} any={any} options={options} change={pick(name)} />
    );
  return (
    <form class="fields filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <Typed name="q" label="Search" kind="search" />
      {field("author", "Author", names(info.authors.map((author) => author.name)))}
      {statuses.length > 1 && field("status", "Status", names(statuses))}
      {tasks.length > 1 && field("task", "Task", names(tasks))}
      {field("part", "Has part", names(info.parts), "any")}
      {info.judges.length > 0 && (
        <>
          {field("side", "With judgments", SIDES, "any")}
          {at.side && field("judge", "of judge", names(info.judges), "any judge")}
          <label class="check">
            <input
              type="checkbox"
              checked={at.split === "1"}
              onChange={(event) => go({ split: event.currentTarget.checked ? 1 : null })}
            />
            judge and people differ
          </label>
        </>
      )}
      {field("x", "Measure", all, "none")}
      {at.x && (
        <>
          <Typed name="min" label="from" kind="text" />
          <Typed name="max" label="to" kind="text" />
          {field("y", "against", all, "none")}
        </>
      )}
      <a class="clear" href="#texts">
        Clear
      </a>
    </form>
  );
}

const SIDES = [
  ["against", "against the text"],
  ["for", "for the text"],
  ["unknown", "unknown"],
] as const;

interface TypedProps {
  name: string;
  label: string;
  kind: "search" | "text";
}
/** A field whose text goes into the address while one types. */
function Typed({ name, label, kind }: TypedProps): JSX.Element {
  const { at, go } = usePage();
  const [text, setText] = useState(at[name] ?? "");
  const timer = useRef(0);
  useEffect(() => setText(at[name] ?? ""), [at[name]]);
  const type = (value: string): void => {
    setText(value);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => go({ [name]: value }, true), 120);
  };
  return (
    <label class={`field ${kind}`}>
      <span>{label}</span>
      <input
        type="search"
        inputMode={kind === "text" ? "decimal" : "search"}
        id={name}
        value={text}
        onInput={(event) => type(event.currentTarget.value)}
      />
    </label>
  );
}

interface SummaryProps {
  rows: readonly number[];
  columns: Listed;
  info: TextsInfo;
  busy: boolean;
}
/** How many texts, and means over them: the same numbers as in the tables. */
function Summary({ rows, columns, info, busy }: SummaryProps): JSX.Element {
  const { at } = usePage();
  const means = [at.x, at.y].flatMap((name) => {
    const value = name && columns[name];
    return value ? [{ name, ...mean(rows, value) }] : [];
  });
  return (
    <p class="summary" role="status">
      {busy ? "Searching…" : `${grouped(rows.length)} of ${counted(info.texts, "text")}`}
      {means.map(({ name, mean: value, n, missing }) => (
        <span key={name}>
          mean <T text={name} /> <b>{shown(value) || "undefined"}</b> (n = {grouped(n)}
          {missing > 0 && `, ${grouped(missing)} without`})
        </span>
      ))}
    </p>
  );
}

interface ListProps extends Props {
  rows: readonly number[];
  columns: Listed;
}
function List({ rows, index, info, columns }: ListProps): JSX.Element {
  const { at, to, go } = usePage();
  const shownColumns = useMemo(() => {
    const text = (id: string, title: string): Column => ({
      ...{ id, title, type: "text", value: columns[id]! },
      show: (row) => <T text={index.text(id, row)} />,
    });
    const number = (id: string, title: string, means: string): Column => ({
      ...{ id, title, means, type: "number", value: columns[id]! },
      show: (row) => shown(columns[id]!(row) as number | null),
    });
    const of = (row: number): Record<string, string> => ({
      doc: key(index.text("document", row)),
      text: key(index.text("author", row)),
    });
    const open: Column = {
      ...text("document", info.noun),
      lead: true,
      show: (row) => (
        <a href={to(of(row))}>
          <T text={index.text("document", row)} />
        </a>
      ),
    };
    const status: Column = {
      ...text("status", "status"),
      show: (row) => {
        const value = index.text("status", row);
        return value === "ok" ? "" : <span class="bad">! {value}</span>;
      },
    };
    const side = (id: "for" | "against" | "unknown", sign: string): Column => ({
      ...{ id, title: id, type: "integer", value: columns[id]! },
      show: (row) => {
        const n = columns[id]!(row) as number;
        return n ? (
          <a class={`side ${id}`} href={to({ ...of(row), seek: id, judge: at.judge })}>
            {sign} {n}
          </a>
        ) : (
          ""
        );
      },
    });
    const all = measures(info);
    const asked = [at.x, at.y, at.sort?.replace(/^-/, "")];
    const few = all.filter((m: Measure, i) => asked.includes(m.key) || i < 3);
    return [
      open,
      text("author", "author"),
      status,
      ...(info.judges.length ? [side("against", "✗"), side("for", "✓"), side("unknown", "?")] : []),
      ...(columns.apart ? [number("apart", "apart", "difference of the shares of texts below")] : []),
      ...few.map((m) => number(m.key, m.title, m.lower ? "lower is better" : "")),
      { ...number("words", "words", ""), type: "integer" as const, show: (row: number) => index.at("words", row) },
      { ...number("rated", "ratings", ""), type: "integer" as const, show: (row: number) => index.at("rated", row) },
    ];
  }, [index, columns, at]);
  return (
    <DataTable
      label="Texts"
      columns={shownColumns}
      rows={rows}
      sort={at.sort ?? ""}
      setSort={(sort) => go({ sort })}
      inOrder
    />
  );
}
