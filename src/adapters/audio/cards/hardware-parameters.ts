import type { Ability, Span } from './card.ts';

/** ALSA's upper bound when there is no limit; not worth showing. */
const NO_LIMIT = 1_000_000;

/** Matches a complete dump, from its heading to its last line. */
const WHOLE = /^HW Params of device .*\n-+\n[\s\S]*?\n-+$/m;

/** Parses the output of `arecord --dump-hw-params` or `aplay --dump-hw-params`; null while it is incomplete. */
export function parseHardwareParameters(text: string): Ability | null {
  const dump = WHOLE.exec(text)?.[0];
  if (dump === undefined) return null;
  const read = (key: string): string => new RegExp(`^${key}: +(.*)$`, 'm').exec(dump)?.[1]?.trim() ?? '';
  return {
    formats: read('FORMAT').split(/\s+/).filter(Boolean),
    channels: readInterval(read('CHANNELS')),
    rates: readInterval(read('RATE')),
  };
}

/** "48000", "[8000 96000]", "44100 48000"; a round bracket excludes the bound itself. */
function readInterval(text: string): Span[] {
  const numbers = [...text.matchAll(/\d+/g)].map(([digits]) => Number(digits));
  const [least, most] = numbers;
  if (least === undefined) return [];
  if (!/^[[(]/.test(text)) return numbers.map((number) => ({ least: number, most: number }));
  if (most === undefined || most > NO_LIMIT) return [];
  return [{ least, most }];
}
