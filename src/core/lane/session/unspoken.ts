import { differ, targetOf } from '../../uplink/replay/sentence.ts';
import type { UnspokenLanguage } from '../observations.ts';
import type { LaneState } from '../state.ts';
import type { StepContext } from '../step-context.ts';

/**
 * A service can say one language and never another, and write both down: each sentence that is missing is told by itself, and
 * nobody sees that it is all of them. They are counted until any sound of the language comes.
 */

/** As many sentences over as long a time: their texts can come late, and then they are told one after the other. */
const ENOUGH = 4;
const AT_LEAST_MS = 60_000;
/** What was missing before says nothing of today's service: a few noises in each hour are no speech. */
const FORGOTTEN_MS = 300_000;

/** Of a sentence nothing was heard in a language that is wanted. */
export function noteUnspoken(context: StepContext, language: string): void {
  const { unspoken } = context.state;
  const known = unspoken.find((one) => one.language === language);
  const isOld = known === undefined || (!known.isTold && context.now - known.since >= FORGOTTEN_MS);
  const { since, sentences } = isOld ? { since: context.now, sentences: 0 } : known;
  const isTold = known?.isTold === true || (sentences + 1 >= ENOUGH && context.now - since >= AT_LEAST_MS);
  const others = unspoken.filter((one) => one !== known);
  context.set({ unspoken: [...others, { language, since, sentences: sentences + 1, isTold }] });
}

/**
 * Sound has come. Where one language alone is wanted it is played whatever its tag; but sentence after sentence in another one is not
 * what was asked for.
 * @param tag its language as the service tells it; null: it does not, and it may be any
 * @param begins whether it is the first of its sentence
 */
export function noteSpokenIn(context: StepContext, tag: string | null, begins: boolean): void {
  const { unspoken, options } = context.state;
  const [only, ...others] = options.targets;
  if (only !== undefined && others.length === 0 && tag !== null && differ(tag, only)) {
    if (begins) noteUnspoken(context, only);
    return;
  }
  if (unspoken.length === 0) return;
  const language = targetOf(tag, options.targets);
  const left = language === null ? [] : unspoken.filter((one) => one.language !== language);
  if (left.length < unspoken.length) context.set({ unspoken: left });
}

/** The languages that are never spoken, of those that are wanted. */
export function unspokenLanguages({
  unspoken,
  options,
}: Pick<LaneState, 'unspoken' | 'options'>): readonly UnspokenLanguage[] {
  return unspoken.filter(({ language, isTold }) => isTold && options.targets.includes(language));
}
