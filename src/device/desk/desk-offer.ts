import type { TwoWayMode } from '../../protocol/config-desk.ts';
import type { LaneRunner } from '../lane/runner/lane-runner.ts';
import { taskOf } from '../lane/state/lane-options.ts';
import { type Languages, visitorLanguage } from './visitor-language.ts';

/** The languages that visitors of a desk may choose, and the present task of the offering lane. */
export interface DeskOffer {
  readonly task: Languages;
  readonly offer: readonly string[];
  readonly twoWay: TwoWayMode;
  /** The visitor's language now. */
  readonly language: string;
}

/** The offer of a desk's first lane that has one; null: visitors have no choice. */
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
