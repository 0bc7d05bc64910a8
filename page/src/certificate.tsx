/** What a verdict rests on: the exact test, confounds, a rater beside the metric, what would settle it. */
import { key } from "./address";
import { headLabel, ofHead } from "./claims";
import { labelOf, type Table } from "./data";
import { capital, cellText, counted, interval, probability, short, words } from "./format";
import { kindOf } from "./grid";
import { PEOPLE } from "./texts";
import { Facts, Paragraphs, t, usePage } from "./ui";

const TEST =
  "value low_these_systems p smallest_p shown_by coefficient design n n_systems n_documents n_clusters n_undefined" +
  " n_missing corrected";
/** Ends of intervals, which stand beside their values; one without a value stands alone. */
const ENDS: Readonly<Record<string, readonly [string, string]>> = {
  value: ["low", "high"],
  low_these_systems: ["low_these_systems", "high_these_systems"],
  corrected: ["corrected_low", "corrected_high"],
};
const KEYS = ["study", "criterion", "part", "metric", "judge", "level"];

export function Certificate({ table, row }: { table: Table; row: number }) {
  const { head, to } = usePage();
  const metric = labelOf(table, row);
  const means = kindOf(table.text("verdict", row), head.verdicts)?.means;
  const only = Object.fromEntries(KEYS.map((name) => [`is.${name}`, table.text(name, row)]));
  const others = head.tables.filter((of) =>
    ["metric", "criterion"].every((name) => of.columns.some((column) => column.name === name)),
  );
  return (
    <div class="certificate">
      <p class="sentence">{t(table.text("sentence", row) || table.text("verdict", row))}</p>
      {means && <p class="soft">{means}</p>}
      <TextLinks metric={metric} criterion={table.text("criterion", row)} part={table.text("part", row)} />
      <div class="groups">
        <section>
          <h3>The exact test</h3>
          <Facts facts={TEST.split(" ").flatMap((name) => fact(table, row, name))} />
        </section>
        {Object.entries(SENTENCES).map(([title, sentences]) => (
          <section key={title}>
            <h3>{title}</h3>
            <Paragraphs texts={sentences(table, row)} />
          </section>
        ))}
      </div>
      <p class="links">
        <span>Evidence:</span>
        {others.map(({ name, title }) => (
          <a key={name} href={to({ view: "evidence", table: name, ...only })} children={t(title)} />
        ))}
      </p>
    </div>
  );
}

function fact(table: Table, row: number, name: string) {
  const column = table.columns.find((of) => of.name === name);
  if (!column) return [];
  const ends = ENDS[name];
  const value = ends?.[0] === name ? "" : cellText(table.at(name, row), column);
  const around = ends && interval(table.number(ends[0], row), table.number(ends[1], row));
  const text = [value, around].filter(Boolean).join(" ");
  // What the test did not need is not shown.
  return text ? [{ term: words(name.replace(/^low_/, "")), says: t(text), title: column.means }] : [];
}

type Sentences = (table: Table, row: number) => string[];

/** What else a verdict rests on, in words. */
export const SENTENCES: Readonly<Record<string, Sentences>> = {
  Confounds: confounds,
  "A rater beside the metric": besideRater,
  "What to do": settles,
};

function confounds(table: Table, row: number): string[] {
  const confound = table.text("confound", row);
  const says = confound
    ? `${confound}: half or more of the correlation goes if it is held constant. ${left(table, row, "given_confound")}`
    : "None found: no other score of this study explains half of the correlation.";
  if (table.at("only_between_systems", row) === true) {
    return [
      says,
      `The system: of two texts of one system the metric says nothing. ${left(table, row, "within_systems")}`,
    ];
  }
  const within = table.number("within_systems", row);
  return within === null ? [says] : [says, `Among texts of one system the correlation is ${short(within)}.`];
}

/** What is left of a correlation, with its p. */
function left(table: Table, row: number, column: string): string {
  const value = table.number(column, row);
  const p = table.number(`${column}_p`, row);
  if (value === null) return "";
  return p === null ? `${short(value)} is left.` : `${short(value)} is left (p = ${probability(p)}).`;
}

function besideRater(table: Table, row: number): string[] {
  const [metric, rater, less] = ["with_raters", "rater", "against_rater"].map((name) => table.number(name, row));
  if (metric == null || rater == null)
    return ["Not compared: a rater is held against the others, and there is only one."];
  const ends = ["against_rater_low", "against_rater_high"].map((name) => table.number(name, row));
  const around = interval(ends[0], ends[1], short);
  const sentences = [
    `With the other raters the metric correlates ${short(metric)}, and a rater ${short(rater)}: a difference of` +
      ` ${[short(less), around].filter(Boolean).join(" ")}.`,
  ];
  if (table.at("as_good_as_rater", row) === true)
    sentences.push("The metric agrees with raters as well as a rater does.");
  return sentences;
}

function settles(table: Table, row: number): string[] {
  const advice = table.text("advice", row);
  const [systems, documents] = ["needed_systems", "needed_documents"].map((name) => table.number(name, row));
  const needed = [
    systems == null ? "" : counted(systems, "system"),
    documents == null ? "" : counted(documents, "document"),
  ].filter(Boolean);
  return [
    ...(advice ? [`${capital(advice)}.`] : []),
    ...(needed.length ? [`About ${needed.join(" and ")} would settle it.`] : []),
  ];
}

/** Ways from a verdict to the texts behind it; measures are those of whole texts. */
function TextLinks({ metric, criterion, part }: { metric: string; criterion: string; part: string }) {
  const { head, to } = usePage();
  if (!head.texts) return null;
  const known = ["", "full"].includes(part) ? head.texts.measures.map((m) => m.key) : [];
  const [x, y] = [metric, PEOPLE + criterion].map((name) => (known.includes(name) ? name : null));
  const { scorers: asked } = head.texts;
  if (!x && !asked.length) return null;
  const own = asked.find((of) => headLabel(of) === metric);
  const judge = own?.judge ?? asked.find((of) => metric.endsWith(` (${of.judge})`))?.judge;
  const failing = own && { view: "claims", ...ofHead(own) };
  const of = { view: "texts", x, y };
  const against = { judge: judge && key(judge), measure: own && key(own.measure), side: "against", sort: "-against" };
  return (
    <p class="links">
      <span>Texts:</span>
      {x && y && <a href={to({ ...of, sort: "-apart" })}>where it and people are furthest apart</a>}
      {asked.length > 0 && <a href={to({ ...of, ...against })}>with claims that count against them</a>}
      {failing && head.texts.claims && <a href={to(failing)}>each claim: {own.fails}</a>}
      {x && <a href={to({ ...of, sort: x })}>lowest first</a>}
      {x && <a href={to({ ...of, sort: `-${x}` })}>highest first</a>}
    </p>
  );
}
