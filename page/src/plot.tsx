/** Values with their intervals on one scale; places are per cent, so that pictures fit any width. */
import { scaleLinear } from "d3-scale";
import type { JSX } from "preact";
import { shown } from "./format";

export interface Scale {
  place: (value: number) => string;
  ticks: { place: string; text: string; value: number }[];
}

/** A scale over all values with rounded ends; a few ticks. */
export function scaleOf(values: readonly (number | null)[]): Scale {
  const known = values.filter((value) => value !== null);
  const ends = known.length ? known.reduce(([a, b], v) => [Math.min(a!, v), Math.max(b!, v)], [0, 0]) : [0, 1];
  const scale = scaleLinear().domain(ends).nice(5).range([1, 99]);
  const place = (value: number): string => `${scale(value)}%`;
  const format = scale.tickFormat(5);
  const ticks = scale.ticks(5).map((value) => ({ value, place: place(value), text: format(value) }));
  return { place, ticks };
}

export function Axis({ scale }: { scale: Scale }): JSX.Element {
  return (
    <svg class="axis" aria-hidden="true">
      {scale.ticks.map((tick) => (
        <text key={tick.value} x={tick.place} y="12" text-anchor="middle">
          {tick.text}
        </text>
      ))}
    </svg>
  );
}

interface DotProps {
  scale: Scale;
  value: number | null;
  low: number | null;
  high: number | null;
  inner?: readonly [number | null, number | null]; // a narrower claim: these systems only
  state?: string;
}
export function Dot({ scale, value, low, high, inner, state = "" }: DotProps): JSX.Element {
  const line = (from: number | null, to: number | null, kind: string): JSX.Element | null =>
    from === null || to === null ? null : (
      <line class={kind} x1={scale.place(from)} x2={scale.place(to)} y1="50%" y2="50%" />
    );
  const said = `${shown(value)}${low === null ? "" : `, from ${shown(low)} to ${shown(high)}`}`;
  return (
    <svg class={`dot ${state}`} role="img" aria-label={said}>
      {scale.ticks.map((tick) => (
        <line
          key={tick.value}
          class={tick.value === 0 ? "zero" : "tick"}
          x1={tick.place}
          x2={tick.place}
          y1="0"
          y2="100%"
        />
      ))}
      {line(low, high, "outer")}
      {inner && line(inner[0], inner[1], "inner")}
      {value !== null && <circle cx={scale.place(value)} cy="50%" r="5" />}
    </svg>
  );
}
