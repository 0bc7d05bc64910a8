import { expect, test } from "vitest";
import type { Block, Document, Line, Text } from "../src/contract";
import { failing, linesAbout, pieces, place, runs, seekLine, wholeLines } from "../src/lines";

const line = (number: number, start: number, end: number, others: Partial<Line> = {}): Line => ({
  ...{
    number,
    start,
    end,
    part: "full",
    text: "",
    cites: [],
    aligned: [],
    judgments: [],
    each: [],
    people: [],
    rated: "",
  },
  ...others,
});
const side = (...sides: ("for" | "against")[]) =>
  sides.map((of) => ({ word: of, side: of, probability: null, why: "", quotes: [] }));
const block: Block = {
  ...{ id: "claim:x", title: "", noun: "claim", note: "" },
  heads: ["j", "k"].map((judge) => ({ question: "", measure: "", judge })),
  lines: [
    line(0, 0, 4, { cites: [2], aligned: [0, 2], judgments: side("for", "for") }),
    line(1, 2, 6, { cites: [9], judgments: side("for", "against") }),
    line(2, -1, -1, { judgments: side("against", "for") }),
  ],
};
const text: Text = {
  ...{ author: "a", problems: [], text: "0123456789", ratings: [], scores: [] },
  marks: [
    { start: 0, end: 5, part: "p" },
    { start: 5, end: 8, part: "q" },
  ],
  blocks: [block],
};
const document: Document = { id: "d", task: "", attributes: [], passages: [], texts: [text] };

test("pieces are the text, cut where something begins or ends", () => {
  const cut = pieces(text, { passages: [], author: "a", start: 2, end: 6 });
  expect(cut.map((piece) => piece.text).join("")).toBe(text.text);
  expect(cut.map(({ text: of, mark, lit, line: at }) => [of, mark?.part, lit, at?.line.number])).toEqual([
    ["01", "p", false, 0],
    ["23", "p", true, 0],
    ["4", "p", true, 1],
    ["5", "q", true, 1],
    ["67", "q", false, undefined],
    ["89", undefined, false, undefined],
  ]);
  expect(pieces({ ...text, text: "" }, null)).toEqual([]);
});

test("the address of a line leads to it, and one of no line nowhere", () => {
  expect(place(document, "a", "claim:x:1")).toEqual({ passages: [9], author: "a", start: 2, end: 6 });
  expect([place(document, "a", "claim:x:3"), place(document, "b", "claim:x:1")]).toEqual([null, null]);
  expect(place(document, "a", "nonsense")).toBeNull();
});

const asked = (judge: string, measure = "") => ({ measure, judge, fails: "fails" });

test("the first line that a measure and judge count against a text", () => {
  expect(seekLine(text, "against", asked("j"))).toBe("claim:x:2");
  expect(seekLine(text, "against", asked("k"))).toBe("claim:x:1");
  expect(seekLine(text, "unknown", asked("k"))).toBeNull();
  const first: Block = { ...block, id: "first", heads: block.heads.map((head) => ({ ...head, measure: "other" })) };
  const both = { ...text, blocks: [first, ...text.blocks] };
  expect(seekLine(both, "against", asked("k", "other"))).toBe("first:1");
  expect(seekLine(both, "against", asked("k"))).toBe("claim:x:1");
  expect(seekLine(text, "split", asked("k"))).toBe("claim:x:1"); // no line says that people differ
  const rated = line(1, 4, 6, { rated: "against", judgments: side("for") });
  const split: Block = { ...block, id: "split", lines: [line(0, 0, 4, { rated: "for" }), rated] };
  expect(seekLine({ ...text, blocks: [block, split] }, "split", asked("k"))).toBe("split:1");
});

test("lines that fail by a measure and judge stand in the order of the text, and are marked in it", () => {
  const failed = failing(text, asked("k"));
  expect(failed.map((of) => of.line.number)).toEqual([1]);
  const cut = pieces(text, null, { failed });
  expect(cut.filter((piece) => piece.fails).map((piece) => piece.text)).toEqual(["23", "4", "5"]);
  expect(runs(cut, (piece) => piece.fails).map(({ same, pieces: of }) => [same, of.length])).toEqual([
    [false, 1],
    [true, 3],
    [false, 2],
  ]);
});

test.each([
  [0, 3, true],
  [0, 2, true],
  [3, 6, true],
  [1, 3, false],
  [3, 5, false],
])("lines of a text from %d to %d are whole: %s", (start, end, whole) => {
  expect(wholeLines("ab\ncde", start, end)).toBe(whole);
});

test("passages know the lines that rest on them", () => {
  const about = linesAbout(document, [0]);
  expect([...about].map(([n, lines]) => [n, lines.map((of) => of.line.number)])).toEqual([
    [2, [0]],
    [0, [0]],
    [9, [1]],
  ]);
});
