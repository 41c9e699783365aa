import { languageClash } from '../../protocol/language.ts';
import { primaryOf } from '../../protocol/language-tag.ts';
import type { TaskOptions } from '../lane/lane-options.ts';

type Languages = Pick<TaskOptions, 'source' | 'targets'>;

const isIn = (languages: readonly string[], language: string): boolean =>
  languages.some((one) => one.toLowerCase() === language.toLowerCase());

/**
 * Whether the visitor speaks at the microphone, or hears the translation. The visitor's language is the one that is offered;
 * if that says nothing, visitors hear.
 */
function visitorSide({ source, targets }: Languages, offer: readonly string[]): 'source' | 'targets' {
  const isHeard = targets.some((target) => isIn(offer, target));
  return isIn(offer, source) && !isHeard ? 'source' : 'targets';
}

/** The language of the visitor at a lane. */
export function visitorLanguage(task: Languages, offer: readonly string[]): string {
  return visitorSide(task, offer) === 'source' ? task.source : (task.targets[0] ?? task.source);
}

export interface NextLanguage {
  readonly language: string;
  /** The languages of the lane with it. */
  readonly task: Partial<Languages>;
}

/** The visitor's next language of those offered, in their order; null: there is no other one. */
export function nextLanguage(task: Languages, offer: readonly string[]): NextLanguage | null {
  const now = visitorLanguage(task, offer);
  const at = offer.findIndex((one) => one.toLowerCase() === now.toLowerCase());
  const later = [...offer.slice(at + 1), ...offer.slice(0, Math.max(0, at))];
  const isSource = visitorSide(task, offer) === 'source';
  for (const language of later) {
    const rest = task.targets.slice(1).filter((target) => !isIn([language], target));
    const next = isSource ? { source: language } : { targets: [language, ...rest] };
    const { source, targets } = { ...task, ...next };
    if (languageClash(source, targets) === null) return { language, task: next };
  }
  return null;
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
