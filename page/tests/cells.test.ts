import { expect, test } from "vitest";
import type { GridRow, Head, TableInfo, VerdictWord } from "../src/contract";
import { barScale, matrix, picked, textsOf } from "../src/cells";
import { kindOf, lookOf, ranked, selected } from "../src/grid";
import { info, table } from "./data";

const board = table({
  part: ["full", "full", "full", "half"],
  metric: ["m", "m", "n", "m"],
  judge: ["none", "none", "none", "none"],
  author: ["a", "b", "a", "a"],
  value: [1, 2, 3, 4],
});

test("a row leads to the texts that it is about", () => {
  expect(textsOf(info, board, 0)).toMatchObject({ view: "texts", author: "a", x: "m", sort: "m" });
  expect(textsOf(info, board, 2)).toMatchObject({ author: "a", x: null });
  expect(textsOf(info, board, 3)).toMatchObject({ author: "a", x: null, sort: null }); // m of another part
  expect(textsOf(info, table({ part: ["part 10"], author: ["c"] }), 0)).toMatchObject({
    part: "part 10",
    author: null,
  });
  expect(textsOf(info, table({ judge: ["k"], statistic: ["f1"] }), 0)).toEqual({ view: "texts", judge: "k", split: 1 });
  expect(textsOf(null, board, 0)).toBeNull();
  expect(textsOf(info, table({ value: [1] }), 0)).toBeNull();
  const people = table({ criterion: ["errors"], metric: ["m"], judge: ["none"], doc_id: ["d"] });
  expect(textsOf(info, people, 0)).toMatchObject({ x: "m", y: "people: errors", doc: "d" });
});

test("a matrix has a row for each lead and a column for each value, and no number twice", () => {
  const shape = matrix({
    ...{ table: board, rows: [0, 1, 2], lead: ["author"], across: (row) => board.text("metric", row) },
    cell: { value: "value", low: "", high: "", n: "", missing: "", least: "", most: "" },
  });
  expect(shape.columns.map((column) => column.title)).toEqual(["author", "m", "n"]);
  expect(shape.rows.map((row) => shape.columns.map((column) => column.value(row)))).toEqual([
    ["a", 1, 3],
    ["b", 2, null],
  ]);
});

test("of tiles the larger number is the darker one, and counts go by the largest of them", () => {
  const tints = (value: number[]) => {
    const of = table({ metric: value.map(() => "m"), name: value.map((_, i) => `n${i}`), value });
    const rows = value.map((_, i) => i);
    const cell = { value: "value", low: "", high: "", n: "", missing: "", least: "", most: "" };
    const across = (row: number) => of.text("name", row);
    const { columns } = matrix({ table: of, rows, lead: ["metric"], across, cell, picture: "tiles" });
    return columns.slice(1).map((column) => column.tint?.(0));
  };
  expect(tints([0.5, -0.25])).toEqual([0.5, -0.25]);
  expect(tints([10, 40])).toEqual([0.25, 1]);
});

test("a matrix of pairs has both halves", () => {
  const of = table({ first: Array.from("aaabbc"), second: Array.from("bcdcdd"), value: [1, 2, 3, 4, 5, 6] });
  const cell = { value: "value", low: "", high: "", n: "", missing: "", least: "", most: "" };
  const across = (row: number) => of.text("second", row);
  const all = { table: of, rows: [0, 1, 2, 3, 4, 5], lead: ["first"], across, cell, picture: "pairs" };
  const { columns, rows } = matrix(all);
  expect(rows.map((row) => columns.map((column) => column.value(row)))).toEqual([
    ["a", 1, 2, 3],
    ["b", null, 4, 5],
    ["c", 4, null, 6],
  ]);
});

test("what is picked is what the address has, where the table has it", () => {
  const of = { columns: board.columns, pick: ["part", "metric"] } as unknown as TableInfo;
  const pick = (at: Record<string, string>) => picked(of, board, at);
  expect(pick({}).rows).toEqual([0, 1]);
  expect(pick({ "is.metric": "n" }).rows).toEqual([2]);
  expect(pick({ "is.part": "half", "is.metric": "n" }).rows).toEqual([3]); // half has no n
  expect(pick({ "is.author": "b", "is.unknown": "x" }).rows).toEqual([1]);
  expect(pick({}).picks.map(({ values }) => values)).toEqual([
    ["full", "half"],
    ["m", "n"],
  ]);
});

test("metrics stand by their verdict, then by their correlation", () => {
  const kinds = ["use", "promising", "too weak"].map((kind): VerdictWord => ({ kind, state: "no", means: "" }));
  const certificates = table({
    metric: ["weak", "b", "a", "used", "promising", "none"],
    judge: ["none", "none", "none", "j", "none", "none"],
    verdict: ["too weak", "promising", "promising", "use", "promising", "undefined"],
    value: [0.9, 0.3, 0.3, 0.2, 0.4, null],
  });
  expect(ranked(certificates, [0, 1, 2, 3, 4, 5], kinds)).toEqual([3, 4, 2, 1, 0, 5]);
});

test("verdicts that leave something to confirm differ in sign, colour and dot", () => {
  const looks = (["use", "confirm", "confirm", "no"] as const).map((state, i) =>
    lookOf(["these systems only", "promising", "cannot tell", "too weak"][i]!, state),
  );
  for (const name of ["sign", "name"] as const) expect(new Set(looks.map((look) => look[name])).size).toBe(4);
  expect(looks.map(({ dot }) => dot)).toEqual(["full", "half", "open", "open"]);
});

test("bars begin at 0, and shares go to 1", () => {
  expect(barScale([0.2, null, 0.5])).toEqual({ from: 0, to: 1 });
  expect(barScale([3, 40])).toEqual({ from: 0, to: 40 });
  expect(barScale([-0.2, 0.5])).toEqual({ from: -1, to: 1 });
  expect(barScale([-3, 0.5])).toEqual({ from: -3, to: 1 });
});

test("a verdict's kind is the longest that it begins with", () => {
  const kinds = ["use", "explained by", "explained by words"].map((kind): VerdictWord => ({
    ...{ kind, state: "no", means: "" },
  }));
  expect(kindOf("explained by words", kinds)?.kind).toBe("explained by words");
  expect(kindOf("explained by length", kinds)?.kind).toBe("explained by");
  expect(kindOf("weak", kinds)).toBeUndefined();
});

test("the grid's first cell is selected where the address has none that there is", () => {
  const row = (criterion: string, part: string): GridRow => ({ study: "s", criterion, part, title: "", cells: [] });
  const head = {
    grid: [row("a", "full"), row("b", "full"), row("b", "half")],
    decisions: { document: "texts", system: "systems" },
  } as unknown as Head;
  expect(selected(head, {})).toEqual({ row: head.grid[0], level: "document" });
  expect(selected(head, { criterion: "b", part: "half", level: "system" })).toEqual({
    row: head.grid[2],
    level: "system",
  });
  expect(selected(head, { criterion: "c", level: "x" })?.row).toBe(head.grid[0]);
  expect(selected({ ...head, grid: [] }, {})).toBeNull();
});
