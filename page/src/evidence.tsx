/** All other tables, one at a time: what each says, its CSV, and the command that makes it again. */
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { TableInfo } from "./contract";
import { key } from "./address";
import { matrix, picked, plainColumns } from "./cells";
import { type Table, tableOf } from "./data";
import { counted, words } from "./format";
import { DataTable } from "./table";
import { Command, Select, T, usePage, Wait } from "./ui";

export function Evidence(): JSX.Element {
  const { head, at, to } = usePage();
  const now = head.tables.find((table) => table.name === at.table) ?? head.tables[0];
  const groups = [...new Set(head.tables.map((table) => table.group))];
  return (
    <div class="evidence">
      <nav aria-label="Tables">
        {groups.map((group) => (
          <section key={group}>
            {group && <h2>{group}</h2>}
            <ul>
              {head.tables
                .filter((table) => table.group === group)
                .map((table) => (
                  <li key={table.name}>
                    <a
                      href={to({ view: "evidence", table: table.name, ...kept(table, at) })}
                      aria-current={table === now && "page"}
                    >
                      {table.title}
                    </a>
                  </li>
                ))}
            </ul>
          </section>
        ))}
      </nav>
      <section>{now ? <Opened key={now.name} info={now} /> : <p>No table.</p>}</section>
    </div>
  );
}

/** What was picked stays picked in a table that has the same column. */
function kept(info: TableInfo, at: Readonly<Record<string, string>>): Record<string, string | null> {
  const all = Object.keys(at).filter((name) => name.startsWith("is."));
  return Object.fromEntries([
    ...all.map((name) => [name, info.pick.includes(name.slice(3)) ? at[name]! : null]),
    ["sort", null],
  ]);
}

function Opened({ info }: { info: TableInfo }): JSX.Element {
  const { head } = usePage();
  return (
    <>
      <h1>{info.title}</h1>
      {info.says.map((paragraph) => (
        <p key={paragraph} class="says">
          <T text={paragraph} />
        </p>
      ))}
      <p class="files">
        {info.csv && (
          <a href={encodeURI(info.csv)} download>
            CSV, {counted(info.rows, "row")}
          </a>
        )}
        <Command command={info.command} />
      </p>
      <Wait promise={tableOf(info)}>{(table) => <Shown info={info} table={table} />}</Wait>
      {head.figures
        .filter((figure) => info.figures.includes(figure.name))
        .map((figure) => (
          <figure key={figure.name}>
            <img src={encodeURI(`figures/${figure.name}.svg`)} alt={figure.title} loading="lazy" />
            <figcaption>
              <a href={encodeURI(`figures/${figure.name}.svg`)}>SVG</a>
              <a href={encodeURI(`figures/${figure.name}.png`)}>PNG</a>
            </figcaption>
          </figure>
        ))}
    </>
  );
}

function Shown({ info, table }: { info: TableInfo; table: Table }): JSX.Element {
  const { at, go, to } = usePage();
  const [all, setAll] = useState(false);
  const { picks, rows } = useMemo(() => picked(info, table, at), [info, table, at]);
  const others = info.columns.filter(({ name }) => at[`is.${name}`] && !info.pick.includes(name));
  const shape = useMemo(() => {
    if (info.across && info.cell && !all) {
      return matrix(info.lead, (row) => table.text(info.across, row), info.cell, table, rows);
    }
    const hidden = new Set(all ? [] : [...info.hide, ...info.pick]);
    return { columns: plainColumns(info, table, hidden), rows };
  }, [info, table, rows, all]);
  const hides = info.hide.length > 0 || Boolean(info.across);
  return (
    <>
      <div class="fields">
        {picks.map(({ column, values, value }) => (
          <Select
            key={column}
            label={words(column)}
            value={key(value)}
            options={values.map((v) => [key(v), v || "–"])}
            change={(v) => go({ [`is.${column}`]: v })}
          />
        ))}
        {others.map(({ name }) => (
          <a key={name} class="chip" href={to({ [`is.${name}`]: null })} title="show all">
            {words(name)}: <T text={at[`is.${name}`]!} /> ×
          </a>
        ))}
        {hides && (
          <label class="check">
            <input
              type="checkbox"
              checked={all}
              onChange={(event) => setAll(event.currentTarget.checked)}
            />
            all columns
          </label>
        )}
      </div>
      <DataTable
        label={info.title}
        columns={shape.columns}
        rows={shape.rows}
        sort={at.sort ?? ""}
        setSort={(sort) => go({ sort })}
      />
      <Columns info={info} />
    </>
  );
}

function Columns({ info }: { info: TableInfo }): JSX.Element | null {
  const described = info.columns.filter((column) => column.means);
  if (!described.length) return null;
  return (
    <details>
      <summary>What the columns mean</summary>
      <dl>
        {described.map((column) => (
          <div key={column.name}>
            <dt>
              <code>{column.name}</code>
            </dt>
            <dd>{column.means}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
