import { expect, test } from "vitest";
import type { SincePoint, SinceScore } from "../src/contract";
import { domains, pieces } from "../src/history";

const point = (run: string, mean: number | null, another = false): SincePoint => ({
  ...{ run, mean, low: null, high: null, verdict: "" },
  another_recipe: another,
});

test("a line is broken where the metric was measured in another way", () => {
  const points = [point("1", 0.5), point("2", null), point("3", 0.6), point("4", 0.7, true), point("5", 0.8)];
  expect(pieces(points).map((piece) => piece.map(({ run }) => run))).toEqual([
    ["1", "3"],
    ["4", "5"],
  ]);
});

test("a step is as high in each row, whatever its level", () => {
  const score = (points: SincePoint[]): SinceScore => ({ metric: "m", author: "a", better: "higher", points });
  const flat = { ...point("1", 0.5), low: 0.25, high: 0.75 };
  expect(domains([score([flat]), score([point("1", 8), point("2", 10)]), score([point("1", null)])])).toEqual([
    [-0.5, 1.5],
    [8, 10],
    [-1, 1],
  ]);
});
