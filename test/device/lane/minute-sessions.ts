import { expect, it } from 'vitest';
import { behave } from './behaviour.ts';
import { LaneHarness } from './lane-harness.ts';

const LIMIT_MS = 60_000;

/** Milliseconds with two open streams. */
function overlapMs(lane: LaneHarness): number {
  const closedAt = new Map(lane.all('close_stream').map(({ stream, at }) => [stream, at]));
  const spans = lane
    .all('open_stream')
    .map(({ stream, at }) => ({ from: at, until: closedAt.get(stream) ?? lane.now }));
  return spans.slice(1).reduce((sum, { from }, i) => sum + Math.max(0, (spans[i]?.until ?? 0) - from), 0);
}

/** A visitor speaks for this many minutes in sessions of one minute each, which overlap by about 40 s. */
export function testMinuteSessions(minutes: number): void {
  it(`for ${minutes} minutes send every chunk exactly once, with little overlap and no gap`, () => {
    const lane = new LaneHarness({ options: { echo: 'off' } });
    behave(lane, { maxDurationMs: LIMIT_MS });
    lane.start();
    lane.until(() => lane.phase === 'live', 10_000);
    const endAt = lane.now + minutes * 60_000;
    let sentence = 0;
    while (lane.now < endAt) {
      lane.speak(4 + ((sentence * 7) % 23));
      lane.hush(1 + ((sentence * 5) % 6));
      // The session that heard the speech transcribes and speaks it.
      const id = `t${sentence++}`;
      const stream = lane.hearing?.id ?? 0;
      lane.understands(id, stream);
      lane.after(2500, () => lane.hear(id, 900, true, stream));
    }
    lane.hush(60);
    const sent = lane.all('send_audio').filter(({ capturedAt }) => capturedAt !== null);
    const places = sent.map(({ capturedAt }) => capturedAt ?? 0);
    const late = sent.map(({ at, capturedAt }) => at - (capturedAt ?? 0));
    const { counts, backlog } = lane.state;
    expect(new Set(places).size).toBe(places.length);
    expect(places).toHaveLength(backlog.accounts.captured);
    expect(counts).toMatchObject({ takenBack: 0, failures: 0, maxDurations: 0 });
    expect(counts.sessions).toBeGreaterThan((minutes * 4) / 3);
    // No gap: each chunk is sent as it is captured. Overlap: set-up, the wait for a pause, and the last words of the old session.
    expect(Math.max(...late)).toBeLessThanOrEqual(1);
    expect(overlapMs(lane) / (counts.sessions - 1)).toBeLessThan(12_000);
  });
}
