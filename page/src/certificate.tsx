/** What a verdict rests on: the exact test, confounds, a rater beside the metric, what would settle it. */
import { key } from "./address";
import { labelOf, type Table } from "./data";
import { cellText, interval, words } from "./format";
import { kindOf } from "./grid";
import { PEOPLE } from "./texts";
import { Facts, t, usePage } from "./ui";

const GROUPS: Readonly<Record<string, string>> = {
  "The exact test":
    "value low_these_systems p smallest_p shown_by coefficient design n n_systems n_documents n_clusters n_undefined" +
    " n_missing corrected",
  Confounds: "confound given_confound given_confound_p within_systems within_systems_p only_between_systems",
  "A rater beside the metric": "with_raters rater against_rater n_raters n_against_rater as_good_as_rater",
  "What would settle it": "advice needed_systems needed_documents",
};
/** Ends of intervals, which stand beside their values; one without a value stands alone. */
const ENDS: Readonly<Record<string, readonly [string, string]>> = {
  value: ["low", "high"],
  low_these_systems: ["low_these_systems", "high_these_systems"],
  corrected: ["corrected_low", "corrected_high"],
  against_rater: ["against_rater_low", "against_rater_high"],
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
        {Object.entries(GROUPS).map(([title, columns]) => (
          <section key={title}>
            <h3>{title}</h3>
            <Facts facts={columns.split(" ").flatMap((name) => fact(table, row, name))} />
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
  const says = text ? t(text) : <span class="soft">unknown</span>;
  return [{ term: words(name.replace(/^low_/, "")), says, title: column.means }];
}

/** Ways from a verdict to the texts behind it; measures are those of whole texts. */
function TextLinks({ metric, criterion, part }: { metric: string; criterion: string; part: string }) {
  const { head, to } = usePage();
  if (!head.texts) return null;
  const known = ["", "full"].includes(part) ? head.texts.measures.map((m) => m.key) : [];
  const [x, y] = [metric, PEOPLE + criterion].map((name) => (known.includes(name) ? name : null));
  if (!x && !head.texts.judges.length) return null;
  const judge = head.texts.judges.find((name) => metric.endsWith(` (${name})`));
  const of = { view: "texts", x, y };
  const against = { judge: judge && key(judge), side: "against", sort: "-against" };
  return (
    <p class="links">
      <span>Texts:</span>
      {x && y && <a href={to({ ...of, sort: "-apart" })}>where it and people are furthest apart</a>}
      {head.texts.judges.length > 0 && <a href={to({ ...of, ...against })}>with claims that count against them</a>}
      {x && <a href={to({ ...of, sort: x })}>lowest first</a>}
      {x && <a href={to({ ...of, sort: `-${x}` })}>highest first</a>}
    </p>
  );
}
