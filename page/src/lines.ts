/** Claims and what they rest on: addresses of lines, passages to lines and back, stretches of texts. */
import type { Scorer, Block, Document, Judgment, Line, Mark, Text } from "./contract";
import { key } from "./address";
import type { Span } from "./beside";
import { type Style, stylesAt } from "./markdown";

/** What is lit: passages of the source, and a stretch of one text. */
export interface Spot {
  passages: readonly number[];
  author?: string;
  start?: number;
  end?: number;
}

export interface Placed {
  text: Text;
  block: Block;
  line: Line;
}

/** `claim_recall:4` is the fifth line of a block. */
export const lineKey = (block: Block, line: Line): string => `${block.id}:${block.lines.indexOf(line)}`;

export const passagesOf = (line: Line): number[] => [...new Set([...line.cites, ...line.aligned])];

export function spotOf(text: Text, line: Line): Spot {
  return { passages: passagesOf(line), author: key(text.author), start: line.start, end: line.end };
}

/** What a line of an address lights; null where there is no such line. */
export function place(document: Document, author: string, at: string): Spot | null {
  const text = document.texts.find((t) => key(t.author) === author);
  const [, id, n] = /^(.*):(\d+)$/s.exec(at) ?? [];
  const line = text?.blocks.find((block) => block.id === id)?.lines[Number(n)];
  return text && line ? spotOf(text, line) : null;
}

export const linesOf = (text: Text): Placed[] =>
  text.blocks.flatMap((block) => block.lines.map((line) => ({ text, block, line })));

/** The judgment of a line by a measure and judge; undefined where they were not asked about it. */
export function judgmentBy({ block, line }: Placed, head: Scorer): Judgment | undefined {
  return line.judgments[block.heads.findIndex((of) => of.measure === head.measure && of.judge === head.judge)];
}

/** Lines that a measure and judge count against a text, in the order in which they stand in it. */
export function failing(text: Text, head: Scorer): Placed[] {
  const failed = linesOf(text).filter((placed) => judgmentBy(placed, head)?.side === "against");
  return failed.toSorted((a, b) => a.line.start - b.line.start);
}

const OPPOSITE: Readonly<Record<string, string>> = { for: "against", against: "for" };

/** Whether some judge says the opposite of most people. */
export const differs = (line: Line): boolean => line.judgments.some(({ side }) => side === OPPOSITE[line.rated]);

/**
 * The address of the first line that a measure and judge count on this side. Of "split" the first on which a judge
 * and people differ, or where no line says so, that counts against the text.
 */
export function seekLine(text: Text, side: string, head: Scorer): string | null {
  const lines = linesOf(text);
  const split = side === "split" ? lines.find(({ line }) => differs(line)) : undefined;
  const wanted = side === "split" ? "against" : side;
  const first = split ?? lines.find((placed) => judgmentBy(placed, head)?.side === wanted);
  return first ? lineKey(first.block, first.line) : null;
}

/** By passage: the lines of these texts that cite it or were read against it. */
export function linesAbout(document: Document, texts: readonly number[]): Map<number, Placed[]> {
  const about = new Map<number, Placed[]>();
  for (const placed of texts.flatMap((i) => linesOf(document.texts[i]!))) {
    for (const n of passagesOf(placed.line)) about.set(n, [...(about.get(n) ?? []), placed]);
  }
  return about;
}

export interface Piece {
  text: string;
  start: number;
  mark: Mark | null;
  lit: boolean;
  line: Placed | null; // the line that stands here: one that fails, else the first
  fails: boolean; // whether that line counts against the text
  as: string; // its styles by Markdown
  only: boolean; // whether the text beside it lacks it
}

interface Over {
  failed?: readonly Placed[]; // lines that count against the text
  styled?: readonly Style[];
  only?: readonly Span[];
}

/**
 * A text cut where a mark, a line, a style or what is lit begins or ends; together the pieces are the text, but for
 * what Markdown hides.
 */
export function pieces(text: Text, spot: Spot | null, { failed = [], styled = [], only = [] }: Over = {}): Piece[] {
  const placed = linesOf(text).filter(({ line }) => line.start >= 0);
  const lit = spot?.author === key(text.author) && spot.start !== undefined && spot.start >= 0 ? spot : null;
  const ends = [0, text.text.length, ...(lit ? [lit.start!, lit.end!] : [])];
  for (const { start, end } of [...text.marks, ...placed.map((p) => p.line), ...styled, ...only]) ends.push(start, end);
  const cuts = [...new Set(ends)].filter((n) => n >= 0 && n <= text.text.length).sort((a, b) => a - b);
  const all = cuts.slice(0, -1).map((start, i): Piece => {
    const within = (of: { start: number; end: number }): boolean => of.start <= start && start < of.end;
    const fails = failed.find(({ line }) => within(line));
    return {
      text: text.text.slice(start, cuts[i + 1]),
      start,
      mark: text.marks.find(within) ?? null,
      lit: lit !== null && within({ start: lit.start!, end: lit.end! }),
      line: fails ?? placed.find(({ line }) => within(line)) ?? null,
      fails: fails !== undefined,
      as: stylesAt(styled, start),
      only: only.some(within),
    };
  });
  return all.filter(({ as }) => !as.includes("hidden"));
}

/** Consecutive pieces of which `same` is the same. */
export function runs<T>(cut: readonly Piece[], same: (piece: Piece) => T): { same: T; pieces: Piece[] }[] {
  const found: { same: T; pieces: Piece[] }[] = [];
  for (const piece of cut) {
    const last = found.at(-1);
    if (last && last.same === same(piece)) last.pieces.push(piece);
    else found.push({ same: same(piece), pieces: [piece] });
  }
  return found;
}

/** Whether a stretch of a text is whole lines of it. */
export function wholeLines(text: string, start: number, end: number): boolean {
  const ends = end >= text.length || text[end - 1] === "\n" || text[end] === "\n";
  return (start === 0 || text[start - 1] === "\n") && ends;
}
