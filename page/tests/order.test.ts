import { expect, test } from "vitest";
import { mean, ranks, sorted } from "../src/order";

const of = (values: (number | string | null)[]) => (row: number) => values[row] ?? null;

test("what is null comes last, whichever way one sorts; equal rows stay as they were", () => {
  const columns = { v: of([2, null, 1, 2, null, 3]), name: of(["b10", "b9", null, "a", "b9", "B"]) };
  const rows = [0, 1, 2, 3, 4, 5];
  expect(sorted(rows, columns, "v")).toEqual([2, 0, 3, 5, 1, 4]);
  expect(sorted(rows, columns, "-v")).toEqual([5, 0, 3, 2, 1, 4]);
  expect(sorted(rows, columns, "name")).toEqual([3, 5, 1, 4, 0, 2]);
  expect(sorted(rows, columns, "")).toBe(rows);
  expect(sorted(rows, columns, "toString")).toBe(rows);
});

test("a mean counts what is missing, and no order of rows changes it", () => {
  const values = of([1e16, 1, -1e16, 1, null]);
  expect(mean([0, 1, 2, 3, 4], values)).toEqual({ mean: 0.5, n: 4, missing: 1 });
  expect(mean([2, 4, 3, 1, 0], values)).toEqual({ mean: 0.5, n: 4, missing: 1 });
  expect(mean([4], values)).toEqual({ mean: null, n: 0, missing: 1 });
});

test("ranks are shares of the others below, ties count half", () => {
  // of 3 others: 10 is above none, both 20 above one and a half, 30 above all
  expect(ranks(5, of([20, 10, null, 30, 20]), false)).toEqual([0.5, 0, null, 1, 0.5]);
  expect(ranks(5, of([20, 10, null, 30, 20]), true)).toEqual([0.5, 1, null, 0, 0.5]);
  expect(ranks(1, of([7]), false)).toEqual([0.5]);
});
