import { describe, expect, it } from 'vitest';
import { samplesOf } from '../../../src/sound/pcm.ts';
import { fc } from '../../properties.ts';
import { FORMAT, PlayoutHarness, START } from './playout-harness.ts';

/** A loud tone that is far from silence where it is cut. */
function tone(ms: number, fromMs = 0): Uint8Array {
  const from = (fromMs * 24) % PERIOD;
  return TONE.slice(2 * from, 2 * (from + ms * 24));
}
const PERIOD = 110;
/** Made once, longer than all that is sent of it. */
const TONE = new Uint8Array(
  Int16Array.from({ length: 20_000 * 24 }, (_, i) =>
    Math.round(8000 + 2000 * Math.sin(((i % PERIOD) * 2 * Math.PI) / PERIOD)),
  ).buffer,
);

/** Sound heard in the room: the writes one after the other, silence in the gaps. */
function timeline(playout: PlayoutHarness): Int16Array[] {
  const heard: Int16Array[] = [];
  let until = START;
  for (const { pcm, at } of playout.writes) {
    const from = Math.max(until, at);
    heard.push(new Int16Array(Math.round((from - until) * 24)), samplesOf(pcm));
    until = from + pcm.byteLength / FORMAT.bytesPerMs;
  }
  return heard;
}
/** Audible steps, with silence before and after the sound. */
function clicks(playout: PlayoutHarness): number {
  let [count, before] = [0, 0];
  for (const samples of [...timeline(playout), new Int16Array(1)]) {
    for (const value of samples) {
      if (Math.abs(value - before) > 1000) count += 1;
      before = value;
    }
  }
  return count;
}
const kinds = (playout: PlayoutHarness): string => playout.writes.map(({ kind }) => kind[0]).join('');

/** A sentence that comes in a burst and stops after this much. */
function burst(playout: PlayoutHarness, ms: number): PlayoutHarness {
  for (let at = 0; at < ms; at += 200) {
    playout.take(1, 'a', tone(200, at));
    playout.pass(20);
  }
  return playout;
}

describe('a sentence whose sound stops in its middle', () => {
  it('is faded out before the loudspeaker falls silent, and faded in when it continues', () => {
    const playout = burst(new PlayoutHarness(), 1000).pass(1300);
    playout.take(1, 'a', tone(200, 1000)).pass(20);
    playout.take(1, 'a', tone(200, 1200), true).pass(1000);
    // The two clicks are the begin and the end of the service's own sentence.
    expect(clicks(playout)).toBe(2);
    expect(kinds(playout)).toMatch(/^s+fs*fs+$/);
    expect(playout.playout.gaps).toBe(1);
  });

  it('is not written further ahead when it is faded in: the fade counts', () => {
    const playout = burst(new PlayoutHarness(), 1000).pass(1300);
    playout.take(1, 'a', tone(1000, 1000)).take(1, 'a', tone(1000, 2000));
    const last = playout.writes.filter(({ at }) => at === playout.now);
    expect(last.map(({ kind }) => kind)).toEqual(['fade', 'speech']);
    expect((playout.playout.heard?.until ?? 0) - playout.now).toBeLessThanOrEqual(FORMAT.aheadMs);
  });

  it("gets no fades when only the service's sound is wanted, as in a recording", () => {
    const playout = burst(new PlayoutHarness({ softEdges: false }), 1000).pass(1300);
    playout.take(1, 'a', tone(400, 1000), true).pass(1000);
    expect(kinds(playout)).toMatch(/^s+$/);
    expect(playout.playout.gaps).toBe(1);
  });

  it('keeps all of its own samples unchanged', () => {
    const playout = burst(new PlayoutHarness(), 1000).pass(1300);
    playout.take(1, 'a', tone(400, 1000), true).pass(1000);
    const spoken = playout.spoken.flatMap(({ pcm }) => [...samplesOf(pcm)]);
    expect(spoken).toEqual([...samplesOf(tone(1400))]);
    expect(playout.playout.writtenBytes).toBe(1400 * FORMAT.bytesPerMs);
  });

  it('is not faded when its end is known, nor when it is too soft to hear', () => {
    const whole = burst(new PlayoutHarness(), 1000);
    whole.take(1, 'a', new Uint8Array(0), true).pass(3000);
    expect(kinds(whole)).toMatch(/^s+$/);
    const soft = new PlayoutHarness();
    for (let i = 0; i < 5; i++) soft.take(1, 'a', new Uint8Array(200 * 48).fill(1)).pass(20);
    expect(kinds(soft.pass(3000))).toMatch(/^s+$/);
  });

  it('is not faded after the fact: a busy event loop must not add a second click', () => {
    const playout = burst(new PlayoutHarness(), 1000).pass(750);
    playout.now += 5000;
    playout.look();
    expect(kinds(playout)).not.toContain('f');
  });

  it('waits for two pieces or a moment before it continues: one gap is better than many', () => {
    const one = burst(new PlayoutHarness(), 1000).pass(1000);
    const before = one.writes.length;
    one.take(1, 'a', tone(100, 1000)).pass(119);
    expect(one.writes).toHaveLength(before);
    expect(one.pass(2).writes.length).toBeGreaterThan(before);
    // It waited on purpose: that does not count as latency.
    expect(one.spoken.at(-1)?.receivedAt).toBeNull();
    const two = burst(new PlayoutHarness(), 1000).pass(1000);
    two.take(1, 'a', tone(100, 1000)).pass(30);
    expect(two.writes).toHaveLength(before);
    expect(two.take(1, 'a', tone(100, 1100)).writes.length).toBeGreaterThan(before);
    const last = burst(new PlayoutHarness(), 1000).pass(1000);
    expect(last.take(1, 'a', tone(100, 1000), true).writes.length).toBeGreaterThan(before);
  });

  it('is heard at once when it continues after the wait for it has ended', () => {
    const playout = burst(new PlayoutHarness(), 1000).pass(3000);
    playout.take(1, 'a', tone(100, 1000));
    expect(playout.writes.at(-1)?.at).toBe(playout.now);
    expect(playout.spoken.at(-1)?.receivedAt).toBe(playout.now);
  });
});

