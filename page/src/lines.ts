/** Claims and what they rest on: addresses of lines, passages to lines and back, stretches of texts. */
import type { Block, Document, Line, Mark, Text } from "./contract";
import { key } from "./address";
import { label } from "./format";

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

/**
 * The first line with a judgment of this side, by this judge where one is named; those of a metric first.
 * Of "split" the first on which a judge and people differ, or where no line says so, that a judgment is against.
 */
export function seekLine(text: Text, side: string, judge?: string, metric?: string): string | null {
  if (side === "split") {
    const block = text.blocks.find(({ lines }) => lines.some((line) => line.differs));
    if (!block) return seekLine(text, "against", judge, metric);
    return lineKey(
      block,
      block.lines.find((line) => line.differs)!,
    );
  }
  const asks = (block: Block) => Number(block.heads.some((head) => label(head.measure, head.judge) === metric));
  const blocks = text.blocks.toSorted((a, b) => asks(b) - asks(a));
  const first = linesOf({ ...text, blocks }).find(({ block, line }) =>
    line.judgments.some((of, i) => of.side === side && (!judge || key(block.heads[i]?.judge ?? "") === judge)),
  );
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
  line: Placed | null; // the first line that stands here
}

/** A text cut where a mark, a line or what is lit begins or ends; together the pieces are the text. */
export function pieces(text: Text, spot: Spot | null): Piece[] {
  const placed = linesOf(text).filter(({ line }) => line.start >= 0);
  const lit = spot?.author === key(text.author) && spot.start !== undefined && spot.start >= 0 ? spot : null;
  const ends = [0, text.text.length, ...(lit ? [lit.start!, lit.end!] : [])];
  for (const { start, end } of [...text.marks, ...placed.map((p) => p.line)]) ends.push(start, end);
  const cuts = [...new Set(ends)].filter((n) => n >= 0 && n <= text.text.length).sort((a, b) => a - b);
  return cuts.slice(0, -1).map((start, i) => {
    const within = (of: { start: number; end: number }): boolean => of.start <= start && start < of.end;
    return {
      text: text.text.slice(start, cuts[i + 1]),
      start,
      mark: text.marks.find(within) ?? null,
      lit: lit !== null && within({ start: lit.start!, end: lit.end! }),
      line: placed.find(({ line }) => within(line)) ?? null,
    };
  });
}
