/** A document: its source, and texts side by side with what judges and people said of them. */
import { type RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Scorer, Document, Text, TextsInfo } from "./contract";
import { key } from "./address";
import { load, type Table } from "./data";
import { capital, counted } from "./format";
import { differences, onlyIn } from "./beside";
import { headLabel, headOf, ofHead } from "./claims";
import { failing, lineKey, linesAbout, place, seekLine, type Spot } from "./lines";
import { TextPane } from "./textpane";
import { terms } from "./texts";
import { Check, Failed, PassageText, Select, t, useLoaded, usePage } from "./ui";

interface Props {
  index: Table;
  info: TextsInfo;
  rows: readonly number[]; // of the list, in its order
}

export function DocumentView(props: Props) {
  const { at } = usePage();
  const { index, info } = props;
  const home = useMemo(() => {
    const id = index.different("document").find((name) => key(name) === at.doc);
    const row = id === undefined ? undefined : index.where({ document: id })[0];
    const shard = row === undefined ? undefined : info.documents_in[index.number("home", row) ?? 0];
    return shard === undefined ? null : load<{ documents: Document[] }>(shard);
  }, [index, at.doc]);
  const { value, error } = useLoaded(home);
  const document = value?.documents.find((d) => key(d.id) === at.doc);
  if (document) return <Opened key={document.id} document={document} {...props} />;
  if (home && !value && !error) return <p class="wait">Loading…</p>;
  return <Failed error={error?.message ?? `There is no ${info.noun} “${at.doc}” on this page.`} />;
}

const OF_DOCUMENT = ["doc", "beside", "text", "show", "line", "passage", "seek", "only", "diff", "differ", "raw"];
const CLOSED = Object.fromEntries(OF_DOCUMENT.map((name) => [name, null]));

function Opened({ document, index, info, rows }: Props & { document: Document }) {
  const { at, to, go } = usePage();
  const article = useRef<HTMLElement>(null);
  const [hover, setHover] = useState<Spot | null>(null);
  const authors = document.texts.map((text) => key(text.author));
  const references = info.references.map(key);
  const now = Math.max(
    authors.findIndex((name) => (at.text ? name === at.text : !references.includes(name))),
    0,
  );
  const beside = authors.findIndex((name, i) =>
    at.beside ? name === at.beside : i !== now && references.includes(name),
  );
  const open = at.show?.split(",").map(Number) ?? [now, beside];
  const texts = document.texts.flatMap((_, i) => (open.includes(i) || i === now ? [i] : []));
  const head = info.scorers[headOf(info.scorers, at)];
  const pair = texts.length === 2 ? texts.map((i) => document.texts[i]!) : null;
  const other = (i: number) => (pair && at.diff ? pair.find((text) => text !== document.texts[i])! : null);
  useEffect(() => {
    if (!at.seek) return;
    const line = head ? seekLine(document.texts[now]!, at.seek, head) : null;
    go({ seek: null, line, text: authors[now]! }, true);
  }, [at.seek]);
  useHighlights(article, at.q);
  const line = at.line ? place(document, authors[now]!, at.line) : null;
  const passages = [...(at.passage ? [Number(at.passage)] : []), ...(line?.passages ?? [])];
  const spot = hover ?? { ...line, passages };
  const toggle = (i: number) => {
    const show = texts.includes(i) ? texts.filter((other) => other !== i) : [...texts, i].sort((a, b) => a - b);
    return to({ show: show.join(","), ...(i === now && { text: authors[show[0] ?? now], line: null }) });
  };
  return (
    <article class="document" ref={article}>
      <Steps document={document} index={index} rows={rows} author={authors[now]!} />
      <h1>{t(document.id)}</h1>
      <p class="facts">
        {[document.task, counted(document.passages.length, "passage"), ...document.attributes].map((fact) => (
          <span key={fact}>{t(fact)}</span>
        ))}
      </p>
      <ul class="chips" aria-label="Texts shown">
        {document.texts.map(({ author, problems }, i) => (
          <li key={author}>
            <a href={toggle(i)} aria-current={texts.includes(i)} children={t(author + (problems.length ? " !" : ""))} />
          </li>
        ))}
      </ul>
      {head && <Failures info={info} head={head} text={document.texts[now]!} />}
      <div class="fields switches">
        {pair && (
          <Check label="mark differences" on={!!at.diff} change={(on) => go({ diff: on ? 1 : null, differ: null })} />
        )}
        {pair && at.diff && (
          <Check label="only differences below" on={!!at.differ} change={(on) => go({ differ: on ? 1 : null })} />
        )}
        {head && <Check label="only failures below" on={!!at.only} change={(on) => go({ only: on ? 1 : null })} />}
        <Check label="texts as they were written" on={!!at.raw} change={(on) => go({ raw: on ? 1 : null })} />
      </div>
      {pair && at.diff && <Differences pair={pair} head={head} />}
      <div class="panes">
        <Source document={document} lit={spot.passages} first={passages[0]} texts={texts} />
        <div class="columns">
          {texts.map((i) => {
            const active = i === now ? at.line : undefined;
            const of = { text: document.texts[i]!, passages: document.passages, info, head, spot, active, setHover };
            return <TextPane key={i} {...of} beside={other(i)} />;
          })}
        </div>
      </div>
    </article>
  );
}

