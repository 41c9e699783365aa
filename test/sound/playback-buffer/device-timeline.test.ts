import { describe, expect, it } from 'vitest';
import {
  beginStretch,
  doubtfulAt,
  endOf,
  giveFrames,
  isMeasured,
  lookAt,
  openTimeline,
  queuedFrames,
  waitForRest,
} from '../../../src/sound/playback-buffer/device-timeline.ts';
import { noteUnderrun } from '../../../src/sound/playback-buffer/underrun.ts';
import { BUFFER, expectKnown, LOOK_MS, PERIOD, play, RATE_HZ, since } from './timed-device.ts';

describe('the time at which written sound is heard', () => {
  it.each([0, 300, -300])('is known on a device that is off by %d ppm', (ppm) => {
    expectKnown(ppm, 600);
  });

  it('is corrected when the device starts later than expected', () => {
    const { errors } = play({ seconds: 10, startsLateMs: 45 });
    expect(errors[0]?.error).toBeCloseTo(0, -2);
    expect(since(2000, errors).every(({ error }) => Math.abs(error) < 6)).toBe(true);
  });

  it('is known again after the device stalled, and not too much is written meanwhile', () => {
    const { errors, hung } = play({ seconds: 20, stall: [15_000, 16_200] });
    expect(hung).toBe(false);
    expect(Math.max(...errors.map(({ aheadMs }) => aheadMs))).toBeLessThan(500);
    expect(since(10_000, errors).every(({ error }) => Math.abs(error) < 10)).toBe(true);
  });

  it('is an estimate when the child reads other sound, too', () => {
    const { errors, device } = play({ seconds: 60, foreign: (now) => Math.floor((now - 10_000) * 2) });
    expect(isMeasured(device)).toBe(false);
    expect(errors.every(({ error }) => Math.abs(error) < 100)).toBe(true);
  });

  it('is trusted for hours, however often the device underruns', () => {
    let device = beginStretch(openTimeline(RATE_HZ, { periodFrames: PERIOD, bufferFrames: BUFFER }, true), 0);
    const perMs = RATE_HZ / 1000;
    let zeroAt = 0;
    let now = 0;
    for (let look = 1; look < 2000; look++) {
      now += LOOK_MS;
      const heard = Math.max(0, (now - zeroAt) * perMs);
      const wanted = Math.ceil((heard + 200 * perMs) / PERIOD) * PERIOD;
      device = giveFrames(device, Math.max(0, wanted - device.sent));
      const room = Math.floor((heard + BUFFER + PERIOD) / PERIOD) * PERIOD;
      let taken = Math.min(device.sent, room);
      if (look % 60 === 0) {
        // Its program gets no sound until the buffer is empty, and reports that; it plays again 25 ms later.
        taken = device.sent;
        now += 230;
        device = noteUnderrun(device, { taken, pipeBytes: 0 }, now, 0.01);
        zeroAt = now + 25 - (taken - PERIOD) / perMs;
      }
      device = lookAt(device, { taken, pipeBytes: 0 }, now, 1500).device;
    }
    expect(isMeasured(device)).toBe(true);
    expect(Math.abs(device.origin - zeroAt)).toBeLessThan(25);
  });

  it('waits for a device that stalls near the end, until the device counts as hung', () => {
    const { errors, hung } = play({ seconds: 10, endsMs: 5000, stall: [14_900, 16_000] });
    expect(hung).toBe(false);
    const still = errors.filter(({ at }) => at > 5400 && at < 6000);
    expect(still.length).toBeGreaterThan(10);
    expect(still.every(({ lags, aheadMs }) => lags && aheadMs > 150)).toBe(true);
    // Not before the remaining sound was heard.
    expect(still.every(({ error }) => error > -160 && error < 60)).toBe(true);
    expect(since(6300, errors).some(({ lags }) => lags)).toBe(false);
    const gone = play({ seconds: 10, endsMs: 5000, stall: [14_900, 100_000], limitMs: 1500 });
    expect(gone.errors.some(({ lags }) => lags)).toBe(true);
    expect(gone.hungAt).toBeLessThan(14_900 + 2000);
    expect(since(5400, gone.errors).every(({ lags }) => lags)).toBe(true);
  });

  it('never comes when the device takes no sound and counts as hung', () => {
    expect(play({ seconds: 5, stall: [10_500, 100_000] }).hung).toBe(true);
  });

  it('is given up within two seconds, however rarely the device is polled', () => {
    for (const lookMs of [113, 511, 997, 1297]) {
      for (let stallAt = 14_000; stallAt < 15_300; stallAt += 61) {
        const { hungAt } = play({
          seconds: 9,
          lookMs,
          limitMs: 1500,
          aheadMs: 1400,
          stall: [stallAt, 100_000],
        });
        const afterMs = (hungAt ?? Number.NaN) - (stallAt - 10_000);
        expect(afterMs, `${lookMs} ms, ${stallAt}`).toBeGreaterThan(1400);
        expect(afterMs, `${lookMs} ms, ${stallAt}`).toBeLessThan(1900);
      }
    }
  });

  it('stays trusted when the device stalls for a shorter time', () => {
    for (const lookMs of [113, 997, 1297]) {
      const { hung, errors } = play({
        seconds: 12,
        lookMs,
        limitMs: 1500,
        aheadMs: 1400,
        stall: [15_000, 16_300],
      });
      expect(hung, `${lookMs} ms`).toBe(false);
      expect(errors.length).toBeGreaterThan(8);
    }
  });

  it('is known after an underrun: the taken frames have been heard', () => {
    const { device, now } = fed();
    const dry = noteUnderrun(device, { taken: 4800, pipeBytes: 0 }, now + 400, 100);
    // Its last period begins to sound now.
    expect(endOf(dry)).toBeCloseTo(now + 400 + ((4800 - (4800 - PERIOD)) * 1000) / RATE_HZ);
    // For the reported silence, and no longer than the frames taken since then.
    const origins = (ms: number): number =>
      endOf(noteUnderrun(device, { taken: 4800, pipeBytes: 0 }, now + 400, ms)) - endOf(dry);
    expect([origins(250), origins(900)].map(Math.round)).toEqual([30, BUFFER / (RATE_HZ / 1000)]);
    const guessed = noteUnderrun(
      { ...device, isMetered: false },
      { taken: null, pipeBytes: 0 },
      now + 400,
      100,
    );
    expect(endOf(guessed)).toBeCloseTo(endOf(device) + 100);
  });

  it('is bounded by the taken frames when the pace is not trusted: sound servers report nonsense durations', () => {
    const { device, now } = fed();
    const dry = (ms: number): number =>
      endOf(noteUnderrun({ ...device, isMetered: false }, { taken: 4800, pipeBytes: 0 }, now + 400, ms));
    expect(dry(13_202)).toBeCloseTo(now + 400 + ((PERIOD + BUFFER) * 1000) / RATE_HZ);
    expect(dry(100)).toBeCloseTo(endOf(device) + 100);
  });
});

