/** Whose data these are, what words mean, and other pages. */
import type { JSX } from "preact";
import { T, usePage } from "./ui";

export function Footer(): JSX.Element {
  const { head } = usePage();
  const { dataset } = head;
  return (
    <footer>
      {head.terms.length > 0 && (
        <details>
          <summary>What the terms mean</summary>
          <dl>
            {head.terms.map(({ term, means }) => (
              <div key={term}>
                <dt>{term}</dt>
                <dd>{means}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
      {dataset && (
        <>
          <p>
            <b>
              <T text={dataset.title} />
            </b>
            , licence: <T text={dataset.licence || "not stated"} />
          </p>
          {dataset.citation && (
            <p>
              <T text={dataset.citation} />
            </p>
          )}
          {dataset.seen.map((sentence) => (
            <p key={sentence}>
              <T text={sentence} />
            </p>
          ))}
        </>
      )}
      <p class="links">
        {head.links.map((link) => (
          <a key={link.href} href={link.href}>
            <T text={link.title} />
          </a>
        ))}
        <span>{head.made}</span>
      </p>
    </footer>
  );
}
