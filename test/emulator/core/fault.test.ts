import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../src/core/random.ts';
import { createAccount } from '../../../src/emulator/core/account.ts';
import { resolveChoices } from '../../../src/emulator/core/choices.ts';
import { parseFaults } from '../../../src/emulator/core/fault.ts';
import { createFaultPlan, type FaultTarget } from '../../../src/emulator/core/fault-plan.ts';
import { createFaultRegistry } from '../../../src/emulator/core/fault-registry.ts';
import { createVoiceRegistry } from '../../../src/emulator/core/voices.ts';

function requestOf(body: object) {
  const parsed = parseFaults(body);
  if (!parsed.ok) throw new Error(parsed.issues.join());
  return parsed.request;
}

const target = (id: string, change: Partial<FaultTarget> = {}): FaultTarget => ({
  id,
  openedAt: 0,
  running: true,
  speaking: false,
  sending: false,
  betweenLanguages: false,
  ...change,
});

describe('the body of POST /emulator/faults', () => {
  test('may have the shortest form', () => {
    expect(requestOf({ kind: 'revoke' })).toEqual({
      kind: 'order',
      order: { stream: 'newest', after_ms: 0, when: 'now', fault: { kind: 'revoke' } },
    });
    expect(requestOf({ kind: 'drop', when: 'mid_speech', after_ms: 500, stream: 's1' })).toMatchObject({
      order: { stream: 's1', after_ms: 500, when: 'mid_speech', fault: { kind: 'drop' } },
    });
  });

  test.each([
    [{ kind: 'revok' }, 'kind'],
    [{}, 'kind'],
    [{ kind: 'delay' }, 'ms'],
    [{ kind: 'delay', ms: -1 }, 'ms'],
    [{ kind: 'drop', now: true }, 'now'],
    [{ kind: 'drop', when: 'later' }, 'when'],
    [{ kind: 'refuse', reason: 'mood' }, 'reason'],
    [{ kind: 'http', status: 200 }, 'status'],
    [{ kind: 'schedule', for_ms: 1000, every_ms: { min: 10, max: 20 }, faults: [{ kind: 'x' }] }, 'kind'],
    [
      { kind: 'schedule', for_ms: 1000, every_ms: { min: 0, max: 20 }, faults: [{ kind: 'drop' }] },
      'every_ms',
    ],
  ])('is refused for %j, with the place %s', (body, where) => {
    const parsed = parseFaults(body);
    expect(parsed.ok).toBe(false);
    expect(parsed.ok ? '' : parsed.issues.join()).toContain(where);
  });

  test.each([null, 7, 'drop', [{ kind: 'drop' }]])('is refused when it is %j', (body) => {
    expect(parseFaults(body).ok).toBe(false);
  });
});

describe('a fault', () => {
  test('hits the newest stream at once, and later with after_ms', () => {
    const plan = createFaultPlan();
    plan.add(requestOf({ kind: 'drop' }), 0);
    plan.add(requestOf({ kind: 'revoke', after_ms: 500 }), 0);
    const streams = [target('a'), target('b')];
    expect(plan.takeDue(streams, 0).map((due) => due.streams)).toEqual([['b']]);
    expect(plan.nextAt(0)).toBe(500);
    expect(plan.takeDue(streams, 499)).toEqual([]);
    expect(plan.takeDue(streams, 500)).toHaveLength(1);
    expect(plan.waiting).toBe(0);
  });

  test('waits for a stream when there is none', () => {
    const plan = createFaultPlan();
    plan.add(requestOf({ kind: 'drop' }), 0);
    expect(plan.takeDue([], 100)).toEqual([]);
    expect(plan.takeDue([target('a')], 200)).toHaveLength(1);
  });

  test.each([
    ['mid_speech', { speaking: true }],
    ['mid_output', { sending: true }],
    ['between_languages', { betweenLanguages: true }],
    ['next_stream', { openedAt: 50 }],
    ['running', { running: true }],
  ] as const)('waits for the state %s', (when, state) => {
    const plan = createFaultPlan();
    plan.add(requestOf({ kind: 'drop', when }), 10);
    expect(plan.takeDue([target('a', { running: false })], 60)).toEqual([]);
    expect(plan.takeDue([target('a', { running: false, ...state })], 60)).toHaveLength(1);
  });

  test('hits all streams, or one by its id', () => {
    const plan = createFaultPlan();
    plan.add(requestOf({ kind: 'drop', stream: 'all' }), 0);
    plan.add(requestOf({ kind: 'drop', stream: 'a' }), 0);
    plan.add(requestOf({ kind: 'drop', stream: 'z' }), 0);
    const due = plan.takeDue([target('a'), target('b')], 0);
    expect(due.map(({ streams }) => streams)).toEqual([['a', 'b'], ['a']]);
    expect(plan.waiting).toBe(1);
  });

  test('needs no stream when it is of the account or of HTTP', () => {
    const plan = createFaultPlan();
    plan.add(requestOf({ kind: 'balance_out' }), 0);
    plan.add(requestOf({ kind: 'http', status: 500 }), 0);
    expect(plan.takeDue([], 0).map(({ order }) => order.fault.kind)).toEqual(['balance_out', 'http']);
  });
});

