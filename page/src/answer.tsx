/** The first view: what to use for which decision, and a picture of all metrics. */
import { useMemo } from "preact/hooks";
import type { GridCell, GridRow, Problem, Since } from "./contract";
import { Certificate } from "./certificate";
import { labelOf, load, type Table, tableOf } from "./data";
import { counted, interval, short } from "./format";
import { certificates, kindOf, lookOf, ofRow, ranked, selected } from "./grid";
import { Dots } from "./plot";
import { Facts, Paragraphs, Select, t, useLoaded, usePage, Wait } from "./ui";

export function Answer() {
  const { head, to } = usePage();
  const info = certificates(head);
  return (
    <>
      <h1>{t(head.name)}</h1>
      <p class="about">{t(head.about)}</p>
      <Paragraphs texts={head.banners} kind="banner" />
      <DataLine />
      <div class="answer">
        <Paragraphs texts={head.answer} />
      </div>
      {head.grid.length > 0 && <Grid />}
      {info && head.grid.length > 0 ? (
        <Wait promise={tableOf(info)}>{(table) => <Picture table={table} />}</Wait>
      ) : (
        <ul class="list">
          {head.tables.map(({ name, title }) => (
            <li key={name}>
              <a href={to({ view: "evidence", table: name })}>{t(title)}</a>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function Grid() {
  const { head } = usePage();
  return (
    <div class="scroll" role="region" tabIndex={0} aria-label="What to use for which decision">
      <table class="grid">
        <thead>
          <tr>
            <th scope="col">
              <span class="hidden">Criterion</span>
            </th>
            {Object.entries(head.decisions).map(([level, title]) => (
              <th key={level} scope="col" children={t(title)} />
            ))}
          </tr>
        </thead>
        <tbody>
          {head.grid.map((row) => (
            <tr key={row.study + row.criterion + row.part}>
              <th scope="row">{t(row.title)}</th>
              {Object.entries(head.decisions).map(([level, title], i) => (
                <td
                  key={level}
                  data-title={title}
                  children={<Cell row={row} level={level} cell={row.cells[i] ?? null} />}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell({ row, level, cell }: { row: GridRow; level: string; cell: GridCell | null }) {
  const { to } = usePage();
  if (!cell) return <span class="untested">not tested</span>;
  const { name, sign } = lookOf(cell.verdict, cell.state);
  return (
    <a class={name} href={to({ view: "answer", ...ofRow(row), level, metric: cell.metric })}>
      <b class={`state ${name}`}>
        {sign} {t(cell.verdict)}
      </b>{" "}
      {t(cell.metric)} <span class="numbers">{`${short(cell.value)} ${interval(cell.low, cell.high, short)}`}</span>
      <small>{t(cell.says)}</small>
    </a>
  );
}

const PROBLEMS: Readonly<Record<Problem["kind"], readonly [singular: string, plural: string]>> = {
  missing: ["note on missing answers", "notes on missing answers"],
  warning: ["warning", "warnings"],
  limit: ["limit of the study", "limits of the study"],
  change: ["change since accepted", "changes since accepted"],
};

/** One line on the data; each count opens what it counts. */
function DataLine() {
  const { head, at, to } = usePage();
  const kinds = Object.entries(PROBLEMS).flatMap(([kind, names]) => {
    const texts = head.problems.filter((problem) => problem.kind === kind).map(({ text }) => text);
    return texts.length ? [{ kind, texts, title: `${texts.length} ${names[texts.length === 1 ? 0 : 1]}` }] : [];
  });
  const open = kinds.find(({ kind }) => kind === at.problems);
  const since = useLoaded(useMemo(() => (head.kind === "benchmark" ? load<Since | null>("since") : null), [head]));
  return (
    <div class="data">
      <p>
        {head.dataset?.counts.map((count) => (
          <span key={count}>{t(count)}</span>
        ))}
        {kinds.map(({ kind, title }) => (
          <a key={kind} href={to({ problems: open?.kind === kind ? null : kind })} aria-expanded={open?.kind === kind}>
            {title}
          </a>
        ))}
        {head.dataset && !kinds.length && <span>no warning, nothing missing</span>}
        {since.value?.title && <a href={to({ view: "since" })} children={t(since.value.title)} />}
        {head.links.map(({ href, title }) => (
          <a key={href} href={href} children={t(title)} />
        ))}
      </p>
      {open && <Paragraphs texts={open.texts} kind="problem" />}
    </div>
  );
}

const CELL = { value: "value", low: "low", high: "high", n: "", missing: "", least: "", most: "" };

/** All metrics for one criterion and decision, the best verdict first. */
function Picture({ table }: { table: Table }) {
  const { head, at, to, go } = usePage();
  const now = selected(head, at);
  if (!now) return null;
  const there = table.where({ ...ofRow(now.row), level: now.level });
  const rows = ranked(table, there, head.verdicts);
  const known = rows.filter((row) => table.number("value", row) !== null);
  const unknown = rows.filter((row) => !known.includes(row));
  const criteria = head.grid.map((row, i) => [String(i), row.title] as const);
  const pick = (i: string) => go(ofRow(head.grid[Number(i)]!));
  const verdicts = head.verdicts.map((of) => {
    return { term: `${lookOf(of.kind, of.state).sign} ${of.kind}`, says: t(of.means) };
  });
  const line = (row: number) => {
    const metric = labelOf(table, row);
    const [value, low, high] = ["value", "low", "high"].map((name) => table.number(name, row));
    const verdict = table.text("verdict", row);
    const look = lookOf(verdict, kindOf(verdict, head.verdicts)?.state);
    const says = (
      <>
        <span class="numbers">
          {short(value)} <small>{interval(low, high, short)}</small>
        </span>
        <span class={`state ${look.name}`}>{`${look.sign} ${verdict}`}</span>
      </>
    );
    const open = metric === at.metric;
    const href = to({ metric: open ? null : metric });
    return { row, name: metric, look, says, href, opened: open && <Certificate table={table} row={row} /> };
  };
  return (
    <section class="picture">
      <h2>All metrics</h2>
      <div class="fields">
        <Select label="Criterion" value={String(head.grid.indexOf(now.row))} options={criteria} change={pick} />
        <Select
          label="Decision between"
          value={now.level}
          options={Object.entries(head.decisions)}
          change={(level) => go({ level })}
        />
      </div>
      <p class="soft">
        Correlation with people. The thick line speaks for these systems only, the thin one for others too. A full dot
        is a metric to use, a half-filled one is promising. The best verdict for this criterion and decision comes
        first, then the largest correlation. Select a metric to see what its verdict rests on.
      </p>
      <Dots table={table} cell={CELL} lines={known.map(line)} inner={["low_these_systems", "high_these_systems"]} />
      {unknown.length > 0 && (
        <details open={unknown.some((row) => labelOf(table, row) === at.metric)}>
          <summary>{counted(unknown.length, "metric")} undefined here</summary>
          <ul class="list">
            {unknown.map((row) => {
              const metric = labelOf(table, row);
              const open = metric === at.metric;
              return (
                <li key={metric}>
                  <a href={to({ metric: open ? null : metric })}>{t(metric)}</a>
                  {open && <Certificate table={table} row={row} />}
                </li>
              );
            })}
          </ul>
        </details>
      )}
      <details>
        <summary>What verdicts mean</summary>
        <Facts facts={verdicts} />
      </details>
    </section>
  );
}
