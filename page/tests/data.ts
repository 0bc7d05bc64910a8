/** A small index of texts, written out. */
import { Table, type Value } from "../src/data";
import type { ColumnInfo, TextsInfo } from "../src/contract";

export const table = (columns: Record<string, Value[]>): Table =>
  new Table(
    Object.keys(columns).map((name): ColumnInfo => ({ name, type: "text", means: "" })),
    [{ columns: Object.values(columns) }],
  );

export const index = table({
  document: ["d1", "d1", "d2", "d2", "d3"],
  author: ["a", "b", "a", "b", "a"],
  task: ["t", "t", "t", "t", "t"],
  status: ["ok", "ok", "ok", "truncated", "ok"],
  for_0: [1, 2, 0, 0, 3],
  against_0: [1, 0, 2, 0, 0],
  unknown_0: [0, 0, 0, 0, 0],
  for_1: [2, 2, 2, 0, 0],
  against_1: [0, 0, 0, 0, 3],
  unknown_1: [0, 0, 0, 0, 0],
  split: [0, 1, 0, 0, 0],
  parts: ["0 10", "1", "", "", "10"],
  m0: [0.5, 0.25, 0.75, null, 1],
  c0: [5, 4, 1, null, 2],
});

export const info: TextsInfo = {
  documents: 3,
  texts: 5,
  noun: "document",
  authors: ["a", "b"],
  references: [],
  measures: [
    { key: "m", column: "m0", better: "higher" },
    { key: "people: errors", column: "c0", better: "lower" },
  ],
  judges: ["j", "k"],
  scorers: ["j", "k"].map((judge) => ({ measure: "m", judge, fails: "fails" })),
  parts: Array.from({ length: 11 }, (_, i) => `part ${i}`),
  table: {
    ...{ name: "index", title: "", group: "", says: [], columns: [], rows: 5, shards: [], csv: "", command: "" },
    ...{ pick: [], lead: [], across: "", cell: null, hide: [], figures: {}, picture: "" },
  },
  search: [],
  documents_in: [],
  claims: null,
};
