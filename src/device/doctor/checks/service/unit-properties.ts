/** Properties of the agent's unit; names and values as in `systemctl show`. */
export type UnitProperties = Readonly<Record<string, string>>;

export const UNIT = 'dragoman.service';

/** Parses `Name=value` lines. */
export function parseProperties(text: string): UnitProperties {
  const pairs = text.split('\n').flatMap((line) => {
    const at = line.indexOf('=');
    return at > 0 ? [[line.slice(0, at), line.slice(at + 1).trim()]] : [];
  });
  return Object.fromEntries(pairs) as UnitProperties;
}
