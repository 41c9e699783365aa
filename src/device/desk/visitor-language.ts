import { languageClash } from '../../protocol/common/language.ts';
import { type TwoWayMode, twoWayClash } from '../../protocol/config-desk.ts';
import type { TaskOptions } from '../lane/state/lane-options.ts';

export type Languages = Pick<TaskOptions, 'source' | 'targets'>;

const isIn = (languages: readonly string[], language: string): boolean =>
  languages.some((one) => one.toLowerCase() === language.toLowerCase());

/** The visitor's language at a lane: the source if only that is offered, otherwise the first target. */
export function visitorLanguage({ source, targets }: Languages, offer: readonly string[]): string {
  const isHeard = targets.some((target) => isIn(offer, target));
  return isIn(offer, source) && !isHeard ? source : (targets[0] ?? source);
}

/** The changes at a lane when the visitor speaks another language. A lane that did not have the previous language keeps its languages. */
export function exchangeLanguage(
  { source, targets }: Languages,
  before: string,
  after: string,
): Partial<Languages> {
  if (isIn([before], source)) return { source: after };
  if (!isIn(targets, before)) return {};
  const others = targets.filter((target) => !isIn([after], target));
  return { targets: others.map((target) => (isIn([before], target) ? after : target)) };
}

/** The next possible language of the offer, after the visitor's current one; null: there is no other. */
export function nextLanguage(
  task: Languages,
  offer: readonly string[],
  twoWay: TwoWayMode = 'off',
): string | null {
  const now = visitorLanguage(task, offer);
  const at = offer.findIndex((one) => one.toLowerCase() === now.toLowerCase());
  const later = [...offer.slice(at + 1), ...offer.slice(0, Math.max(0, at))];
  const isPossible = (language: string): boolean => {
    const { source, targets } = { ...task, ...exchangeLanguage(task, now, language) };
    return languageClash(source, targets) === null && twoWayClash(twoWay, source, targets) === null;
  };
  return later.find(isPossible) ?? null;
}
