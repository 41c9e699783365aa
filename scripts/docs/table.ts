/** A Markdown table of the generated parts. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** A table of codes with what each means and what to do about it. */
export function adviceTable(
  code: string,
  means: string,
  rows: Readonly<Record<string, { readonly means: string; readonly todo: string }>>,
): string {
  return table(
    [code, means, 'what to do'],
    Object.entries(rows).map(([name, row]) => [`\`${name}\``, row.means, row.todo]),
  );
}

export function keysOf<T extends object>(object: T): (keyof T & string)[] {
  return Object.keys(object) as (keyof T & string)[];
}