describe('a device whose program stalled', () => {
  it('has filled its buffer again by the time of the report, if sound waited for it', () => {
    const { device, now } = fed();
    // 3840 frames taken, 960 wait: a period and a full buffer have not been heard.
    const dry = noteUnderrun(device, { taken: 3840, pipeBytes: 0 }, now + 400, 0);
    expect(endOf(dry)).toBeCloseTo(now + 400 + ((960 + PERIOD + BUFFER) * 1000) / RATE_HZ);
  });
});

/** A device that was given 200 ms and has taken all of it. */
function fed() {
  const now = 10_000;
  const open = openTimeline(RATE_HZ, { periodFrames: PERIOD, bufferFrames: BUFFER }, true);
  return { now, device: giveFrames(beginStretch(open, now), 4800) };
}

describe('a program with unread sound in its pipe', () => {
  const unknown = { periodFrames: 1, bufferFrames: null };

  it('counts as hung when it does not read its pipe', () => {
    let device = giveFrames(beginStretch(openTimeline(RATE_HZ, unknown, false), 0), 48_000);
    const look = (pipeBytes: number, now: number): boolean => {
      const looked = lookAt(device, { taken: null, pipeBytes }, now, 1500);
      device = looked.device;
      return looked.hangs;
    };
    expect([look(0, 100), look(5000, 1000), look(4000, 2000), look(4000, 3400)]).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(look(4000, 3501)).toBe(true);
    expect(isMeasured(device)).toBe(false);
    expect(queuedFrames(device)).toBeNull();
    expect(doubtfulAt(device, 1500)).toBeNull();
    expect(waitForRest(device, 9000).lags).toBe(false);
  });
});
