/** One text: what people and metrics gave it, its words with marks, and its claims with each verdict. */
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Asked, Block, Judgment, Line, Passage, Rating, Text, TextsInfo } from "./contract";
import { key } from "./address";
import { PassageText } from "./document";
import { probability, shown, visible, words } from "./format";
import { lineKey, passagesOf, pieces, type Spot, spotOf } from "./lines";
import { Long, T, usePage } from "./ui";

interface Props {
  text: Text;
  passages: readonly Passage[];
  info: TextsInfo;
  spot: Spot | null;
  active: string | undefined; // line of the address
  setHover: (spot: Spot | null) => void;
}

export function TextPane(props: Props): JSX.Element {
  const { text, info, spot } = props;
  const { at } = usePage();
  return (
    <section class="text" aria-label={visible(text.author)}>
      <h2>
        <T text={text.author} />
      </h2>
      {text.problems.map((problem) => (
        <p key={problem} class="bad">
          ! <T text={problem} />
        </p>
      ))}
      <Numbers text={text} noted={[at.x, at.y, at.sort?.replace(/^-/, "")]} />
      <Words {...props} />
      {text.marks.length > 0 && <Legend text={text} parts={info.parts} />}
      {text.blocks.map((block) => (
        <BlockOf key={block.id} block={block} {...props} spot={spot} />
      ))}
    </section>
  );
}

