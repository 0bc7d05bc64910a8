/** A table that sorts by its headers, and draws only rows in sight where there are many. */
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import type { ColumnInfo } from "./contract";
import { range } from "./data";
import { visible } from "./format";
import { sorted, type ValueOf } from "./order";
import { classes, usePage } from "./ui";

export interface Column {
  id: string;
  title: string;
  means?: string;
  type: ColumnInfo["type"];
  value: ValueOf;
  show: (row: number) => ComponentChildren;
  lead?: boolean; // names the row
  tint?: (row: number) => number; // from -1 to 1: how dark the cell is
  fixed?: boolean; // nothing sorts by it
}

interface Props {
  label: string;
  columns: readonly Column[];
  rows: readonly number[];
  by?: string; // the key of the address that has the order
  order?: string; // where the address has none
  inOrder?: boolean; // rows are sorted already
  height?: number; // pixels of a row, where it has several lines
  narrow?: boolean; // room for ten columns of numbers
}
const MANY = 120;
const places = new Map<string, number>(); // by address: how far a table was scrolled, for who comes back
const HEIGHT = 38; // pixels of a row, where only those in sight are drawn

export function DataTable({ label, columns, by = "sort", order = "", inOrder, height, narrow, ...props }: Props) {
  const { at } = usePage();
  const box = useRef<HTMLDivElement>(null);
  const sort = at[by] ?? order;
  const rows = useMemo(() => {
    if (inOrder) return props.rows;
    return sorted(props.rows, Object.fromEntries(columns.map((c) => [c.id, c.value])), sort);
  }, [props.rows, columns, sort, inOrder]);
  const many = rows.length > MANY;
  const seen = useVirtual(box, many ? rows.length : 0, height ?? HEIGHT);
  return (
    <div
      class={classes(
        "scroll",
        many && "many",
        (many || inOrder) && !height && "dense",
        height !== undefined && "tall",
        narrow && "narrow",
        columns.some((c) => c.tint) && "tiles",
      )}
      ref={box}
      onScroll={() => many && places.set(location.hash, box.current!.scrollTop)}
      role="region"
      tabIndex={0}
      aria-label={visible(label)}>
      <table aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {columns.map((column) => (
              <Header key={column.id} column={column} sort={sort} by={by} />
            ))}
          </tr>
        </thead>
        <tbody>
          {seen.before > 0 && <tr style={{ height: `${seen.before}px` }} />}
          {(many ? seen.places : range(rows.length)).map((place) => (
            <tr key={rows[place]} aria-rowindex={place + 2}>
              {columns.map(({ id, lead, type, show, tint }) => {
                if (lead) return <th key={id} scope="row" children={show(rows[place]!)} />;
                const share = tint?.(rows[place]!) ?? 0;
                const look = tint && { "--tint": `${Math.round(45 * Math.abs(share))}%` };
                const name = classes(type, tint && "tint", share < 0 && "minus");
                return <td key={id} class={name} style={look} children={show(rows[place]!)} />;
              })}
            </tr>
          ))}
          {seen.after > 0 && <tr style={{ height: `${seen.after}px` }} />}
        </tbody>
      </table>
      {!rows.length && <p class="wait">No row.</p>}
    </div>
  );
}

function Header({ column, sort, by }: { column: Column; sort: string; by: string }) {
  const { go } = usePage();
  const both = [column.id, `-${column.id}`];
  if (column.type !== "text") both.reverse(); // numbers: largest first
  const next = both[both.indexOf(sort) + 1] ?? "";
  const direction = sort.startsWith("-") ? "descending" : "ascending";
  return (
    <th scope="col" class={column.type} aria-sort={both.includes(sort) ? direction : undefined} title={column.means}>
      {column.fixed ? (
        visible(column.title)
      ) : (
        <button onClick={() => go({ [by]: next })}>{visible(column.title)}</button>
      )}
    </th>
  );
}

/** Which of `count` rows are in sight, and pixels before and after them. */
function useVirtual(box: RefObject<HTMLDivElement | null>, count: number, height: number) {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const options = {
    count,
    getScrollElement: () => box.current,
    estimateSize: () => height,
    overscan: 8,
    initialOffset: () => places.get(location.hash) ?? 0,
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
  const after = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  return { places: items.map((item) => item.index), before: items[0]?.start ?? 0, after };
}
