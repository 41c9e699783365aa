/** Longest piece (characters): about half a minute of speech. */
const LONGEST_PIECE = 400;
/** Patterns for the end of a sentence, a clause, and a word. */
const ENDS = [/[.!?…](?=\s)|[。！？]/g, /[,;:](?=\s)|[、，；：]/g, /\s/g] as const;

/**
 * Splits a text where a speaker would breathe. A service speaks faster than playback, and at most a minute of sound
 * is queued.
 */
export function textPieces(text: string, longest = LONGEST_PIECE): readonly string[] {
  const pieces: string[] = [];
  let rest = text.trim();
  while (rest.length > longest) {
    const at = cutAt(rest, longest);
    pieces.push(rest.slice(0, at).trim());
    rest = rest.slice(at).trim();
  }
  return rest === '' ? pieces : [...pieces, rest];
}

function cutAt(text: string, longest: number): number {
  for (const end of ENDS) {
    const last = [...text.slice(0, longest + 1).matchAll(end)].filter(({ index }) => index < longest).at(-1);
    // An end mark at the very beginning is not a piece.
    if (last !== undefined && last.index > 0) return last.index + 1;
  }
  // Never cut inside a surrogate pair.
  const isHalf = /[\uD800-\uDBFF]/.test(text.charAt(longest - 1));
  return isHalf ? longest - 1 : longest;
}
