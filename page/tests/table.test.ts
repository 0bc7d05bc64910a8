import { expect, test } from "vitest";
import { Table } from "../src/data";
import type { ColumnInfo } from "../src/contract";

const columns = (["name", "value", "flag"] as const).map((name): ColumnInfo => ({ name, type: "text", means: "" }));

test("a table is its shards one after the other, whether values are coded or not", () => {
  const of = new Table(columns, [
    { columns: [{ values: ["a", "b"], codes: [1, -1, 0] }, [0.1, null, 3], [true, false, null]] },
    { columns: [["b"], [1e-9], [true]] },
  ]);
  expect(of.rows).toBe(4);
  expect([0, 1, 2, 3].map((row) => of.at("name", row))).toEqual(["b", null, "a", "b"]);
  expect([0, 1, 2, 3].map((row) => of.number("value", row))).toEqual([0.1, null, 3, 1e-9]);
  expect(of.text("flag", 0)).toBe("true");
  expect([of.at("gone", 0), of.at("name", 9), of.number("name", 0), of.text("name", 1)]).toEqual([
    null,
    null,
    null,
    "",
  ]);
  expect(of.where({ name: "b" })).toEqual([0, 3]);
  expect(of.where({ name: "b", value: "0.1", gone: "x", flag: "" })).toEqual([0]);
  expect(of.different("name")).toEqual(["b", "", "a"]);
});

test("a table without rows", () => {
  expect(new Table(columns, [{ columns: [[], [], []] }]).rows).toBe(0);
  expect(new Table([], []).rows).toBe(0);
});
