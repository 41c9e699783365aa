import type { StreamMessage } from '../../../ports/stream.ts';
import type { StepContext } from '../step-context.ts';

/**
 * A service can write down what is said and never say it in another language: every sign of life is there, and nobody
 * hears a translation. Transcripts of what is said are counted until anything is translated.
 */

/** A sentence weighs as much as the interim texts that come before it. */
const WEIGHT = { partial_transcription: 1, validated_transcription: 13 } as const;
/** Four sentences, or ten seconds of speech in interim texts: a cough makes a few of them. */
const ENOUGH = 40;
/** The longest sentence and its translation fit in. */
const AT_LEAST_MS = 60_000;
/** Older transcripts say nothing of today's service: a few noises in each hour are no speech. */
const FORGOTTEN_MS = 300_000;

/** There was no session for a while: nothing could be translated. */
export function noteOutage(context: StepContext, ms: number): void {
  const { untranslated } = context.state;
  if (untranslated === null || untranslated.isTold) return;
  context.set({ untranslated: { ...untranslated, since: untranslated.since + ms } });
}

/** Looks at what the service says. */
export function trackTranslation(context: StepContext, { message_type: type }: StreamMessage): void {
  const { untranslated } = context.state;
  if (type === 'output_audio' || type === 'translated_transcription') {
    if (untranslated !== null) context.set({ untranslated: null });
    return;
  }
  if (type !== 'partial_transcription' && type !== 'validated_transcription') return;
  if (untranslated?.isTold === true) return;
  const isOld = untranslated === null || context.now - untranslated.since >= FORGOTTEN_MS;
  const known = isOld ? { since: context.now, evidence: 0 } : untranslated;
  const evidence = known.evidence + WEIGHT[type];
  const isTold = evidence >= ENOUGH && context.now - known.since >= AT_LEAST_MS;
  context.set({ untranslated: { since: known.since, evidence, isTold } });
  if (isTold) context.notify('untranslated', {}, { since: known.since });
}
