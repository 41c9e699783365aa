import { differ, targetOf } from '../replay/language-tags.ts';
import type { Unspoken } from '../replay/record.ts';
import type { LaneState } from '../state/lane-state.ts';
import { REPORT_EACH_MS } from '../state/loss-record.ts';
import { streamsOf } from '../state/session-state.ts';
import type { StepContext } from '../state/step-context.ts';
import { spokenLanguages, twoWayIn } from '../two-way/two-way.ts';

/**
 * One counter per language for speech that a service took and did not speak in full: ignored, forgotten, cut off or never
 * translated. No action depends on which of these it was.
 */

/** Unspoken speech (ms) without any sound of its language that makes the lane degraded: two sentences, one of them long. */
const DEGRADED_FROM_MS = 20_000;
/** Unspoken speech (ms) that is worth an event: less may be a single word or a rounding error. */
const LEAST_UNSPOKEN_MS = 1000;

type Lane = Pick<LaneState, 'options' | 'refusedTask' | 'twoWay'>;

/** The ordered target languages; `either`: each sentence comes in one of them only. */
const orderedLanguages = (lane: Lane): ReturnType<typeof spokenLanguages> =>
  twoWayIn(lane) === 'off' ? { targets: lane.options.targets, either: false } : spokenLanguages(lane);

export function addUnspoken(context: StepContext, more: readonly Unspoken[]): void {
  for (const { language, ms, sentence } of more) {
    const { unspoken } = context.state;
    const known = unspoken.find((one) => one.language === language) ?? {
      language,
      ms: 0,
      sentences: 0,
      sentence: '',
      silentMs: 0,
      reportedAt: context.now,
    };
    const others = unspoken.filter((one) => one.language !== language);
    const sentences = known.sentences + (known.sentence === sentence ? 0 : 1);
    const sum = { ...known, sentence, sentences, ms: known.ms + ms, silentMs: known.silentMs + ms };
    context.set({ unspoken: [...others, sum] });
    context.count('unspokenMs', ms);
  }
}

/**
 * Notes sound of a language.
 * @param tag the service's language tag; null: unknown, so the sound may be of any language
 */
export function noteLanguage(context: StepContext, tag: string | null, ms: number, sentence: string): void {
  const { unspoken } = context.state;
  const { targets } = orderedLanguages(context.state);
  const [only, ...others] = targets;
  // Sound in another language than the only target is played, but the target counts as unspoken.
  if (only !== undefined && others.length === 0 && tag !== null && differ(tag, only))
    return addUnspoken(context, [{ language: only, ms, sentence }]);
  if (unspoken.length === 0) return;
  const language = targetOf(tag, targets);
  const isHeard = (one: string): boolean => language === null || one === language;
  if (!unspoken.some((one) => one.silentMs > 0 && isHeard(one.language))) return;
  context.set({ unspoken: unspoken.map((one) => (isHeard(one.language) ? { ...one, silentMs: 0 } : one)) });
}

/**
 * Sound was muted because it is noise.
 * @param tag the service's language tag; null: unknown, so the sound may be of any language
 */
export function noteNoise(context: StepContext, tag: string | null, ms: number, sentence: string): void {
  const { targets, either } = orderedLanguages(context.state);
  const language = targetOf(tag, targets);
  const missing = language === null ? (either ? targets.slice(0, 1) : targets) : [language];
  addUnspoken(
    context,
    missing.map((one) => ({ language: one, ms, sentence })),
  );
}

/** The lane starts again: resets the status. Unreported speech is still reported later. */
export function forgetSilentLanguages(context: StepContext): void {
  context.set({ unspoken: context.state.unspoken.map((one) => ({ ...one, silentMs: 0 })) });
}

/** At the end of a step: collects the replay logs' counts, and reports them when a session has ended, or every ten minutes. */
export function trackUnspoken(context: StepContext, before: LaneState): void {
  for (const stream of streamsOf(context.state)) {
    if (stream.replay.unspoken.length === 0) continue;
    addUnspoken(context, stream.replay.unspoken);
    context.patch(stream, { replay: { ...stream.replay, unspoken: [] } });
  }
  const { unspoken } = context.state;
  if (unspoken.length === 0) return;
  const open = new Set(streamsOf(context.state).map(({ id }) => id));
  const hasEnded = streamsOf(before).some(({ id, liveAt }) => liveAt !== null && !open.has(id));
  const isDue = ({ ms, reportedAt }: { ms: number; reportedAt: number }): boolean =>
    ms >= LEAST_UNSPOKEN_MS && (hasEnded || context.now - reportedAt >= REPORT_EACH_MS);
  if (!unspoken.some(isDue)) return;
  for (const { language, ms, sentences } of unspoken.filter(isDue))
    context.notify('unspoken', { language, unspoken_ms: Math.round(ms), sentences });
  context.set({
    unspoken: unspoken.map((one) =>
      isDue(one) ? { ...one, ms: 0, sentences: 0, reportedAt: context.now } : one,
    ),
  });
}

/** Target languages that have not been spoken for long. */
export function silentLanguages(lane: Lane & Pick<LaneState, 'unspoken'>): readonly string[] {
  const { targets } = orderedLanguages(lane);
  const silent = lane.unspoken.filter(({ silentMs }) => silentMs >= DEGRADED_FROM_MS);
  return silent.map(({ language }) => language).filter((language) => targets.includes(language));
}
