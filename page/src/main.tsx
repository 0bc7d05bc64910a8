/** The page: four views of one state, which is the address. */
import { render } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type At, type Changes, href, read } from "./address";
import { Answer } from "./answer";
import { CONTRACT, type Head } from "./contract";
import { ClaimList } from "./claimlist";
import { awaited, isHeld, load, receive } from "./data";
import { Evidence } from "./evidence";
import { capital } from "./format";
import { Texts } from "./list";
import { SinceView } from "./since";
import { Systems } from "./systems";
import "./style.css";
import { Facts, Failed, type Page, PageContext, Paragraphs, t } from "./ui";

/** Views that the page has something for, with their titles. */
function offered({ kind, systems, texts, tables }: Head): Readonly<Record<string, string>> {
  return {
    answer: "Answer",
    ...(systems && { systems: `${capital(systems.noun)}s` }),
    ...(texts?.claims && { claims: "Claims" }),
    ...(texts && { texts: "Texts" }),
    ...(kind === "benchmark" && { since: "Since" }),
    ...(tables.length && { evidence: "Evidence" }),
  };
}

const places = new Map<string, number>(); // by address: how far it was scrolled, for who comes back

function useAddress(): [string, (hash: string, replace: boolean) => void] {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = () => setHash(location.hash);
    addEventListener("popstate", follow);
    addEventListener("scroll", () => places.set(location.hash, scrollY));
  }, []);
  const go = (next: string, replace: boolean) => {
    history[replace ? "replaceState" : "pushState"](null, "", next);
    setHash(next);
  };
  return [hash, go];
}

function App({ head }: { head: Head }) {
  const [hash, set] = useAddress();
  const views = useMemo(() => offered(head), [head]);
  const at = useMemo((): At => {
    const address = read(hash);
    return { ...address, view: Object.hasOwn(views, address.view!) ? address.view! : "answer" };
  }, [hash, views]);
  const to = (changes: Changes) => href(at, changes);
  const page: Page = { head, at, to, go: (changes, replace = false) => set(to(changes), replace) };
  useLayoutEffect(() => {
    document.title = `${at.doc ?? views[at.view!]!} · ${head.name}: Metassay`;
    if (!at.line && !at.passage && !at.metric) scrollTo(0, places.get(hash) ?? 0);
  }, [at.view, at.doc, at.table]);
  const nav = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const now = nav.current!.querySelector<HTMLElement>("[aria-current=page]");
    if (now) nav.current!.scrollLeft = now.offsetLeft + now.offsetWidth - nav.current!.clientWidth; // of a narrow screen
  }, [at.view]);
  useKeys(page);
  const skip = (event: Event) => {
    event.preventDefault();
    document.getElementById("main")!.focus();
  };
  return (
    <PageContext.Provider value={page}>
      <a class="skip" href="#main" onClick={skip} children="Skip to the content" />
      <header>
        <a class="brand" href="#answer" children={t(head.name)} />
        <nav aria-label="Views" ref={nav}>
          {Object.entries(views).map(([name, title]) => (
            <a key={name} href={`#${name}`} aria-current={name === at.view && "page"} children={title} />
          ))}
        </nav>
        <Theme />
      </header>
      <main id="main" tabIndex={-1}>
        {at.view === "answer" && <Answer />}
        {at.view === "systems" && <Systems info={head.systems!} />}
        {at.view === "claims" && <ClaimList info={head.texts!} claims={head.texts!.claims!} />}
        {at.view === "texts" && <Texts info={head.texts!} />}
        {at.view === "since" && <SinceView />}
        {at.view === "evidence" && <Evidence />}
      </main>
      <Footer head={head} />
    </PageContext.Provider>
  );
}

/** Whose data these are, and what words mean. */
function Footer({ head }: { head: Head }) {
  const { dataset, program } = head;
  const terms = Object.entries(head.terms);
  return (
    <footer>
      {terms.length > 0 && (
        <details>
          <summary>What the terms mean</summary>
          <Facts facts={terms.map(([term, means]) => ({ term, says: t(means) }))} />
        </details>
      )}
      {dataset && <p>{t(`${dataset.title}. Licence: ${dataset.licence || "not stated"}.`)}</p>}
      {dataset && <Paragraphs texts={[dataset.citation, ...dataset.seen].filter(Boolean)} />}
      <p>{t(program)}</p>
    </footer>
  );
}

/** `/` searches the texts; Escape closes what is open. */
function useKeys({ head, at, go }: Page): void {
  // Before the next key: what is open has changed by then.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if ((event.target as HTMLElement).matches("input, select")) return;
      if (event.key === "/" && head.texts) {
        event.preventDefault();
        if (at.view !== "texts" || at.doc) go({ view: "texts", doc: null });
        setTimeout(() => document.getElementById("q")?.focus(), 50);
      } else if (event.key === "Escape") {
        const open = ["line", "passage", "doc", "metric", "problems"].find((name) => at[name]);
        if (open) go({ [open]: null });
      }
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
}

const THEMES = ["auto", "light", "dark"];

function Theme() {
  const [theme, setTheme] = useState(() => stored() ?? THEMES[0]!);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    stored(theme);
  }, [theme]);
  return (
    <label class="theme">
      <span class="hidden">Colours</span>
      <select value={theme} onChange={(event) => setTheme(event.currentTarget.value)}>
        {THEMES.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

function stored(theme?: string): string | null {
  try {
    if (theme) localStorage.setItem("metassay-theme", theme);
    return localStorage.getItem("metassay-theme");
  } catch {
    return null; // a browser that stores nothing: the choice lasts as long as the page
  }
}

window.metassay = receive;
const place = document.getElementById("page")!;
(isHeld("head") ? load<Head>("head") : awaited<Head>("head")).then(
  (head) => {
    const old = `Its data are of version ${head.contract}, its program of ${CONTRACT}: write the page again.`;
    render(head.contract === CONTRACT ? <App head={head} /> : <Failed error={old} />, place);
  },
  (error: unknown) => render(<Failed error={String(error)} />, place),
);
