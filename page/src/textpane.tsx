/** One text: what people and metrics gave it, its words with marks, and its claims with each verdict. */
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Scorer, BlockHead, Block, Judgment, Line, Passage, Rating, Text, TextsInfo } from "./contract";
import { key } from "./address";
import { counted, probability, shown, visible, words } from "./format";
import { headLabel } from "./claims";
import {
  differs,
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
import { classes, Facts, Long, Paragraphs, PassageText, SIGNS, t, usePage } from "./ui";

interface Props {
  text: Text;
  passages: readonly Passage[];
  info: TextsInfo;
  head: Scorer | undefined; // by which lines fail
  spot: Spot | null;
  active: string | undefined; // line of the address
  setHover: (spot: Spot | null) => void;
}

export function TextPane(props: Props) {
  const { text, info } = props;
  const { at } = usePage();
  const scores = text.scores.map(([term, value]) => ({ term, says: shown(value) || "undefined" }));
  const noted = scores.filter(({ term }) => [at.x, at.y, at.sort?.replace(/^-/, "")].includes(term));
  const parts = [...new Set(text.marks.map((mark) => mark.part))];
  return (
    <section class="text" aria-label={visible(text.author)}>
      <h2>{t(text.author)}</h2>
      <Paragraphs texts={text.problems} kind="bad" />
      <Ratings ratings={text.ratings} />
      <Facts facts={noted} kind="given" />
      <Words {...props} />
      {parts.length > 0 && (
        <p class="legend">
          {parts.map((part) => (
            <span key={part} class={markOf(info, part)} children={t(words(part))} />
          ))}
        </p>
      )}
      {scores.length > 0 && (
        <details>
          <summary>{counted(scores.length, "score")}</summary>
          <Facts facts={scores} kind="scores" />
        </details>
      )}
      {text.blocks.map((block) => (
        <BlockOf key={block.id} block={block} {...props} />
      ))}
    </section>
  );
}

const markOf = (info: TextsInfo, part: string) => `m m${info.parts.indexOf(part) % 8}`;

/** Each criterion with every rater's value. */
function Ratings({ ratings }: { ratings: readonly Rating[] }) {
  const titles = ratings.map((r) => r.criterion + (r.of && ` over ${r.of}`));
  const of = (title: string) => ratings.filter((_, i) => titles[i] === title);
  const says = (r: Rating) => (
    <span key={r.rater}>
      {r.value === null ? "abstained" : Number(r.value.toPrecision(6))} <small>{t(r.rater)}</small>
    </span>
  );
  const facts = [...new Set(titles)].map((title) => ({ term: words(title), says: of(title).map(says) }));
  return <Facts facts={facts} kind="given people" />;
}

/** The text: its parts as bars in the margin, and what fails marked where it stands. */
function Words(props: Props) {
  const { text, info, head, spot } = props;
  const failed = useMemo(() => (head ? failing(text, head) : []), [text, head]);
  const cut = useMemo(() => pieces(text, spot, failed), [text, spot, failed]);
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

function PieceOf({ text, piece, setHover }: Props & { piece: Piece }) {
  const { go } = usePage();
  const { line, lit } = piece;
  const on = line && {
    onMouseEnter: () => setHover(spotOf(text, line.line)),
    onMouseLeave: () => setHover(null),
    onClick: () => go({ text: key(text.author), line: lineKey(line.block, line.line) }),
  };
  return (
    <span class={classes(lit && "lit", line && "claim")} {...on}>
      <Long text={piece.text} />
    </span>
  );
}

const SOME = 300; // characters of a passage that a hint shows

/** Words of a line that counts against the text; who points at them or reaches them by key reads why. */
function FailedWords(props: Props & { line: Placed; pieces: readonly Piece[] }) {
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

function BlockOf({ block, ...props }: Props & { block: Block }) {
  const { at } = usePage();
  const several = new Set(block.lines.map((line) => line.part)).size > 1;
  const fails = (line: Line) => line.judgments.some(({ side }) => side === "against");
  const lines = at.only ? block.lines.filter(fails) : block.lines;
  if (!lines.length && !block.note) return null;
  return (
    <section class="block">
      <h3>{t(block.title)}</h3>
      <Paragraphs texts={block.note ? [block.note] : []} kind="bad" />
      <ol>
        {lines.map((line, i) => (
          <LineOf
            key={lineKey(block, line)}
            {...props}
            block={block}
            line={line}
            part={several && line.part !== lines[i - 1]?.part}
          />
        ))}
      </ol>
    </section>
  );
}

interface LineProps extends Props {
  block: Block;
  line: Line;
  part: boolean; // whether its part begins here
}
function LineOf({ text, block, line, part, passages, active, spot, setHover }: LineProps) {
  const { at, to } = usePage();
  const item = useRef<HTMLLIElement>(null);
  const address = lineKey(block, line);
  const open = active === address;
  // Passages that it was only read against wait until it is opened.
  const mentions = open ? passagesOf(line) : line.cites;
  const known = mentions.filter((n) => n < passages.length);
  const lit =
    (at.passage !== undefined && passagesOf(line).includes(Number(at.passage))) ||
    (spot?.author === key(text.author) && line.start >= 0 && spot.start === line.start);
  useEffect(() => {
    if (open) item.current?.scrollIntoView({ block: "nearest" });
  }, [open]);
  const href = to({ text: key(text.author), line: open ? null : address, passage: null });
  const over = { onMouseEnter: () => setHover(spotOf(text, line)), onMouseLeave: () => setHover(null) };
  return (
    <li ref={item} class={classes("line", open && "open", lit && "lit")} {...over}>
      {part && <h4>{t(words(line.part))}</h4>}
      <a class="said" href={href} aria-expanded={open}>
        <span class="n">{line.number}</span> <span dir="auto" children={<Long text={line.text} />} />
      </a>
      {mentions.length > 0 && (
        <p class="cites">
          {mentions.map((n) =>
            n < passages.length ? (
              <a key={n} href={to({ passage: n })} children={line.cites.includes(n) ? `cites [${n}]` : `near [${n}]`} />
            ) : (
              <span key={n} class="bad" children={`[${n}], no such passage`} />
            ),
          )}
        </p>
      )}
      <ul class="judgments">
        {line.judgments.map((judgment, i) => (
          <JudgmentOf key={i} judgment={judgment} head={block.heads[i]} open={open} />
        ))}
        {open &&
          line.each.flatMap(({ head, passage, alone, rest }) => [
            alone && <JudgmentOf judgment={alone} head={block.heads[head]} open on={`[${passage}] alone: `} />,
            rest && <JudgmentOf judgment={rest} head={block.heads[head]} open on={`without [${passage}]: `} />,
          ])}
      </ul>
      <Ratings ratings={line.people} />
      {differs(line) && <p class="differs">judge and people differ</p>}
      {open && (
        <ol class="quoted">
          {known.map((n) => (
            <li key={n} children={<PassageText passage={passages[n]!} n={n} />} />
          ))}
        </ol>
      )}
    </li>
  );
}

interface JudgmentProps {
  judgment: Judgment;
  head: BlockHead | undefined;
  open: boolean;
  on?: string;
}
function JudgmentOf({ judgment, head, open, on = "" }: JudgmentProps) {
  const { side, word, why, quotes } = judgment;
  return (
    <li>
      {on}
      <span class={`side ${side}`}>
        {SIGNS[side]} {t(word)}
      </span>{" "}
      <span class="numbers">{probability(judgment.probability)}</span>{" "}
      {head && <small title={head.question} children={t([head.measure, head.judge].filter(Boolean).join(", "))} />}
      {open && why && <p class="why" dir="auto" children={<Long text={why} />} />}
      {open && quotes.map((quote) => <q key={quote} dir="auto" children={<Long text={quote} />} />)}
    </li>
  );
}
