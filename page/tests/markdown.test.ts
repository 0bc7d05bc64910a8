import { expect, test } from "vitest";
import { plain, segments } from "../src/markdown";

test.each([
  ["**bold** and *soft*", "bold and soft"],
  ["# Plan\nrest", "Plan\nrest"],
  ["__bold__ _soft_ `code`", "bold soft code"],
  ["a **b *c* d** e", "a b c d e"],
])("%j reads %j", (text, expected) => {
  expect(plain(text)).toBe(expected);
});

test.each([
  "5*3*2 mg, HLA-B*27 and B*57",
  "* one\n* two",
  "seen by [**Last Name**] and ___ at __",
  "snake_case_name and file__name__x",
  "2 * 3 * 4, ** and **",
  "#pneumonia",
  "<b>no tag</b> [a link](https://example.org)",
  "an open `tick and ```\nfence",
])("%j stays as it is", (text) => {
  expect(plain(text)).toBe(text);
});

test("what stands in code keeps its marks", () => {
  expect(segments("`**x**`")).toEqual([{ text: "**x**", start: 1, as: "code" }]);
  expect(plain("```\n**x**\n```")).toBe("```\n**x**\n```");
});

test("styles know where their words stand", () => {
  expect(segments("## A *b*")).toEqual([
    { text: "A ", start: 3, as: "title" },
    { text: "b", start: 6, as: "title em" },
  ]);
});

test("a long text of marks takes no long time", () => {
  const start = performance.now();
  plain("** a _b ".repeat(20_000));
  expect(performance.now() - start).toBeLessThan(5000);
});
