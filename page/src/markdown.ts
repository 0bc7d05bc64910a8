/** Markdown of texts, shown without being run: what is bold or a heading, and which characters only say so. */

export interface Style {
  start: number;
  end: number;
  as: "hidden" | "strong" | "em" | "code" | "title";
}
export interface Segment {
  text: string;
  start: number;
  as: string; // styles, joined by a space
}

const HEADING = /^ {0,3}#{1,6}[ \t]+/;
const FENCE = /^ {0,3}```/;
// As CommonMark: a mark stands at a word, and within none. Bounded, so that no text takes long.
const INLINE: readonly { as: Style["as"]; marks: number; form: RegExp }[] = [
  { as: "code", marks: 1, form: /(?<!`)`(?!`)[^`\n]{1,500}`(?!`)/g },
  // [**Name**] stands for a name that was taken out, and stays.
  { as: "strong", marks: 2, form: /(?<![*\w[])\*\*(?=[^\s*])[^\n]{1,500}?(?<=[^\s*])\*\*(?![*\w])/g },
  { as: "strong", marks: 2, form: /(?<![_\w])__(?=[^\s_])[^\n]{1,500}?(?<=[^\s_])__(?![_\w])/g },
  { as: "em", marks: 1, form: /(?<![*\w])\*(?=[^\s*])[^*\n]{1,500}?(?<=[^\s*])\*(?![*\w])/g },
  { as: "em", marks: 1, form: /(?<![_\w])_(?=[^\s_])[^_\n]{1,500}?(?<=[^\s_])_(?![_\w])/g },
];

/** Stretches of a text with a style, and the marks that give it, which are hidden. */
export function styles(text: string): Style[] {
  const found: Style[] = [];
  let start = 0;
  let fence: number | null = null; // where the line after an open fence begins
  for (const line of text.split("\n")) {
    const end = start + line.length;
    const heading = HEADING.exec(line);
    if (FENCE.test(line)) {
      if (fence !== null) found.push({ start: fence, end: start, as: "code" });
      fence = fence === null ? end + 1 : null;
    } else if (heading && fence === null) {
      const after = start + heading[0].length;
      found.push({ start, end: after, as: "hidden" }, { start: after, end, as: "title" });
    }
    start = end + 1;
  }
  const code = found.filter(({ as }) => as === "code");
  for (const { as, marks, form } of INLINE) {
    for (const { 0: all, index } of text.matchAll(form)) {
      const end = index + all.length;
      if (code.some((of) => of.start < end && index < of.end)) continue;
      const inner = { start: index + marks, end: end - marks, as };
      found.push({ start: index, end: inner.start, as: "hidden" }, inner, { start: inner.end, end, as: "hidden" });
      if (as === "code") code.push({ start: index, end, as });
    }
  }
  return found;
}

/** The styles of what stands at a place. */
export function stylesAt(found: readonly Style[], place: number): string {
  const here = found.filter(({ start, end }) => start <= place && place < end);
  return [...new Set(here.map(({ as }) => as))].join(" ");
}

/** A text cut where a style begins or ends, without what is hidden. */
export function segments(text: string): Segment[] {
  const found = styles(text);
  if (!found.length) return [{ text, start: 0, as: "" }];
  const cuts = [...new Set([0, text.length, ...found.flatMap(({ start, end }) => [start, end])])];
  cuts.sort((a, b) => a - b);
  const all = cuts
    .slice(0, -1)
    .map((start, i) => ({ ...{ text: text.slice(start, cuts[i + 1]), start }, as: stylesAt(found, start) }));
  return all.filter(({ as }) => !as.includes("hidden"));
}

/** A text without its Markdown, for a line of a list. */
export const plain = (text: string): string =>
  segments(text)
    .map((segment) => segment.text)
    .join("");
