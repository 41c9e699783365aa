import type { Random } from '../../core/random.ts';

export type { Random };

const URL_SAFE = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const HEX = '0123456789abcdef';

function drawText(random: Random, alphabet: string, length: number): string {
  let text = '';
  for (let index = 0; index < length; index++) text += alphabet[Math.floor(random() * alphabet.length)] ?? '';
  return text;
}

/** A token of letters and digits only, which needs no escapes in a URL. */
export function drawToken(random: Random, length = 43): string {
  return drawText(random, URL_SAFE, length);
}

/** A version-4 UUID. */
export function drawUuid(random: Random): string {
  const hex = drawText(random, HEX, 30);
  const variant = '89ab'[Math.floor(random() * 4)] ?? '8';
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(12, 15)}-${variant}${hex.slice(15, 18)}-${hex.slice(18, 30)}`;
}
