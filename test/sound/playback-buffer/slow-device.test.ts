import { describe, expect, it } from 'vitest';
import { PREROLL_MS } from '../../../src/sound/playback-buffer/limits.ts';
import { createDevice, KNOWN, PER_MS, ramp } from './device.ts';

const numbers = (pcm: Uint8Array): number[] => [...new Int16Array(pcm.slice().buffer)];

/** A device whose pace is not trusted: it begins to play much later than expected, as one with a large buffer seems to. */
function createDoubted() {
  const made = createDevice({ lateMs: 150 });
  made.open();
  made.write(ramp(4000));
  made.clock.advance(4500);
  expect(made.state().device).toMatchObject({ isMetered: false, isCounted: true });
  return made;
}

/** A device that stalls now counts as hung within 2.5 s. */
function expectHangSoon({ clock, of }: ReturnType<typeof createDoubted>): void {
  let ms = 0;
  while (ms < 20_000 && of('hangs').length === 0) {
    clock.advance(50);
    ms += 50;
  }
  expect(ms).toBeLessThan(2500);
}

/** No sound is missing, and only sound from the device's buffer is heard twice. */
function expectGoesOn(taken: number, next = 0): void {
  // Silence comes before each stretch of sound.
  const place = (taken - PREROLL_MS * PER_MS) % 30_000;
  expect(next).toBeLessThanOrEqual(place + 2);
  expect(next).toBeGreaterThan(place - 250 * PER_MS);
}

describe('a device that takes sound too slowly', () => {
  it('gets sound no further ahead than other devices, and no sound ends before the device took it', () => {
    const { clock, write, stand, sound, state, sight } = createDoubted();
    stand(true, 0.5);
    const before = sound().length;
    write(ramp(4000, 4000));
    for (let ms = 0; ms < 6000; ms += 100) {
      clock.advance(100);
      const waiting = sound().length - before - (sight().taken ?? 0);
      expect(waiting).toBeLessThan(1400 * PER_MS);
    }
    expect(state().sounding).toBe(true);
    stand(false);
    clock.advance(5000);
    expect(state().sounding).toBe(false);
  });

  it('is given up once, gets its unheard sound again, and is back when it keeps up', () => {
    const { clock, write, stand, post, of, audible, open, state, sight } = createDoubted();
    stand(true, 0.5);
    write(ramp(20_000));
    for (let ms = 0; ms < 20_000 && of('hangs').length === 0; ms += 100) clock.advance(100);
    expect(of('hangs')).toHaveLength(1);
    expect(of('hangs')[0]?.slowShare).toBeCloseTo(0.5, 1);
    const taken = sight().taken ?? 0;
    post({ type: 'failed' });
    post({ type: 'gone' });
    open({ afterFault: true });
    const works = of('works').length;
    clock.advance(1000);
    expectGoesOn(taken, audible()[0]);
    for (let ms = 0; ms < 60_000; ms += 100) clock.advance(100);
    expect(of('works')).toHaveLength(works);
    expect(of('hangs')).toHaveLength(1);
    const again = audible();
    // Compared as bytes: half a million numbers would be compared one by one.
    expect(Buffer.from(Int16Array.from(again).buffer).equals(ramp(20_000).subarray(-2 * again.length))).toBe(
      true,
    );
    stand(false);
    clock.advance(4000);
    expect(of('works').length).toBeGreaterThan(works);
    expect(state()).toMatchObject({ isSlow: false, isSettled: true });
    const { until } = write(ramp(3000, 25_000));
    expect(until - clock.now()).toBeLessThan(4500);
    clock.advance(6000);
    expect(audible().at(-1)).toBe(numbers(ramp(3000, 25_000)).at(-1));
    expect(state().sounding).toBe(false);
  });
});

describe('a device that stalls now and then', () => {
  it('has no lasting delay, and does not count as hung', () => {
    const { clock, write, stand, of, sight, sound, audible } = createDoubted();
    const before = sound().length;
    write(ramp(28_000));
    for (let second = 0; second < 40; second++) {
      if (second % 10 === 2) stand(true);
      clock.advance(700);
      expect(sound().length - before - (sight().taken ?? 0)).toBeLessThan(1600 * PER_MS);
      clock.advance(500);
      stand(false);
    }
    expect(of('hangs')).toEqual([]);
    expect(audible().at(-1)).toBe(numbers(ramp(28_000)).at(-1));
  });

  it.each([10, 60])('counts as hung equally soon after %d s of speech as after one second', (seconds) => {
    const made = createDoubted();
    const { clock, write, stand, sight, sound } = made;
    const before = sound().length;
    write(ramp(20_000));
    for (let second = 0; second < seconds; second++) {
      write(ramp(1000));
      clock.advance(1000);
    }
    stand(true);
    expectHangSoon(made);
    expect(sound().length - before - (sight().taken ?? 0)).toBeLessThan(1600 * PER_MS);
  });

  it.each([10, 60])('counts as hung after %d s of speech that arrived just in time', (seconds) => {
    const made = createDoubted();
    const { clock, write, stand, sight, open, post, audible } = made;
    // No sound ever waits for the device.
    write(ramp(500));
    for (let second = 0; second < seconds; second++) {
      write(ramp(1000, 1 + (500 + 1000 * second) * PER_MS));
      clock.advance(1000);
    }
    stand(true);
    expectHangSoon(made);
    const taken = sight().taken ?? 0;
    post({ type: 'gone' });
    open();
    stand(false);
    clock.advance(3000);
    expectGoesOn(taken, audible()[0]);
  });

  it('gets its unheard sound again after a hang', () => {
    const { clock, write, stand, of, post, sight, open, audible } = createDoubted();
    write(ramp(10_000));
    for (let pauses = 0; pauses < 3; pauses++) {
      clock.advance(600);
      stand(true);
      clock.advance(1200);
      stand(false);
    }
    stand(true);
    for (let ms = 0; ms < 3000 && of('hangs').length === 0; ms += 50) clock.advance(50);
    expect(of('hangs')).toEqual([{ type: 'hangs', slowShare: null }]);
    const taken = sight().taken ?? 0;
    post({ type: 'gone' });
    open();
    clock.advance(1000);
    expectGoesOn(taken, audible()[0]);
  });
});

it('a device counts as hung after five seconds when a sound server is behind it', () => {
  const { open, write, clock, stand, of } = createDevice();
  open({ buffering: { ...KNOWN, isServer: true } });
  write(ramp(9000));
  clock.advance(1000);
  stand(true);
  // A null sink that was suspended: half a second, and a block of two.
  clock.advance(2600);
  stand(false);
  clock.advance(2000);
  expect(of('hangs')).toEqual([]);
  stand(true);
  clock.advance(4900);
  expect(of('hangs')).toEqual([]);
  clock.advance(300);
  expect(of('hangs')).toHaveLength(1);
});
