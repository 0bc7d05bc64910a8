import { describe, expect, test } from "vitest";
import { href, key, read, write } from "../src/address";

describe("an address", () => {
  test("holds its state, whatever characters it has", () => {
    const states = [
      { view: "texts", q: "a&b=c #% \"'<", author: "sys 1?x" },
      { view: "evidence", "is.metric": "عربى", table: "a\nb\0c" },
      { view: "answer", __proto__: "x", metric: "👩🏽‍⚕️" },
    ];
    for (const state of states) expect(read(write(state))).toEqual(state);
  });
  test("is the same for the same state, and leaves out what is empty", () => {
    expect(write({ view: "texts", b: 1, a: 2, c: "", d: null })).toBe("#texts?a=2&b=1");
    expect(write({ b: 1, view: "texts", a: 2 })).toBe("#texts?a=2&b=1");
    expect(read("")).toEqual({ view: "" });
    expect(read("#texts")).toEqual({ view: "texts" });
    expect(read("#texts?q=a%3Fb?c")).toEqual({ view: "texts", q: "a?b?c" });
  });
  test("changes within a view, and begins anew in another", () => {
    const at = { view: "texts", q: "a", author: "b" };
    expect(href(at, { author: null, sort: "words" })).toBe("#texts?q=a&sort=words");
    expect(href(at, { view: "texts", q: "c" })).toBe("#texts?author=b&q=c");
    expect(href(at, { view: "evidence", table: "t" })).toBe("#evidence?table=t");
  });
  test("names lone surrogates as it can hold them", () => {
    expect(read(write({ view: "", doc: key("a\ud800") })).doc).toBe("a\ufffd");
  });
});
