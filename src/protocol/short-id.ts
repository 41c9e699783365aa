const LONGEST_SHOWN = 8;

/** The beginning of a session's id: ids can look like tokens, and are never shown whole (docs/service.md 10.5). */
export function shortId(id: string): string {
  return `${id.slice(0, Math.min(LONGEST_SHOWN, Math.floor(id.length / 2)))}...`;
}
