import { describe, expect, it } from 'vitest';
import { reportLane } from '../../../src/device/lane/lane-report.ts';
import type { EchoMeasure } from '../../../src/sound/echo-measure.ts';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';

const MEASURE: EchoMeasure = { delayMs: 123.4, gainDb: -11.87, confidence: 0.712 };
const report = (lane: LaneHarness) =>
  reportLane('main', lane.state, { capture: 'mic', playback: 'speaker' }, String).echo;

function hearEcho(lane: LaneHarness, times: number, heard: 'microphone' | 'cancelled' = 'microphone'): void {
  for (let count = 0; count < times; count++) {
    lane.pass(2000);
    lane.step({ type: 'echo_heard', heard, measure: MEASURE });
  }
}
const canceller = (
  lane: LaneHarness,
  status: 'starting' | 'ready' | 'found' | 'failed',
  message = '',
): void => void lane.step({ type: 'canceller', status, message });
const switches = (lane: LaneHarness): boolean[] => lane.all('cancel_echo').map(({ on }) => on);

/** A lane with the canceller, which has learned the room, in silence. */
function cancelling(): LaneHarness {
  const lane = new LaneHarness({ options: { echo: 'cancel' } }).goLive();
  canceller(lane, 'starting');
  canceller(lane, 'ready');
  lane.hear('learning', 3000, true);
  lane.pass(10_000);
  return lane;
}

describe('an echo', () => {
  it('is reported once, with its measured values', () => {
    const lane = new LaneHarness().goLive();
    hearEcho(lane, 5);
    const told = lane.all('notify').filter(({ kind }) => kind === 'echo_detected');
    expect(told.map(({ detail }) => detail)).toEqual([
      { mode: 'half-duplex', delay_ms: 123, gain_db: -11.9, confidence: 0.71, heard_in: 'microphone' },
    ]);
    expect(report(lane)).toEqual({
      wanted: 'half-duplex',
      mode: 'half-duplex',
      fallback: null,
      tail_ms: 455,
      delay_ms: 123,
      gain_db: -12,
    });
  });

  it('adjusts the tail to the device', () => {
    const lane = new LaneHarness().goLive();
    const slow = { ...MEASURE, delayMs: 400, gainDb: 0 };
    lane.step({ type: 'echo_heard', heard: 'microphone', measure: slow });
    lane.hear('a', CHUNK_MS, true);
    // 850 ms of tail: a little more than two chunks after the one in which it sounds.
    lane.speak(6);
    expect(lane.wire).toBe('....ss');
  });
});

describe('the mode off', () => {
  it('falls back to half-duplex when the lane hears itself, reports it, and stays there', () => {
    const lane = new LaneHarness({ options: { echo: 'off' } }).goLive();
    lane.hear('a', 640, true);
    lane.speak(2);
    hearEcho(lane, 3);
    expect(lane.all('notify').at(-1)).toMatchObject({
      kind: 'echo_fallback',
      detail: { reason: 'loop', from: 'off', mode: 'half-duplex' },
    });
    expect(report(lane)).toMatchObject({ wanted: 'off', mode: 'half-duplex', fallback: 'loop' });
    const before = lane.wire.length;
    lane.hear('b', 640, true);
    lane.speak(2);
    expect(lane.wire.slice(before)).toMatch(/^f*\.f*\.$/);
    lane.options({ echo: 'off' });
    expect(report(lane).mode).toBe('half-duplex');
  });

  it('is tried again when it is ordered by command', () => {
    const lane = new LaneHarness({ options: { echo: 'off' } }).goLive();
    hearEcho(lane, 3);
    lane.step({ type: 'set_echo', mode: 'off' });
    expect(report(lane)).toMatchObject({ wanted: 'off', mode: 'off', fallback: null });
    expect(switches(lane)).toEqual([]);
    hearEcho(lane, 3);
    expect(lane.notes.filter((kind) => kind === 'echo_fallback')).toHaveLength(2);
  });
});

