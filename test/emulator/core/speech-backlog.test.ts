import { describe, expect, test } from 'vitest';
import { createSpeechBacklog } from '../../../src/emulator/core/speech-backlog.ts';
import { createHarness, task } from './harness.ts';

const RULES = { desiredMs: 5000, maxMs: 20_000, autoTempo: true, minTempo: 1.15, maxTempo: 1.45 };

describe('unspoken speech', () => {
  test('is spoken in real time, separately for each language', () => {
    const backlog = createSpeechBacklog();
    backlog.add('es', 4000, 1000);
    backlog.add('es', 4000, 2000);
    expect([backlog.levelMs('es', 2000), backlog.levelMs('de', 2000)]).toEqual([7000, 0]);
    backlog.drop('es', 3000);
    expect([backlog.levelMs('es', 2000), backlog.levelMs('es', 9000)]).toEqual([4000, 0]);
    backlog.add('de', 4000, 2000);
    backlog.clear(new Set(['es']));
    expect([backlog.levelMs('es', 2000), backlog.levelMs('de', 2000)]).toEqual([0, 4000]);
    backlog.clear(null);
    expect(backlog.levelMs('de', 2000)).toBe(0);
  });

  test('makes the next speech faster above the desired level', () => {
    const tempoAt = (ms: number, rules: typeof RULES | null = RULES): number => {
      const backlog = createSpeechBacklog();
      backlog.add('es', ms, 0);
      return backlog.tempo('es', rules, 0);
    };
    expect(tempoAt(5000)).toBe(1);
    expect(tempoAt(5001)).toBeCloseTo(1.15, 2);
    expect(tempoAt(12_500)).toBeCloseTo(1.3, 5);
    expect(tempoAt(90_000)).toBeCloseTo(1.45, 5);
    expect(tempoAt(90_000, { ...RULES, autoTempo: false })).toBe(1);
    expect(tempoAt(90_000, null)).toBe(1);
  });

  /** Has six texts spoken at once, each 9.75 s long; returns the speech sent and dropped by then (ms). */
  function flood(choices: Record<string, unknown>, afterMs: number): [number, number] {
    const harness = createHarness({ setupMs: 0, ...choices }, 'live');
    const stream = harness.open();
    const asked = task() as Record<string, object>;
    const global = { desired_queue_level_ms: 2000, max_queue_level_ms: 12_000, auto_tempo: false };
    const pipeline = { ...asked['pipeline'], translation_queue_configs: { global } };
    harness.service.receive(
      stream,
      { message_type: 'set_task', data: { ...asked, pipeline } },
      harness.now(),
    );
    harness.pass(100);
    for (let count = 0; count < 6; count++) {
      const data = { text: 'a'.repeat(150), language: 'es' };
      harness.service.receive(stream, { message_type: 'tts_task', data }, harness.now());
    }
    harness.pass(afterMs);
    const report = harness.service.reports(harness.now())[0];
    return [Math.round(report?.audio_ms_out ?? 0), report?.speech_dropped_ms ?? 0];
  }

  test('drops older sentences above the highest level, and sends the newest without a gap', () => {
    expect(flood({}, 2500)).toEqual([9750, 48_750]);
  });

  test('does not count speech that the client has interrupted', () => {
    const harness = createHarness({ setupMs: 0 }, 'live');
    const stream = harness.open();
    const asked = task() as Record<string, object>;
    const global = { desired_queue_level_ms: 2000, max_queue_level_ms: 60_000, auto_tempo: true };
    const pipeline = {
      ...asked['pipeline'],
      translation_queue_configs: { global: { ...global, min_tempo: 1.5, max_tempo: 1.5 } },
    };
    const send = (message_type: string, data: object): void =>
      void harness.service.receive(stream, { message_type, data }, harness.now());
    const say = (): void => send('tts_task', { text: 'a'.repeat(150), language: 'es' });
    send('set_task', { ...asked, pipeline });
    harness.pass(100);
    say();
    harness.pass(1000);
    send('interrupt_task', {});
    const spokenMs = (): number => harness.service.reports(harness.now())[0]?.audio_ms_out ?? 0;
    const before = spokenMs();
    say();
    harness.pass(20_000);
    // At its usual tempo.
    expect(spokenMs() - before).toBeCloseTo(9750, -2);
  });

  test('is all spoken without limits', () => {
    expect(flood({ queueLimits: false }, 9000)).toEqual([58_500, 0]);
  });
});
