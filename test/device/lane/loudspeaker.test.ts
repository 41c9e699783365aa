import { describe, expect, it } from 'vitest';
import { fc } from '../../properties.ts';
import { Device, type DeviceTraits } from './device.ts';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';

const TAIL_MS = 300;

function live(traits: DeviceTraits): { lane: LaneHarness; device: Device } {
  const lane = new LaneHarness().goLive();
  return { lane, device: new Device(lane, traits) };
}

/** The chunks that were sent with their sound. */
const sent = (lane: LaneHarness): number[] =>
  lane
    .all('send_audio')
    .flatMap(({ pcm, capturedAt }) => (pcm === null || capturedAt === null ? [] : [capturedAt]));
const silenced = (lane: LaneHarness): number[] =>
  lane
    .all('send_audio')
    .flatMap(({ pcm, capturedAt }) => (pcm !== null || capturedAt === null ? [] : [capturedAt]));

describe.each([0, 20, 60, 300, 800])('a loudspeaker %i ms behind', (delayMs) => {
  it('closes the gate while the sound is heard, not while it is written', () => {
    const { lane, device } = live({ delayMs });
    lane.speak(2);
    lane.hear('a', 1000, true);
    lane.speak(12);
    const [first] = device.heard;
    const begin = first?.from ?? 0;
    expect(silenced(lane)).toEqual(
      lane
        .all('send_audio')
        .map(({ capturedAt }) => capturedAt ?? 0)
        .filter((at) => at > begin && at - CHUNK_MS < begin + 1000 + TAIL_MS),
    );
    expect(silenced(lane).length).toBeGreaterThanOrEqual(4);
  });

  it('is fed without a gap, little further ahead than its delay', () => {
    const { lane, device } = live({ delayMs });
    for (let i = 0; i < 25; i++) {
      lane.hear('a', 400, i === 24);
      lane.pass(30);
    }
    let worst = 0;
    for (let i = 0; i < 105; i++) {
      lane.pass(100);
      worst = Math.max(worst, (device.heard.at(-1)?.until ?? 0) - lane.now);
    }
    expect(device.worstHole).toBeLessThan(0.01);
    expect(worst).toBeLessThanOrEqual(delayMs + 1021);
    expect(device.heard.reduce((sum, { from, until }) => sum + until - from, 0)).toBeCloseTo(10_000, 3);
  });

  it('measures the latency only of sound that found the loudspeaker free', () => {
    const { lane } = live({ delayMs });
    lane.hear('a', 500, true);
    lane.hear('b', 500, true);
    lane.pass(3000);
    lane.hear('c', 500, true);
    lane.pass(1000);
    const free = lane.all('play').filter(({ receivedAt }) => receivedAt !== null);
    expect(free.map(({ at, receivedAt }) => at - (receivedAt ?? 0))).toEqual([0, 0]);
  });
});

describe('a loudspeaker that is measured', () => {
  it('keeps the gate closed for as long as playback is late', () => {
    const { lane, device } = live({ delayMs: 60 });
    lane.hear('a', 640, true);
    lane.speak(1);
    lane.pass(160);
    device.hiccup(700);
    lane.pass(160);
    lane.capture();
    lane.speak(8);
    for (const at of sent(lane)) expect(device.sounds(at - CHUNK_MS, at)).toBe(false);
    expect(silenced(lane).length).toBeGreaterThanOrEqual(5);
  });

  it('is written to no faster than it plays, so that its delay does not grow', () => {
    const { lane, device } = live({ delayMs: 100, slowPpm: 5000 });
    let worst = 0;
    for (let i = 0; i < 300; i++) {
      lane.hear('a', 400);
      lane.pass(402);
      worst = Math.max(worst, (device.heard.at(-1)?.until ?? 0) - lane.now);
    }
    expect(worst).toBeLessThan(100 + 310);
  });

  it('is fed at once when it has played more than it reported', () => {
    const { lane, device } = live({ delayMs: 60 });
    lane.hear('a', 3000, true);
    lane.pass(50);
    device.hiccup(-120);
    lane.pass(4000);
    expect(device.worstHole).toBeLessThan(0.01);
  });

  it('opens the gate early when it was faster than it reported', () => {
    const { lane, device } = live({ delayMs: 0 });
    lane.hear('a', 680, true);
    lane.pass(10);
    device.hiccup(-100);
    lane.pass(790);
    lane.capture();
    lane.pass(100);
    lane.speak(1);
    // 580 ms of sound and the tail of 300 ms are over after 880 ms.
    expect(sent(lane)).toHaveLength(1);
  });
});

describe('a stop', () => {
  it('forgets written sound that was not heard, also when its report comes later', () => {
    const { lane, device } = live({ delayMs: 300, tellsAfterMs: 5 });
    lane.hear('a', 3000, true);
    lane.stop();
    lane.pass(10);
    expect(device.heard).toEqual([]);
    expect(lane.state.playout.heard?.until ?? 0).toBeLessThanOrEqual(lane.last('flush_playback').at);
  });
});

describe('whatever sounds', () => {
  const deed = fc.oneof(
    { weight: 4, arbitrary: fc.record({ speak: fc.integer({ min: 1, max: 4 }) }) },
    {
      weight: 4,
      arbitrary: fc.record({
        hear: fc.constantFrom('a', 'b', 'c'),
        ms: fc.constantFrom(20, 200, 700, 3000),
        last: fc.boolean(),
      }),
    },
    { weight: 2, arbitrary: fc.record({ pass: fc.integer({ min: 0, max: 1500 }) }) },
    { weight: 1, arbitrary: fc.record({ hiccup: fc.integer({ min: 0, max: 400 }) }) },
  );
  const traits = fc.record({
    delayMs: fc.integer({ min: 0, max: 500 }),
    slowPpm: fc.constantFrom(0, 300, -300),
    tellsAfterMs: fc.constantFrom(0, 0, 3),
  });

  it('sends no chunk that contains it, and silences no chunk without it', () => {
    fc.assert(
      fc.property(traits, fc.array(deed, { maxLength: 40 }), (given, deeds) => {
        const { lane, device } = live(given);
        // The lane cannot know what the device reports after a chunk was judged.
        const hiccups: number[] = [];
        for (const what of deeds) {
          if ('speak' in what) lane.speak(what.speak);
          else if ('pass' in what) lane.pass(what.pass);
          else if ('hiccup' in what) {
            hiccups.push(lane.now);
            device.hiccup(what.hiccup);
          } else lane.hear(what.hear, what.ms, what.last);
        }
        lane.pass(1000);
        for (const at of sent(lane)) {
          expect(device.sounds(at - CHUNK_MS, at), `chunk ${at}`).toBe(false);
        }
        for (const at of silenced(lane)) {
          // Between two sounds that are close together the room does not become quiet.
          const near = device.sounds(at - CHUNK_MS - 2 * TAIL_MS, at + TAIL_MS + given.delayMs);
          expect(near || hiccups.some((then) => at - then < 1000), `chunk ${at}`).toBe(true);
        }
      }),
      { numRuns: 50 },
    );
  });
});
