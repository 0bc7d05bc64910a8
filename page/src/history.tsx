/** Means over time with their intervals: a row per system. A step is as high in each row, whatever its level. */
import { scaleLinear, scaleUtc } from "d3-scale";
import type { SincePoint, SinceScore } from "./contract";
import { brief, interval, shown } from "./format";
import { t } from "./ui";

const WIDTH = 600;
const HEIGHT = 64;
const EDGE = 7; // room for a ring

/** Points between which the metric was measured alike; points without a mean are left out. */
export function pieces(points: readonly SincePoint[]): SincePoint[][] {
  const found: SincePoint[][] = [];
  for (const point of points) {
    if (point.mean === null) continue;
    const last = found.at(-1);
    if (last && !point.another_recipe) last.push(point);
    else found.push([point]);
  }
  return found;
}

/** Ends of a row's scale: its own middle, and as much as the row that moves most. */
export function domains(lines: readonly SinceScore[]): [least: number, most: number][] {
  const ends = lines.map(({ points }) => {
    const values = points.flatMap(({ mean, low, high }) => [mean, low, high]).filter((value) => value !== null);
    return values.length ? ([Math.min(...values), Math.max(...values)] as const) : ([0, 0] as const);
  });
  const half = Math.max(...ends.map(([least, most]) => (most - least) / 2)) || 0.5;
  return ends.map(([least, most]) => [(least + most) / 2 - half, (least + most) / 2 + half]);
}

export function History({ lines }: { lines: readonly SinceScore[] }) {
  const all = lines.flatMap(({ points }) => points);
  const times = all.map(({ run }) => Date.parse(run));
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const x = scaleUtc()
    .domain([first, last])
    .range(first === last ? [WIDTH / 2, WIDTH / 2] : [EDGE, WIDTH - EDGE]);
  const heights = domains(lines);
  const at = (point: SincePoint) => x(Date.parse(point.run));
  const ends = [...new Set([first, last])].map((time) => new Date(time).toISOString().slice(0, 10));
  return (
    <ol class="weeks">
      {lines.map(({ author, points }, row) => {
        const [least, most] = heights[row]!;
        const y = scaleLinear()
          .domain([least, most])
          .range([HEIGHT - EDGE, EDGE]);
        const known = points.filter(({ mean }) => mean !== null);
        const now = known.at(-1);
        return (
          <li key={author}>
            <span class="name">{t(author)}</span>
            <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={spoken(known)}>
              {[least, most].map((value) => (
                <line key={value} class="tick" x1="0" x2={WIDTH} y1={y(value)} y2={y(value)} />
              ))}
              {pieces(points).map((piece) => (
                <Piece key={piece[0]!.run} piece={piece} x={at} y={y} />
              ))}
            </svg>
            <small class="scale" aria-hidden="true">
              <span>{brief(most)}</span>
              <span>{brief(least)}</span>
            </small>
            <span class="numbers">
              {shown(now?.mean)} <small>{interval(now?.low, now?.high)}</small>
            </span>
          </li>
        );
      })}
      <li class="days" aria-hidden="true">
        <span />
        <small>
          {ends.map((day) => (
            <span key={day}>{day}</span>
          ))}
        </small>
      </li>
    </ol>
  );
}

interface PieceProps {
  piece: readonly SincePoint[];
  x: (point: SincePoint) => number;
  y: (value: number) => number;
}
function Piece({ piece, x, y }: PieceProps) {
  const sure = piece.filter(({ low, high }) => low !== null && high !== null);
  const band = [
    ...sure.map((point) => `${x(point)},${y(point.high!)}`),
    ...sure.toReversed().map((point) => `${x(point)},${y(point.low!)}`),
  ];
  const line = piece.map((point) => `${x(point)},${y(point.mean!)}`);
  return (
    <>
      {sure.length > 1 && <polygon class="band" points={band.join(" ")} />}
      {sure.map((point) => (
        <line key={point.run} class="whisker" x1={x(point)} x2={x(point)} y1={y(point.low!)} y2={y(point.high!)} />
      ))}
      <polyline class="mean" points={line.join(" ")} />
      {piece.map((point) => (
        // A line without length has a round end: a dot that stays round however wide the picture is.
        <line
          key={point.run}
          class={point.verdict === "regressed" ? "point worse" : "point"}
          x1={x(point)}
          x2={x(point)}
          y1={y(point.mean!)}
          y2={y(point.mean!)}
        />
      ))}
      {piece.map(
        (point) =>
          point.verdict === "regressed" && (
            <line key={point.run} class="hole" x1={x(point)} x2={x(point)} y1={y(point.mean!)} y2={y(point.mean!)} />
          ),
      )}
    </>
  );
}

function spoken(points: readonly SincePoint[]): string {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) return "no value";
  const end = `${shown(last.mean)} ${interval(last.low, last.high)} on ${last.run.slice(0, 10)}`;
  return first === last
    ? end
    : `${points.length} runs, from ${shown(first.mean)} on ${first.run.slice(0, 10)} to ${end}`;
}