describe('schedules', () => {
  const schedule = (seed: number) => ({
    kind: 'schedule',
    seed,
    for_ms: 600_000,
    every_ms: { min: 1000, max: 20_000 },
    faults: [
      { kind: 'drop' },
      { kind: 'delay', ms: 300, for_ms: 1000 },
      { kind: 'revoke', when: 'mid_speech' },
    ],
  });
  const planned = (seed: number) => {
    const plan = createFaultPlan();
    plan.add(requestOf(schedule(seed)), 0);
    return plan.list(0).map(({ kind, in_ms }) => [kind, in_ms]);
  };

  test('repeat the same faults at the same times only with the same seed', () => {
    expect(planned(4)).toEqual(planned(4));
    expect(planned(4)).not.toEqual(planned(5));
  });

  test('contain all kinds of faults, spaced as ordered, within the time', () => {
    const rolled = planned(9);
    expect(new Set(rolled.map(([kind]) => kind)).size).toBe(3);
    const times = rolled.map(([, at]) => Number(at));
    const gaps = times.map((at, index) => at - (times[index - 1] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(999);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(20_001);
    expect(times.at(-1)).toBeLessThanOrEqual(600_000);
  });

  test('are refused as a whole when they have more faults than may wait', () => {
    const plan = createFaultPlan();
    const flood = { ...schedule(1), every_ms: { min: 1, max: 1 } };
    expect(plan.add(requestOf(flood), 0)).toEqual({ problem: expect.stringContaining('2000') });
    expect(plan.waiting).toBe(0);
  });
});

describe('faults for the next requests and connections', () => {
  function faultRegistry() {
    const account = createAccount(null);
    const voices = createVoiceRegistry(resolveChoices('spec'), seededRandom(1));
    return { account, faultRegistry: createFaultRegistry({ account, voices }) };
  }

  test('happen to the ordered number of requests', () => {
    const { faultRegistry: faults } = faultRegistry();
    faults.perform({ kind: 'http', route: 'create', answer: 'status', status: 500, times: 2 }, 0);
    faults.perform({ kind: 'http', route: 'any', answer: 'reset', status: 503, times: 1 }, 0);
    const taken = ['voice', 'create', 'create', 'create'].map(
      (route) => faults.takeHttpFault(route as 'voice' | 'create')?.answer,
    );
    expect(taken).toEqual(['reset', 'status', 'status', undefined]);
  });

  test('end the trouble of the account after the ordered time', () => {
    const { account, faultRegistry: faults } = faultRegistry();
    faults.perform({ kind: 'balance_out', for_ms: 100 }, 0);
    expect([account.trouble(99), account.trouble(100)]).toEqual(['insufficient_balance', null]);
    faults.perform({ kind: 'block_account' }, 200);
    expect(account.trouble(1e12)).toBe('account_blocked');
    faults.perform({ kind: 'clear' }, 300);
    expect(account.trouble(300)).toBeNull();
  });

  test('do not restore a balance that is used up', () => {
    const account = createAccount(1000);
    account.charge(999);
    expect(account.trouble(0)).toBeNull();
    account.charge(1);
    account.clear();
    expect(account.trouble(0)).toBe('insufficient_balance');
  });
});
