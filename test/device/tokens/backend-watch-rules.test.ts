import { describe, expect, it } from 'vitest';
import {
  type BackendWatchEffect,
  type BackendWatchEvent,
  createBackendWatch,
  PROBE_EACH_MS,
  SILENT_AFTER_MS,
  stepBackendWatch,
  wakeAt,
} from '../../../src/device/tokens/backend-watch-rules.ts';

type Told = BackendWatchEffect & { readonly at: number };

/** A watch in virtual time; `answer` is what the backend does with a probe. */
class Watch {
  state = createBackendWatch(7);
  now = 1_000_000;
  readonly told: Told[] = [];
  answer: (ask: Extract<BackendWatchEffect, { type: 'ask' }>) => BackendWatchEvent | null = () => null;

  does(event: BackendWatchEvent): this {
    const { state, effects } = stepBackendWatch(this.state, event, this.now);
    this.state = state;
    for (const effect of effects) this.told.push({ ...effect, at: this.now });
    for (const effect of effects) {
      const answer = effect.type === 'ask' ? this.answer(effect) : null;
      if (answer !== null) this.does(answer);
    }
    return this;
  }
  pass(ms: number): this {
    const end = this.now + ms;
    for (let at = wakeAt(this.state); at !== null && at <= end; at = wakeAt(this.state)) {
      this.now = Math.max(this.now, at);
      this.does({ type: 'time' });
    }
    this.now = end;
    return this;
  }
  all<T extends BackendWatchEffect['type']>(type: T): Extract<Told, { type: T }>[] {
    return this.told.filter((effect): effect is Extract<Told, { type: T }> => effect.type === type);
  }
  get kinds(): string {
    return this.told.map((effect) => (effect.type === 'ask' ? effect.kind[0] : effect.type)).join(' ');
  }
  brokerIs(up: boolean): this {
    return this.does({ type: 'broker', up });
  }
  lanes(waiting: boolean, resting: boolean): this {
    return this.does({ type: 'lanes', waiting, resting });
  }
}

const waiting = () => new Watch().brokerIs(true).lanes(true, false);
const resting = () => new Watch().brokerIs(true).lanes(false, true);
const alive = ({ probe }: { probe: number }): BackendWatchEvent => ({
  type: 'probe_answered',
  probe,
  granted: false,
});

describe('the watch of token requests', () => {
  it('reports a silent backend once when no usable answer comes within twenty seconds', () => {
    const watch = waiting().pass(SILENT_AFTER_MS - 1);
    expect(watch.told).toEqual([]);
    watch.pass(3_600_000);
    expect(watch.told).toEqual([
      {
        type: 'silent',
        outage: { since: 1_000_000, reason: 'no_answer', field: null },
        at: 1_000_000 + SILENT_AFTER_MS,
      },
    ]);
  });

  it('reports `not_allowed` when the broker refuses the request', () => {
    const refused = { type: 'published', allowed: false } as const;
    const watch = waiting().does(refused).pass(7000).does(refused).pass(SILENT_AFTER_MS);
    expect(watch.told.map(({ at: _, ...effect }) => effect)).toEqual([
      { type: 'may_ask', may: false },
      { type: 'silent', outage: { since: 1_000_000, reason: 'not_allowed', field: null } },
    ]);
    watch.does({ type: 'published', allowed: true }).does({ type: 'published', allowed: true });
    expect(watch.all('may_ask').map(({ may }) => may)).toEqual([false, true]);
    expect(watch.does({ type: 'answered' }).all('back')).toHaveLength(1);
  });

  it('judges a request by its answer when the broker accepts it after a refusal', () => {
    const later = waiting().does({ type: 'published', allowed: false }).pass(3000);
    later.does({ type: 'published', allowed: true }).pass(SILENT_AFTER_MS);
    expect(later.all('silent')[0]?.outage.reason).toBe('no_answer');
    // A refused request has no answer, so a malformed message does not count as one.
    const unasked = waiting().does({ type: 'published', allowed: false });
    unasked.does({ type: 'malformed', field: 'ok' }).pass(SILENT_AFTER_MS);
    expect(unasked.all('silent')[0]?.outage).toMatchObject({ reason: 'not_allowed', field: null });
  });

  it('reports silence once and on time, with any fraction of a millisecond in the clock', () => {
    for (let i = 0; i < 500; i++) {
      const watch = new Watch();
      watch.now = 247_075.781_416_133_16 + i * 0.137_931;
      watch.brokerIs(true).lanes(true, false);
      watch.now = wakeAt(watch.state) ?? 0;
      watch.does({ type: 'time' });
      expect(watch.kinds).toBe('silent');
      expect(wakeAt(watch.state)).toBeNull();
    }
  });

  it('names the malformed field when every answer is malformed', () => {
    const watch = waiting().pass(5000).does({ type: 'malformed', field: 'session.token' }).pass(20_000);
    expect(watch.all('silent')[0]?.outage).toMatchObject({ reason: 'malformed', field: 'session.token' });
  });

  it('ends the outage when an answer arrives', () => {
    const watch = waiting().pass(19_000).does({ type: 'answered' }).pass(19_000);
    expect(watch.told).toEqual([]);
    watch.pass(1000);
    expect(watch.kinds).toBe('silent');
    watch.does({ type: 'answered' }).lanes(false, false).pass(100_000);
    expect(watch.kinds).toBe('silent back');
  });

  it('reports nothing when the lane stops waiting or the broker is disconnected', () => {
    expect(waiting().pass(19_000).lanes(false, false).pass(60_000).told).toEqual([]);
    expect(waiting().pass(19_000).brokerIs(false).pass(600_000).told).toEqual([]);
    const watch = waiting().pass(19_000).brokerIs(false).pass(600_000).brokerIs(true).pass(19_000);
    expect(watch.told).toEqual([]);
    expect(watch.pass(1000).kinds).toBe('silent');
  });
});

