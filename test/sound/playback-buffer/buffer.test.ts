import { describe, expect, it } from 'vitest';
import { isSilent, runsOutUntil } from '../../../src/sound/playback-buffer/buffer-state.ts';
import { createDevice, LATENCY_MS, msOf, PER_MS, PERIOD, ramp } from './device.ts';

const PREROLL_MS = 40;
const numbers = (pcm: Uint8Array): number[] => [...new Int16Array(pcm.slice().buffer)];

describe('written sound', () => {
  it('is heard after a little silence at the reported time, and given to the device in time', () => {
    const { open, write, clock, sound, state } = createDevice();
    open();
    const all = ramp(3000);
    const { from, until } = write(all);
    expect(from).toBe(clock.now() + LATENCY_MS + PREROLL_MS);
    expect(until).toBe(from + 3000);
    while (clock.now() < until) {
      const aheadMs = sound().length / PER_MS - (clock.now() - from + PREROLL_MS);
      expect(aheadMs).toBeLessThan(1200);
      clock.advance(20);
    }
    expect(sound().slice(0, PREROLL_MS * PER_MS)).toEqual(Array(PREROLL_MS * PER_MS).fill(0));
    expect(sound().slice(PREROLL_MS * PER_MS, (3000 + PREROLL_MS) * PER_MS)).toEqual(numbers(all));
    clock.advance(1000);
    expect(isSilent(state(), clock.now())).toBe(true);
  });

  it('follows the previous sound without a gap', () => {
    const { open, write, clock, audible } = createDevice();
    open();
    const first = write(ramp(300));
    clock.advance(150);
    const second = write(ramp(300, 9000));
    expect(second.from).toBeCloseTo(first.until, 0);
    clock.advance(1000);
    expect(audible()).toEqual([...numbers(ramp(300)), ...numbers(ramp(300, 9000))]);
  });

  it('pads the last period and clears its timer when the sound ends', () => {
    const { open, write, clock, sound, of, state } = createDevice();
    open();
    write(ramp(50));
    clock.advance(2000);
    expect(sound().length % PERIOD).toBe(0);
    expect(clock.armed).toBe(0);
    expect(state().sounding).toBe(false);
    expect(state().pending).toMatchObject({ given: [], waitingBytes: 0 });
    const { from } = write(ramp(50));
    expect(from).toBe(clock.now() + LATENCY_MS + PREROLL_MS);
    expect(of('begin')).toHaveLength(2);
  });

  it('is pushed out of a sample rate converter by a little silence', () => {
    const { open, write, clock, sound, of } = createDevice({ deviceHz: 48_000 });
    open();
    write(ramp(55));
    clock.advance(2000);
    expect(of('fill_up').map(({ pcm }) => msOf(pcm.byteLength))).toEqual([10]);
    expect(sound().length % PERIOD).toBe(0);
  });

  it('changes nothing when it is empty', () => {
    const { open, write, clock, effects } = createDevice();
    open();
    effects.length = 0;
    const { from, until } = write(new Uint8Array(1));
    expect(from).toBe(until);
    expect(effects).toEqual([]);
    expect(clock.armed).toBe(0);
  });

  it('is refused beyond a minute, with one report', () => {
    const { open, write, of, state } = createDevice();
    open();
    for (let second = 0; second < 80; second++) write(ramp(1000));
    expect(of('overflows')).toHaveLength(1);
    expect(msOf(state().pending.waitingBytes)).toBeLessThanOrEqual(61_000);
    const { from, until } = write(ramp(1000));
    expect(until).toBe(from);
  });
});

