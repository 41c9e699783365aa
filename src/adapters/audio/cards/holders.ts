import type { Holder } from './card.ts';

/** "arecord of dragoman (pid 812) and mpd (pid 900)"; a program that holds several places is named once. */
export function describeHolders(holders: readonly Holder[]): string {
  const names = holders.map(({ pid, program }) => (pid === null ? program : `${program} (pid ${pid})`));
  const [last = 'nobody', ...others] = [...new Set(names)].reverse();
  return others.length === 0 ? last : `${others.reverse().join(', ')} and ${last}`;
}
