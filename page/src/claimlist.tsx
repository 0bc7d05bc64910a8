/** Claims: every line that a judge was asked about, with filters; the worst come first. */
import { useMemo } from "preact/hooks";
import type { ClaimsInfo, TextsInfo } from "./contract";
import { key } from "./address";
import { against, certainty, chosenClaims, claimsCsv, headLabel, headOf, judgesOf, ofHead, ofMeasure } from "./claims";
import { type Table, tableOf } from "./data";
import { counted, grouped, probability, words } from "./format";
import { plain } from "./markdown";
import { type Column, DataTable } from "./table";
import { named, type Options, Select, SIGNS, t, Typed, usePage, Wait } from "./ui";

export function ClaimList({ info, claims }: { info: TextsInfo; claims: ClaimsInfo }) {
  return (
    <section class="claims">
      <h1>Claims</h1>
      <Wait promise={tableOf(claims.table)}>{(table) => <Chosen info={info} table={table} />}</Wait>
    </section>
  );
}

/** What of the address says which claims, and in which order. */
const FILTERS = ["measure", "judge", "author", "side", "word", "noun", "part", "split", "q", "sort"];

function Chosen({ info, table }: { info: TextsInfo; table: Table }) {
  const { head: page, at } = usePage();
  const head = info.scorers[headOf(info.scorers, at)]!;
  const filters = FILTERS.map((name) => at[name]);
  const claims = useMemo(() => chosenClaims(table, info, head, at), [table, info, head, ...filters]);
  const { rows } = claims;
  const save = () => {
    const url = URL.createObjectURL(new Blob([claimsCsv(table, info, head, rows)], { type: "text/csv" }));
    const link = Object.assign(document.createElement("a"), { href: url, download: `${page.name} claims.csv` });
    link.click();
    URL.revokeObjectURL(url);
  };
  const side = at.side ?? "against";
  const says = side === "against" ? head.fails : (SIDES.find(([name]) => name === side)?.[1] ?? "");
  return (
    <>
      <Filters info={info} table={table} words={claims.words} />
      <p class="summary" role="status">
        <span>
          <b>{grouped(rows.length)}</b> of {counted(claims.all, "line")}
          {says && ": "}
          {says} ({t(headLabel(head))})
        </span>
        <button class="plain" onClick={save} disabled={!rows.length} children="Save as CSV" />
      </p>
      <List info={info} table={table} rows={rows} />
    </>
  );
}

const SIDES: Options = [
  ["against", "that fail"],
  ["for", "that pass"],
  ["unknown", "without an answer"],
  ["any", ""],
];
const SPLITS: Options = [
  ["raters", "judge and raters"],
  ["judges", "two judges"],
];

function Filters({ info, table, words: answers }: { info: TextsInfo; table: Table; words: readonly string[] }) {
  const { at, go } = usePage();
  const now = headOf(info.scorers, at);
  const { parts, nouns, rated } = useMemo(() => {
    const [parts, nouns, rated] = ["part", "noun", "rated"].map((name) => table.different(name));
    return { parts: parts!, nouns: nouns!, rated: rated!.some(Boolean) };
  }, [table]);
  const field = (name: string, label: string, options: Options, any: string, least = 2) =>
    options.length >= least && (
      <Select label={label} value={at[name] ?? ""} any={any} options={options} change={(v) => go({ [name]: v })} />
    );
  const measures = [...new Set(info.scorers.map((head) => head.measure))];
  const chosen = info.scorers[now]!;
  const splits = SPLITS.filter(([name]) => name !== "raters" || rated);
  const judges = judgesOf(info, chosen.measure).map(({ judge }) => judge);
  const sides: Options = [...SIDES.slice(1, 3), ["any", "all"]];
  return (
    <form class="fields" role="search" onSubmit={(event) => event.preventDefault()}>
      <Typed name="q" label="Search" />
      {field("author", "System", named(info.authors), "all systems")}
      {measures.length > 1 && (
        <Select
          label="Measure"
          value={key(chosen.measure)}
          options={named(measures)}
          change={(measure) => go(ofMeasure(info, measure, chosen.judge))}
        />
      )}
      {judges.length > 1 && (
        <Select
          label="Judge"
          value={key(chosen.judge)}
          options={named(judges)}
          change={(judge) => go({ ...ofHead(chosen), judge, word: null })}
        />
      )}
      {field("side", "Show", sides, chosen.fails)}
      {field("word", "Answer", named(answers), "any")}
      {field("noun", "Kind", named(nouns), "all")}
      {field("part", "Part", named(parts), "all")}
      {field("split", "Different answers of", splits, "–", 1)}
      <a href="#claims">Clear</a>
    </form>
  );
}

interface ListProps {
  info: TextsInfo;
  table: Table;
  rows: readonly number[];
}
function List({ info, table, rows }: ListProps) {
  const { at, to } = usePage();
  const head = info.scorers[headOf(info.scorers, at)]!;
  const columns = useMemo(() => {
    const judges = judgesOf(info, head.measure);
    const judge = info.judges.indexOf(head.judge);
    const has = (name: string) => rows.some((row) => table.text(name, row) !== "");
    const text = (id: string, title: string): Column => ({
      ...{ id, title, type: "text", value: (row) => table.at(id, row) },
      show: (row) => <div class="clamp">{t(table.text(id, row))}</div>,
    });
    const opened = (row: number) => ({
      view: "texts",
      ...{ doc: key(table.text("document", row)), text: key(table.text("author", row)) },
      ...{ line: table.text("line", row), ...ofHead(head) },
    });
    const counting: Column = {
      ...{ id: "against", title: "against", type: "integer", value: () => null },
      means: "judges, and raters as one, who count it against the text, of those who say something",
      show: (row) => against(table, judges, row).join(" of "),
    };
    const sure: Column = {
      ...{ id: "certainty", title: "certainty", type: "number", value: () => null },
      means: "how sure the judge is, from 0 to 1",
      show: (row) => probability(certainty(table, judge, row)),
    };
    const said: Column[] = judges.map(({ judge: name, place }) => ({
      ...{ id: `word_${place}`, title: name, type: "text", value: () => null, fixed: true },
      show: (row) => {
        const side = table.text(`side_${place}`, row) as keyof typeof SIGNS;
        return (
          side in SIGNS && (
            <div class={`clamp side ${side}`} children={[SIGNS[side], " ", t(table.text(`word_${place}`, row))]} />
          )
        );
      },
    }));
    const people: Column = {
      ...text("people", "raters"),
      show: (row) => {
        const differs =
          table.text("rated", row) !== "" && table.text("rated", row) !== table.text(`side_${judge}`, row);
        return <div class={differs ? "clamp differs" : "clamp"}>{t(words(table.text("people", row)))}</div>;
      },
    };
    const claim: Column = {
      ...{ ...text("text", "claim"), lead: true },
      show: (row) => (
        <div class="clamp">
          <a href={to(opened(row))} title={table.text("text", row)} children={t(plain(table.text("text", row)))} />
        </div>
      ),
    };
    return [
      claim,
      ...(info.authors.length > 1 ? [text("author", "system")] : []),
      ...said,
      ...(has(`why_${judge}`) ? [{ ...text(`why_${judge}`, "reason"), fixed: true }] : []),
      ...(has("people") ? [people] : []),
      counting,
      ...(rows.some((row) => certainty(table, judge, row) !== null) ? [sure] : []),
      text("document", info.noun),
    ];
  }, [info, table, head, rows, at]);
  return <DataTable label="Claims" columns={columns} rows={rows} order="-against" height={70} inOrder />;
}
