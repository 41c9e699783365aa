/** Bound of what a service can make the lane remember, and search at each further message, however much it sends. */
import { expect, it } from 'vitest';
import { step } from '../../../src/device/lane/machine.ts';
import type { LaneState } from '../../../src/device/lane/state/lane-state.ts';
import type { ServiceEvent } from '../../../src/ports/stream.ts';
import { fc } from '../../properties.ts';
import { heard, spoke, translated, understood, warned } from '../../service-events.ts';
import { LaneHarness } from './lane-harness.ts';

/** The size of a full state, and the small differences between two moments. */
const SLACK = 1.02;

type Make = (index: number) => ServiceEvent;
interface Sound {
  readonly id?: string;
  readonly part?: string;
  readonly language?: string;
  readonly bytes?: number;
  readonly last?: boolean;
}

function sound({ id, part, language = 'es', bytes = 2, last = false }: Sound): ServiceEvent {
  return spoke(new Uint8Array(bytes), {
    sentence: id ?? null,
    part: part ?? null,
    language,
    last,
    utterance: id === undefined ? null : `${id}/${part ?? ''}/${language}`,
  });
}

const SPAN = { fromMs: 100, toMs: 1000 };

const KINDS: Readonly<Record<string, Make>> = {
  'sentences that never end': (i) => sound({ id: `s${i}` }),
  'sentences that end at once': (i) => sound({ id: `s${i}`, last: true }),
  'sentences without sound': (i) => sound({ id: `s${i}`, bytes: 0 }),
  'parts of one sentence': (i) => sound({ id: 's', part: `${i}` }),
  'parts of one sentence that end': (i) => sound({ id: 's', part: `${i}`, last: true }),
  'pieces of one sentence': () => sound({ id: 's' }),
  'sound without names': () => sound({}),
  'sound in many languages': (i) => sound({ id: 's', language: `l${i}` }),
  'interim texts': (i) => heard({ id: `s${i}` }),
  'interim texts without names': () => heard(),
  'sentences understood': (i) => understood({ id: `s${i}` }),
  'sentences understood, with times': (i) => understood({ id: `s${i}`, span: SPAN }),
  'sentences understood, without names': () => understood(),
  translations: (i) => translated({ id: `s${i}` }),
  'translations without names': () => translated(),
  'parts of a translation': (i) => translated({ id: 's', part: `${i}` }),
  warnings: (i) => warned('warning', { code: `W${i}`, text: `${i}` }),
  errors: (i) => warned('error', { code: `E${i}`, text: `${i}` }),
};

/** A lane that has heard speech for so long that there is something to compare a message with. */
function spokenTo(): LaneHarness {
  const lane = new LaneHarness({ options: { targets: ['es', 'fr'] } }).goLive();
  lane.speak(40);
  return lane;
}

/** The amount to search. */
function sizeOf(value: unknown): number {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return 1;
  return Object.values(value).reduce<number>((sum, inner) => sum + sizeOf(inner), 1);
}

/** The sizes of the lane's state after this many of these messages, all at one moment. */
function sizesAfter(
  lane: LaneHarness,
  messages: readonly ServiceEvent[],
  isMoment: (count: number) => boolean,
): readonly number[] {
  const { stream } = lane;
  let state: LaneState = lane.state;
  return messages.flatMap((said, index) => {
    state = step(state, { type: 'service', stream, said }, lane.now).state;
    return isMoment(index + 1) ? [sizeOf(state)] : [];
  });
}

/** @param given the memory after `full` messages is the bound for `all`; mixtures of kinds */
export function testFlood(given: { full: number; all: number; mixtures: number }): void {
  const { full, all } = given;

  it.each(Object.entries(KINDS))('%s: leaves the state as large as it was', (_, make) => {
    const messages = Array.from({ length: all }, (_, index) => make(index));
    const isMoment = (count: number): boolean => count === full || count === all;
    const [once = 0, more = Infinity] = sizesAfter(spokenTo(), messages, isMoment);
    expect(more).toBeLessThanOrEqual(once * SLACK);
  });

  it('the state stays within a bound for any sequence of messages', () => {
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
