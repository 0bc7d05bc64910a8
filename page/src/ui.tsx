/** Small parts that every view uses. */
import { type ComponentChildren, createContext } from "preact";
import { useContext, useEffect, useMemo, useState } from "preact/hooks";
import type { Head, Passage } from "./contract";
import { type At, type Changes, key } from "./address";
import { counted, grouped, shown, visible } from "./format";
import { segments } from "./markdown";
import type { Mean } from "./order";

export interface Page {
  head: Head;
  at: At;
  to: (changes: Changes) => string; // an address
  go: (changes: Changes, replace?: boolean) => void;
}
export const PageContext = createContext<Page | null>(null);
export const usePage = (): Page => useContext(PageContext)!;

/** A text of the data: it turns nothing round it, and hides no character. */
export const t = (text: string) => <bdi>{visible(text)}</bdi>;

/** A text by its Markdown, unless the reader wants it as it was written. */
export function Rich({ text }: { text: string }) {
  const { at } = usePage();
  const cut = useMemo(() => segments(text), [text]);
  if (at.raw || (cut.length === 1 && !cut[0]!.as)) return t(text);
  return (
    <bdi>
      {cut.map(({ text: words, start, as }) => (
        <span key={start} class={as || undefined} children={visible(words)} />
      ))}
    </bdi>
  );
}

const LONG = 20_000;
interface LongProps {
  text: string;
  as?: (text: string) => ComponentChildren;
}
/** As much of a text as a reader can want at once, the rest on demand. */
export function Long({ text, as = (some) => <Rich text={some} /> }: LongProps) {
  const [all, setAll] = useState(false);
  if (all || text.length <= LONG) return <>{as(text)}</>;
  const rest = counted(text.length - LONG, "more character");
  return (
    <>
      {as(text.slice(0, LONG))} <button onClick={() => setAll(true)}>… {rest}</button>
    </>
  );
}

/** The same of words whose Markdown was read before they were cut. */
export const LongWords = ({ text }: { text: string }) => <Long text={text} as={t} />;

export const PassageText = ({ passage, n }: { passage: Passage; n: number }) => (
  <>
    <b class="n">[{n}]</b> {passage.group && <small>{t(passage.group)} </small>}
    {passage.speaker && <em>{t(passage.speaker)}: </em>}
    <span dir="auto" children={<Long text={passage.text} />} />
  </>
);

interface Loaded<V> {
  value?: V;
  error?: Error;
}
/** What a promise brings, and nothing while it is under way. */
export function useLoaded<V>(promise: Promise<V> | null): Loaded<V> {
  const [state, setState] = useState<Loaded<V> & { of?: Promise<V> | null }>({});
  useEffect(() => {
    let live = true;
    const set = (brought: Loaded<V>) => live && setState({ ...brought, of: promise });
    promise?.then(
      (value) => set({ value }),
      (error: unknown) => set({ error: error as Error }),
    );
    return () => void (live = false);
  }, [promise]);
  return state.of === promise ? state : {};
}

export function Wait<V>(props: { promise: Promise<V>; children: (value: V) => ComponentChildren }) {
  const { value, error } = useLoaded(props.promise);
  if (error) return <Failed error={error.message} />;
  return value === undefined ? <p class="wait">Loading…</p> : <>{props.children(value)}</>;
}

export function Failed({ error }: { error: string }) {
  const lines = visible(error);
  return <p class="failed" role="alert" children={lines} />;
}

export type Options = readonly (readonly [value: string, title: string])[];
/** Names of the data as options: they stand in addresses by `key`. */
export const named = (names: readonly string[]): Options => names.map((name) => [key(name), name]);
interface SelectProps {
  label: string;
  value: string;
  options: Options;
  any?: string; // title of the choice of none
  change: (value: string) => void;
}
export function Select({ label, value, options, any, change }: SelectProps) {
  const all = any === undefined ? options : ([["", any], ...options] as const);
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => change(event.currentTarget.value)}>
        {all.map(([key, title]) => (
          <option key={key} value={key} children={visible(title)} />
        ))}
      </select>
    </label>
  );
}

export function Check({ label, on, change }: { label: string; on: boolean; change: (on: boolean) => void }) {
  return (
    <label class="check">
      <input type="checkbox" checked={on} onChange={(event) => change(event.currentTarget.checked)} /> {label}
    </label>
  );
}

/** A field whose text goes into the address while one types. */
export function Typed({ name, label }: { name: string; label: string }) {
  const { at, go } = usePage();
  const type = (event: { currentTarget: HTMLInputElement }) => go({ [name]: event.currentTarget.value }, true);
  return (
    <label class={`field ${name}`}>
      <span>{label}</span>
      <input type="search" id={name} value={at[name] ?? ""} onInput={type} />
    </label>
  );
}

export interface Fact {
  term: string;
  says: ComponentChildren;
  title?: string | undefined;
}
/** Terms with what is to say of each. */
export function Facts({ facts, kind }: { facts: readonly Fact[]; kind?: string }) {
  return (
    <dl class={kind}>
      {facts.map(({ term, says, title }) => (
        <div key={term} title={title}>
          <dt>{t(term)}</dt>
          <dd>{says}</dd>
        </div>
      ))}
    </dl>
  );
}

export const Paragraphs = ({ texts, kind }: { texts: readonly string[]; kind?: string }) => (
  <>
    {texts.map((text) => (
      <p key={text} class={kind} children={t(text)} />
    ))}
  </>
);

/** A mean, and what it rests on. */
export const MeanOf = ({ title, of }: { title: ComponentChildren; of: Mean }) => (
  <span>
    {title} <b>{shown(of.mean) || "undefined"}</b>
    {` (n = ${grouped(of.n)}${of.missing ? `, ${grouped(of.missing)} without` : ""})`}
  </span>
);

export const SIGNS = { against: "✗", for: "✓", unknown: "?", neutral: "·" } as const;

export const classes = (...names: (string | false | null | undefined)[]) => names.filter(Boolean).join(" ");
