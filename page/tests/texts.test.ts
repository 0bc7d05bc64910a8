import { expect, test, vi } from "vitest";
import { read } from "../src/address";
import * as data from "../src/data";
import { chosen, listed, searcher, terms, versus } from "../src/texts";
import { index, info } from "./data";

function rows(hash: string): readonly number[] {
  const at = read(hash);
  return chosen(index, info, listed(index, info, at), at, null);
}

test.each([
  ["#texts", [0, 1, 2, 3, 4]],
  ["#texts?author=b", [1, 3]],
  ["#texts?status=truncated", [3]],
  ["#texts?part=part+10", [0, 4]],
  ["#texts?part=part+1", [1]],
  ["#texts?side=against", [0, 2]],
  ["#texts?side=against&judge=k", [4]],
  ["#texts?split=1", [1]],
  ["#texts?x=m&min=0.5&max=0.75", [0, 2]],
  ["#texts?x=m&min=.9", [4]],
  ["#texts?x=people:+errors&max=2", [2, 4]],
  ["#texts?sort=-m", [4, 2, 0, 1, 3]],
  ["#texts?sort=against", [1, 3, 4, 0, 2]],
  ["#texts?author=a&side=for&sort=m", [0, 4]],
])("%s", (hash, expected) => {
  expect(rows(hash)).toEqual(expected);
});

test("two measures are apart by the shares of texts that each is better than", () => {
  const columns = listed(index, info, read("#texts?x=m&y=people:+errors"));
  // by m: 1/3, 0, 2/3, -, 1; by errors, of which fewer are better: 0, 1/3, 1, -, 2/3
  const apart = [1 / 3, 1 / 3, 1 / 3, null, 1 / 3];
  apart.forEach((value, row) => {
    if (value === null) expect(columns.apart!(row)).toBeNull();
    else expect(columns.apart!(row)).toBeCloseTo(value, 12);
  });
  expect(listed(index, info, read("#texts?x=m")).apart).toBeUndefined();
});

test("counts are those of the chosen measure and judge", () => {
  const counts = (judge: string) => {
    const columns = listed(index, info, { judge });
    return [0, 1, 2, 3, 4].map((row) => columns.for!(row));
  };
  expect(counts("j")).toEqual([1, 2, 0, 0, 3]);
  expect(counts("k")).toEqual([2, 2, 2, 0, 0]);
});

test("two authors, document by document", () => {
  const [m, errors] = info.measures;
  expect(versus(index, m!, "a", "b")).toEqual({
    pairs: [
      { row: 0, a: 0.5, b: 0.25 },
      { row: 2, a: 0.75, b: null },
    ],
    ...{ alone: [1, 0], unscored: 1 },
    ...{ wins: 1, ties: 0, losses: 0, difference: { mean: 0.25, n: 1, missing: 1 } },
  });
  expect(versus(index, errors!, "a", "b")).toMatchObject({ wins: 0, losses: 1 }); // 5 errors against 4
});

test("a search finds texts with all words, and quoted ones together", async () => {
  expect(terms('Left "no fever" KNEE ""')).toEqual(["left", "no fever", "knee"]);
  const shards: Record<string, string[]> = { a: ["Left knee, no fever", "fever, no"], b: ["", "LEFT KNEE"] };
  vi.spyOn(data, "load").mockImplementation((id) => Promise.resolve({ texts: shards[id] }));
  const search = await searcher({ ...info, search: ["a", "b"] });
  expect([...search.hits("left knee")]).toEqual([1, 0, 0, 1]);
  expect([...search.hits('"no fever"')]).toEqual([1, 0, 0, 0]);
  expect([...search.hits("")]).toEqual([1, 1, 1, 1]);
  expect(search.around(0, "fever")).toBe("Left knee, no fever");
});
