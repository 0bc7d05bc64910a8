/** Two texts side by side: what one of them has and the other has not. */
import type { Block, Line, Scorer, Text } from "./contract";
import { judgmentBy } from "./lines";

export interface Span {
  start: number;
  end: number;
}

const SPLIT = new Intl.Segmenter("en", { granularity: "sentence" });
const CITATION = /\[\d+\]/g; // says where something stands, and nothing of it
const WORD = /[\p{L}\p{N}]+(?:[.,]\p{N}+)*/gu;
const LONG = 4; // letters of a word that says something

/** Sentences of a text; a line ends one, too. */
export function sentences(text: string): Span[] {
  const found: Span[] = [];
  for (const { segment, index } of SPLIT.segment(text)) {
    let start = index;
    for (const line of segment.split("\n")) {
      const before = line.length - line.trimStart().length;
      const words = line.trim();
      if (words) found.push({ start: start + before, end: start + before + words.length });
      start += line.length + 1;
    }
  }
  return found;
}

interface Words {
  all: ReadonlySet<string>;
  telling: string[]; // long ones and numbers; all where there is none
  numbers: string[];
}

function wordsOf(sentence: string): Words {
  const all = [...new Set(sentence.replace(CITATION, "").toLowerCase().match(WORD) ?? [])];
  const numbers = all.filter((word) => /^\p{N}/u.test(word));
  const telling = all.filter((word) => word.length >= LONG || numbers.includes(word));
  return { all: new Set(all), telling: telling.length ? telling : all, numbers };
}

/** Whether one of `others` says about the same: half of the words, and every number. */
function hasCounterpart({ telling, numbers }: Words, others: readonly Words[]): boolean {
  return others.some(({ all }) => {
    const shared = telling.filter((word) => all.has(word)).length;
    return 2 * shared >= telling.length && numbers.every((number) => all.has(number));
  });
}

/** Which of some sentences have no counterpart among others. */
export function without(some: readonly string[], others: readonly string[]): boolean[] {
  const words = others.map(wordsOf);
  return some.map((sentence) => {
    const of = wordsOf(sentence);
    return of.all.size > 0 && !hasCounterpart(of, words);
  });
}

const cut = (text: string, spans: readonly Span[]) => spans.map(({ start, end }) => text.slice(start, end));

/** Sentences of a text that another text lacks. */
export function onlyIn(text: string, other: string): Span[] {
  const spans = sentences(text);
  const lacks = without(cut(text, spans), cut(other, sentences(other)));
  return spans.filter((_, i) => lacks[i]);
}

export interface LineDifference {
  line: Line;
  other: Line | null; // the same claim beside the other text; null: the other has no such line
}

/**
 * Lines of a block on which two texts differ. Claims of the reference stand beside both texts: those that a measure
 * and judge count for one text and against the other. Lines of a text's own: those that the other text's lack.
 */
export function differences(block: Block, text: Text, other: Text, head: Scorer | undefined): LineDifference[] {
  const beside = other.blocks.find((of) => of.id === block.id);
  if (!beside) return [];
  const shared =
    block.lines.length === beside.lines.length && block.lines.every((line, i) => same(line, beside.lines[i]!));
  if (shared) {
    return block.lines.flatMap((line, i) => {
      const match = beside.lines[i]!;
      const sides = [
        head && judgmentBy({ text, block, line }, head)?.side,
        head && judgmentBy({ text: other, block: beside, line: match }, head)?.side,
      ];
      return sides.includes("for") && sides.includes("against") ? [{ line, other: match }] : [];
    });
  }
  const lacks = without(
    block.lines.map((line) => line.text),
    beside.lines.map((line) => line.text),
  );
  return block.lines.flatMap((line, i) => (lacks[i] ? [{ line, other: null }] : []));
}

const same = (a: Line, b: Line): boolean => a.text === b.text && a.number === b.number && a.part === b.part;
