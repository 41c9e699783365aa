import { describe, expect, it } from 'vitest';
import {
  type BackendWatch,
  type BackendWatchEffect,
  type BackendWatchEvent,
  createBackendWatch,
  PROBE_EACH_MS,
  SILENT_AFTER_MS,
  stepBackendWatch,
  wakeAt,
} from '../../../src/device/tokens/backend-watch-rules.ts';
import { type Machine, type NoFacts, stay } from '../../../src/machine/machine.ts';
import { type Driver, drive } from '../../machine/drive.ts';

type Ask = Extract<BackendWatchEffect, { type: 'ask' }>;
type Watch = Driver<BackendWatch, BackendWatchEvent, BackendWatchEffect, NoFacts>;

const machine: Machine<BackendWatch, BackendWatchEvent, BackendWatchEffect> = {
  name: 'backend watch',
  begin: createBackendWatch(7),
  step: (state, event, { now }) =>
    event.type === 'failed' ? stay(state) : stepBackendWatch(state, event, now),
  wakeAt,
};
const up: BackendWatchEvent = { type: 'broker', up: true };
const down: BackendWatchEvent = { type: 'broker', up: false };
const lanes = (waiting: boolean, resting: boolean): BackendWatchEvent => ({
  type: 'lanes',
  waiting,
  resting,
});
const waiting = (): Watch => drive(machine, {}).post(up, lanes(true, false));
const resting = (): Watch => drive(machine, {}).post(up, lanes(false, true));
const alive = ({ probe }: { probe: number }): BackendWatchEvent => ({
  type: 'probe_answered',
  probe,
  granted: false,
});
/** How the backend answers a probe. */
const answers =
  (reply: (ask: Ask) => BackendWatchEvent | null) =>
  (effect: BackendWatchEffect): BackendWatchEvent | null =>
    effect.type === 'ask' ? reply(effect) : null;
/** The kinds of all effects; of a probe, the first letter. */
const kinds = ({ effects }: Watch): string =>
  effects.map((effect) => (effect.type === 'ask' ? effect.kind[0] : effect.type)).join(' ');

describe('the watch of token requests', () => {
  it('reports a silent backend once when no usable answer comes within twenty seconds', () => {
    const watch = waiting().pass(SILENT_AFTER_MS - 1);
    expect(watch.effects).toEqual([]);
    watch.pass(3_600_000);
    expect(watch.effects).toHaveLength(1);
    expect(watch.all('silent')).toEqual([
      {
        type: 'silent',
        outage: { since: 1_000_000, reason: 'no_answer', field: null },
        at: 1_000_000 + SILENT_AFTER_MS,
      },
    ]);
  });

  it('reports `not_allowed` when the broker refuses the request', () => {
    const refused = { type: 'published', allowed: false } as const;
    const watch = waiting().post(refused).pass(7000).post(refused).pass(SILENT_AFTER_MS);
    expect(watch.effects).toEqual([
      { type: 'may_ask', may: false },
      { type: 'silent', outage: { since: 1_000_000, reason: 'not_allowed', field: null } },
    ]);
    watch.post({ type: 'published', allowed: true }).post({ type: 'published', allowed: true });
    expect(watch.all('may_ask').map(({ may }) => may)).toEqual([false, true]);
    expect(watch.post({ type: 'answered' }).all('back')).toHaveLength(1);
  });

  it('judges a request by its answer when the broker accepts it after a refusal', () => {
    const later = waiting().post({ type: 'published', allowed: false }).pass(3000);
    later.post({ type: 'published', allowed: true }).pass(SILENT_AFTER_MS);
    expect(later.all('silent')[0]?.outage.reason).toBe('no_answer');
    // A refused request has no answer, so a malformed message does not count as one.
    const unasked = waiting().post({ type: 'published', allowed: false });
    unasked.post({ type: 'malformed', field: 'ok' }).pass(SILENT_AFTER_MS);
    expect(unasked.all('silent')[0]?.outage).toMatchObject({ reason: 'not_allowed', field: null });
  });

  it('reports silence once and on time, with any fraction of a millisecond in the clock', () => {
    for (let i = 0; i < 500; i++) {
      const watch = drive(machine, {}, { now: 247_075.781_416_133_16 + i * 0.137_931 });
      watch.post(up, lanes(true, false)).wake();
      expect(kinds(watch)).toBe('silent');
      expect(wakeAt(watch.state)).toBeNull();
    }
  });

  it('names the malformed field when every answer is malformed', () => {
    const watch = waiting().pass(5000).post({ type: 'malformed', field: 'session.token' }).pass(20_000);
    expect(watch.all('silent')[0]?.outage).toMatchObject({ reason: 'malformed', field: 'session.token' });
  });

  it('ends the outage when an answer arrives', () => {
    const watch = waiting().pass(19_000).post({ type: 'answered' }).pass(19_000);
    expect(watch.effects).toEqual([]);
    watch.pass(1000);
    expect(kinds(watch)).toBe('silent');
    watch.post({ type: 'answered' }).post(lanes(false, false)).pass(100_000);
    expect(kinds(watch)).toBe('silent back');
  });

  it('reports nothing when the lane stops waiting or the broker is disconnected', () => {
    expect(waiting().pass(19_000).post(lanes(false, false)).pass(60_000).effects).toEqual([]);
    expect(waiting().pass(19_000).post(down).pass(600_000).effects).toEqual([]);
    const watch = waiting().pass(19_000).post(down).pass(600_000).post(up).pass(19_000);
    expect(watch.effects).toEqual([]);
    expect(kinds(watch.pass(1000))).toBe('silent');
  });
});

