/** Values with their intervals on one scale; places are per cent, so that pictures fit any width. */
import { scaleLinear } from "d3-scale";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { CellInfo } from "./contract";
import type { Table } from "./data";
import { shown } from "./format";
import type { Look } from "./grid";
import { classes, t } from "./ui";

const RADIUS = 5;
const PLAIN = { name: "plain", dot: "full" } as const;

/** A scale over all values and 0 with rounded ends, and a few ticks. */
function scaleOf(values: readonly (number | null)[]) {
  const known = values.filter((value) => value !== null);
  const ends = known.length ? known.reduce(([a, b], v) => [Math.min(a!, v), Math.max(b!, v)], [0, 0]) : [0, 1];
  const scale = scaleLinear().domain(ends).nice(5).range([1, 99]);
  return { place: (value: number) => `${scale(value)}%`, ticks: scale.ticks(5), text: scale.tickFormat(5) };
}

interface Line {
  row: number; // of the table
  name: string;
  look?: Pick<Look, "name" | "dot">;
  says: ComponentChildren;
  href?: string; // opens what `opened` has
  opened?: ComponentChildren;
}
interface DotsProps {
  table: Table;
  cell: CellInfo;
  lines: readonly Line[];
  inner?: readonly [low: string, high: string]; // columns: a narrower interval
}
/** A line per row of a table: its name, its value and intervals on one scale, and what is spoken of it. */
export function Dots({ table, cell, lines, inner = ["p25", "p75"] }: DotsProps) {
  const all = [cell.value, cell.low, cell.high, ...inner];
  const { place, ticks, text } = scaleOf(lines.flatMap(({ row }) => all.map((column) => table.number(column, row))));
  const dot = (row: number, { name, dot }: { name: string; dot: Look["dot"] }) => {
    const [value, low, high, ...within] = all.map((column) => table.number(column, row));
    const line = (a: number | null | undefined, b: number | null | undefined, kind: string) =>
      a != null && b != null && <line class={kind} x1={place(a)} x2={place(b)} y1="50%" y2="50%" />;
    const spoken = `${shown(value)}${low == null ? "" : `, from ${shown(low)} to ${shown(high)}`}`;
    return (
      <svg class={`dot ${name}`} role="img" aria-label={spoken}>
        {ticks.map((v) => (
          <line key={v} class={v ? "tick" : "zero"} x1={place(v)} x2={place(v)} y1="0" y2="100%" />
        ))}
        {line(low, high, "outer")}
        {line(within[0], within[1], "inner")}
        {value != null && (
          <svg class={dot} x={place(value)} y="50%" overflow="visible">
            <circle r={RADIUS} />
            {dot === "half" && <path d={`M0,${-RADIUS}A${RADIUS},${RADIUS} 0 0 0 0,${RADIUS}Z`} />}
          </svg>
        )}
      </svg>
    );
  };
  return (
    <>
      <div class="row head" aria-hidden="true">
        <span />
        <svg class="axis">
          {ticks.map((value) => (
            <text key={value} x={place(value)} y="12" text-anchor="middle" children={text(value)} />
          ))}
        </svg>
      </div>
      <ol class="metrics">
        {lines.map(({ row, name, look = PLAIN, says, ...rest }) => (
          <Item key={name} {...rest}>
            <span class="name">{t(name)}</span>
            {dot(row, look)}
            {says}
          </Item>
        ))}
      </ol>
    </>
  );
}

function Item({ href, opened, children }: Pick<Line, "href" | "opened"> & { children: ComponentChildren }) {
  const item = useRef<HTMLLIElement>(null);
  const open = Boolean(opened);
  useEffect(() => {
    if (open) item.current?.scrollIntoView({ block: "nearest" });
  }, [open]);
  return (
    <li ref={item} class={classes(!href && "row", open && "open")}>
      {href ? <a class="row" href={href} aria-expanded={open} children={children} /> : children}
      {opened}
    </li>
  );
}
