import { isSpokenLanguage } from '../../protocol/common/service-languages.ts';
import type { ScreenTyping } from '../../protocol/screen.ts';
import { taskOf } from '../lane/state/lane-options.ts';
import type { LaneState } from '../lane/state/lane-state.ts';
import { twoWayIn } from '../lane/two-way/two-way.ts';

/** A language in which people at a desk may type, and the lane that translates and speaks the text. */
export interface TypingWay<L> extends ScreenTyping {
  readonly lane: L;
}

/**
 * The ways to type, at most one for each source language, and none into a language that the service does not speak. Each
 * names its lane: a lane's task translates from one language only.
 */
export function typingWays<L extends { readonly state: LaneState }>(desk: readonly L[]): TypingWay<L>[] {
  const all = desk.flatMap((lane) => {
    const { source, targets } = taskOf(lane.state);
    const [target] = targets;
    if (target === undefined) return [];
    const there = { lane, from: source, into: target };
    return twoWayIn(lane.state) === 'off' ? [there] : [there, { lane, from: target, into: source }];
  });
  const spoken = all.filter(({ into }) => isSpokenLanguage(into));
  return spoken.filter(({ from }, at) => spoken.findIndex((one) => one.from === from) === at);
}
