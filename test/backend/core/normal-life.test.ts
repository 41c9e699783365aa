/** The limits are for what is not normal: a device that does what devices do must never meet one. */
import { describe, expect, it } from 'vitest';
import { type Answered, openIssuerHarness } from './issuer-harness.ts';

const LEAD_MS = 22_000;
const HOUR_MS = 3_600_000;

/** Lives a lane: a rollover before each limit; the older session goes on for a while. Breaks come as `breaksMs` tells. */
function live(lanes: readonly string[], hours: number, breaksMs: () => number | null, more: object = {}) {
  const harness = openIssuerHarness(more);
  const running = new Map<string, string>();
  const alive = new Map<string, number>();
  const denied: Answered[] = [];
  const reasons = new Map<string, 'rollover' | 'network' | 'start'>();
  let most = 0;
  const ask = (lane: string, reason: 'rollover' | 'network' | 'start'): void => {
    // Anything but a rollover tells that the lane's session is no more.
    if (reason !== 'rollover') running.delete(lane);
    reasons.set(harness.ask({ lane, reason }), reason);
  };
  harness.onAnswer((answer) => {
    const { lane, session } = answer;
    if (session === null) {
      denied.push(answer);
      harness.at(harness.now + (answer.error?.retry_after_s ?? 60) * 1000, () => ask(lane, 'network'));
      return;
    }
    for (const id of harness.revoked) {
      if ([...running.values()].includes(id)) throw new Error('a session that is spoken over was revoked');
      alive.delete(id);
    }
    const { now } = harness;
    const lengthMs = (session.max_session_duration_seconds ?? Number.POSITIVE_INFINITY) * 1000;
    const connectMs = 2500;
    const older = running.get(lane);
    // The old session speaks to its end while the new one hears already.
    if (older !== undefined && reasons.get(answer.id) === 'rollover')
      alive.set(older, now + connectMs + 20_000);
    else if (older !== undefined) alive.delete(older);
    running.set(lane, session.id);
    alive.set(session.id, now + connectMs + lengthMs);
    for (const [id, until] of alive) if (until <= now) alive.delete(id);
    most = Math.max(most, alive.size);
    const breakMs = breaksMs();
    if (breakMs !== null && breakMs < lengthMs - LEAD_MS) {
      harness.at(now + connectMs + breakMs, () => ask(lane, 'network'));
    } else {
      harness.at(now + connectMs + lengthMs - LEAD_MS, () => ask(lane, 'rollover'));
    }
  });
  for (const lane of lanes) ask(lane, 'start');
  return { harness, denied, pass: () => harness.pass(hours * HOUR_MS), most: () => most };
}

describe('a device that does what devices do', () => {
  it.each([
    ['one lane', ['main']],
    ['two lanes that were started together', ['main', 'second']],
  ])('never meets a limit in two days of rollovers: %s', (_what, lanes) => {
    const { denied, pass, most, harness } = live(lanes, 48, () => null);
    pass();
    expect(denied).toEqual([]);
    expect(most()).toBeLessThanOrEqual(3);
    expect(harness.answers.length).toBeGreaterThan(lanes.length * 90);
  });

  it('never meets one in a night of network trouble: a break every 90 to 250 s in each of two lanes', () => {
    let seed = 7;
    const draw = (): number => {
      seed = (seed * 16_807) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const { denied, pass, most } = live(['main', 'second'], 12, () => 90_000 + draw() * 160_000);
    pass();
    expect(denied).toEqual([]);
    expect(most()).toBeLessThanOrEqual(3);
  });

  it('never meets one because the backend was started again, at any moment', () => {
    const { harness, denied, pass } = live(['main', 'second'], 1, () => null);
    for (let hour = 0; hour < 48; hour += 1) {
      harness.at(harness.now + hour * HOUR_MS + hour * 71_000, () => harness.restart());
    }
    for (let hour = 0; hour < 48; hour += 1) pass();
    expect(denied).toEqual([]);
  });

  it('never meets one with more lanes, where its owner allows them', () => {
    const lanes = ['a', 'b', 'c', 'd', 'e', 'f'];
    const limits = { lanes: 6, sessionsAtOnce: 7 };
    const { denied, pass, most } = live(lanes, 24, () => null, { devices: { 'museum/kiosk': { limits } } });
    pass();
    expect(denied).toEqual([]);
    expect(most()).toBeLessThanOrEqual(7);
  });
});
