import type { Ability, Span } from './card.ts';

/** Where ALSA counts on to for want of a limit: nothing a person wants to read. */
const NO_LIMIT = 1_000_000;

/** The dump's last line and the one that it needs to be whole. */
const WHOLE = /^HW Params of device .*\n-+\n[\s\S]*?\n-+$/m;

/** What `arecord --dump-hw-params` or `aplay --dump-hw-params` says, or null while it has not said all of it. */
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

/** "48000", "[8000 96000]", "44100 48000", or with a round bracket where the bound itself is outside. */
function readInterval(text: string): Span[] {
  const numbers = [...text.matchAll(/\d+/g)].map(([digits]) => Number(digits));
  const [least, most] = numbers;
  if (least === undefined) return [];
  if (!/^[[(]/.test(text)) return numbers.map((number) => ({ least: number, most: number }));
  if (most === undefined || most > NO_LIMIT) return [];
  return [{ least, most }];
}
