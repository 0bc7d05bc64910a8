/** One text: what people and metrics gave it, its words with marks, and its claims with each verdict. */
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { BlockHead, Block, Judgment, Line, Passage, Rating, Text, TextsInfo } from "./contract";
import { key } from "./address";
import { counted, probability, shown, visible, words } from "./format";
import { lineKey, passagesOf, pieces, type Spot, spotOf } from "./lines";
import { classes, Facts, Long, Paragraphs, PassageText, SIGNS, t, usePage } from "./ui";

interface Props {
  text: Text;
  passages: readonly Passage[];
  info: TextsInfo;
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

function Words({ text, info, spot, setHover }: Props) {
  const { go } = usePage();
  const cut = useMemo(() => pieces(text, spot), [text, spot]);
  return (
    <p class="written" dir="auto">
      {cut.map(({ text: words_, start, mark, lit, line }, i) => {
        const name = classes(mark && markOf(info, mark.part), lit && "lit", line && "claim");
        const on = line && {
          onMouseEnter: () => setHover(spotOf(text, line.line)),
          onMouseLeave: () => setHover(null),
          onClick: () => go({ text: key(text.author), line: lineKey(line.block, line.line) }),
        };
        return (
          <span key={start} class={name} {...on}>
            {mark && cut[i - 1]?.mark !== mark && <i>{t(words(mark.part))}</i>}
            <Long text={words_} />
          </span>
        );
      })}
    </p>
  );
}

function BlockOf({ block, ...props }: Props & { block: Block }) {
  const several = new Set(block.lines.map((line) => line.part)).size > 1;
  return (
    <section class="block">
      <h3>{t(block.title)}</h3>
      <Paragraphs texts={block.note ? [block.note] : []} kind="bad" />
      <ol>
        {block.lines.map((line, i) => (
          <LineOf
            key={i}
            {...props}
            block={block}
            line={line}
            part={several && line.part !== block.lines[i - 1]?.part}
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
  const mentions = passagesOf(line);
  const known = mentions.filter((n) => n < passages.length);
  const lit =
    (at.passage !== undefined && mentions.includes(Number(at.passage))) ||
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
      {line.differs && <p class="differs">judge and people differ</p>}
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
