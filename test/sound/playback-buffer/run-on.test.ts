import { describe, expect, it } from 'vitest';
import { isSilent, placeAfter, runsOutUntil } from '../../../src/sound/playback-buffer/buffer-state.ts';
import { BUFFER, createDevice, LATENCY_MS, PER_MS, PERIOD, RATE_HZ, ramp } from './device.ts';

describe('a device that keeps running between sounds', () => {
  const running = () => {
    const device = createDevice();
    device.post({ type: 'run_on', on: true, restart: false });
    device.open();
    return device;
  };

  it('is given silence between sounds, a little ahead, so that its clock never breaks', () => {
    const { clock, sound, of, state, sight, write } = running();
    for (let ms = 0; ms < 5000; ms += 10) {
      clock.advance(10);
      const left = sound().length - (clock.now() - 10_000 - LATENCY_MS) * PER_MS;
      expect(left / PER_MS).toBeGreaterThan(30);
      expect(left / PER_MS).toBeLessThan(260);
    }
    expect(of('begin')).toHaveLength(1);
    expect(sight().taken).toBeGreaterThan(4 * RATE_HZ);
    expect(isSilent(state(), clock.now())).toBe(true);
    const { from } = write(ramp(100));
    expect(from - clock.now()).toBeGreaterThan(60);
    expect(from - clock.now()).toBeLessThan(220);
  });

  it('reports the place of each sound in its run', () => {
    const { clock, write, sound, state } = running();
    clock.advance(1000);
    write(ramp(100));
    const place = placeAfter(state());
    expect(place?.run).toBe(1);
    clock.advance(1000);
    const end = sound().findLastIndex((sample) => sample !== 0) + 1;
    expect(place?.sample).toBe(end);
  });

  it('reports the unheard sound before an underrun, and continues its count', () => {
    const { clock, write, post, state, sight } = running();
    clock.advance(1000);
    write(ramp(300));
    const before = placeAfter(state());
    expect(before?.heardFrom).toBeNull();
    clock.advance(100);
    const { taken } = sight();
    post({ type: 'ran_dry', ms: 150, sight: { taken, pipeBytes: 0 } });
    const after = placeAfter(state());
    expect(after?.run).toBe((before?.run ?? 0) + 1);
    expect(after?.sample).toBe(before?.sample);
    expect(after?.heardFrom).toBeGreaterThan((taken ?? 0) - BUFFER - 2 * PERIOD);
    expect(after?.heardFrom).toBeLessThanOrEqual((taken ?? 0) - PERIOD);
  });

  it('plays out the given sound after a flush, fades the next sound out, and continues', () => {
    const { clock, write, post, of, state, audible } = running();
    clock.advance(500);
    write(ramp(2000, 20_000));
    clock.advance(300);
    const given = audible().length;
    post({ type: 'flush' });
    const until = runsOutUntil(state()) ?? 0;
    expect(until - clock.now()).toBeGreaterThan(0);
    expect(until - clock.now()).toBeLessThan(260);
    expect(audible().length - given).toBeLessThanOrEqual(8 * PER_MS);
    expect(Math.abs(audible().at(-1) ?? 0)).toBeLessThan(200);
    clock.advance(2000);
    expect(of('restart')).toEqual([]);
    expect(of('begin')).toHaveLength(1);
    expect(clock.armed).toBe(1);
  });

  it.each([0, 3, 7, 12, 19, 45, 88, 131])('plays out no more than 180 ms, also %i ms later', (phaseMs) => {
    const { clock, write, post, of, sound } = running();
    clock.advance(500);
    write(ramp(2000, 20_000));
    clock.advance(300 + phaseMs);
    const flushedAt = clock.now();
    post({ type: 'flush' });
    clock.advance(1500);
    const end = sound().findLastIndex((sample) => sample !== 0) + 1;
    const silentAt = 10_000 + LATENCY_MS + end / PER_MS;
    expect(silentAt - flushedAt).toBeGreaterThan(40);
    expect(silentAt - flushedAt).toBeLessThanOrEqual(180);
    // The player stays alive: no restart, and its clock continues.
    expect(of('restart')).toEqual([]);
    expect(of('begin')).toHaveLength(1);
  });

  it('is restarted for the change at once in silence, otherwise at the next silence', () => {
    const silent = createDevice();
    silent.open();
    silent.post({ type: 'run_on', on: true, restart: true });
    expect(silent.of('restart')).toHaveLength(1);
    const busy = createDevice();
    busy.open();
    busy.write(ramp(1000));
    busy.post({ type: 'run_on', on: true, restart: true });
    expect(busy.of('restart')).toEqual([]);
    busy.clock.advance(900);
    expect(busy.of('restart')).toEqual([]);
    busy.clock.advance(1000);
    expect(busy.of('restart')).toHaveLength(1);
    expect(placeAfter(busy.state())).toBeNull();
  });

  it('stops between sounds when its pace is unknown', () => {
    const device = createDevice({ isMute: true });
    device.post({ type: 'run_on', on: true, restart: false });
    device.open();
    device.clock.advance(2000);
    expect(device.sound()).toEqual([]);
    expect(placeAfter(device.state())).toBeNull();
  });

  it('gets no more silence when it need not keep running', () => {
    const { clock, post, sound } = running();
    clock.advance(500);
    post({ type: 'run_on', on: false, restart: false });
    clock.advance(1000);
    const { length } = sound();
    clock.advance(1000);
    expect(sound()).toHaveLength(length);
    expect(clock.armed).toBe(0);
  });

  it('is no longer trusted when it takes more than it was given', () => {
    const device = createDevice();
    device.open();
    device.write(ramp(500));
    device.post({ type: 'look', sight: { taken: 10 * RATE_HZ, pipeBytes: 0 } });
    expect(device.of('distrust')).toHaveLength(1);
    expect(device.state().device?.isMetered).toBe(false);
  });
});
