import { expect, test } from "vitest";
import { read } from "../src/address";
import { against, certainty, chosenClaims, claimsCsv, headOf, judgesOf, ofMeasure } from "../src/claims";
import type { TextsInfo } from "../src/contract";
import { info as texts, table } from "./data";

const asked = [
  { measure: "faith", judge: "j", fails: "unsupported" },
  { measure: "faith", judge: "k", fails: "unsupported" },
  { measure: "recall", judge: "k", fails: "missing" },
];
const info: TextsInfo = { ...texts, judges: ["j", "k"], scorers: asked };
const claims = table({
  document: ["d1", "d1", "d2", "d2", "d2"],
  author: ["a", "a", "b", "b", "b"],
  line: ["x:0", "x:1", "x:0", "x:1", "y:0"],
  noun: ["claim", "claim", "claim", "claim", "claim"],
  part: ["full", "full", "full", "full", "full"],
  measure: ["faith", "faith", "faith", "faith", "recall"],
  text: ["=one", "two", 'three, "3"', "four", "five"],
  people: ["", "ok 1", "ok 0", "", ""],
  rated: ["", "for", "against", "", ""],
  side_0: ["against", "against", "against", "for", null],
  word_0: ["not entailed", "no evidence", "not entailed", "entailed", null],
  probability_0: [0.25, null, 0.125, 0.75, null],
  why_0: ["because", "", "", "", null],
  side_1: ["for", "for", "against", "for", "against"],
  word_1: ["entailed", "entailed", "not entailed", "entailed", "not entailed"],
  probability_1: [0.5, 0.75, 0.5, 0.5, 0.5],
  why_1: ["", "", "", "", ""],
});

function rows(hash: string): readonly number[] {
  const at = read(hash);
  return chosenClaims(claims, info, asked[headOf(asked, at)]!, at).rows;
}

test.each([
  ["#claims", [2, 0, 1]], // two judges and the raters; then the surer of two
  ["#claims?side=for", [3]],
  ["#claims?judge=k&side=for", [0, 1, 3]], // j counts the first two against; k is less sure of the first
  ["#claims?side=any&sort=text", [0, 3, 2, 1]],
  ["#claims?judge=k", [2]],
  ["#claims?measure=recall", [4]],
  ["#claims?measure=recall&judge=j", [2, 0, 1]], // nobody asked it so: the first that was asked
  ["#claims?author=a", [0, 1]],
  ["#claims?word=no+evidence", [1]],
  ["#claims?split=raters", [1]],
  ["#claims?split=judges", [0, 1]],
  ["#claims?q=becau", [0]],
  ["#claims?q=d2", [2]],
])("%s", (hash, expected) => {
  expect(rows(hash)).toEqual(expected);
});

test("a judge stays for another measure only if it was asked", () => {
  expect(ofMeasure(info, "recall", "k")).toEqual({ measure: "recall", judge: "k", word: null });
  expect(ofMeasure(info, "recall", "j")).toEqual({ measure: "recall", judge: null, word: null });
});

test("of passes that as many count against, the least sure comes first", () => {
  const passes = table({
    measure: ["faith", "faith", "faith"],
    author: ["a", "a", "a"],
    side_0: ["for", "for", "for"],
    probability_0: [0.99, 0.6, 0.8],
    side_1: ["for", "for", "against"],
  });
  expect(chosenClaims(passes, info, asked[0]!, { side: "for" }).rows).toEqual([2, 1, 0]);
});

test("counts are of one measure and judge", () => {
  const { all, words } = chosenClaims(claims, info, asked[0]!, {});
  expect([all, words]).toEqual([4, ["not entailed", "no evidence"]]);
  const judges = judgesOf(info, "faith");
  expect([0, 1, 2].map((row) => against(claims, judges, row))).toEqual([
    [1, 2],
    [1, 3],
    [3, 3],
  ]);
  expect([0, 1, 3].map((row) => certainty(claims, 0, row))).toEqual([0.75, null, 0.75]);
});

test("CSV has the judges of the measure, and no cell that runs as a formula", () => {
  const csv = claimsCsv(claims, info, asked[0]!, [0, 2]).split("\n");
  expect(csv).toEqual([
    "document,author,part,measure,text,people,word (j),side (j),probability (j),why (j),word (k),side (k),probability (k),why (k)",
    "d1,a,full,faith,'=one,,not entailed,against,0.25,because,entailed,for,0.5,",
    'd2,b,full,faith,"three, ""3""",ok 0,not entailed,against,0.125,,not entailed,against,0.5,',
    "",
  ]);
});
