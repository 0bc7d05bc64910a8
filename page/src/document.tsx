/** A document: its source, and texts side by side with what judges and people said of them. */
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Document, Documents, Passage, Text, TextsInfo } from "./contract";
import { key } from "./address";
import { load, type Table } from "./data";
import { counted } from "./format";
import { lineKey, linesAbout, place, seekLine, type Spot } from "./lines";
import { TextPane } from "./textpane";
import { Failed, Long, T, useLoaded, usePage } from "./ui";

interface Props {
  index: Table;
  info: TextsInfo;
  rows: readonly number[]; // of the list, in its order
}

export function DocumentView({ index, info, rows }: Props): JSX.Element {
  const { at } = usePage();
  const row = useMemo(
    () => index.different("document").findIndex((id) => key(id) === at.doc),
    [index, at.doc],
  );
  const first = row < 0 ? -1 : index.where({ document: index.different("document")[row]! })[0]!;
  const home = first < 0 ? null : info.documents_in[index.number("home", first) ?? 0];
  const { value, error } = useLoaded(useMemo(() => (home ? load<Documents>(home) : null), [home]));
  const document = value?.documents.find((d) => key(d.id) === at.doc);
  if (error) return <Failed error={error} />;
  if (document) return <Opened document={document} index={index} info={info} rows={rows} />;
  if (home && !value) return <p class="wait">Loading…</p>;
  return <Failed error={new Error(`There is no ${info.noun} “${at.doc}” on this page.`)} />;
}

const CLOSED = { doc: null, beside: null, text: null, show: null, line: null, passage: null, seek: null };

function Opened({ document, index, info, rows }: Props & { document: Document }): JSX.Element {
  const { at, to, go } = usePage();
  const [hover, setHover] = useState<Spot | null>(null);
  const authors = document.texts.map((text) => key(text.author));
  const kind = (text: Text): string | undefined =>
    info.authors.find((author) => author.name === text.author)?.kind;
  const now = Math.max(
    authors.includes(at.text ?? "")
      ? authors.indexOf(at.text!)
      : document.texts.findIndex((text) => kind(text) === "system"),
    0,
  );
  const beside = at.beside
    ? authors.indexOf(at.beside)
    : document.texts.findIndex((text, i) => i !== now && kind(text) !== "system");
  const open = at.show?.split(",").map(Number) ?? [now, beside].sort((a, b) => a - b);
  const texts = authors.map((_, i) => i).filter((i) => open.includes(i) || i === now);

  useEffect(() => {
    if (!at.seek) return;
    const line = seekLine(document.texts[now]!, at.seek, at.judge);
    go({ seek: null, line, text: authors[now]! }, true);
  }, [at.seek]);

  const active = at.line ? place(document, authors[now]!, at.line) : null;
  const spot = hover ?? active ?? (at.passage ? { passages: [Number(at.passage)] } : null);
  return (
    <article class="document">
      <Steps document={document} index={index} rows={rows} author={authors[now]!} />
      <h1>
        <T text={document.id} />
      </h1>
      <p class="facts">
        <span>{document.task}</span>
        <span>{counted(document.passages.length, "passage")}</span>
        {document.attributes.map((attribute) => (
          <span key={attribute}>
            <T text={attribute} />
          </span>
        ))}
      </p>
      <ul class="chips" aria-label="Texts shown">
        {document.texts.map((text, i) => {
          const on = texts.includes(i);
          const show = (on ? texts.filter((t) => t !== i) : [...texts, i].sort((a, b) => a - b));
          const change = on
            ? { show: show.join(","), ...(i === now && { text: authors[show[0] ?? now], line: null }) }
            : { show: show.join(",") };
          return (
            <li key={text.author}>
              <a href={to(change)} aria-current={on}>
                <T text={text.author} />
                {text.problems.length > 0 && " !"}
              </a>
            </li>
          );
        })}
      </ul>
      <div class="panes">
        <Source document={document} spot={spot} texts={texts} />
        <div class="columns">
          {texts.map((i) => (
            <TextPane
              key={authors[i]}
              text={document.texts[i]!}
              passages={document.passages}
              info={info}
              spot={spot}
              active={i === now ? at.line : undefined}
              setHover={setHover}
            />
          ))}
        </div>
      </div>
    </article>
  );
}

interface StepsProps {
  document: Document;
  index: Table;
  rows: readonly number[];
  author: string;
}
/** Back to the list, and to the texts before and after in its order. */
function Steps({ document, index, rows, author }: StepsProps): JSX.Element {
  const { to } = usePage();
  const here = rows.findIndex(
    (row) => index.at("document", row) === document.id && key(index.text("author", row)) === author,
  );
  const step = (by: number, title: string): JSX.Element | null => {
    const row = here < 0 ? undefined : rows[here + by];
    if (row === undefined) return null;
    const [doc, text] = [index.text("document", row), index.text("author", row)].map(key);
    return <a href={to({ ...CLOSED, doc, text })}>{title}</a>;
  };
  return (
    <nav class="steps" aria-label="Texts of the list">
      <a href={to(CLOSED)}>← All texts</a>
      {here >= 0 && (
        <span>
          {here + 1} of {counted(rows.length, "text")}
        </span>
      )}
      {step(-1, "previous")}
      {step(1, "next")}
    </nav>
  );
}

interface SourceProps {
  document: Document;
  spot: Spot | null;
  texts: readonly number[];
}
function Source({ document, spot, texts }: SourceProps): JSX.Element {
  const { at, to } = usePage();
  const pane = useRef<HTMLElement>(null);
  const about = useMemo(() => linesAbout(document, texts), [document, texts.join()]);
  const first = spot?.passages[0];
  useEffect(() => {
    const box = pane.current;
    const target = box?.querySelector<HTMLElement>(`[data-n="${first}"]`);
    if (box && target && box.scrollHeight > box.clientHeight) {
      box.scrollTop = target.offsetTop - box.clientHeight / 3;
    }
  }, [first]);
  return (
    <section class="source" ref={pane} tabIndex={0} aria-label="Source">
      <h2>Source</h2>
      <ol>
        {document.passages.map((passage, n) => {
          const lines = about.get(n) ?? [];
          const open = at.passage === String(n);
          return (
            <li key={n} data-n={n} class={spot?.passages.includes(n) ? "lit" : ""}>
              <PassageText passage={passage} n={n} />
              {lines.length > 0 && (
                <a
                  class="about"
                  href={to({ passage: open ? null : n, line: null })}
                  aria-expanded={open}
                >
                  {counted(lines.length, "line")}
                </a>
              )}
              {open && (
                <ul>
                  {lines.map(({ text, block, line }) => (
                    <li key={`${text.author} ${block.id} ${block.lines.indexOf(line)}`}>
                      <a href={to({ text: key(text.author), line: lineKey(block, line), passage: null })}>
                        <T text={`${text.author}, ${block.noun} ${line.number}`} />
                      </a>
                    </li>
                  ))}
                </ul>
              )}
            </li>
          );
        })}
      </ol>
    </section>
  );
}

export function PassageText({ passage, n }: { passage: Passage; n: number }): JSX.Element {
  return (
    <>
      <b class="n">[{n}]</b> {passage.group && <small><T text={passage.group} /> </small>}
      {passage.speaker && (
        <em>
          <T text={passage.speaker} />:{" "}
        </em>
      )}
      <span class="words" dir="auto">
        <Long text={passage.text} />
      </span>
    </>
  );
}