describe('the mode cancel', () => {
  it('is half-duplex until the canceller has learned the room, and open afterwards', () => {
    const lane = new LaneHarness({ options: { echo: 'cancel' } }).goLive();
    lane.hear('a', 640, true);
    lane.speak(2);
    expect(lane.wire).toBe('..');
    canceller(lane, 'ready');
    lane.pass(2000);
    const before = lane.wire.length;
    lane.hear('b', 3000, true);
    lane.speak(9);
    expect(lane.wire.slice(before).replaceAll('f', '')).toMatch(/^\.{6,9}s*$/);
    lane.pass(5000);
    const learnt = lane.wire.length;
    lane.hear('c', 3000, true);
    lane.speak(9);
    expect(lane.wire.slice(learnt).replaceAll('f', '')).toBe('sssssssss');
    expect(switches(lane)).toEqual([]);
  });

  it.each<[string, (lane: LaneHarness) => void]>([
    ['the echo is found somewhere else', (lane) => canceller(lane, 'found')],
    [
      'the loudspeaker was away',
      (lane) => {
        lane.step({ type: 'audio_fault', device: 'playback', code: 'gone', message: 'it was pulled' });
        lane.step({ type: 'playback_back' });
      },
    ],
    [
      'the microphone was away',
      (lane) => {
        lane.step({ type: 'audio_fault', device: 'capture', code: 'gone', message: 'it was pulled' });
        lane.speak(1);
      },
    ],
    [
      'the volume is raised from nothing',
      (lane) => {
        lane.options({ volume: 0 });
        expect(report(lane).mode).toBe('cancel');
        lane.options({ volume: 100 });
      },
    ],
  ])('is half-duplex until the canceller has learned again, when %s', (_name, happen) => {
    const lane = cancelling();
    expect(report(lane).mode).toBe('cancel');
    happen(lane);
    expect(report(lane).mode).toBe('half-duplex');
    lane.hear('learning again', 3000, true);
    lane.pass(10_000);
    expect(report(lane).mode).toBe('cancel');
    expect(switches(lane)).toEqual([]);
  });

  it('goes on after a small change of the volume', () => {
    const lane = cancelling();
    for (const volume of [80, 100, 20]) lane.options({ volume });
    expect(report(lane).mode).toBe('cancel');
  });

  it('falls back when the echo remains after the time to learn', () => {
    const lane = cancelling();
    hearEcho(lane, 5, 'cancelled');
    expect(report(lane).mode).toBe('cancel');
    lane.hear('more', 8000, true);
    lane.pass(10_000);
    hearEcho(lane, 3, 'cancelled');
    expect(report(lane)).toMatchObject({ wanted: 'cancel', mode: 'half-duplex', fallback: 'loop' });
    expect(switches(lane)).toEqual([false]);
  });

  it('falls back without a canceller, and tries again when it is ordered again', () => {
    const lane = cancelling();
    canceller(lane, 'failed', 'it broke');
    canceller(lane, 'failed', 'it broke');
    expect(report(lane)).toMatchObject({ mode: 'half-duplex', fallback: 'canceller' });
    const told = lane.all('notify').filter(({ kind }) => kind === 'echo_fallback');
    expect(told.map(({ detail }) => detail['message'])).toEqual([
      'cannot cancel the echo (it broke): half-duplex from now on',
    ]);
    // The canceller of a fallback does not open the gate again.
    canceller(lane, 'ready');
    expect(report(lane).mode).toBe('half-duplex');
    lane.step({ type: 'set_echo', mode: 'cancel' });
    expect(switches(lane)).toEqual([false, true]);
    expect(report(lane)).toMatchObject({ mode: 'half-duplex', fallback: null });
    canceller(lane, 'ready');
    lane.hear('again', 4000, true);
    lane.pass(6000);
    expect(report(lane).mode).toBe('cancel');
  });

  it('comes and goes with the options', () => {
    const lane = new LaneHarness().goLive();
    lane.options({ echo: 'cancel' });
    lane.options({ echo: 'cancel', source: 'de' });
    lane.step({ type: 'set_echo', mode: 'cancel' });
    lane.options({ echo: 'off' });
    lane.options({ echo: 'half-duplex' });
    expect(switches(lane)).toEqual([true, false]);
    // The lane has not asked the canceller.
    canceller(lane, 'failed', 'too late');
    expect(report(lane)).toMatchObject({ mode: 'half-duplex', fallback: null });
  });
});