describe('a service that sends at the pace of speech', () => {
  it('gets its bytes through exactly, without fades, whatever the jitter', () => {
    const jitter = fc.array(fc.integer({ min: -15, max: 30 }), { minLength: 5, maxLength: 30 });
    fc.assert(
      fc.property(jitter, fc.boolean(), (jitters, isNamed) => {
        const playout = new PlayoutHarness();
        const sent: Uint8Array[] = [];
        for (const [i, late] of jitters.entries()) {
          playout.pass(START + 320 * i + Math.max(0, 40 + late) - playout.now);
          const pcm = tone(320, 320 * i);
          sent.push(pcm);
          playout.take(1, isNamed ? 'echo' : '', pcm);
        }
        playout.pass(2000);
        expect(playout.writes.every(({ kind }) => kind === 'speech')).toBe(true);
        const written = Buffer.concat(playout.writes.map(({ pcm }) => pcm));
        expect(written.equals(Buffer.concat(sent))).toBe(true);
        // One short gap to gather sound, and then no more.
        expect(playout.playout.gaps).toBeLessThanOrEqual(1);
        const holes = playout.playout.timeline.end - playout.now + 2000 - 320;
        expect(holes).toBeLessThan(250);
      }),
      { numRuns: 100 },
    );
  });
});

describe('with any delay', () => {
  it("clicks come only from the begin and the end of the service's sound, and no sound is lost", () => {
    const arrival = fc.record({
      wait: fc.oneof(fc.constant(20), fc.integer({ min: 0, max: 1500 })),
      ms: fc.constantFrom(100, 200, 320),
    });
    fc.assert(
      fc.property(fc.array(arrival, { minLength: 1, maxLength: 30 }), (arrivals) => {
        const playout = new PlayoutHarness();
        let sent = 0;
        for (const [i, { wait, ms }] of arrivals.entries()) {
          playout.take(1, 'a', tone(ms, sent), i === arrivals.length - 1);
          sent += ms;
          playout.pass(wait);
        }
        playout.pass(70_000);
        expect(Buffer.concat(playout.spoken.map(({ pcm }) => pcm)).equals(tone(sent))).toBe(true);
        const fades = playout.writes.filter(({ kind }) => kind === 'fade');
        expect(fades.every(({ pcm }) => pcm.byteLength === 8 * 48)).toBe(true);
        // A sentence that never came ahead of playback has no fades, and two clicks at most per gap.
        const gaps = playout.playout.gaps;
        const bare = 2 * gaps - fades.length;
        expect(clicks(playout)).toBeLessThanOrEqual(2 + bare);
        expect(playout.playout.queuedBytes).toBe(0);
      }),
      { numRuns: 200 },
    );
  });
});
