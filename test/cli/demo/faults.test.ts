import { describe, expect, it } from 'vitest';
import { DEMO_FAULTS, type DemoFault, inputFor, scheduleFaults } from '../../../src/cli/demo/faults.ts';

/** Time from a fault to the next live session (ms). */
const AWAY_MS = 4000;

interface Room {
  readonly isSpeaking?: boolean;
  readonly heldMs?: number;
}

/** Asks a schedule each 100 ms. @returns the moment and the session of each injected fault */
function play(faults: readonly DemoFault[], totalMs: number, roomAt: (now: number) => Room = () => ({})) {
  const schedule = scheduleFaults(faults);
  const struck: [DemoFault, number, { id: number }][] = [];
  let live = { id: 1, liveAt: 0 };
  for (let now = 0; now <= totalMs; now += 100) {
    const { isSpeaking = true, heldMs = 0 } = roomAt(now);
    const isUp = now >= live.liveAt;
    const fault = schedule.due({ live: isUp ? live : null, isSpeaking, heldMs }, now);
    if (fault === null) continue;
    struck.push([fault, now, { id: live.id }]);
    if (fault !== 'echo') live = { id: live.id + 1, liveAt: now + AWAY_MS };
  }
  return { struck, remaining: schedule.remaining };
}

describe('the schedule of faults', () => {
  it('injects all faults when the lane still holds speech', () => {
    const { struck, remaining } = play(DEMO_FAULTS, inputFor(DEMO_FAULTS), () => ({ heldMs: 9000 }));
    expect(struck.map(([fault]) => fault)).toEqual(DEMO_FAULTS);
    expect(remaining).toEqual([]);
  });

  it('injects each fault in a session of its own, at least 4.5 s after its start', () => {
    const { struck } = play(['revoke', 'revoke'], 40_000);
    expect(struck).toEqual([
      ['revoke', 4500, { id: 1 }],
      ['revoke', 13_000, { id: 2 }],
    ]);
  });

  it('injects a fault in the session that has an echo, 4.5 s later', () => {
    const { struck } = play(['echo', 'revoke'], 40_000);
    expect(struck).toEqual([
      ['echo', 4500, { id: 1 }],
      ['revoke', 9000, { id: 1 }],
    ]);
  });

  it('lets the visitor wait only while more than 10 s are held and a fault is left', () => {
    const schedule = scheduleFaults(['echo']);
    const behind = (heldMs: number) => schedule.isBehind({ live: null, isSpeaking: true, heldMs });
    expect([behind(10_000), behind(10_100)]).toEqual([false, true]);
    schedule.due({ live: { id: 1, liveAt: 0 }, isSpeaking: true, heldMs: 0 }, 5000);
    expect(behind(10_100)).toBe(false);
  });

  it('waits when more than 10 s are held, because one more outage could fill the backlog', () => {
    const { struck } = play(['revoke'], 20_000, (now) => ({ heldMs: now < 15_000 ? 10_100 : 10_000 }));
    expect(struck.map(([, at]) => at)).toEqual([15_000]);
  });

  it('keeps the faults for which there was no speech', () => {
    const { struck, remaining } = play(['revoke', 'echo'], 60_000, () => ({ isSpeaking: false }));
    expect([struck, remaining]).toEqual([[], ['revoke', 'echo']]);
  });
});
