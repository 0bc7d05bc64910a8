/** Numbers and texts as people read them: the digits of metassay/format/numbers.py, character by character. */
import type { ColumnInfo } from "./contract";
import type { Value } from "./data";

type Real = number | null | undefined;
const MINUS = "−";

/** As Python rounds: to the nearest decimal, and to the even one where two are equally near. */
export function fixed(value: number, decimals: number): string {
  const up = value.toFixed(decimals);
  const whole = Math.abs(value).toFixed(decimals + 40 > 100 ? 100 : decimals + 40);
  const tie = /50*$/.exec(whole.slice(whole.length - 40))?.[0].length === 40;
  if (!tie) return up;
  const down = whole.slice(0, whole.length - 40).replace(/\.$/, "");
  return Number(down.at(-1)) % 2 ? up : (value < 0 ? "-" : "") + down;
}

/** Three decimals below 10, two below 100, one above; only 0 is `0.000`. */
export function shown(value: Real): string {
  if (value == null) return "";
  const size = Math.abs(value);
  const text = fixed(value, size < 10 ? 3 : size < 100 ? 2 : 1);
  if (Number(text) === 0 && value !== 0) return value > 0 ? "<0.001" : `>${MINUS}0.001`;
  return text.replace("-", Number(text) === 0 ? "" : MINUS);
}

/** Two decimals without the zero before the point; only 0 is `0`. */
export function short(value: Real): string {
  if (value == null) return "";
  const text = fixed(value, 2);
  if (Number(text) === 0) return value === 0 ? "0" : value > 0 ? "<.01" : `>${MINUS}.01`;
  return (value < 0 ? MINUS : "") + text.replace("-", "").replace(/^0/, "");
}

/** Two decimals below 10, one above: for a narrow cell. */
export const brief = (value: Real): string =>
  value != null && Math.abs(value) >= 10 ? fixed(value, 1).replace("-", MINUS) : short(value);

/** A p with three decimals, no zero before the point; `<.001` below. */
export function probability(value: Real): string {
  if (value == null) return "";
  return value < 0.001 ? "<.001" : fixed(value, 3).replace(/^0/, "");
}

export function interval(low: Real, high: Real, as = shown): string {
  return low == null || high == null ? "" : `[${as(low)}, ${as(high)}]`;
}

/** `1 text`, `2 texts`, `1,000 texts`. */
export function counted(number: number, noun: string): string {
  return `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;
}

export function grouped(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

const P = /^p$|^p_|_p$|^smallest_p$/;
export function cellText(value: Value, column: Pick<ColumnInfo, "name" | "type">): string {
  if (value == null) return "";
  if (typeof value === "number") {
    if (column.type === "integer") return grouped(value);
    return P.test(column.name) ? probability(value) : shown(value);
  }
  return typeof value === "boolean" ? (value ? "yes" : "no") : visible(value);
}

/** Characters that nobody sees or that turn text round, as metassay/core/visible.py shows them. */
export function visible(text: string): string {
  return text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\u202a-\u202e\u2066-\u2069]/g, (c) => {
    const code = c.charCodeAt(0);
    return code < 32 ? String.fromCharCode(0x2400 + code) : `\\u${code.toString(16)}`;
  });
}

/** A metric's label: with its judge where it has one. */
export function label(metric: Value, judge?: Value): string {
  const name = String(metric ?? "");
  return judge == null || judge === "none" || judge === "" ? name : `${name} (${judge})`;
}

/** `factual_recall` as words. */
export const words = (name: string): string => name.replaceAll("_", " ");

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
