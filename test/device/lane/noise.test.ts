/** Sound of the service that is noise in place of speech: nothing of it is played, and the operator learns of it. */
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/core/random.ts';
import type { LaneOptions } from '../../../src/device/lane/state/lane-options.ts';
import { laneStatus } from '../../../src/device/status/status-rules.ts';
import { spoke } from '../../service-events.ts';
import { LaneHarness } from './lane-harness.ts';

const NOISE = Uint8Array.from(
  { length: 320 * 48 },
  (() => {
    const random = seededRandom(4);
    return () => Math.floor(random() * 256);
  })(),
);

function live(options: Partial<LaneOptions> = {}): LaneHarness {
  const lane = new LaneHarness({ options });
  lane.pongs = true;
  return lane.goLive();
}
/** A sentence that is understood and written, and whose sound is noise: 1.6 s. */
function shriek(lane: LaneHarness, id: string | null, language: string | null = 'es'): void {
  lane.speak(5);
  lane.hush(4);
  lane.understands(id);
  if (id !== null) lane.translates(id, 20);
  for (let piece = 0; piece < 5; piece++)
    lane.says(
      spoke(NOISE, {
        sentence: id,
        language,
        last: piece === 4,
        utterance: id === null ? null : `${id}/${language}`,
      }),
    );
}
const told = (lane: LaneHarness, kind: string) =>
  lane.all('notify').flatMap((event) => (event.kind === kind ? [event.detail] : []));
const reasons = (lane: LaneHarness) => laneStatus(lane.state, lane.now).reasons;

describe('a sentence that is noise', () => {
  it.each([
    ['with an id', 'a'],
    ['without an id', null],
  ])('%s is not played', (_name, id) => {
    const lane = live();
    shriek(lane, id);
    lane.pass(5000);
    expect(lane.all('play')).toEqual([]);
    expect(lane.state.counts).toMatchObject({ unspokenMs: 1600, speechDroppedMs: 0 });
  });

  it('reports noise once in a session, and counts it when the session ends', () => {
    const lane = live();
    for (const id of ['a', 'b', 'c']) shriek(lane, id);
    const [first, ...more] = told(lane, 'messages_unreadable');
    expect(first?.['message']).toBe('the service sends noise in place of speech: the agent mutes it');
    expect(more).toEqual([]);
    lane.end();
    expect(told(lane, 'unspoken')).toEqual([{ language: 'es', unspoken_ms: 4800, sentences: 3 }]);
  });

  it('degrades the status although its texts can be read, until sound comes that can be played', () => {
    const lane = live();
    shriek(lane, 'a');
    shriek(lane, 'b');
    expect(reasons(lane)).toEqual([{ code: 'unreadable' }]);
    lane.hear('c', 500, true, lane.stream, 'c', 'es');
    expect(reasons(lane)).toEqual([]);
  });

  it('counts as missing in its language when it is long enough', () => {
    const lane = live({ targets: ['es', 'fr'] });
    for (let index = 0; index < 13; index++) shriek(lane, `s${index}`);
    expect(reasons(lane)).toContainEqual({ code: 'unspoken', detail: 'es' });
    expect(reasons(lane)).not.toContainEqual({ code: 'unspoken', detail: 'fr' });
  });

  it('is not played when an operator ordered it, and the order is answered as cut', () => {
    const lane = live();
    lane.say('order');
    lane.says(spoke(NOISE, { sentence: 'x', language: 'es', utterance: 'x/es', last: true }));
    lane.pass(20_000);
    expect(lane.all('play')).toEqual([]);
    expect(lane.last('said')).toMatchObject({ id: 'order', outcome: 'cut' });
  });

  it('is played up to the noise when it begins as speech', () => {
    const lane = live();
    lane.hear('a', 640);
    lane.pass(700);
    lane.says(spoke(NOISE, { sentence: 'a', utterance: 'a', last: true }));
    lane.pass(5000);
    const played = lane.all('play').filter(({ kind }) => kind === 'speech');
    expect(played.reduce((sum, { pcm }) => sum + pcm.byteLength, 0)).toBe(640 * 48);
  });
});
