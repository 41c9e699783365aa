import { describe, expect, it } from 'vitest';
import { laneStatus } from '../../../src/core/lane/status.ts';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';

const transcription = { language: 'en', text: 'what is said' };
const partial = { message_type: 'partial_transcription', data: { transcription } } as const;
const told = (lane: LaneHarness) => lane.all('notify').filter(({ kind }) => kind === 'untranslated');
const reasons = (lane: LaneHarness) => laneStatus(lane.state, lane.now).reasons.map(({ code }) => code);

/** Somebody speaks; the service writes it down in interim texts, or in whole sentences. */
function speak(lane: LaneHarness, seconds: number, how: 'partials' | 'sentences'): void {
  for (let chunk = 0; chunk * CHUNK_MS < seconds * 1000; chunk++) {
    if (how === 'partials' || chunk % 20 < 15) lane.speak(1);
    else lane.hush(1);
    if (how === 'partials') lane.says(partial);
    else if (chunk % 20 === 19) lane.understands(`s${chunk}`);
  }
}

describe('a service that writes down what is said and translates none of it', () => {
  it.each(['partials', 'sentences'] as const)('is told within 70 s, once, where it gives %s', (how) => {
    const lane = new LaneHarness().goLive();
    const beganAt = lane.now;
    speak(lane, 55, how);
    expect(reasons(lane)).not.toContain('untranslated');
    while (told(lane).length === 0 && lane.now - beganAt < 70_000) speak(lane, 6.4, how);
    expect(told(lane)).toHaveLength(1);
    expect(told(lane)[0]?.times?.['since']).toBeGreaterThanOrEqual(beganAt);
    expect(lane.now - beganAt).toBeLessThanOrEqual(70_000);
    expect(laneStatus(lane.state, lane.now)).toMatchObject({ status: 'degraded' });
    expect(reasons(lane)).toContain('untranslated');
    speak(lane, 60, how);
    expect(told(lane)).toHaveLength(1);
  });

  it.each([
    [
      'text',
      (lane: LaneHarness) => lane.says({ message_type: 'translated_transcription', data: { transcription } }),
    ],
    ['sound', (lane: LaneHarness) => lane.hear('a', 900, true)],
  ] as const)('is well again with the first translated %s', (_, translate) => {
    const lane = new LaneHarness().goLive();
    speak(lane, 80, 'partials');
    expect(reasons(lane)).toContain('untranslated');
    translate(lane);
    expect(reasons(lane)).not.toContain('untranslated');
    speak(lane, 50, 'partials');
    expect(told(lane)).toHaveLength(1);
  });

  it('is not suspected for a minute in one breath, nor for coughs', () => {
    const lane = new LaneHarness().goLive();
    speak(lane, 55, 'partials');
    lane.hear('a', 900, true);
    for (let cough = 0; cough < 60; cough++) {
      lane.speak(2);
      lane.says(partial);
      lane.hush(90);
    }
    expect(told(lane)).toHaveLength(0);
  });

  it('is not suspected for the length of an outage', () => {
    const lane = new LaneHarness().goLive();
    speak(lane, 7, 'sentences');
    lane.end();
    lane.pass(140_000);
    lane.until(() => lane.phase === 'acquiring', 60_000);
    lane.comeBack();
    expect(lane.phase).toBe('live');
    speak(lane, 20, 'sentences');
    expect(told(lane)).toEqual([]);
    speak(lane, 50, 'sentences');
    expect(told(lane)).toHaveLength(1);
  });

  it('stays suspect over a break, and not over a stop and a start', () => {
    const lane = new LaneHarness().goLive();
    speak(lane, 80, 'partials');
    lane.end();
    lane.comeBack();
    expect(reasons(lane)).toContain('untranslated');
    lane.stop();
    lane.end(1000);
    lane.start();
    expect(reasons(lane)).not.toContain('untranslated');
  });
});
