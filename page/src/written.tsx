/** The words of a text: its parts, what fails, its Markdown, and what the text beside it lacks. */
import { useMemo } from "preact/hooks";
import type { Passage, Scorer, Text, TextsInfo } from "./contract";
import { key } from "./address";
import { onlyIn } from "./beside";
import { headLabel } from "./claims";
import { words } from "./format";
import {
  failing,
  judgmentBy,
  lineKey,
  passagesOf,
  type Piece,
  pieces,
  type Placed,
  runs,
  type Spot,
  spotOf,
  wholeLines,
} from "./lines";
import { styles } from "./markdown";
import { classes, LongWords, t, usePage } from "./ui";

export interface PaneProps {
  text: Text;
  passages: readonly Passage[];
  info: TextsInfo;
  head: Scorer | undefined; // by which lines fail
  beside: Text | null; // the text that it is compared with
  spot: Spot | null;
  active: string | undefined; // line of the address
  setHover: (spot: Spot | null) => void;
}

export const markOf = (info: TextsInfo, part: string) => `m m${info.parts.indexOf(part) % 8}`;

/** The text: its parts as bars in the margin, and what fails marked where it stands. */
export function Words(props: PaneProps) {
  const { text, info, head, spot, beside } = props;
  const { at } = usePage();
  const failed = useMemo(() => (head ? failing(text, head) : []), [text, head]);
  const styled = useMemo(() => (at.raw ? [] : styles(text.text)), [text, at.raw]);
  const only = useMemo(() => (beside ? onlyIn(text.text, beside.text) : []), [text, beside]);
  const cut = useMemo(() => pieces(text, spot, { failed, styled, only }), [text, spot, failed, styled, only]);
  return (
    <p class="written" dir="auto">
      {runs(cut, (piece) => piece.mark).map(({ same: mark, pieces: of }) => {
        const within = runs(of, (piece) => (piece.fails ? piece.line : null)).map(({ same: line, pieces: some }) =>
          line ? (
            <FailedWords key={some[0]!.start} {...props} line={line} pieces={some} />
          ) : (
            some.map((piece) => <PieceOf key={piece.start} {...props} piece={piece} />)
          ),
        );
        const blank = of.map((piece) => piece.text).join("");
        if (!mark && /^\s*\n\s*$/.test(blank)) return "\n"; // one empty line between bars
        if (!mark) return within;
        const whole = wholeLines(text.text, of[0]!.start, mark.end);
        return (
          <span key={of[0]!.start} class={classes(markOf(info, mark.part), whole && "whole")}>
            <i>{t(words(mark.part))}</i>
            {within}
          </span>
        );
      })}
    </p>
  );
}

function PieceOf({ text, piece, setHover }: PaneProps & { piece: Piece }) {
  const { go } = usePage();
  const { line, lit } = piece;
  const on = line && {
    onMouseEnter: () => setHover(spotOf(text, line.line)),
    onMouseLeave: () => setHover(null),
    onClick: () => go({ text: key(text.author), line: lineKey(line.block, line.line) }),
  };
  return (
    <span class={classes(lit && "lit", line && "claim", piece.only && "only", piece.as)} {...on}>
      <LongWords text={piece.text} />
    </span>
  );
}

const SOME = 300; // characters of a passage that a hint shows

/** Words of a line that counts against the text; who points at them or reaches them by key reads why. */
function FailedWords(props: PaneProps & { line: Placed; pieces: readonly Piece[] }) {
  const { text, head, passages, line } = props;
  const { go } = usePage();
  const judgment = judgmentBy(line, head!)!;
  const n = passagesOf(line.line).find((place) => place < passages.length);
  const passage = n === undefined ? "" : passages[n]!.text;
  const open = () => go({ text: key(text.author), line: lineKey(line.block, line.line) });
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter") open();
  };
  return (
    <mark class="fails" tabIndex={0} aria-label={head!.fails} onKeyDown={press}>
      {props.pieces.map((piece) => (
        <PieceOf key={piece.start} {...props} piece={piece} />
      ))}
      <span class="hint" role="note">
        <b class="bad">
          ✗ {t(judgment.word)}: {head!.fails}
        </b>
        <small>{t(headLabel(head!))}</small>
        {judgment.why && <span>{t(judgment.why)}</span>}
        {passage && (
          <span>
            [{n}] {t(passage.length > SOME ? `${passage.slice(0, SOME)}…` : passage)}
          </span>
        )}
      </span>
    </mark>
  );
}
