import type { LaneOptions } from '../lane/state/lane-options.ts';

const RESTORED = ['volume', 'source', 'targets'] as const;

/** The options whose changes last only until the end of the conversation. */
export type Setting = Pick<LaneOptions, (typeof RESTORED)[number]>;

/** A lane's setting at the beginning of a conversation: the one in force, and the one configured. */
export interface Beginning {
  readonly setting: Setting;
  readonly configured: Setting;
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/**
 * The changes that bring a lane back to its state before the conversation, for the next visitor. A key whose configuration
 * has changed meanwhile gets its new value.
 */
export function restoration(before: Beginning, now: Beginning): Partial<Setting> {
  const changed = RESTORED.flatMap((key) => {
    const isReconfigured = !isSame(before.configured[key], now.configured[key]);
    const wanted = isReconfigured ? now.configured[key] : before.setting[key];
    return isSame(wanted, now.setting[key]) ? [] : [[key, wanted] as const];
  });
  return Object.fromEntries(changed);
}
