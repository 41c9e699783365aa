import { type TwoWayMode, twoWayClash } from '../../protocol/config-desk.ts';
import { languageClash } from '../../protocol/language.ts';
import { primaryOf } from '../../protocol/language-tag.ts';
import type { TaskOptions } from '../lane/lane-options.ts';

export type Languages = Pick<TaskOptions, 'source' | 'targets'>;

const isIn = (languages: readonly string[], language: string): boolean =>
  languages.some((one) => one.toLowerCase() === language.toLowerCase());

/** The visitor's language at a lane: the one that is offered; if that says nothing, visitors hear the translation. */
export function visitorLanguage({ source, targets }: Languages, offer: readonly string[]): string {
  const isHeard = targets.some((target) => isIn(offer, target));
  return isIn(offer, source) && !isHeard ? source : (targets[0] ?? source);
}

/** What changes at a lane when the visitor speaks another language. A lane without the earlier one keeps its languages. */
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

/** The visitor's next language of those offered, in their order; null: there is no other one. */
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

/** The name of a language in that language: "Español". */
export function ownName(language: string): string {
  const [name, tag] = nameOf(language);
  return name.charAt(0).toLocaleUpperCase(tag) + name.slice(1);
}

/** The name, and the tag that it is named by. A tag may have our form and still be none, such as "en-us-us". */
function nameOf(language: string): readonly [name: string, tag: string] {
  for (const tag of [language, primaryOf(language)]) {
    try {
      const name = new Intl.DisplayNames([tag], { type: 'language' }).of(tag);
      if (name !== undefined) return [name, tag];
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
  }
  return [language, 'und'];
}
