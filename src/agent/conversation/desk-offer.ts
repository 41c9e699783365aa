import { type Languages, visitorLanguage } from '../../core/conversation/visitor-language.ts';
import { taskOf } from '../../core/lane/lane-options.ts';
import type { TwoWayMode } from '../../protocol/config-desk.ts';
import type { LaneRunner } from '../lane/lane-runner.ts';

/** What visitors of a desk may choose, and the languages of the lane that offers it. */
export interface DeskOffer {
  readonly task: Languages;
  readonly offer: readonly string[];
  readonly twoWay: TwoWayMode;
  /** The visitor's language now. */
  readonly language: string;
}

/** The offer of a desk: that of its first lane with an offer. Null: no choice. */
export function deskOffer(
  desk: readonly LaneRunner[],
  offerOf: (lane: string) => readonly string[],
): DeskOffer | null {
  for (const { id, state } of desk) {
    const offer = offerOf(id);
    const task = taskOf(state);
    const { twoWay = 'off' } = state.options;
    if (offer.length > 0) return { task, offer, twoWay, language: visitorLanguage(task, offer) };
  }
  return null;
}
