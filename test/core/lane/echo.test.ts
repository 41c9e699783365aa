import { describe, expect, it } from 'vitest';
import type { EchoMeasure } from '../../../src/core/audio/echo-detector.ts';
import { reportLane } from '../../../src/core/lane/report.ts';
import { CHUNK_MS, World } from './world.ts';

const MEASURE: EchoMeasure = { delayMs: 123.4, gainDb: -11.87, confidence: 0.712 };
const report = (world: World) =>
  reportLane('main', world.state, { capture: 'mic', playback: 'speaker' }, String).echo;

function hearEcho(world: World, times: number, heard: 'microphone' | 'cancelled' = 'microphone'): void {
  for (let count = 0; count < times; count++) {
    world.pass(2000);
    world.step({ type: 'echo_heard', heard, measure: MEASURE });
  }
}
const canceller = (world: World, status: 'starting' | 'ready' | 'failed', message = ''): void =>
  void world.step({ type: 'canceller', status, message });
const switches = (world: World): boolean[] => world.all('cancel_echo').map(({ on }) => on);

/** A lane that cancels echo, has learnt the room, and is silent. */
function cancelling(): World {
  const world = new World({ orders: { echo: 'cancel' } }).goLive();
  canceller(world, 'starting');
  canceller(world, 'ready');
  world.hear('learning', 3000, true);
  world.pass(10_000);
  return world;
}

describe('an echo', () => {
  it('is told with what was measured, once', () => {
    const world = new World().goLive();
    hearEcho(world, 5);
    const told = world.all('notify').filter(({ kind }) => kind === 'echo_detected');
    expect(told.map(({ detail }) => detail)).toEqual([
      { mode: 'half-duplex', delay_ms: 123, gain_db: -11.9, confidence: 0.71, heard_in: 'microphone' },
    ]);
    expect(report(world)).toEqual({
      wanted: 'half-duplex',
      mode: 'half-duplex',
      fallback: null,
      tail_ms: 455,
      delay_ms: 123,
      gain_db: -12,
    });
  });

  it('makes the tail fit the device', () => {
    const world = new World().goLive();
    const slow = { ...MEASURE, delayMs: 400, gainDb: 0 };
    world.step({ type: 'echo_heard', heard: 'microphone', measure: slow });
    world.hear('a', CHUNK_MS, true);
    // 850 ms of tail: two chunks and a bit behind the one in which it sounds.
    world.speak(6);
    expect(world.wire).toBe('....ss');
  });
});

describe('the mode off', () => {
  it('falls back to half-duplex when the lane hears itself, says so, and stays there', () => {
    const world = new World({ orders: { echo: 'off' } }).goLive();
    world.hear('a', 640, true);
    world.speak(2);
    hearEcho(world, 3);
    expect(world.all('notify').at(-1)).toMatchObject({
      kind: 'echo_fallback',
      detail: { reason: 'loop', from: 'off', mode: 'half-duplex' },
    });
    expect(report(world)).toMatchObject({ wanted: 'off', mode: 'half-duplex', fallback: 'loop' });
    const before = world.wire.length;
    world.hear('b', 640, true);
    world.speak(2);
    expect(world.wire.slice(before)).toMatch(/^f*\.f*\.$/);
    world.orders({ echo: 'off' });
    expect(report(world).mode).toBe('half-duplex');
  });

  it('is tried anew when it is ordered by command', () => {
    const world = new World({ orders: { echo: 'off' } }).goLive();
    hearEcho(world, 3);
    world.step({ type: 'echo_order', mode: 'off' });
    expect(report(world)).toMatchObject({ wanted: 'off', mode: 'off', fallback: null });
    expect(switches(world)).toEqual([]);
    hearEcho(world, 3);
    expect(world.notes.filter((kind) => kind === 'echo_fallback')).toHaveLength(2);
  });
});

describe('the mode cancel', () => {
  it('is half-duplex until the canceller has learnt the room, and lets everything through after', () => {
    const world = new World({ orders: { echo: 'cancel' } }).goLive();
    world.hear('a', 640, true);
    world.speak(2);
    expect(world.wire).toBe('..');
    canceller(world, 'ready');
    world.pass(2000);
    const before = world.wire.length;
    world.hear('b', 3000, true);
    world.speak(9);
    expect(world.wire.slice(before).replaceAll('f', '')).toMatch(/^\.{6,9}s*$/);
    world.pass(5000);
    const learnt = world.wire.length;
    world.hear('c', 3000, true);
    world.speak(9);
    expect(world.wire.slice(learnt).replaceAll('f', '')).toBe('sssssssss');
    expect(switches(world)).toEqual([]);
  });

  it('falls back when its echo is still heard after it had its time', () => {
    const world = cancelling();
    hearEcho(world, 5, 'cancelled');
    expect(report(world).mode).toBe('cancel');
    world.hear('more', 8000, true);
    world.pass(10_000);
    hearEcho(world, 3, 'cancelled');
    expect(report(world)).toMatchObject({ wanted: 'cancel', mode: 'half-duplex', fallback: 'loop' });
    expect(switches(world)).toEqual([false]);
  });

  it('falls back when there is no canceller, and tries one again when it is ordered to', () => {
    const world = cancelling();
    canceller(world, 'failed', 'it broke');
    canceller(world, 'failed', 'it broke');
    expect(report(world)).toMatchObject({ mode: 'half-duplex', fallback: 'canceller' });
    const told = world.all('notify').filter(({ kind }) => kind === 'echo_fallback');
    expect(told.map(({ detail }) => detail['message'])).toEqual([
      'echo can not be cancelled (it broke): half-duplex from now on',
    ]);
    // A canceller that was given up does not open the gate again.
    canceller(world, 'ready');
    expect(report(world).mode).toBe('half-duplex');
    world.step({ type: 'echo_order', mode: 'cancel' });
    expect(switches(world)).toEqual([false, true]);
    expect(report(world)).toMatchObject({ mode: 'half-duplex', fallback: null });
    canceller(world, 'ready');
    world.hear('again', 4000, true);
    world.pass(6000);
    expect(report(world).mode).toBe('cancel');
  });

  it('comes and goes with the orders', () => {
    const world = new World().goLive();
    world.orders({ echo: 'cancel' });
    world.orders({ echo: 'cancel', source: 'de' });
    world.step({ type: 'echo_order', mode: 'cancel' });
    world.orders({ echo: 'off' });
    world.orders({ echo: 'half-duplex' });
    expect(switches(world)).toEqual([true, false]);
    // Nobody asked it.
    canceller(world, 'failed', 'too late');
    expect(report(world)).toMatchObject({ mode: 'half-duplex', fallback: null });
  });
});

describe('a microphone that is not well', () => {
  const news = (world: World, finding: 'silent' | 'deaf' | 'clipping', present: boolean): void =>
    void world.step({ type: 'capture_news', finding, present, message: `${finding}: ${present}` });

  it('is told of, and is in the report until it is well', () => {
    const world = new World().goLive();
    news(world, 'clipping', true);
    news(world, 'silent', true);
    expect(world.state.captureFindings).toEqual(['clipping', 'silent']);
    news(world, 'clipping', false);
    expect(world.state.captureFindings).toEqual(['silent']);
    expect(world.all('notify').slice(-3)).toMatchObject([
      { kind: 'capture_problem', detail: { finding: 'clipping', message: 'clipping: true' } },
      { kind: 'capture_problem', detail: { finding: 'silent' } },
      { kind: 'capture_problem_over', detail: { finding: 'clipping' } },
    ]);
  });
});
