/** What a service can make the lane remember, and with it look through at each further message: no more, however much it sends. */
import { expect, it } from 'vitest';
import { step } from '../../../src/core/lane/machine.ts';
import type { LaneState } from '../../../src/core/lane/state.ts';
import type { StreamMessage } from '../../../src/ports/stream.ts';
import { fc } from '../../properties.ts';
import { LaneHarness } from './lane-harness.ts';

/** Of a full state, and of the small differences between two moments of it. */
const SLACK = 1.02;

type Make = (index: number) => StreamMessage;
interface Sound {
  readonly id?: string;
  readonly part?: string;
  readonly language?: string;
  readonly bytes?: number;
  readonly last?: boolean;
}

function sound({ id, part, language = 'es', bytes = 2, last = false }: Sound): StreamMessage {
  return {
    ...{ message_type: 'output_audio', pcm: new Uint8Array(bytes), sentence: id ?? null, part: part ?? null },
    ...{ language, utterance: id === undefined ? null : `${id}/${part ?? ''}/${language}`, last },
  };
}

type Transcript = Extract<StreamMessage, { data: { transcription: unknown } }>;

function text(
  message_type: Transcript['message_type'],
  transcription: Partial<Transcript['data']['transcription']>,
): StreamMessage {
  return { message_type, data: { transcription: { language: 'en', text: 'so it is', ...transcription } } };
}

const KINDS: Readonly<Record<string, Make>> = {
  'sentences that never end': (i) => sound({ id: `s${i}` }),
  'sentences that end at once': (i) => sound({ id: `s${i}`, last: true }),
  'sentences without sound': (i) => sound({ id: `s${i}`, bytes: 0 }),
  'parts of one sentence': (i) => sound({ id: 's', part: `${i}` }),
  'parts of one sentence that end': (i) => sound({ id: 's', part: `${i}`, last: true }),
  'pieces of one sentence': () => sound({ id: 's' }),
  'sound without names': () => sound({}),
  'sound in many languages': (i) => sound({ id: 's', language: `l${i}` }),
  'interim texts': (i) => text('partial_transcription', { transcription_id: `s${i}` }),
  'interim texts without names': () => text('partial_transcription', {}),
  'interim texts with times': (i) =>
    text('partial_transcription', { transcription_id: `s${i}`, segments: [{ start: 0.1, end: 1 }] }),
  'sentences understood': (i) => text('validated_transcription', { transcription_id: `s${i}` }),
  'sentences understood, with times': (i) =>
    text('validated_transcription', { transcription_id: `s${i}`, segments: [{ start: 0.1, end: 1 }] }),
  'sentences understood, without names': () => text('validated_transcription', {}),
  translations: (i) => text('translated_transcription', { transcription_id: `s${i}`, language: 'es' }),
  'translations without names': () => text('translated_transcription', { language: 'es' }),
  'parts of a translation': (i) =>
    text('translated_transcription', {
      transcription_id: 's',
      translation_part_id: `${i}`,
      language: 'es',
    }),
  warnings: (i) => ({ message_type: 'warning', data: { code: `W${i}`, message: `${i}` } }),
  errors: (i) => ({ message_type: 'error', data: { code: `E${i}`, desc: `${i}` } }),
};

/** A lane in which somebody has spoken for so long that there is something to compare a message with. */
function spokenTo(): LaneHarness {
  const lane = new LaneHarness({ options: { targets: ['es', 'fr'] } }).goLive();
  lane.speak(40);
  return lane;
}

/** How much there is to look through. */
function sizeOf(value: unknown): number {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return 1;
  return Object.values(value).reduce<number>((sum, inner) => sum + sizeOf(inner), 1);
}

/** The sizes of the lane's state where this many of these messages have come, all of them at one moment. */
function sizesAfter(
  lane: LaneHarness,
  messages: readonly StreamMessage[],
  isMoment: (count: number) => boolean,
): readonly number[] {
  const { stream } = lane;
  let state: LaneState = lane.state;
  return messages.flatMap((message, index) => {
    state = step(state, { type: 'message', stream, message }, lane.now).state;
    return isMoment(index + 1) ? [sizeOf(state)] : [];
  });
}

/** @param given what the lane remembers of `full` messages is all that it may remember of `all`; mixtures of kinds */
export function testFlood(given: { full: number; all: number; mixtures: number }): void {
  const { full, all } = given;

  it.each(Object.entries(KINDS))('%s: leaves the state as large as it was', (_, make) => {
    const messages = Array.from({ length: all }, (_, index) => make(index));
    const isMoment = (count: number): boolean => count === full || count === all;
    const [once = 0, more = Infinity] = sizesAfter(spokenTo(), messages, isMoment);
    expect(more).toBeLessThanOrEqual(once * SLACK);
  });

  it('whatever it sends in turn, the state stays within a bound', () => {
    const lane = spokenTo();
    const kinds = fc.array(fc.constantFrom(...Object.values(KINDS)), { minLength: 1, maxLength: 6 });
    void fc.assert(
      fc.property(kinds, (some) => {
        const messages = Array.from({ length: 600 }, (_, i) => some[i % some.length]?.(i) ?? sound({}));
        const sizes = sizesAfter(lane, messages, (count) => count % 50 === 0);
        expect(sizes).toHaveLength(12);
        expect(Math.max(...sizes)).toBeLessThan(12_000);
      }),
      { numRuns: given.mixtures },
    );
  });
}
