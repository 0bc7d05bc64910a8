/** What a verdict rests on: the exact test, confounds, a rater beside the metric, what would settle it. */
import type { JSX } from "preact";
import { type Table } from "./data";
import { cellText, interval, label, shown, words } from "./format";
import { certificates, kindOf } from "./grid";
import { measures, PEOPLE } from "./texts";
import { T, usePage } from "./ui";

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  "The exact test": [
    ...["value", "low_these_systems", "p", "smallest_p", "shown_by", "coefficient", "design"],
    ...["n", "n_systems", "n_documents", "n_clusters", "n_undefined", "n_missing", "corrected"],
  ],
  Confounds: [
    ...["confound", "given_confound", "given_confound_p", "within_systems", "within_systems_p"],
    "only_between_systems",
  ],
  "A rater beside the metric": [
    ...["with_raters", "rater", "against_rater", "n_raters", "n_against_rater", "as_good_as_rater"],
  ],
  "What would settle it": ["advice", "needed_systems", "needed_documents"],
};
/** Ends of intervals, which stand beside their values. */
const ENDS: Readonly<Record<string, readonly [string, string]>> = {
  value: ["low", "high"],
  low_these_systems: ["low_these_systems", "high_these_systems"],
  corrected: ["corrected_low", "corrected_high"],
  against_rater: ["against_rater_low", "against_rater_high"],
};
const KEYS = ["study", "criterion", "part", "metric", "judge", "level"];

export function Certificate({ table, row }: { table: Table; row: number }): JSX.Element {
  const { head, at, to } = usePage();
  const metric = label(table.at("metric", row), table.at("judge", row));
  const means = kindOf(table.text("verdict", row), head.verdicts)?.means;
  const only = Object.fromEntries(KEYS.map((name) => [`is.${name}`, table.text(name, row)]));
  return (
    <div class="certificate">
      <p class="sentence">
        <T text={table.text("sentence", row) || table.text("verdict", row)} />
      </p>
      {means && <p class="soft">{means}</p>}
      <TextLinks metric={metric} criterion={table.text("criterion", row)} />
      <div class="groups">
        {Object.entries(GROUPS).map(([title, columns]) => (
          <Group key={title} title={title} columns={columns} table={table} row={row} />
        ))}
      </div>
      <p class="links">
        {certificates(head) && (
          <a href={to({ view: "evidence", table: "certificates", ...only })}>All fields</a>
        )}
        {head.tables
          .filter((t) => t.name !== "certificates" && has(t.columns, "metric", "criterion"))
          .map((t) => (
            <a key={t.name} href={to({ view: "evidence", table: t.name, ...only })}>
              {t.title}
            </a>
          ))}
        <a href={to({ metric: at.metric === metric ? null : at.metric })}>Close</a>
      </p>
    </div>
  );
}

const has = (columns: readonly { name: string }[], ...names: string[]): boolean =>
  names.every((name) => columns.some((column) => column.name === name));

/** Ways from a verdict to the texts behind it. */
function TextLinks({ metric, criterion }: { metric: string; criterion: string }): JSX.Element | null {
  const { head, to } = usePage();
  const known = head.texts ? measures(head.texts).map((m) => m.key) : [];
  if (!head.texts || !known.includes(metric)) return null;
  const y = known.includes(PEOPLE + criterion) ? PEOPLE + criterion : null;
  const judge = head.texts.judges.find((name) => metric.endsWith(` (${name})`));
  return (
    <p class="links">
      <span>Texts:</span>
      {y && (
        <a href={to({ view: "texts", x: metric, y, sort: "-apart" })}>
          where it and people are furthest apart
        </a>
      )}
      {head.texts.judges.length > 0 && (
        <a
          href={to({ view: "texts", x: metric, y, judge, side: "against", sort: "-against" })}
        >
          with claims that count against them
        </a>
      )}
      <a href={to({ view: "texts", x: metric, y, sort: metric })}>lowest first</a>
      <a href={to({ view: "texts", x: metric, y, sort: `-${metric}` })}>highest first</a>
    </p>
  );
}

interface GroupProps {
  title: string;
  columns: readonly string[];
  table: Table;
  row: number;
}
function Group({ title, columns, table, row }: GroupProps): JSX.Element | null {
  const there = table.columns.filter((column) => columns.includes(column.name));
  there.sort((a, b) => columns.indexOf(a.name) - columns.indexOf(b.name));
  if (!there.length) return null;
  return (
    <div>
      <h3>{title}</h3>
      <dl>
        {there.map((column) => {
          const ends = ENDS[column.name];
          const alone = ends?.[0] === column.name; // an interval without a value
          const text = alone ? " " : cellText(table.at(column.name, row), column);
          return (
            <div key={column.name} title={column.means}>
              <dt>{words(column.name.replace(/^low_/, ""))}</dt>
              <dd>
                {text ? <T text={text} /> : <span class="soft">unknown</span>}{" "}
                {ends && interval(table.number(ends[0], row), table.number(ends[1], row), shown)}
              </dd>
            </div>
          );
        })}
      </dl>
    </div>
  );
}