describe('a device that is later than expected', () => {
  it('causes a report when it is measured', () => {
    const { open, write, clock, of } = createDevice({ lateMs: 45 });
    open();
    const { until } = write(ramp(4000));
    clock.advance(3000);
    const last = of('measured').at(-1)?.until ?? 0;
    expect(last - until).toBeGreaterThan(30);
    expect(last - until).toBeLessThan(60);
  });

  it('changes the answer of the write that detects the delay, without another report', () => {
    const { open, write, clock, of, state } = createDevice({ lateMs: 45 });
    open();
    let { until } = write(ramp(400));
    let corrections = 0;
    // Each write is a look, and comes earlier than the next planned look.
    for (let piece = 0; piece < 30; piece++) {
      clock.advance(100);
      const reported = of('measured').length;
      const before = until;
      const written = write(ramp(100));
      expect(of('measured')).toHaveLength(reported);
      if (Math.abs(written.until - (written.from + 100)) > 1) corrections++;
      until = Math.max(before, written.until);
      expect(state().reportedEnd).toBe(written.until);
    }
    expect(corrections).toBeGreaterThan(0);
    expect(of('measured')).toEqual([]);
  });

  it('is waited for when it stalls, and counts as hung after a second and a half', () => {
    const { open, write, clock, stand, of } = createDevice();
    open();
    write(ramp(9000));
    clock.advance(1000);
    stand(true);
    clock.advance(1300);
    stand(false);
    clock.advance(2000);
    expect(of('hangs')).toEqual([]);
    stand(true);
    clock.advance(1400);
    expect(of('hangs')).toEqual([]);
    clock.advance(300);
    expect(of('hangs')).toHaveLength(1);
    expect(clock.armed).toBe(0);
  });

  it('counts as hung, without a count of frames, when its waiting sound does not move', () => {
    const { open, write, clock, stand, of } = createDevice({ isMute: true });
    open();
    write(ramp(9000));
    clock.advance(500);
    stand(true);
    clock.advance(1400);
    expect(of('hangs')).toEqual([]);
    clock.advance(400);
    expect(of('hangs')).toHaveLength(1);
  });

  it('starts a new run after an underrun, but ignores an old report from a pause', () => {
    const { open, write, clock, post, sight, state, of } = createDevice();
    open();
    write(ramp(300));
    clock.advance(1500);
    const { run } = state();
    post({ type: 'ran_dry', ms: 50, sight: sight() });
    expect(state().run).toBe(run);
    write(ramp(3000));
    post({ type: 'ran_dry', ms: 500, sight: sight() });
    expect(state().run).toBe(run + 1);
    clock.advance(1000);
    const { reportedEnd: before } = state();
    // It has taken 880 ms in a second, and all of that was heard.
    post({ type: 'ran_dry', ms: 50, sight: { taken: 880 * PER_MS, pipeBytes: 0 } });
    expect(state().run).toBe(run + 2);
    expect(state().reportedEnd - before).toBeGreaterThan(100);
    expect(of('measured').at(-1)).toEqual({ type: 'measured', until: state().reportedEnd });
  });
});