/** What people gave beside what metrics gave. */
function Numbers({ text, noted }: { text: Text; noted: (string | undefined)[] }): JSX.Element | null {
  if (!text.ratings.length && !text.scores.length) return null;
  return (
    <div class="given">
      {text.ratings.length > 0 && <Ratings ratings={text.ratings} />}
      {text.scores.length > 0 && (
        <dl class="scores">
          {text.scores.map(([metric, value]) => (
            <div key={metric} class={noted.includes(metric) ? "noted" : ""}>
              <dt>
                <T text={metric} />
              </dt>
              <dd>{shown(value) || <span class="soft">undefined</span>}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}

/** Each criterion with every rater's value. */
function Ratings({ ratings }: { ratings: readonly Rating[] }): JSX.Element {
  const titles = ratings.map((r) => r.criterion + (r.of && ` over ${r.of}`));
  return (
    <dl class="people">
      {[...new Set(titles)].map((title) => (
        <div key={title}>
          <dt>
            <T text={title} />
          </dt>
          <dd>
            {ratings
              .filter((_, i) => titles[i] === title)
              .map((r) => (
                <span key={r.rater}>
                  {r.value ?? "abstained"}{" "}
                  <small>
                    <T text={r.rater} />
                  </small>
                </span>
              ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Words({ text, info, spot, setHover }: Props): JSX.Element {
  const { go } = usePage();
  const cut = useMemo(() => pieces(text, spot), [text, spot]);
  return (
    <p class="written" dir="auto">
      {cut.map((piece, i) => {
        const part = piece.mark && info.parts.indexOf(piece.mark.part);
        const begins = piece.mark && cut[i - 1]?.mark !== piece.mark;
        const { line } = piece;
        return (
          <span
            key={piece.start}
            class={[
              part !== null && `m m${part % 8}`,
              piece.lit && "lit",
              line && "claim",
            ].filter(Boolean).join(" ")}
            onMouseEnter={line ? () => setHover(spotOf(text, line.line)) : undefined}
            onMouseLeave={line ? () => setHover(null) : undefined}
            onClick={
              line
                ? () => go({ text: key(text.author), line: lineKey(line.block, line.line) })
                : undefined
            }
          >
            {begins && <i>{words(piece.mark!.part)}</i>}
            <Long text={piece.text} />
          </span>
        );
      })}
    </p>
  );
}

function Legend({ text, parts }: { text: Text; parts: readonly string[] }): JSX.Element {
  const there = [...new Set(text.marks.map((mark) => mark.part))];
  return (
    <p class="legend">
      {there.map((part) => (
        <span key={part} class={`m m${parts.indexOf(part) % 8}`}>
          <T text={words(part)} />
        </span>
      ))}
    </p>
  );
}

function BlockOf({ block, ...rest }: Props & { block: Block }): JSX.Element {
  const parts = new Set(block.lines.map((line) => line.part));
  return (
    <section class="block">
      <h3>
        <T text={block.title} />
      </h3>
      {block.note && (
        <p class="bad">
          <T text={block.note} />
        </p>
      )}
      <ol>
        {block.lines.map((line, i) => (
          <LineOf
            key={i}
            {...rest}
            block={block}
            line={line}
            part={parts.size > 1 && block.lines[i - 1]?.part !== line.part ? line.part : ""}
          />
        ))}
      </ol>
    </section>
  );
}

interface LineProps extends Props {
  block: Block;
  line: Line;
  part: string;
}
function LineOf({ text, block, line, part, passages, active, spot, setHover }: LineProps): JSX.Element {
  const { at, to } = usePage();
  const address = lineKey(block, line);
  const open = active === address;
  const item = useRef<HTMLLIElement>(null);
  const mentions = passagesOf(line);
  const lit = at.passage !== undefined && mentions.includes(Number(at.passage));
  useEffect(() => {
    if (open) item.current?.scrollIntoView({ block: "nearest" });
  }, [open]);
  const dimmed = spot?.author === key(text.author) && spot.start === line.start && line.start >= 0;
  return (
    <>
      {part && <li class="part">{words(part)}</li>}
      <li
        ref={item}
        class={["line", open && "open", (lit || dimmed) && "lit"].filter(Boolean).join(" ")}
        onMouseEnter={() => setHover(spotOf(text, line))}
        onMouseLeave={() => setHover(null)}
      >
        <a
          class="said"
          href={to({ text: key(text.author), line: open ? null : address, passage: null })}
          aria-expanded={open}
        >
          <span class="n">{line.number}</span>{" "}
          <span dir="auto">
            <Long text={line.text} />
          </span>
        </a>
        {mentions.length > 0 && (
          <p class="cites">
            {mentions.map((n) => (
              <Cite key={n} n={n} cited={line.cites.includes(n)} known={n < passages.length} />
            ))}
          </p>
        )}
        <ul class="judgments">
          {line.judgments.map((judgment, i) => (
            <JudgmentOf key={i} judgment={judgment} head={block.heads[i]} open={open} />
          ))}
        </ul>
        {line.people.length > 0 && <Ratings ratings={line.people} />}
        {open && line.each.length > 0 && <Each line={line} block={block} />}
        {open && (
          <ol class="quoted">
            {mentions.filter((n) => n < passages.length).map((n) => (
              <li key={n}>
                <PassageText passage={passages[n]!} n={n} />
              </li>
            ))}
          </ol>
        )}
      </li>
    </>
  );
}

function Cite({ n, cited, known }: { n: number; cited: boolean; known: boolean }): JSX.Element {
  const { to } = usePage();
  if (!known) return <span class="bad">[{n}] no such passage</span>;
  return (
    <a href={to({ passage: n })} title={cited ? "cited" : "aligned"} class={cited ? "" : "soft"}>
      {cited ? `[${n}]` : `(${n})`}
    </a>
  );
}

const SIGN = { for: "✓", against: "✗", unknown: "?", neutral: "·" } as const;

interface JudgmentProps {
  judgment: Judgment;
  head: Asked | undefined;
  open: boolean;
}
function JudgmentOf({ judgment, head, open }: JudgmentProps): JSX.Element {
  return (
    <li>
      <span class={`side ${judgment.side}`}>
        {SIGN[judgment.side]} <T text={judgment.word} />
      </span>{" "}
      {judgment.probability !== null && <span class="numbers">{probability(judgment.probability)}</span>}{" "}
      {head && (
        <small title={head.question}>
          <T text={[head.measure, head.judge].filter(Boolean).join(", ")} />
        </small>
      )}
      {open && judgment.why && (
        <p class="why" dir="auto">
          <Long text={judgment.why} />
        </p>
      )}
      {open &&
        judgment.quotes.map((quote) => (
          <q key={quote} dir="auto">
            <Long text={quote} />
          </q>
        ))}
    </li>
  );
}

/** Judgments about single citations. */
function Each({ line, block }: { line: Line; block: Block }): JSX.Element {
  return (
    <ul class="judgments each">
      {line.each.flatMap((each) =>
        ([["alone", each.alone], ["without", each.rest]] as const).map(
          ([how, judgment]) =>
            judgment && (
              <li key={`${each.head} ${each.passage} ${how}`}>
                <span class="soft">
                  {how === "alone" ? `[${each.passage}] alone` : `without [${each.passage}]`}
                </span>
                <ul>
                  <JudgmentOf judgment={judgment} head={block.heads[each.head]} open />
                </ul>
              </li>
            ),
        ),
      )}
    </ul>
  );
}
