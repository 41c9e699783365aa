/** A device in normal use must never reach a limit. */
import { describe, expect, it } from 'vitest';
import { type Answered, openIssuerHarness } from './issuer-harness.ts';

const LEAD_MS = 22_000;
const HOUR_MS = 3_600_000;

/**
 * Simulates lanes with a rollover before each session limit; the older session continues for a while.
 * @param breaksMs returns the time to the next outage
 */
function live(lanes: readonly string[], hours: number, breaksMs: () => number | null, more: object = {}) {
  const harness = openIssuerHarness(more);
  const running = new Map<string, string>();
  const alive = new Map<string, number>();
  const denied: Answered[] = [];
  const reasons = new Map<string, 'rollover' | 'network' | 'start'>();
  let most = 0;
  const ask = (lane: string, reason: 'rollover' | 'network' | 'start'): void => {
    // For any reason except a rollover, the lane's session is gone.
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
    // The old session finishes speaking while the new one already receives speech.
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

describe('a device in normal use', () => {
  it.each([
    ['one lane', ['main']],
    ['two lanes that were started together', ['main', 'second']],
  ])('reaches no limit in two days of rollovers: %s', (_what, lanes) => {
    const { denied, pass, most, harness } = live(lanes, 48, () => null);
    pass();
    expect(denied).toEqual([]);
    expect(most()).toBeLessThanOrEqual(3);
    expect(harness.answers.length).toBeGreaterThan(lanes.length * 90);
  });

  it('reaches no limit in a night with an outage every 90 to 250 s in each of two lanes', () => {
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

  it.each([
    ['keeps its store', true],
    ['loses it', false],
  ])('reaches no limit when the backend restarts at any time and %s', (_what, isKept) => {
    const { harness, denied, pass } = live(['main', 'second'], 1, () => null);
    for (let hour = 0; hour < 48; hour += 1) {
      harness.at(harness.now + hour * HOUR_MS + hour * 71_000, () => harness.restart(isKept));
    }
    for (let hour = 0; hour < 48; hour += 1) pass();
    expect(denied).toEqual([]);
  });

  it('reaches no limit with more lanes when its owner allows them', () => {
    const lanes = ['a', 'b', 'c', 'd', 'e', 'f'];
    const limits = { lanes: 6, sessionsAtOnce: 7 };
    const { denied, pass, most } = live(lanes, 24, () => null, { devices: { 'museum/kiosk': { limits } } });
    pass();
    expect(denied).toEqual([]);
    expect(most()).toBeLessThanOrEqual(7);
  });
});
