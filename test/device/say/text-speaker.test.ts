import { describe, expect, it } from 'vitest';
import type { LaneRunner, LaneStep } from '../../../src/device/lane/runner/lane-runner.ts';
import type { LaneEffect } from '../../../src/device/lane/state/lane-effect.ts';
import type { LaneEvent } from '../../../src/device/lane/state/lane-event.ts';
import type { LaneState } from '../../../src/device/lane/state/lane-state.ts';
import { createTextSpeaker } from '../../../src/device/say/text-speaker.ts';
import { createEventLoop } from '../../../src/machine/event-loop.ts';
import { createRunner } from '../../../src/machine/runner.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { LaneHarness } from '../lane/lane-harness.ts';

const SPEECH = { text: 'El museo cierra.', language: 'es', translate: false };
const STATE: LaneState = (() => {
  const lane = new LaneHarness().goLive();
  lane.hush(12);
  return lane.state;
})();

/** Lanes that only record their events. */
function kiosk(...ids: readonly string[]) {
  const clock = createVirtualClock(5_000_000);
  const defects: string[] = [];
  const report = (where: string): void => void defects.push(where);
  const runner = createRunner({ clock, loop: createEventLoop(() => report('loop')), defects: report });
  const posted: LaneEvent[] = [];
  const watchers = new Set<(step: LaneStep) => void>();
  let broken = false;
  const lanes = ids.map((id) => ({
    get id(): string {
      if (broken) throw new TypeError('on purpose');
      return id;
    },
    phase: 'live',
    wanted: true,
    get state(): LaneState {
      return { ...STATE, wanted: this.wanted };
    },
    post: (event: LaneEvent): void => void posted.push(event),
  }));
  const says = createTextSpeaker({
    runner,
    lanes: lanes as unknown as LaneRunner[],
    watch: (listener) => {
      watchers.add(listener);
      return () => watchers.delete(listener);
    },
  });
  return {
    clock,
    defects,
    posted,
    watchers,
    says,
    lanes,
    say: (lanesOf = lanes) => says.say(lanesOf as unknown as LaneRunner[], SPEECH),
    spoken: () => posted.flatMap((event) => (event.type === 'say' ? [event.id] : [])),
    said(lane: string, id: string): void {
      const effects: LaneEffect[] = [{ type: 'said', id, outcome: 'played', message: null, playedMs: 400 }];
      for (const watcher of watchers) watcher({ lane, effects } as unknown as LaneStep);
    },
    breaks(is: boolean): void {
      broken = is;
    },
  };
}

describe('the queue of texts', () => {
  it('answers when each lane has spoken the text', async () => {
    const { say, spoken, said } = kiosk('left', 'right');
    const heard = say();
    expect(spoken()).toEqual(['say-1', 'say-2']);
    said('right', 'say-2');
    said('left', 'say-1');
    expect(await heard).toEqual([400, 400]);
  });

  it('gives the text to no lane when one of them cannot speak', () => {
    const { say, lanes, posted, clock } = kiosk('left', 'right');
    if (lanes[1] !== undefined) lanes[1].wanted = false;
    expect(() => say()).toThrow('lane "right" is stopped: send start first');
    expect(posted).toEqual([]);
    expect(clock.armed).toBe(0);
  });

  it('answers all texts when a step throws, speaks none of them later, and goes on', async () => {
    const { say, spoken, breaks, clock, defects, said } = kiosk('main');
    const answers = [say(), say(), say()].map((answer) => answer.catch(({ code }) => code));
    breaks(true);
    clock.advance(500);
    breaks(false);
    expect(await Promise.all(answers)).toEqual(['internal', 'internal', 'internal']);
    expect(defects).toEqual(['say.step.time']);
    said('main', 'say-1');
    await clock.elapse(5000);
    expect(spoken()).toEqual(['say-1']);
    expect(clock.armed).toBe(0);
    const next = say();
    said('main', 'say-2');
    expect(await next).toEqual([400]);
  });

  it('leaves no timer and no watcher at its end', () => {
    const { says, say, clock, watchers } = kiosk('main');
    void say();
    expect(clock.armed).toBe(1);
    says.close();
    expect([clock.armed, watchers.size]).toEqual([0, 0]);
  });
});
