/** A Markdown table of the generated parts. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Rows of code, meaning and advice. */
export function rowsOf(advice: Readonly<Record<string, { says: string; todo: string }>>): string[][] {
  return Object.entries(advice).map(([code, { says, todo }]) => [`\`${code}\``, says, todo]);
}

export function keysOf<T extends object>(object: T): (keyof T & string)[] {
  return Object.keys(object) as (keyof T & string)[];
}
