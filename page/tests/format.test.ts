import { describe, expect, test } from "vitest";
import * as format from "../src/format";
import numbers from "./numbers.json";

describe("numbers", () => {
  // tests/page/test_numbers.py has Python write the same file.
  test.each(numbers)("$value has Python's digits", (row) => {
    const { value, shown, short, probability } = row;
    expect(format.shown(value)).toBe(shown);
    expect(format.short(value)).toBe(short);
    expect(format.probability(value)).toBe(probability);
  });
  test("missing ones are empty", () => {
    expect([format.shown(null), format.short(undefined), format.probability(null)]).toEqual(["", "", ""]);
    expect(format.interval(null, 1)).toBe("");
    expect(format.interval(-0.5, 0.25)).toBe("[−0.500, 0.250]");
    expect(format.interval(-0.5, 0.25, format.short)).toBe("[−.50, .25]");
  });
  test("counts have their noun", () => {
    expect(format.counted(1, "text")).toBe("1 text");
    expect(format.counted(1234567, "text")).toBe("1,234,567 texts");
    expect(format.grouped(-1000)).toBe("-1,000");
  });
  test("a column's type and name say how it looks", () => {
    expect(format.cellText(0.0004, { name: "p", type: "number" })).toBe("<.001");
    expect(format.cellText(0.0004, { name: "precision", type: "number" })).toBe("<0.001");
    expect(format.cellText(1000, { name: "n", type: "integer" })).toBe("1,000");
    expect(format.cellText(true, { name: "x", type: "boolean" })).toBe("yes");
    expect(format.cellText(null, { name: "x", type: "text" })).toBe("");
  });
});

test("characters that nobody sees are shown, as metassay/core/visible.py does", () => {
  expect(format.visible("a\0b\u202ec\td\n\r\u200e\u2066\x1b")).toBe("a␀b\\u202ec\td\n\r\u200e\\u2066␛");
});

test("a metric is called by its judge too, where it has one", () => {
  expect(format.label("claim_recall", "lexical")).toBe("claim_recall (lexical)");
  expect(["none", "", null, undefined].map((judge) => format.label("bleu", judge))).toEqual(Array(4).fill("bleu"));
});