describe('the watch of a lane in standby', () => {
  it('probes the backend about every ten minutes, the first time within a minute', () => {
    const watch = resting();
    watch.answer = alive;
    watch.pass(24 * 3_600_000);
    const asked = watch.all('ask');
    expect(asked[0]?.at).toBeLessThanOrEqual(1_000_000 + 60_000);
    expect(new Set(asked.map(({ kind, attempt }) => `${kind} ${attempt}`))).toEqual(new Set(['backend 1']));
    const gaps = asked.slice(1).map(({ at }, i) => at - (asked[i]?.at ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(PROBE_EACH_MS * 0.8);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(PROBE_EACH_MS * 1.2);
    expect(new Set(gaps).size).toBeGreaterThan(50);
    expect(gaps.length).toBeGreaterThan(130);
    expect(watch.kinds).not.toMatch(/silent|unknown/);
  });

  it('delays the probe when an answer has just arrived', () => {
    const watch = waiting()
      .does({ type: 'answered' })
      .lanes(false, true)
      .pass(PROBE_EACH_MS * 0.7);
    expect(watch.told).toEqual([]);
  });

  it('reports a dead backend, and its return', () => {
    const watch = resting();
    while (watch.all('silent').length === 0 && watch.now < 2_000_000) watch.pass(1000);
    expect(watch.now - 1_000_000).toBeLessThanOrEqual(61_000 + 2 * SILENT_AFTER_MS);
    expect(watch.kinds).toBe('b b b s s s silent');
    watch.pass(1_800_000);
    expect(watch.all('silent')).toHaveLength(1);
    watch.answer = alive;
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
    expect(resting().lanes(false, false).pass(3_600_000).told).toEqual([]);
    expect(resting().brokerIs(false).pass(3_600_000).told).toEqual([]);
    const woken = resting();
    while (woken.told.length === 0) woken.pass(1000);
    woken.lanes(true, false).does({ type: 'answered' }).lanes(false, false).pass(3_600_000);
    expect(woken.kinds).toBe('b');
  });

  it('raises no alarm when a single answer is lost', () => {
    const watch = resting();
    watch.answer = (ask) => (ask.attempt === 1 ? null : alive(ask));
    watch.pass(6 * 3_600_000);
    expect(watch.kinds).not.toMatch(/silent|s |unknown/);
  });
});

describe('a backend that does not know the probe', () => {
  const day = 86_400_000;

  it('counts as present when it denies the probe', () => {
    const watch = resting();
    watch.answer = alive;
    expect(watch.pass(day).kinds).not.toMatch(/silent|unknown/);
  });

  it('counts as present when it grants a session, and gets no other probe for a day', () => {
    const watch = resting();
    watch.answer = ({ probe }) => ({ type: 'probe_answered', probe, granted: true });
    watch.pass(day);
    expect(watch.kinds).toBe('b probes_unknown');
    watch.pass(2 * 3_600_000);
    expect(watch.kinds).toBe('b probes_unknown b probes_unknown');
  });

  it('raises no alarm when it ignores the probe but answers a trial request', () => {
    const watch = resting();
    watch.answer = (ask) => (ask.kind === 'service' ? alive(ask) : null);
    watch.pass(day);
    expect(watch.kinds).toBe('b b b s b b b s probes_unknown');
    // The lanes' requests still count.
    watch.lanes(true, false).pass(SILENT_AFTER_MS);
    expect(watch.all('silent')).toHaveLength(1);
  });
});
