import { describe, expect, it } from 'vitest';
import { keepScreen } from '../../../src/cli/screen/keep-screen.ts';
import type { ScreenBeat } from '../../../src/protocol/screen.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

/** A promise that a test resolves. */
function promise<T>() {
  let resolve = (_value: T): void => {};
  const made = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise: made, resolve };
}

function keep(answers = true) {
  const clock = createVirtualClock();
  const complaints: string[] = [];
  const state = { answers, beats: true, opened: 0, ended: 0, beatAt: null as number | null };
  const asked = promise<void>();
  const browserEnded = promise<string>();
  let outcome = 'shows';
  const done = keepScreen({
    url: 'http://127.0.0.1:8484',
    clock,
    asked: asked.promise,
    complain: (text) => void complaints.push(text),
    async ask(): Promise<ScreenBeat | null> {
      if (!state.answers) return null;
      if (state.beats && state.opened > 0) state.beatAt = clock.now();
      return { ageMs: state.beatAt === null ? null : clock.now() - state.beatAt };
    },
    open() {
      state.opened += 1;
      return {
        ended: browserEnded.promise,
        end: async () => {
          state.ended += 1;
        },
      };
    },
  }).then(
    () => (outcome = 'ended'),
    (error: Error) => (outcome = error.message),
  );
  return { clock, state, complaints, asked, browserEnded, done, outcome: () => outcome };
}

describe('keeping the screen', () => {
  it('opens the browser only when the agent serves the page, and says once what it waits for', async () => {
    const { clock, state, complaints, asked, done } = keep(false);
    await clock.elapse(90_000);
    expect(state.opened).toBe(0);
    expect(complaints).toEqual([expect.stringContaining('"screen.enabled"')]);
    state.answers = true;
    await clock.elapse(2000);
    expect(state.opened).toBe(1);
    asked.resolve();
    await done;
  });

  it('goes on while the page is painted, and ends its browser when it is asked to end', async () => {
    const { clock, state, asked, done, outcome } = keep();
    await clock.elapse(3_600_000);
    expect([outcome(), state.opened, state.ended]).toEqual(['shows', 1, 0]);
    asked.resolve();
    await done;
    expect([outcome(), state.ended, clock.armed]).toEqual(['ended', 1, 0]);
  });

  it('fails and ends its browser within 30 s when the page is painted no more', async () => {
    const { clock, state, outcome } = keep();
    await clock.elapse(60_000);
    state.beats = false;
    await clock.elapse(19_000);
    expect(outcome()).toBe('shows');
    await clock.elapse(11_000);
    expect([outcome(), state.ended, clock.armed]).toEqual(['the page is no longer painted', 1, 0]);
  });

  it('goes on when the agent is away for a while', async () => {
    const { clock, state, outcome } = keep();
    await clock.elapse(60_000);
    state.answers = false;
    await clock.elapse(600_000);
    state.answers = true;
    await clock.elapse(60_000);
    expect([outcome(), state.opened]).toEqual(['shows', 1]);
  });

  it('fails when the browser ends', async () => {
    const { clock, browserEnded, done, outcome } = keep();
    await clock.elapse(7000);
    browserEnded.resolve('exit code 1');
    await done;
    expect([outcome(), clock.armed]).toEqual(['the browser has ended: exit code 1', 0]);
  });
});
