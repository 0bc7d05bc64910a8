/** Values with their intervals on one scale; places are per cent, so that pictures fit any width. */
import { scaleLinear } from "d3-scale";
import type { CellInfo } from "./contract";
import { Estimate } from "./cells";
import type { Table } from "./data";
import { shown } from "./format";
import { t } from "./ui";

/** A scale over all values and 0 with rounded ends, and a few ticks. */
export function scaleOf(values: readonly (number | null)[]) {
  const known = values.filter((value) => value !== null);
  const ends = known.length ? known.reduce(([a, b], v) => [Math.min(a!, v), Math.max(b!, v)], [0, 0]) : [0, 1];
  const scale = scaleLinear().domain(ends).nice(5).range([1, 99]);
  const place = (value: number) => `${scale(value)}%`;
  return { place, ticks: scale.ticks(5).map((value) => ({ value, text: scale.tickFormat(5)(value) })) };
}
export type Scale = ReturnType<typeof scaleOf>;

export const Axis = ({ scale }: { scale: Scale }) => (
  <div class="row head" aria-hidden="true">
    <span />
    <svg class="axis">
      {scale.ticks.map(({ value, text }) => (
        <text key={value} x={scale.place(value)} y="12" text-anchor="middle" children={text} />
      ))}
    </svg>
  </div>
);

interface DotProps {
  scale: Scale;
  value: number | null;
  ends: readonly (number | null)[];
  inner?: readonly (number | null)[]; // a narrower claim: these systems only
  state?: string;
}
export function Dot({ scale, value, ends, inner = [], state = "" }: DotProps) {
  const line = ([low, high]: readonly (number | null)[], kind: string) =>
    low == null || high == null ? null : (
      <line class={kind} x1={scale.place(low)} x2={scale.place(high)} y1="50%" y2="50%" />
    );
  const said = `${shown(value)}${ends[0] == null ? "" : `, from ${ends.map(shown).join(" to ")}`}`;
  return (
    <svg class={`dot ${state}`} role="img" aria-label={said}>
      {scale.ticks.map(({ value: v }) => (
        <line key={v} class={v ? "tick" : "zero"} x1={scale.place(v)} x2={scale.place(v)} y1="0" y2="100%" />
      ))}
      {line(ends, "outer")}
      {line(inner, "inner")}
      {value !== null && <circle cx={scale.place(value)} cy="50%" r="5" />}
    </svg>
  );
}

interface DotsProps {
  table: Table;
  rows: readonly number[];
  cell: CellInfo;
  name: (row: number) => string;
  beside?: (row: number) => string | undefined;
}
/** A line per row: its name, value and interval on one scale, and the quartiles where there are any. */
export function Dots({ table, rows, cell, name, beside }: DotsProps) {
  const numbers = (row: number, ...columns: string[]) => columns.map((column) => table.number(column, row));
  const scale = scaleOf(rows.flatMap((row) => numbers(row, cell.value, cell.low, cell.high, "p25", "p75")));
  return (
    <section class="dots">
      <Axis scale={scale} />
      <ol class="metrics">
        {rows.map((row) => (
          <li key={row} class="row">
            <span class="name">{t(name(row))}</span>
            <Dot
              scale={scale}
              value={table.number(cell.value, row)}
              ends={numbers(row, cell.low, cell.high)}
              inner={numbers(row, "p25", "p75")}
              state="plain"
            />
            <Estimate table={table} row={row} cell={cell} />
            <span class="letters">{beside?.(row)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