describe('a microphone with a problem', () => {
  const news = (lane: LaneHarness, finding: 'silent' | 'deaf' | 'clipping', present: boolean): void =>
    void lane.step({ type: 'capture_news', finding, present, message: `${finding}: ${present}` });

  it('is reported as an event, and in the report until the problem is over', () => {
    const lane = new LaneHarness().goLive();
    news(lane, 'clipping', true);
    news(lane, 'silent', true);
    expect(lane.state.captureFindings).toEqual(['clipping', 'silent']);
    news(lane, 'clipping', false);
    expect(lane.state.captureFindings).toEqual(['silent']);
    expect(lane.all('notify').slice(-3)).toMatchObject([
      { kind: 'capture_problem', detail: { finding: 'clipping', message: 'clipping: true' } },
      { kind: 'capture_problem', detail: { finding: 'silent' } },
      { kind: 'capture_problem_over', detail: { finding: 'clipping' } },
    ]);
  });

  it('closes the gate while it clips, and until the canceller has learned again', () => {
    const lane = cancelling();
    expect(report(lane).mode).toBe('cancel');
    news(lane, 'clipping', true);
    expect(report(lane)).toMatchObject({ wanted: 'cancel', mode: 'half-duplex', fallback: null });
    lane.hear('clipped', 20_000, true);
    lane.pass(21_000);
    expect(report(lane).mode).toBe('half-duplex');
    news(lane, 'clipping', false);
    for (const mode of ['half-duplex', 'cancel']) {
      lane.hear(`until ${mode}`, 2000, true);
      lane.pass(5000);
      expect(report(lane).mode).toBe(mode);
    }
  });

  it('does not change the mode by clipping without the canceller', () => {
    const lane = new LaneHarness({ options: { echo: 'off' } }).goLive();
    news(lane, 'clipping', true);
    expect(report(lane).mode).toBe('off');
  });
});

describe('a lane after an echo fallback', () => {
  const MINUTE = 60_000;
  const captured = (lane: LaneHarness): void => lane.capture(false);

  function fallen(): LaneHarness {
    const lane = cancelling();
    lane.hear('long', 12_000, true);
    lane.pass(13_000);
    hearEcho(lane, 3, 'cancelled');
    expect(switches(lane)).toEqual([false]);
    return lane;
  }

  it('tries the canceller with the gate closed, and returns when a trial succeeds', () => {
    const lane = fallen();
    lane.pass(4 * MINUTE);
    captured(lane);
    expect(switches(lane)).toEqual([false]);
    lane.pass(2 * MINUTE);
    captured(lane);
    expect(switches(lane)).toEqual([false, true]);
    canceller(lane, 'starting');
    canceller(lane, 'ready');
    expect(report(lane)).toMatchObject({ mode: 'half-duplex', fallback: 'loop' });
    lane.hear('more', 31_000, true);
    lane.pass(32_000);
    captured(lane);
    expect(report(lane)).toMatchObject({ mode: 'cancel', fallback: null });
    expect(lane.notes.at(-1)).toBe('echo_restored');
  });

  it('waits longer after each failed trial', () => {
    const lane = fallen();
    lane.pass(5 * MINUTE + 1);
    captured(lane);
    canceller(lane, 'ready');
    lane.hear('more', 12_000, true);
    lane.pass(13_000);
    hearEcho(lane, 3, 'cancelled');
    expect(switches(lane)).toEqual([false, true, false]);
    lane.pass(9 * MINUTE);
    captured(lane);
    expect(switches(lane)).toHaveLength(3);
    lane.pass(MINUTE + 1);
    captured(lane);
    expect(switches(lane)).toEqual([false, true, false, true]);
    // One fallback, reported once.
    expect(lane.notes.filter((kind) => kind === 'echo_fallback')).toHaveLength(1);
    canceller(lane, 'failed', 'it broke');
    expect(switches(lane)).toEqual([false, true, false, true, false]);
  });
});
