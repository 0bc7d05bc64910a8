/** One text: what people and metrics gave it, its words with marks, and its claims with each verdict. */
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Block, BlockHead, Judgment, Line, Rating, Scorer, Text } from "./contract";
import { key } from "./address";
import { differences, type LineDifference } from "./beside";
import { counted, probability, shown, visible, words } from "./format";
import { differs, judgmentBy, lineKey, passagesOf, spotOf } from "./lines";
import { classes, Facts, Long, Paragraphs, PassageText, SIGNS, t, usePage } from "./ui";
import { markOf, type PaneProps, Words } from "./written";

export function TextPane(props: PaneProps) {
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

function BlockOf({ block, ...props }: PaneProps & { block: Block }) {
  const { at } = usePage();
  const { text, beside, head } = props;
  const differing = useMemo(() => (beside ? differences(block, text, beside, head) : []), [block, text, beside, head]);
  const several = new Set(block.lines.map((line) => line.part)).size > 1;
  const fails = (line: Line) => line.judgments.some(({ side }) => side === "against");
  const differs = (line: Line) => differing.some((of) => of.line === line);
  const wanted = (line: Line) => (!at.only || fails(line)) && (!beside || !at.differ || differs(line));
  const lines = block.lines.filter(wanted);
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
            difference={differing.find((of) => of.line === line)}
            part={several && line.part !== lines[i - 1]?.part}
          />
        ))}
      </ol>
    </section>
  );
}

interface LineProps extends PaneProps {
  block: Block;
  line: Line;
  part: boolean; // whether its part begins here
  difference: LineDifference | undefined; // from the text beside
}
function LineOf({ text, block, line, part, difference, passages, ...props }: LineProps) {
  const { active, spot, setHover, beside, head } = props;
  const { at, to } = usePage();
  const item = useRef<HTMLLIElement>(null);
  const address = lineKey(block, line);
  const open = active === address;
  const known = passagesOf(line).filter((n) => n < passages.length);
  const near = known.filter((n) => !line.cites.includes(n));
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
      {line.cites.length > 0 && (
        <p class="cites">
          {line.cites.map((n) =>
            n < passages.length ? (
              <a key={n} href={to({ passage: n })} children={`cites [${n}]`} />
            ) : (
              <span key={n} class="bad" children={`[${n}], no such passage`} />
            ),
          )}
        </p>
      )}
      {difference && <Difference difference={difference} id={block.id} beside={beside!} head={head} />}
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
      {open && near.length > 0 && (
        <details class="near">
          <summary>read against {counted(near.length, "passage")}</summary>
          {near.map((n) => (
            <a key={n} href={to({ passage: n })} children={`[${n}]`} />
          ))}
        </details>
      )}
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

interface DifferenceProps {
  difference: LineDifference;
  id: string; // of the block
  beside: Text;
  head: Scorer | undefined;
}
/** What of a line the text beside has not, or what is said of it there. */
function Difference({ difference: { other }, id, beside, head }: DifferenceProps) {
  const block = beside.blocks.find((of) => of.id === id);
  const judgment = other && block && head && judgmentBy({ text: beside, block, line: other }, head);
  return (
    <p class="apart">
      {judgment ? (
        <>
          ≠ {t(beside.author)}:{" "}
          <span class={`side ${judgment.side}`}>
            {SIGNS[judgment.side]} {t(judgment.word)}
          </span>
        </>
      ) : (
        <>≠ not in {t(beside.author)}</>
      )}
    </p>
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
