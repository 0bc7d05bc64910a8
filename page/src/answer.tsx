/** The first view: what to use for which decision, and a picture of all metrics. */
import type { JSX } from "preact";
import type { GridCell, GridRow, Problem } from "./contract";
import { Certificate } from "./certificate";
import { type Table, tableOf } from "./data";
import { counted, interval, label, short } from "./format";
import { certificates, fixedOrder, kindOf, ofRow, selected, SIGNS, STATES } from "./grid";
import { Axis, Dot, scaleOf } from "./plot";
import { Select, T, usePage, Wait } from "./ui";

export function Answer(): JSX.Element {
  const { head } = usePage();
  const info = certificates(head);
  return (
    <>
      <section class="opening">
        <h1>
          <T text={head.name} />
        </h1>
        <p class="about">
          <T text={head.about} />
        </p>
        {head.banners.map((banner) => (
          <p key={banner} class="banner">
            <T text={banner} />
          </p>
        ))}
        <ul class="answer">
          {head.answer.map((sentence) => (
            <li key={sentence}>
              <T text={sentence} />
            </li>
          ))}
        </ul>
        {head.grid.length > 0 && <Grid />}
        <DataLine />
      </section>
      {info && head.grid.length > 0 && (
        <Wait promise={tableOf(info)}>{(table) => <Picture table={table} />}</Wait>
      )}
    </>
  );
}

