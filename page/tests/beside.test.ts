import { expect, test } from "vitest";
import { differences, onlyIn, sentences } from "../src/beside";
import type { Block, Judgment, Line, Text } from "../src/contract";

const cut = (text: string) => sentences(text).map(({ start, end }) => text.slice(start, end));
const only = (text: string, other: string) => onlyIn(text, other).map(({ start, end }) => text.slice(start, end));

test("a sentence ends with its line, too", () => {
  expect(cut("One is here. Two is there.\n- three\n\n  four ")).toEqual([
    "One is here.",
    "Two is there.",
    "- three",
    "four",
  ]);
});

test("a sentence with half of the words and every number in one sentence has a counterpart", () => {
  const other = "The wound is clean and dry. Give 40 mg of furosemide daily.";
  expect(only("The wound looks clean. She sleeps badly.", other)).toEqual(["She sleeps badly."]);
  expect(only("Give furosemide 40 mg daily.", other)).toEqual([]);
  expect(only("Give furosemide 80 mg daily.", other)).toEqual(["Give furosemide 80 mg daily."]); // another number
  expect(only("Give furosemide 40 mg daily [7].", other)).toEqual([]); // a citation is no number
  expect(only("!!!", other)).toEqual([]); // no word
});

function line(number: number, text: string, side: Judgment["side"]): Line {
  const judgments = [{ word: side, side, probability: null, why: "", quotes: [] }];
  return {
    ...{ number, part: "full", text, start: -1, end: -1, cites: [], aligned: [] },
    judgments,
    each: [],
    people: [],
    rated: "",
  };
}
function written(author: string, id: string, lines: Line[]): Text {
  const block: Block = {
    id,
    title: "",
    noun: "claim",
    heads: [{ question: "", measure: "m", judge: "j" }],
    lines,
    note: "",
  };
  return { author, problems: [], text: "", marks: [], ratings: [], scores: [], blocks: [block] };
}
const head = { measure: "m", judge: "j", fails: "" };

test("claims of the reference differ where they count for one text and against the other", () => {
  const a = written("a", "claims", [line(0, "x", "for"), line(1, "y", "for"), line(2, "z", "unknown")]);
  const b = written("b", "claims", [line(0, "x", "against"), line(1, "y", "for"), line(2, "z", "against")]);
  const found = differences(a.blocks[0]!, a, b, head);
  expect(found.map(({ line, other }) => [line.text, other?.judgments[0]!.side])).toEqual([["x", "against"]]);
  expect(differences(a.blocks[0]!, a, b, { ...head, judge: "k" })).toEqual([]); // nobody else was asked
});

test("lines of a text's own differ where the other text's lack them", () => {
  const a = written("a", "statements", [
    line(0, "The wound is clean.", "for"),
    line(1, "Furosemide was given.", "for"),
  ]);
  const b = written("b", "statements", [line(0, "The clean wound heals.", "for")]);
  expect(differences(a.blocks[0]!, a, b, head)).toEqual([{ line: a.blocks[0]!.lines[1], other: null }]);
  expect(differences(a.blocks[0]!, a, written("c", "other", []), head)).toEqual([]);
});
