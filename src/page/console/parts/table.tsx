import type { ComponentChildren } from 'preact';

/** A column heading; columns of numbers are aligned at the end. */
export type Heading = string | { readonly text: string; readonly kind: 'number' | 'optional' };

/** A table that scrolls inside its own box on a narrow page; the keyboard scrolls it too. */
export function Table({
  label,
  heads,
  hasCards = false,
  children,
}: {
  readonly label: string;
  readonly heads: readonly Heading[];
  /** The cells need no heading: on a phone they are stacked. */
  readonly hasCards?: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <div class={`sheet table ${hasCards ? 'cards' : ''}`} role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {heads.map((head, at) => {
              const { text, kind } = typeof head === 'string' ? { text: head, kind: '' } : head;
              return (
                <th key={at} scope="col" class={kind}>
                  {kind === 'optional' ? <span class="unseen">{text}</span> : text}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** A block of data from a device or from the backend, as text. */
export function Data({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <pre tabIndex={0} role="region" aria-label={label}>
      {text}
    </pre>
  );
}