interface FailuresProps {
  info: TextsInfo;
  head: Scorer;
  text: Text;
}
/** By which measure and judge lines fail, how many do, and ways from one to the next: keys n and p. */
function Failures({ info, head, text }: FailuresProps) {
  const { at, to, go } = usePage();
  const lines = useMemo(() => failing(text, head).map(({ block, line }) => lineKey(block, line)), [text, head]);
  const here = lines.indexOf(at.line ?? "");
  const open = (line: string) => ({ text: key(text.author), line, passage: null });
  const beside = (by: number): string | undefined => (here < 0 ? lines.at(by > 0 ? 0 : -1) : lines[here + by]);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if ((event.target as HTMLElement).matches("input, select") || event.ctrlKey || event.metaKey) return;
      const line = event.key === "n" ? beside(1) : event.key === "p" ? beside(-1) : undefined;
      if (line !== undefined) go(open(line));
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
  const step = (by: number, title: string) => {
    const line = beside(by);
    return line === undefined ? <span>{title}</span> : <a href={to(open(line))}>{title}</a>;
  };
  const heads = info.scorers.map((of, i) => [String(i), headLabel(of)] as const);
  return (
    <div class="fields failures">
      {heads.length > 1 && (
        <Select
          label="Mark failures by"
          value={String(info.scorers.indexOf(head))}
          options={heads}
          change={(i) => go(ofHead(info.scorers[Number(i)]!))}
        />
      )}
      <p>
        <b class="bad">{lines.length ? `✗ ${lines.length}` : "none"}</b> {head.fails}
        {here >= 0 && `, number ${here + 1}`}
      </p>
      {lines.length > 0 && (
        <p class="links">
          {step(-1, "← previous (p)")}
          {step(1, "next (n) →")}
        </p>
      )}
    </div>
  );
}

/** How many sentences and claims one of two texts has and the other has not. */
function Differences({ pair, head }: { pair: readonly Text[]; head: Scorer | undefined }) {
  const [a, b] = pair as [Text, Text];
  const counts = useMemo(() => {
    const sentences = [onlyIn(a.text, b.text).length, onlyIn(b.text, a.text).length];
    const claims = a.blocks.flatMap((block) => differences(block, a, b, head).filter(({ other }) => other !== null));
    return { sentences, claims: claims.length };
  }, [a, b, head]);
  return (
    <p class="soft">
      <span class="only">Marked so</span>: {counted(counts.sentences[0]!, "sentence")} of {t(a.author)} without a
      counterpart in {t(b.author)}, and {counts.sentences[1]} the other way round. A counterpart is one sentence with
      half of the words and every number.
      {counts.claims > 0 &&
        ` ${capital(`${counted(counts.claims, "claim")} of the reference`)} ${counts.claims === 1 ? "counts" : "count"} for one of them and against the other.`}
    </p>
  );
}

/** Words of the search, wherever they stand. */
function useHighlights(article: RefObject<HTMLElement | null>, query: string | undefined): void {
  useEffect(() => {
    if (!query || !("highlights" in CSS)) return;
    const ranges: Range[] = [];
    const walker = document.createTreeWalker(article.current!, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.nodeValue!.toLowerCase();
      for (const word of text.length === node.nodeValue!.length ? terms(query) : []) {
        for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
          const range = document.createRange();
          range.setStart(node, at);
          range.setEnd(node, at + word.length);
          ranges.push(range);
        }
      }
    }
    CSS.highlights.set("found", new Highlight(...ranges));
    return () => void CSS.highlights.delete("found");
  });
}

interface StepsProps {
  document: Document;
  index: Table;
  rows: readonly number[];
  author: string;
}
/** Back to the list, and to the texts before and after in its order. */
function Steps({ document, index, rows, author }: StepsProps) {
  const { to } = usePage();
  const named = (row: number) => ["document", "author"].map((name) => key(index.text(name, row)));
  const here = rows.findIndex((row) => index.at("document", row) === document.id && named(row)[1] === author);
  const step = (by: number, title: string) => {
    const row = here < 0 ? undefined : rows[here + by];
    if (row === undefined) return null;
    const [doc, text] = named(row);
    return <a href={to({ ...CLOSED, doc, text })}>{title}</a>;
  };
  return (
    <nav class="steps" aria-label="Texts of the list">
      <a href={to(CLOSED)}>← All texts</a>
      {here >= 0 && <span>{`${here + 1} of ${counted(rows.length, "text")}`}</span>}
      {step(-1, "previous")}
      {step(1, "next")}
    </nav>
  );
}

interface SourceProps {
  document: Document;
  lit: readonly number[];
  first: number | undefined; // scrolled to
  texts: readonly number[];
}
function Source({ document, lit, first, texts }: SourceProps) {
  const { at, to } = usePage();
  const pane = useRef<HTMLElement>(null);
  const about = useMemo(() => linesAbout(document, texts), [document, texts.join()]);
  useEffect(() => {
    const box = pane.current!;
    const target = box.querySelector<HTMLElement>(`[data-n="${first}"]`);
    if (target && box.scrollHeight > box.clientHeight) box.scrollTop = target.offsetTop - box.clientHeight / 3;
  }, [first]);
  return (
    <section class="source" ref={pane} tabIndex={0} aria-label="Source">
      <h2>Source</h2>
      <ol>
        {document.passages.map((passage, n) => {
          const lines = about.get(n) ?? [];
          const open = at.passage === String(n);
          const toggle = to({ passage: open ? null : n, line: null });
          return (
            <li key={n} data-n={n} class={lit.includes(n) ? "lit" : ""}>
              <PassageText passage={passage} n={n} />{" "}
              {lines.length > 0 && <a href={toggle} aria-expanded={open} children={counted(lines.length, "line")} />}
              {open &&
                lines.map(({ text, block, line }) => {
                  const href = to({ text: key(text.author), line: lineKey(block, line), passage: null });
                  return <a key={href} class="ref" href={href} children={t(`${text.author} ${line.number}`)} />;
                })}
            </li>
          );
        })}
      </ol>
    </section>
  );
}