function Grid(): JSX.Element {
  const { head } = usePage();
  return (
    <div class="scroll" role="region" tabIndex={0} aria-label="What to use for which decision">
      <table class="grid">
        <thead>
          <tr>
            <th scope="col">
              <span class="hidden">Criterion</span>
            </th>
            {head.decisions.map((decision) => (
              <th key={decision.level} scope="col">
                <T text={decision.title} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {head.grid.map((row) => (
            <tr key={row.study + row.criterion + row.part}>
              <th scope="row">
                <T text={row.title} />
              </th>
              {head.decisions.map(({ level }, i) => (
                <td key={level}>{<Cell row={row} level={level} cell={row.cells[i] ?? null} />}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface CellProps {
  row: GridRow;
  level: string;
  cell: GridCell | null;
}
function Cell({ row, level, cell }: CellProps): JSX.Element {
  const { to } = usePage();
  if (!cell) return <span class="soft">not tested</span>;
  const metric = cell.metric || null;
  return (
    <a class={`state ${cell.state}`} href={to({ view: "answer", ...ofRow(row), level, metric })}>
      <b>
        <span aria-hidden="true">{SIGNS[cell.state]}</span> {STATES[cell.state]}
      </b>{" "}
      {metric && <T text={metric} />}{" "}
      {cell.value !== null && (
        <span class="numbers">
          {short(cell.value)} {interval(cell.low, cell.high, short)}
        </span>
      )}
      <small>
        <T text={cell.says} />
      </small>
    </a>
  );
}

const PROBLEMS: readonly (readonly [Problem["kind"], string, string])[] = [
  ["missing", "note on missing answers", "notes on missing answers"],
  ["warning", "warning", "warnings"],
  ["limit", "limit of the study", "limits of the study"],
  ["change", "change since accepted", "changes since accepted"],
];

/** One line on the data; each count opens what it counts. */
function DataLine(): JSX.Element | null {
  const { head, at, to } = usePage();
  const kinds = PROBLEMS.map(([kind, one, many]) => {
    const of = head.problems.filter((problem) => problem.kind === kind);
    return { kind, of, title: `${of.length} ${of.length === 1 ? one : many}` };
  }).filter(({ of }) => of.length);
  const open = kinds.find(({ kind }) => kind === at.problems);
  if (!kinds.length && !head.dataset) return null;
  return (
    <div class="data">
      <p>
        {head.dataset?.counts.map((count) => (
          <span key={count}>
            <T text={count} />
          </span>
        ))}
        {kinds.map(({ kind, title }) => (
          <a
            key={kind}
            class={kind}
            href={to({ problems: open?.kind === kind ? null : kind })}
            aria-expanded={open?.kind === kind}
          >
            {title}
          </a>
        ))}
        {!kinds.length && <span>no warnings, nothing missing</span>}
      </p>
      {open && (
        <ul>
          {open.of.map(({ text }) => (
            <li key={text}>
              <T text={text} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** All metrics for one criterion and decision, in one order whatever is selected. */
function Picture({ table }: { table: Table }): JSX.Element | null {
  const { head, at, to, go } = usePage();
  const now = selected(head, at);
  if (!now) return null;
  const rows = new Map(
    table
      .where({ ...ofRow(now.row), level: now.level })
      .map((row) => [label(table.at("metric", row), table.at("judge", row)), row]),
  );
  const ranked = fixedOrder(table).filter((metric) => rows.has(metric));
  const known = ranked.filter((metric) => table.number("value", rows.get(metric)!) !== null);
  const undefinedOnes = ranked.filter((metric) => !known.includes(metric));
  const ends = ["low", "high", "value"].flatMap((column) =>
    [...rows.values()].map((row) => table.number(column, row)),
  );
  const scale = scaleOf(ends);
  const criteria = head.grid.map((row, i) => [String(i), row.title] as const);
  const pick = (i: string): void => go(ofRow(head.grid[Number(i)]!));
  return (
    <section class="picture">
      <h2>All metrics</h2>
      <div class="fields">
        <Select
          label="Criterion"
          value={String(head.grid.indexOf(now.row))}
          options={criteria}
          change={pick}
        />
        <Select
          label="Decision between"
          value={now.level}
          options={head.decisions.map((d) => [d.level, d.title])}
          change={(level) => go({ level })}
        />
      </div>
      <p class="soft">
        Correlation with people; thick: these systems only, thin: other systems too. Metrics stand by
        their mean over all criteria and decisions, so that each keeps its place. Select one to see what
        its verdict rests on.
      </p>
      <div class="row head" aria-hidden="true">
        <span />
        <Axis scale={scale} />
      </div>
      <ol class="metrics">
        {known.map((metric) => (
          <Metric key={metric} metric={metric} table={table} row={rows.get(metric)!} scale={scale} />
        ))}
      </ol>
      {undefinedOnes.length > 0 && (
        <details open={undefinedOnes.includes(at.metric ?? "")}>
          <summary>{counted(undefinedOnes.length, "metric")} undefined here</summary>
          <ul class="undefined">
            {undefinedOnes.map((metric) => (
              <li key={metric}>
                <a href={to({ metric: metric === at.metric ? null : metric })}>
                  <T text={metric} />
                </a>
                {metric === at.metric && <Certificate table={table} row={rows.get(metric)!} />}
              </li>
            ))}
          </ul>
        </details>
      )}
      <details>
        <summary>What verdicts mean</summary>
        <dl>
          {head.verdicts.map((kind) => (
            <div key={kind.kind}>
              <dt class={`state ${kind.state}`}>
                {SIGNS[kind.state]} {kind.kind}
              </dt>
              <dd>{kind.means}</dd>
            </div>
          ))}
        </dl>
      </details>
    </section>
  );
}

interface MetricProps {
  metric: string;
  table: Table;
  row: number;
  scale: ReturnType<typeof scaleOf>;
}
function Metric({ metric, table, row, scale }: MetricProps): JSX.Element {
  const { head, at, to } = usePage();
  const open = metric === at.metric;
  const verdict = table.text("verdict", row);
  const state = kindOf(verdict, head.verdicts)?.state ?? "no";
  const [value, low, high] = ["value", "low", "high"].map((c) => table.number(c, row));
  const inner = [
    table.number("low_these_systems", row),
    table.number("high_these_systems", row),
  ] as const;
  return (
    <li class={open ? "open" : ""}>
      <a class="row" href={to({ metric: open ? null : metric })} aria-expanded={open}>
        <span class="name">
          <T text={metric} />
        </span>
        <Dot scale={scale} value={value!} low={low!} high={high!} inner={inner} state={state} />
        <span class="numbers">
          {short(value)} <small>{interval(low, high, short)}</small>
        </span>
        <span class={`state ${state}`}>
          <span aria-hidden="true">{SIGNS[state]}</span> {verdict}
        </span>
      </a>
      {open && <Certificate table={table} row={row} />}
    </li>
  );
}
