/** A source of numbers in [0, 1). The shell passes an unguessable one, simulators a seeded one. */
export type Random = () => number;

/** A repeatable source: the same seed gives the same numbers (a 32-bit Weyl sequence with a finalizer). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}

const URL_SAFE = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const HEX = '0123456789abcdef';

function draw(random: Random, alphabet: string, length: number): string {
  let text = '';
  for (let index = 0; index < length; index++) text += alphabet[Math.floor(random() * alphabet.length)] ?? '';
  return text;
}

/** Letters and digits only: stands in a URL without escapes. */
export function drawToken(random: Random, length = 43): string {
  return draw(random, URL_SAFE, length);
}

/** A version-4 UUID. */
export function drawUuid(random: Random): string {
  const hex = draw(random, HEX, 30);
  const variant = '89ab'[Math.floor(random() * 4)] ?? '8';
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(12, 15)}-${variant}${hex.slice(15, 18)}-${hex.slice(18, 30)}`;
}
