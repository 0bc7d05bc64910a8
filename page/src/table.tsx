/** A table that sorts by its headers, and draws only rows in sight where there are many. */
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from "@tanstack/virtual-core";
import type { ComponentChildren, JSX, RefObject } from "preact";
import { useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import type { ColumnType } from "./contract";
import { range } from "./data";
import { visible } from "./format";
import { sorted, type ValueOf } from "./order";

export interface Column {
  id: string;
  title: string;
  means?: string;
  type: ColumnType;
  value: ValueOf;
  show: (row: number) => ComponentChildren;
  lead?: boolean; // names the row
}

interface Props {
  label: string;
  columns: readonly Column[];
  rows: readonly number[];
  sort: string;
  setSort: (sort: string) => void;
  inOrder?: boolean; // rows are sorted already
  rowClass?: (row: number) => string;
}
const MANY = 120;
const HEIGHT = 38; // pixels of a row, where only those in sight are drawn

export function DataTable(props: Props): JSX.Element {
  const { label, columns, sort, setSort } = props;
  const box = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => {
    if (props.inOrder) return props.rows;
    return sorted(props.rows, Object.fromEntries(columns.map((c) => [c.id, c.value])), sort);
  }, [props.rows, columns, sort, props.inOrder]);
  const many = rows.length > MANY;
  const seen = useVirtual(box, many ? rows.length : 0);
  const drawn = many ? seen.items : range(rows.length);
  const spaces = many ? [seen.before, seen.after] : [0, 0];
  return (
    <div
      class={many ? "scroll many" : "scroll"}
      ref={box}
      role="region"
      tabIndex={0}
      aria-label={label}
    >
      <table aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {columns.map((column) => (
              <Header key={column.id} column={column} sort={sort} setSort={setSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {spaces[0]! > 0 && <tr style={{ height: spaces[0] }} />}
          {drawn.map((place) => {
            const row = rows[place]!;
            return (
              <tr key={row} aria-rowindex={place + 2} class={props.rowClass?.(row)}>
                {columns.map((column) => (
                  <Cell key={column.id} column={column} row={row} />
                ))}
              </tr>
            );
          })}
          {spaces[1]! > 0 && <tr style={{ height: spaces[1] }} />}
        </tbody>
      </table>
      {!rows.length && <p class="none">No row.</p>}
    </div>
  );
}

function Cell({ column, row }: { column: Column; row: number }): JSX.Element {
  const shown = column.show(row);
  return column.lead ? <th scope="row">{shown}</th> : <td class={column.type}>{shown}</td>;
}

interface HeaderProps {
  column: Column;
  sort: string;
  setSort: (sort: string) => void;
}
function Header({ column, sort, setSort }: HeaderProps): JSX.Element {
  const first = column.type === "text" ? "" : "-"; // numbers: largest first
  const now = sort.replace(/^-/, "") === column.id ? sort : null;
  const next = now === null ? first + column.id : now === first + column.id ? other(now) : "";
  const direction = now?.startsWith("-") ? "descending" : "ascending";
  return (
    <th scope="col" class={column.type} aria-sort={now === null ? undefined : direction} title={column.means}>
      <button onClick={() => setSort(next)}>{visible(column.title)}</button>
    </th>
  );
}

const other = (by: string): string => (by.startsWith("-") ? by.slice(1) : `-${by}`);

/** Which of `count` rows are in sight, and pixels before and after them. */
function useVirtual(
  box: RefObject<HTMLDivElement | null>,
  count: number,
): { items: number[]; before: number; after: number } {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const options = {
    count,
    getScrollElement: () => box.current,
    estimateSize: () => HEIGHT,
    overscan: 8,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: redraw,
  };
  const [virtual] = useState(() => new Virtualizer<HTMLDivElement, HTMLElement>(options));
  virtual.setOptions(options);
  useLayoutEffect(() => virtual._didMount(), []);
  useLayoutEffect(() => {
    virtual._willUpdate();
  });
  const items = virtual.getVirtualItems();
  return {
    items: items.map((item) => item.index),
    before: items[0]?.start ?? 0,
    after: virtual.getTotalSize() - (items.at(-1)?.end ?? 0),
  };
}
