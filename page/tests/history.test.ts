import { expect, test } from "vitest";
import type { SincePoint } from "../src/contract";
import { pieces } from "../src/history";

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
