/** The page: four views of one state, which is the address. */
import { type JSX, render } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { type At, type Changes, href, read } from "./address";
import { Answer } from "./answer";
import { CONTRACT, type Head } from "./contract";
import { awaited, receive } from "./data";
import { Evidence } from "./evidence";
import { Footer } from "./footer";
import { counted } from "./format";
import { Texts } from "./list";
import { Systems } from "./systems";
import "./style.css";
import { Failed, PageContext, T } from "./ui";

const VIEWS = ["answer", "systems", "texts", "evidence"] as const;
type View = (typeof VIEWS)[number];

function offered(head: Head): View[] {
  const there: Readonly<Record<View, boolean>> = {
    answer: true,
    systems: head.systems !== null,
    texts: head.texts !== null,
    evidence: head.tables.length > 0,
  };
  return VIEWS.filter((view) => there[view]);
}

function useAddress(): [At, (hash: string, replace: boolean) => void] {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = (): void => setHash(location.hash);
    addEventListener("popstate", follow);
    addEventListener("hashchange", follow);
    return () => {
      removeEventListener("popstate", follow);
      removeEventListener("hashchange", follow);
    };
  }, []);
  const go = (next: string, replace: boolean): void => {
    if (replace) history.replaceState(null, "", next);
    else history.pushState(null, "", next);
    setHash(next);
  };
  return [useMemo(() => read(hash), [hash]), go];
}

function App({ head }: { head: Head }): JSX.Element {
  const [asked, go] = useAddress();
  const views = offered(head);
  const view = views.find((name) => name === asked.view) ?? "answer";
  const at = useMemo((): At => ({ ...asked, view }), [asked, view]);
  const page = useMemo(
    () => ({
      ...{ head, at },
      to: (changes: Changes) => href(at, changes),
      go: (changes: Changes, replace = false): void => go(href(at, changes), replace),
    }),
    [head, at],
  );
  const titles: Readonly<Record<View, string>> = {
    answer: "Answer",
    systems: head.systems ? counted(2, head.systems.noun).slice(2) : "",
    texts: "Texts",
    evidence: "Evidence",
  };
  useEffect(() => {
    document.title = `${at.doc ?? titles[view]} · ${head.name}: Metassay`;
    if (!at.line && !at.passage) scrollTo(0, 0);
  }, [view, at.doc, at.table]);
  useKeys(page);
  return (
    <PageContext.Provider value={page}>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <header>
        <a class="brand" href="#answer">
          <T text={head.name} />
        </a>
        <nav aria-label="Views">
          {views.map((name) => (
            <a key={name} href={`#${name}`} aria-current={name === view && "page"}>
              {titles[name]}
            </a>
          ))}
        </nav>
        <Theme />
      </header>
      <main id="main" tabIndex={-1}>
        {view === "answer" && <Answer />}
        {view === "systems" && head.systems && <Systems info={head.systems} />}
        {view === "texts" && head.texts && <Texts info={head.texts} />}
        {view === "evidence" && <Evidence />}
      </main>
      <Footer />
    </PageContext.Provider>
  );
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

/** `/` searches the texts; Escape closes what is open. */
function useKeys({ head, at, go }: { head: Head; at: At; go: (changes: Changes) => void }): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const typing = (event.target as HTMLElement).matches("input, select, textarea");
      if (event.key === "/" && !typing && head.texts) {
        event.preventDefault();
        if (at.view !== "texts" || at.doc) go({ view: "texts", doc: null });
        setTimeout(() => document.getElementById("q")?.focus(), 50);
      } else if (event.key === "Escape" && !typing) {
        const open = ["line", "passage", "doc", "metric", "problems"].find((name) => at[name]);
        if (open) go({ [open]: null, ...(open === "doc" && { text: null, show: null }) });
      }
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
}

const THEMES = { "": "Automatic", light: "Light", dark: "Dark" } as const;
type ThemeName = keyof typeof THEMES;

function Theme(): JSX.Element {
  const [theme, setTheme] = useState<string>(() => stored() ?? "");
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem("theme", theme);
    } catch {
      // a browser that stores nothing: the choice lasts as long as the page
    }
  }, [theme]);
  return (
    <label class="theme">
      <span class="hidden">Colours</span>
      <select value={theme} onChange={(event) => setTheme(event.currentTarget.value)}>
        {(Object.keys(THEMES) as ThemeName[]).map((name) => (
          <option key={name} value={name}>
            {THEMES[name]}
          </option>
        ))}
      </select>
    </label>
  );
}

function stored(): string | null {
  try {
    return localStorage.getItem("theme");
  } catch {
    return null;
  }
}

window.metassay = receive;
const place = document.getElementById("page")!;
awaited<Head>("head").then(
  (head) => {
    const other = head.contract === CONTRACT ? null : `This page is of version ${head.contract}, its
      program of version ${CONTRACT}: write it again.`;
    render(other ? <Failed error={new Error(other)} /> : <App head={head} />, place);
  },
  (error: unknown) => {
    render(<Failed error={error as Error} />, place);
  },
);