describe('the watch of a lane in standby', () => {
  it('probes the backend about every ten minutes, the first time within a minute', () => {
    const watch = resting();
    watch.answer(answers(alive));
    watch.pass(24 * 3_600_000);
    const asked = watch.all('ask');
    expect(asked[0]?.at).toBeLessThanOrEqual(1_000_000 + 60_000);
    expect(new Set(asked.map(({ kind, attempt }) => `${kind} ${attempt}`))).toEqual(new Set(['backend 1']));
    const gaps = asked.slice(1).map(({ at }, i) => at - (asked[i]?.at ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(PROBE_EACH_MS * 0.8);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(PROBE_EACH_MS * 1.2);
    expect(new Set(gaps).size).toBeGreaterThan(50);
    expect(gaps.length).toBeGreaterThan(130);
    expect(kinds(watch)).not.toMatch(/silent|unknown/);
  });

  it('delays the probe when an answer has just arrived', () => {
    const watch = waiting()
      .post({ type: 'answered' })
      .post(lanes(false, true))
      .pass(PROBE_EACH_MS * 0.7);
    expect(watch.effects).toEqual([]);
  });

  it('reports a dead backend, and its return', () => {
    const watch = resting();
    while (watch.all('silent').length === 0 && watch.now < 2_000_000) watch.pass(1000);
    expect(watch.now - 1_000_000).toBeLessThanOrEqual(61_000 + 2 * SILENT_AFTER_MS);
    expect(kinds(watch)).toBe('b b b s s s silent');
    watch.pass(1_800_000);
    expect(watch.all('silent')).toHaveLength(1);
    watch.answer(answers(alive));
    watch.pass(PROBE_EACH_MS * 1.2 + 1000);
    expect(watch.all('back')).toHaveLength(1);
    expect(watch.all('probes_unknown')).toHaveLength(0);
  });

  it('probes a dead backend again sooner at first, then at the usual rate', () => {
    const watch = resting().pass(4 * 3_600_000);
    const began = watch.all('ask').filter(({ kind, attempt }) => kind === 'backend' && attempt === 1);
    const gaps = began.slice(1).map(({ at }, i) => at - (began[i]?.at ?? 0));
    expect(gaps[0]).toBeLessThan(2.2 * 60_000);
    expect(gaps.at(-1)).toBeGreaterThan(PROBE_EACH_MS * 0.8);
  });

  it('sends no probe when the lane is awake or the broker is disconnected', () => {
    expect(resting().post(lanes(false, false)).pass(3_600_000).effects).toEqual([]);
    expect(resting().post(down).pass(3_600_000).effects).toEqual([]);
    const woken = resting();
    while (woken.effects.length === 0) woken.pass(1000);
    woken.post(lanes(true, false)).post({ type: 'answered' }).post(lanes(false, false)).pass(3_600_000);
    expect(kinds(woken)).toBe('b');
  });

  it('raises no alarm when a single answer is lost', () => {
    const watch = resting();
    watch.answer(answers((ask) => (ask.attempt === 1 ? null : alive(ask))));
    watch.pass(6 * 3_600_000);
    expect(kinds(watch)).not.toMatch(/silent|s |unknown/);
  });
});

describe('a backend that does not know the probe', () => {
  const day = 86_400_000;

  it('counts as present when it denies the probe', () => {
    const watch = resting();
    watch.answer(answers(alive));
    expect(kinds(watch.pass(day))).not.toMatch(/silent|unknown/);
  });

  it('counts as present when it grants a session, and gets no other probe for a day', () => {
    const watch = resting();
    watch.answer(answers(({ probe }) => ({ type: 'probe_answered', probe, granted: true })));
    watch.pass(day);
    expect(kinds(watch)).toBe('b probes_unknown');
    watch.pass(2 * 3_600_000);
    expect(kinds(watch)).toBe('b probes_unknown b probes_unknown');
  });

  it('raises no alarm when it ignores the probe but answers a trial request', () => {
    const watch = resting();
    watch.answer(answers((ask) => (ask.kind === 'service' ? alive(ask) : null)));
    watch.pass(day);
    expect(kinds(watch)).toBe('b b b s b b b s probes_unknown');
    // The lanes' requests still count.
    watch.post(lanes(true, false)).pass(SILENT_AFTER_MS);
    expect(watch.all('silent')).toHaveLength(1);
  });
});
