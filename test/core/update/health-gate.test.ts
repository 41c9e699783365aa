import { describe, expect, it } from 'vitest';
import { GATE, judge, openGate } from '../../../src/core/update/health-gate.ts';
import type { Sighting } from '../../../src/ports/update.ts';
import type { AgentHealth } from '../../../src/protocol/common/update.ts';

const MINUTE = 60_000;
const BEFORE: AgentHealth = {
  active: true,
  usable: true,
  broker: true,
  backend: true,
  deaf: [],
  readsPerS: 48_000,
};
const GOOD: Sighting = { ...BEFORE, restarts: 0, problem: null, reports: true, network: true };

/** Watches a version that is `at(minute)`. @returns the judgement and its minute */
function watch(at: (minute: number) => Partial<Sighting>, before: AgentHealth | null = BEFORE) {
  let gate = openGate(0);
  for (let now = 0; now <= 20 * MINUTE; now += MINUTE / 2) {
    const next = judge(gate, before, { ...GOOD, ...at(now / MINUTE) }, now, GATE);
    gate = next.gate;
    const { judgement } = next;
    if (judgement.kind === 'keep') return ['keep', now / MINUTE];
    if (judgement.kind === 'roll_back') return [judgement.reason, now / MINUTE];
  }
  return ['no judgement', 20];
}

describe('a new version', () => {
  it('stays when it has worked for ten minutes', () => {
    expect(watch(() => ({}))).toEqual(['keep', 10]);
  });

  it.each<[string, (minute: number) => Partial<Sighting>, string, number]>([
    ['has ended three times', (m) => ({ restarts: m >= 1 ? 3 : 0 }), 'it ended 3 times within 60 s', 1],
    ['has ended once', (m) => ({ restarts: m >= 4 ? 1 : 0 }), 'it ended once within 10 minutes', 10],
    ['hangs at its start', () => ({ active: false }), 'it was not ready within 5 minutes', 5],
    [
      'cannot use the configuration',
      () => ({ problem: 'lanes: unknown key' }),
      'it cannot use the configuration: lanes: unknown key',
      0,
    ],
    ['reports nothing', () => ({ reports: false }), 'it runs, but does not report its state', 2],
    [
      'loses a microphone',
      (m) => ({ deaf: m >= 3 ? ['lost'] : [] }),
      'it does not hear a microphone that worked before (lost)',
      5,
    ],
    [
      'claims to hear and reads nothing',
      () => ({ readsPerS: 900 }),
      'it reads 1 kB a second from the microphones, and the previous version read 48',
      2,
    ],
    [
      'does not reach the broker',
      () => ({ broker: false }),
      'it did not connect to the broker within 10 minutes',
      10,
    ],
    [
      'gets no answer of the backend',
      () => ({ backend: false }),
      'the backend did not answer it within 10 minutes',
      10,
    ],
  ])('is rolled back when it %s', (_, at, reason, minute) => {
    expect(watch(at)).toEqual([reason, minute]);
  });

  it.each<[string, (minute: number) => Partial<Sighting>, AgentHealth, string]>([
    [
      'the other microphone was lost before',
      () => ({ deaf: ['hall', 'desk'] }),
      { ...BEFORE, deaf: ['hall'] },
      'it does not hear a microphone that worked before (desk)',
    ],
    [
      'the service was stopped at the switch, and started after it',
      () => ({ deaf: ['lost'] }),
      { ...BEFORE, active: false },
      'it does not hear a microphone that worked before (lost)',
    ],
  ])('is rolled back when it does not hear, and %s', (_, at, before, reason) => {
    expect(watch(at, before)).toEqual([reason, 2]);
  });

  it.each<[string, (minute: number) => Partial<Sighting>, AgentHealth | null]>([
    ['there is no network', () => ({ broker: false, backend: false, network: false }), BEFORE],
    [
      'broker and backend were away before, too',
      () => ({ broker: false, backend: false }),
      { ...BEFORE, broker: false, backend: false },
    ],
    ['the network goes after it was connected', (m) => ({ broker: m < 5, backend: m < 5 }), BEFORE],
    ['the same microphone was lost before', () => ({ deaf: ['lost'] }), { ...BEFORE, deaf: ['lost'] }],
    [
      'a microphone is away for a minute, twice',
      (m) => ({ deaf: (m >= 2 && m < 3) || (m >= 7 && m < 8) ? ['lost'] : [] }),
      BEFORE,
    ],
    [
      'the service was stopped before',
      () => ({ active: false, reports: false }),
      { ...BEFORE, active: false },
    ],
    ['nothing is known of the time before', () => ({ broker: false, readsPerS: 0 }), null],
    ['the kernel does not count bytes', () => ({ readsPerS: null }), BEFORE],
    ['it reads at half the sample rate', () => ({ readsPerS: 24_000 }), BEFORE],
    ['nothing was heard before', () => ({ readsPerS: 0 }), { ...BEFORE, readsPerS: 300 }],
    [
      'the configuration was unusable before, too',
      () => ({ problem: 'mqtt.url' }),
      { ...BEFORE, usable: false },
    ],
  ])('stays when %s', (_, at, before) => {
    expect(watch(at, before)).toEqual(['keep', 10]);
  });
});
