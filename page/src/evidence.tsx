/** All other tables, one at a time: what each says, its CSV, and the command that makes it again. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { TableInfo } from "./contract";
import type { At } from "./address";
import { Estimate, matrix, picked, Picks, plainColumns } from "./cells";
import { heldText, isHeld, type Table, tableOf } from "./data";
import { counted, visible, words } from "./format";
import { Dots } from "./plot";
import { DataTable } from "./table";
import { Check, Facts, Paragraphs, t, useLoaded, usePage, Wait } from "./ui";

export function Evidence() {
  const { head, at, to } = usePage();
  const now = head.tables.find((table) => table.name === at.table) ?? head.tables[0];
  const groups = [...new Set(head.tables.map((table) => table.group))];
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    const link = nav.current?.querySelector<HTMLElement>("[aria-current=page]");
    if (link) nav.current!.scrollTop = link.offsetTop - nav.current!.clientHeight / 2;
  }, []);
  const item = (table: TableInfo) => {
    const href = to({ view: "evidence", table: table.name, ...samePicks(table, at) });
    return <a key={table.name} href={href} aria-current={table === now && "page"} children={t(table.title)} />;
  };
  return (
    <div class="evidence">
      <nav aria-label="Tables" ref={nav}>
        {groups.map((group) => (
          <section key={group}>
            {group && <h2>{t(group)}</h2>}
            {head.tables.filter((table) => table.group === group).map(item)}
          </section>
        ))}
      </nav>
      <section>{now && <Opened key={now.name} info={now} />}</section>
    </div>
  );
}

/** What was picked stays picked in a table that has the same column. */
function samePicks(info: TableInfo, at: At): Record<string, string | null> {
  const all = Object.entries(at).filter(([name]) => name.startsWith("is."));
  const same = all.map(([name, value]) => [name, info.pick.includes(name.slice(3)) ? value : null] as const);
  return { ...Object.fromEntries(same), sort: null };
}

function Opened({ info }: { info: TableInfo }) {
  const means = info.columns.filter((column) => column.means);
  return (
    <>
      <h1>{t(info.title)}</h1>
      <Paragraphs texts={info.says} />
      <p class="links">
        {info.csv && <a href={encodeURI(info.csv)} download children={`CSV, ${counted(info.rows, "row")}`} />}
        <Command command={info.command} />
      </p>
      <Wait promise={tableOf(info)}>{(table) => <Shown info={info} table={table} />}</Wait>
      {means.length > 0 && (
        <details>
          <summary>What the columns mean</summary>
          <Facts facts={means.map((column) => ({ term: column.name, says: t(column.means) }))} />
        </details>
      )}
      {Object.entries(info.figures).map(([name, title]) => (
        <Figure key={name} file={encodeURI(`figures/${name}`)} title={title} />
      ))}
    </>
  );
}

function Command({ command }: { command: string }) {
  const [copied, setCopied] = useState(false);
  if (!command) return null;
  const copy = () => void navigator.clipboard.writeText(command).then(() => setCopied(true));
  return (
    <span>
      <code>{visible(command)}</code> <button onClick={copy}>{copied ? "copied" : "copy"}</button>
    </span>
  );
}

/** A drawing beside the page, or one that it holds. */
function Figure({ file, title }: { file: string; title: string }) {
  const held = isHeld(`${file}.svg`);
  const { value } = useLoaded(useMemo(() => (held ? heldText(`${file}.svg`) : null), [file]));
  const source = held ? value && `data:image/svg+xml,${encodeURIComponent(value)}` : `${file}.svg`;
  return (
    <figure>
      {source && <img src={source} alt={title} loading="lazy" />}
      <figcaption class="links">
        <span>{t(title)}</span>
        {!held && <a href={`${file}.svg`}>SVG</a>}
        {!held && <a href={`${file}.png`}>PNG</a>}
      </figcaption>
    </figure>
  );
}

function Shown({ info, table }: { info: TableInfo; table: Table }) {
  const { at, to } = usePage();
  const { cell } = info;
  const [all, setAll] = useState(false);
  const { picks, rows } = useMemo(() => picked(info, table, at), [info, table, at]);
  const others = info.columns.filter(({ name }) => at[`is.${name}`] && !info.pick.includes(name));
  const shape = useMemo(() => {
    const { lead, across, picture } = info;
    if (across && cell && !all) {
      return matrix({ table, rows, lead, across: (row) => table.text(across, row), cell, picture });
    }
    return { columns: plainColumns(info, table, all ? [] : [...info.hide, ...info.pick]), rows };
  }, [info, table, rows, all]);
  const line = (row: number) => ({
    ...{ row, name: info.lead.map((name) => table.text(name, row)).join(", ") },
    says: cell && <Estimate table={table} row={row} cell={cell} />,
  });
  return (
    <>
      <div class="fields">
        <Picks picks={picks} />
        {others.map(({ name }) => (
          <a key={name} class="chip" href={to({ [`is.${name}`]: null })} title="show all">
            {words(name)}: {t(at[`is.${name}`]!)} ×
          </a>
        ))}
        {(info.hide.length > 0 || info.across) && <Check label="all columns" on={all} change={setAll} />}
      </div>
      {info.picture === "dots" && cell && (
        <section class="dots">
          <Dots table={table} cell={cell} lines={rows.map(line)} />
        </section>
      )}
      <DataTable label={info.title} columns={shape.columns} rows={shape.rows} />
    </>
  );
}
