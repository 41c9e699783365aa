import type { WifiTrouble } from './start-facts.ts';

/** Messages of wpa_supplicant, also under NetworkManager; the newest one counts. */
const WORDS: readonly (readonly [RegExp, WifiTrouble])[] = [
  [/CTRL-EVENT-CONNECTED/, null],
  [/reason=WRONG_KEY|pre-shared key may be incorrect/, 'password_wrong'],
  [/CTRL-EVENT-NETWORK-NOT-FOUND/, 'not_found'],
];

/** @param lines of the supplicant's log, oldest first */
export function wifiTrouble(lines: readonly string[]): WifiTrouble {
  for (const line of lines.toReversed()) {
    // Remove network names: they may contain anything, even these messages.
    const said = line.replaceAll(/ssid="(?:[^"\\]|\\.)*"|'[^']*'/g, '');
    const entry = WORDS.find(([word]) => word.test(said));
    if (entry !== undefined) return entry[1];
  }
  return null;
}