describe('an absent device', () => {
  it('delays the sound when the absence is short', () => {
    const { open, write, clock, audible } = createDevice();
    const { from } = write(ramp(500));
    expect(from).toBe(clock.now() + 20 + LATENCY_MS + PREROLL_MS);
    clock.advance(900);
    open();
    clock.advance(2000);
    expect(audible()).toEqual(numbers(ramp(500)));
  });

  it('delays the sound for as long as a start may take, and no longer', () => {
    for (const [afterMs, isHeard] of [
      [4900, true],
      [5100, false],
    ] as const) {
      const { open, write, clock, audible, of } = createDevice();
      write(ramp(500));
      clock.advance(afterMs);
      open();
      clock.advance(2000);
      expect(audible()).toEqual(isHeard ? numbers(ramp(500)) : []);
      expect(of('missed')).toEqual(isHeard ? [] : [{ type: 'missed', ms: 500 }]);
    }
  });

  it('delays the sound after a requested restart, but drops it after a reported failure', () => {
    for (const fails of [false, true]) {
      const { open, write, clock, post, audible, of } = createDevice();
      open();
      write(ramp(2000));
      clock.advance(500);
      post({ type: 'flush' });
      post({ type: 'gone' });
      const before = audible().length;
      write(ramp(500));
      if (fails) post({ type: 'failed' });
      clock.advance(3000);
      open();
      clock.advance(2000);
      expect(audible().length).toBe(fails ? 0 : 500 * PER_MS);
      expect(before).toBeGreaterThan(0);
      expect(of('missed')).toEqual(fails ? [{ type: 'missed', ms: 500 }] : []);
    }
  });

  it('drops the sound of a long absence after a failure', () => {
    const { open, write, clock, post, audible, of } = createDevice();
    post({ type: 'failed' });
    write(ramp(6000));
    clock.advance(2000);
    const { from } = write(ramp(10));
    expect(of('missed')).toEqual([{ type: 'missed', ms: 2000 }]);
    expect(from).toBeCloseTo(clock.now() + LATENCY_MS + PREROLL_MS + 4000);
    clock.advance(1000);
    open();
    clock.advance(9000);
    expect(audible()).toEqual([...numbers(ramp(6000)).slice(3000 * PER_MS), ...numbers(ramp(10))]);
    expect(of('missed')).toMatchObject([{ ms: 2000 }, { ms: 1000 }]);
  });

  it('drops no silence, and reports none', () => {
    const { open, clock, of, post } = createDevice();
    open({ afterFault: true });
    post({ type: 'gone' });
    clock.advance(5000);
    open({ afterFault: true });
    expect(of('missed')).toEqual([]);
  });

  it('plays the unheard sound again after its return', () => {
    const { open, write, clock, post, audible, state } = createDevice();
    open();
    write(ramp(3000));
    clock.advance(1042);
    post({ type: 'gone' });
    expect(state().device).toBeNull();
    expect(clock.armed).toBe(0);
    open();
    clock.advance(5000);
    const again = audible();
    expect(again.at(-1)).toBe(numbers(ramp(3000)).at(-1));
    expect(again[0]).toBeGreaterThan(950 * PER_MS);
    expect(again[0]).toBeLessThan(1030 * PER_MS);
  });

  it.each([false, true])('plays the unheard sound again after a hang (mute: %s)', (isMute) => {
    const { open, write, clock, post, audible, stand, of } = createDevice({ isMute });
    open();
    write(ramp(3000));
    clock.advance(1000);
    stand(true);
    for (let waited = 0; of('hangs').length === 0 && waited < 5000; waited += 50) clock.advance(50);
    expect(of('hangs')).toHaveLength(1);
    post({ type: 'gone' });
    stand(false);
    open();
    clock.advance(5000);
    const again = audible();
    expect(again[0]).toBeGreaterThan(850 * PER_MS);
    expect(again[0]).toBeLessThan(1100 * PER_MS);
    expect(again.at(-1)).toBe(numbers(ramp(3000)).at(-1));
  });

  it('plays all sound again when it ended before it proved to work', () => {
    const { open, write, clock, post, audible, of } = createDevice({ isMute: true });
    write(ramp(500));
    open({ isSure: false });
    expect(of('settle_at')).toEqual([{ type: 'settle_at', at: clock.now() + 500 }]);
    clock.advance(300);
    expect(of('works')).toEqual([]);
    post({ type: 'gone' });
    post({ type: 'started' });
    open({ isSure: false });
    clock.advance(400);
    post({ type: 'settled' });
    expect(of('works').length).toBeGreaterThan(0);
    clock.advance(2000);
    expect(audible()).toEqual(numbers(ramp(500)));
  });

  it('counts as working after a fault only when it has taken sound or silence', () => {
    const { open, clock, of, sound, audible } = createDevice();
    open({ afterFault: true });
    expect(of('works')).toEqual([]);
    clock.advance(1500);
    expect(of('works').length).toBeGreaterThan(0);
    expect(sound().length).toBeGreaterThanOrEqual(300 * PER_MS);
    expect(audible()).toEqual([]);
  });

  it('must take more sound than its buffer holds, whatever its size', () => {
    const { open, clock, of, audible } = createDevice();
    open({ afterFault: true, buffering: { periodFrames: PERIOD, bufferFrames: 400 * PER_MS } });
    clock.advance(2000);
    expect(of('works').length).toBeGreaterThan(0);
    expect(of('hangs')).toEqual([]);
    expect(audible()).toEqual([]);
  });

  it('continues after the sound that it was given before a late "ready"', () => {
    const { open, write, clock, audible, state } = createDevice();
    open({ isSure: false, isMetered: false });
    write(ramp(3000));
    clock.advance(500);
    const begun = audible().length;
    open();
    clock.advance(6000);
    expect(begun + audible().length).toBe(3000 * PER_MS);
    expect(state().sounding).toBe(false);
  });
});

describe('a flush', () => {
  it('restarts the device, which silences it', () => {
    const { open, write, clock, post, of, state } = createDevice();
    open();
    write(ramp(3000));
    clock.advance(200);
    post({ type: 'flush' });
    expect(of('restart')).toHaveLength(1);
    expect(runsOutUntil(state())).toBeUndefined();
    expect(state().pending).toMatchObject({ given: [], waitingBytes: 0 });
    expect(clock.armed).toBe(0);
  });

  it('does nothing in silence, and drops sound that waits for a device', () => {
    const { open, write, clock, post, of, audible } = createDevice();
    write(ramp(300));
    post({ type: 'flush' });
    open();
    clock.advance(500);
    post({ type: 'flush' });
    expect(of('restart')).toEqual([]);
    expect(audible()).toEqual([]);
  });
});
