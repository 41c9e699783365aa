import { describe, expect, it } from 'vitest';
import { asleep, chunks, hear, wakeInVain } from './woken-lane.ts';

describe('a lane that wakes at sound without speech', () => {
  it('wakes at the first chunk judged as speech', () => {
    const lane = asleep();
    hear(lane, chunks(60, -0.1));
    expect(lane.phase).toBe('standby');
    hear(lane, [0.1]);
    expect(lane.phase).toBe('acquiring');
  });

  it('goes to standby within 15 s of its session without a result, with any `standbyAfterMs`', () => {
    const lane = asleep();
    hear(lane, [1]);
    hear(lane, chunks(20, -5));
    expect(lane.phase).toBe('standby');
    expect(lane.state.counts.sessions).toBe(1);
    expect(lane.state.vainWakes).toHaveLength(1);
    const [started] = lane.all('notify').filter(({ kind }) => kind === 'session_started');
    const [slept] = lane.all('notify').filter(({ kind }) => kind === 'standby');
    expect((slept?.at ?? Infinity) - (started?.at ?? 0)).toBeLessThan(15_000);
  });

  it('stays awake for the configured time after a result', () => {
    const lane = asleep({ hears: true });
    hear(lane, [1, 1, 1]);
    hear(lane, chunks(60, -5));
    expect(lane.phase).toBe('live');
    expect(lane.state.vainWakes).toEqual([]);
    // A text may be the rest of a sentence, and no longer than one.
    hear(lane, chunks(70, -5));
    expect(lane.phase).toBe('live');
    hear(lane, chunks(10, -5));
    expect(lane.phase).toBe('standby');
    expect(lane.state.vainWakes).toEqual([]);
  });

  it('goes to standby in spite of a growing backlog of loud noise', () => {
    const lane = asleep({ standbyAfterMs: 6000 });
    wakeInVain(lane, 1);
    expect(lane.accounts.lost).toBe(0);
  });

  it('needs a surer voice after each wake in vain, up to a bound, for an hour', () => {
    const lane = asleep();
    wakeInVain(lane, 0.5);
    hear(lane, chunks(10, 1.4));
    expect(lane.phase).toBe('standby');
    wakeInVain(lane, 1.6);
    hear(lane, chunks(10, 2.9));
    expect(lane.phase).toBe('standby');
    wakeInVain(lane, 3.1);
    wakeInVain(lane, 4.1);
    wakeInVain(lane, 4.1);
    hear(lane, chunks(3600, -5));
    hear(lane, [0.1]);
    expect(lane.phase).toBe('acquiring');
  });

  it('does not wait for a result of sound that would not have woken it', () => {
    const lane = asleep({ standbyAfterMs: 6000 });
    wakeInVain(lane, 5);
    wakeInVain(lane, 5);
    hear(lane, [5]);
    lane.until(() => lane.phase === 'live', 10_000);
    const liveAt = lane.now;
    hear(lane, chunks(20, 2.9));
    expect(lane.phase).toBe('standby');
    const [sleptAt] = lane
      .all('notify')
      .flatMap(({ kind, at }) => (kind === 'standby' ? [at] : []))
      .slice(-1);
    // Ten seconds after the sending of what woke the lane, which follows three seconds of the room.
    expect((sleptAt ?? Infinity) - liveAt).toBeLessThan(14_500);
  });

  it('reports a noisy room once, with its level, and when it is over', () => {
    const lane = asleep();
    for (let time = 0; time < 6; time++) wakeInVain(lane, 5);
    const told = lane.all('notify').filter(({ kind }) => kind === 'capture_problem');
    expect(told).toHaveLength(1);
    expect(told[0]?.detail).toMatchObject({ finding: 'noisy_room' });
    expect(JSON.stringify(told[0]?.detail)).toMatch(
      /4 times in an hour by sound .*; the room is at -40 dBFS/,
    );
    expect(lane.state.captureFindings).toEqual(['noisy_room']);
    hear(lane, chunks(3700, -5));
    expect(lane.notes.at(-1)).toBe('capture_problem_over');
    expect(lane.state.captureFindings).toEqual([]);
    expect(lane.state.vainWakes).toEqual([]);
  });

  it('does not blame the room when the service answers nothing', () => {
    const lane = asleep();
    hear(lane, [1]);
    lane.until(() => lane.phase === 'live', 10_000);
    // From now on the service answers no question.
    lane.watchers.length = 0;
    hear(lane, chunks(20, -5));
    expect(lane.state.vainWakes).toEqual([]);
    expect(lane.notes).not.toContain('standby');
    expect(lane.state.silentEnds.count).toBe(1);
  });

  it('counts neither a wake by command nor one before a session', () => {
    const lane = asleep();
    lane.start();
    hear(lane, chunks(200, -5));
    expect(lane.phase).toBe('standby');
    expect(lane.state.vainWakes).toEqual([]);
  });
});
