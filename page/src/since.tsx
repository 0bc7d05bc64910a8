/** Since: what changed since the numbers were accepted, why, and each score over weeks. */
import { useMemo } from "preact/hooks";
import type { Since, SinceChange, SinceScore, TextsInfo } from "./contract";
import { key } from "./address";
import { load, range } from "./data";
import { counted, interval, probability, shown } from "./format";
import { History } from "./history";
import { plain } from "./markdown";
import { type Column, DataTable } from "./table";
import { Facts, named, Paragraphs, Select, t, usePage, Wait } from "./ui";

export function SinceView() {
  return (
    <section class="since">
      <h1>Since the accepted numbers</h1>
      <Wait promise={useMemo(() => load<Since | null>("since"), [])}>
        {(since) => (since ? <Shown since={since} /> : <Nothing />)}
      </Wait>
    </section>
  );
}

/** What to type, as nothing was compared. */
function Nothing() {
  const { head } = usePage();
  return (
    <>
      <p>No run was compared with accepted numbers since this report was written or accepted.</p>
      <p>Accept the numbers of this report, if you have not:</p>
      <Typed command={`metassay watch accept ${head.name}`} />
      <p>After something changed, or every week, run it again and compare:</p>
      <Typed command={`metassay watch check ${head.name}`} />
    </>
  );
}

const Typed = ({ command }: { command: string }) => (
  <p class="links">
    <code>{t(command)}</code>
  </p>
);

/** A time of a run, in UTC to the minute. */
const when = (run: string): string => `${run.slice(0, 16).replace("T", " ")} UTC`;

function Shown({ since }: { since: Since }) {
  const { head } = usePage();
  const { accepted, causes, drift, certificates, changes } = since;
  const facts = [
    { term: "Last run", says: when(since.run) },
    { term: "Commit", says: t(since.revision || "no git here") },
    { term: "Accepted numbers", says: t(accepted || "none yet") },
  ];
  return (
    <>
      <Facts facts={facts} kind="given" />
      <div class="answer">
        <Paragraphs texts={since.answer.map(plain)} />
      </div>
      {!accepted && <Typed command={`metassay watch accept ${head.name}`} />}
      {accepted && (
        <>
          <h2>Why</h2>
          <Listed texts={causes} none="Nothing differs from what made the accepted numbers." />
          {causes.length > 1 && <p class="soft">Several things changed; the effect of each alone is unknown.</p>}
          <h2>What changed</h2>
          {changes.length > 0 && <Changed changes={changes} texts={head.texts} />}
          {since.others && <p class="soft">{t(`${changes.length ? "The others" : "All scores"}: ${since.others}.`)}</p>}
        </>
      )}
      {certificates.length > 0 && <h2>Verdicts that changed</h2>}
      <Listed texts={certificates} />
      {drift.length > 0 && <h2>Judges asked again</h2>}
      <Listed texts={drift} />
      {since.scores.length > 0 && <Weeks since={since} />}
      {since.href && (
        <p class="links">
          <a href={since.href}>The whole report of changes</a>
        </p>
      )}
    </>
  );
}

const Listed = ({ texts, none }: { texts: readonly string[]; none?: string }) => (
  <ul class="said-list">
    {texts.map((text) => (
      <li key={text}>{t(text)}</li>
    ))}
    {!texts.length && none && <li class="soft">{none}</li>}
  </ul>
);

const SIGNS: Readonly<Record<string, readonly [sign: string, look: string]>> = {
  regressed: ["▼", "no"],
  improved: ["▲", "use"],
  changed: ["≠", "confirm"],
  "cannot tell": ["?", "unsure"],
};

function Changed({ changes, texts }: { changes: readonly SinceChange[]; texts: TextsInfo | null }) {
  const { to } = usePage();
  const columns = useMemo((): Column[] => {
    const at = (row: number) => changes[row]!;
    const number = (id: "before" | "after"): Column => ({
      ...{ id, title: id, type: "number", value: (row) => at(row)[id] },
      show: (row) => shown(at(row)[id]),
    });
    const known = (author: string) => texts?.authors.includes(author);
    const document = (row: number, doc: string) => to({ view: "texts", doc: key(doc), text: key(at(row).author) });
    return [
      {
        ...{ id: "metric", title: "metric", type: "text", lead: true, value: (row) => at(row).metric },
        show: (row) => t(at(row).metric),
      },
      {
        ...{ id: "author", title: "system", type: "text", value: (row) => at(row).author },
        show: (row) => t(at(row).author),
      },
      {
        ...{ id: "verdict", title: "verdict", type: "text", value: (row) => at(row).verdict },
        show(row) {
          const [sign, look] = SIGNS[at(row).verdict] ?? ["", ""];
          return <span class={`state ${look}`}>{`${sign} ${at(row).verdict}`}</span>;
        },
      },
      number("before"),
      number("after"),
      {
        ...{ id: "difference", title: "difference", type: "number", value: (row) => at(row).difference },
        show(row) {
          const { difference, low, high, p } = at(row);
          const sure = p === null ? "" : `p = ${probability(p)}`;
          return (
            <span class="estimate">
              {shown(difference)}
              <small>{[interval(low, high), sure].filter(Boolean).join(", ")}</small>
            </span>
          );
        },
      },
      {
        ...{ id: "notes", title: "documents", type: "text", value: () => null, fixed: true },
        show: (row) => (
          <>
            {t(at(row).notes.join("; "))}
            {known(at(row).author) && at(row).documents.length > 0 && (
              <small class="moved">
                furthest:{" "}
                {at(row).documents.map((doc) => (
                  <a key={doc} href={document(row, doc)} children={t(doc)} />
                ))}
              </small>
            )}
          </>
        ),
      },
    ];
  }, [changes, texts]);
  return <DataTable label="What changed" columns={columns} rows={range(changes.length)} />;
}

/** A line per system of one metric, run after run. */
function Weeks({ since }: { since: Since }) {
  const { at, go } = usePage();
  const { scores, earlier } = since;
  const metrics = useMemo(() => [...new Set(scores.map(({ metric }) => metric))], [scores]);
  const moved = since.changes.find(({ metric }) => metrics.includes(metric))?.metric;
  const metric = metrics.find((name) => key(name) === at.metric) ?? moved ?? metrics[0]!;
  const lines: SinceScore[] = scores.filter((score) => score.metric === metric);
  return (
    <>
      <h2>Over weeks</h2>
      <div class="fields">
        <Select label="Metric" value={key(metric)} options={named(metrics)} change={(name) => go({ metric: name })} />
      </div>
      <p class="soft">
        Each mean with its interval; a step is as high in each row. A ring is a mean that got worse than the accepted
        one. A line is broken where the metric was measured in another way.
        {earlier > 0 &&
          ` ${counted(earlier, "earlier run")} left out; history_means.csv of the report of changes has all.`}
      </p>
      <History lines={lines} />
    </>
  );
}
