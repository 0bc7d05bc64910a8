/** Small parts that every view uses. */
import { type ComponentChildren, createContext, type JSX } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { Head } from "./contract";
import type { At, Changes } from "./address";
import { counted, visible } from "./format";

export interface Page {
  head: Head;
  at: At;
  to(changes: Changes): string; // an address
  go(changes: Changes, replace?: boolean): void;
}
export const PageContext = createContext<Page | null>(null);
export const usePage = (): Page => useContext(PageContext)!;

/** A text of the data: it turns nothing round it, and hides no character. */
export function T({ text }: { text: string }): JSX.Element {
  return <bdi>{visible(text)}</bdi>;
}

const LONG = 20_000;
/** As much of a text as a reader can want at once, the rest on demand. */
export function Long({ text }: { text: string }): JSX.Element {
  const [all, setAll] = useState(false);
  if (all || text.length <= LONG) return <T text={text} />;
  return (
    <>
      <T text={text.slice(0, LONG).toWellFormed()} />
      <button class="more" onClick={() => setAll(true)}>
        … {counted(text.length - LONG, "more character")}
      </button>
    </>
  );
}

type Loaded<V> = { value?: V; error?: Error };
/** What a promise brings, and nothing while it is under way. */
export function useLoaded<V>(promise: Promise<V> | null): Loaded<V> {
  const [state, setState] = useState<Loaded<V> & { of?: Promise<V> | null }>({});
  useEffect(() => {
    let alive = true;
    promise?.then(
      (value) => alive && setState({ value, of: promise }),
      (error: unknown) => alive && setState({ error: error as Error, of: promise }),
    );
    return () => void (alive = false);
  }, [promise]);
  return state.of === promise ? state : {};
}

interface WaitProps<V> {
  promise: Promise<V>;
  children: (value: V) => ComponentChildren;
}
export function Wait<V>({ promise, children }: WaitProps<V>): JSX.Element {
  const { value, error } = useLoaded(promise);
  if (error) return <Failed error={error} />;
  if (value === undefined) return <p class="wait">Loading…</p>;
  return <>{children(value)}</>;
}

export const Failed = ({ error }: { error: Error }): JSX.Element => (
  <p class="failed" role="alert">
    {error.message}
  </p>
);

interface SelectProps {
  label: string;
  value: string;
  options: readonly (readonly [value: string, title: string])[];
  any?: string; // title of the choice of none
  change: (value: string) => void;
}
export function Select({ label, value, options, any, change }: SelectProps): JSX.Element {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => change(event.currentTarget.value)}>
        {any !== undefined && <option value="">{any}</option>}
        {options.map(([key, title]) => (
          <option key={key} value={key}>
            {visible(title)}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Command({ command }: { command: string }): JSX.Element | null {
  const [copied, setCopied] = useState(false);
  if (!command) return null;
  const copy = (): void => {
    void navigator.clipboard.writeText(command).then(() => setCopied(true));
  };
  return (
    <span class="command">
      <code>{visible(command)}</code>
      <button onClick={copy}>{copied ? "copied" : "copy"}</button>
    </span>
  );
}
