/** The state of the page is its address: `#texts?author=a&sort=-words`. */

export type At = Readonly<Record<string, string>>;
export type Changes = Readonly<Record<string, string | number | null | undefined>>;

export function read(hash: string): At {
  const [view, query] = hash.replace(/^#/, "").split(/\?(.*)/s);
  return { ...Object.fromEntries(new URLSearchParams(query ?? "")), view: view ?? "" };
}

/** The same state has the same address: keys are sorted, and empty ones left out. */
export function write(at: Changes): string {
  const query = new URLSearchParams();
  for (const key of Object.keys(at).sort()) {
    const value = at[key];
    if (key !== "view" && value != null && value !== "") query.set(key, String(value));
  }
  const text = query.toString();
  return `#${at.view ?? ""}${text && `?${text}`}`;
}

/** The address after changes: of the same view those of `at` stay, of another none does. */
export function href(at: At, changes: Changes): string {
  const same = changes.view === undefined || changes.view === at.view;
  return write(same ? { ...at, ...changes } : changes);
}

/** Texts of data as they stand in an address, which has no lone surrogates. */
export const key = (text: string): string => text.toWellFormed();
