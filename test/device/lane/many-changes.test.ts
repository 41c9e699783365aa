import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS, type LaneOptions, taskOf } from '../../../src/device/lane/state/lane-options.ts';
import { ready } from '../../service-events.ts';
import { behave } from './behaviour.ts';
import { LaneHarness } from './lane-harness.ts';

const LANGUAGES = ['fr', 'it', 'pt', 'pl'];
/** The visitors' pace in the run that found the defect: just longer than the spacing of set_task, shorter than a confirmation. */
const EACH_MS = 2800;
const CHANGES = 18;
/** The first poll for a new task, and the round trip. */
const ONE_CONFIRMATION_MS = LANE_DEFAULTS.reapplyMs + 500;

/** Visitors press flags, one after the other, while one speaks. */
function pressFlags(lane: LaneHarness, speech: (lane: LaneHarness) => void, changes = CHANGES): void {
  const from = lane.now;
  for (let i = 0; i < changes; i++) {
    lane.after(i * EACH_MS, () => lane.options({ targets: [LANGUAGES[i % LANGUAGES.length] ?? 'fr'] }));
  }
  while (lane.now < from + changes * EACH_MS) speech(lane);
}

let said = 0;
/** The session that hears the speech transcribes and speaks it. */
const sentences = (lane: LaneHarness): void => {
  const [id, stream] = [`t${said++}`, lane.hearing?.id ?? 0];
  lane.speak(6);
  lane.hush(7);
  lane.understands(id, stream);
  lane.after(2500, () => lane.hear(id, 900, true, stream));
};
const noPause = (lane: LaneHarness): void => lane.speak(5);
const nothing = (lane: LaneHarness): void => lane.hush(5);

/** A lane whose backend and service work normally. */
function served(given: { maxDurationMs?: number; rollLeadMs?: number; options?: Partial<LaneOptions> } = {}) {
  const { maxDurationMs, rollLeadMs = LANE_DEFAULTS.rollLeadMs, options } = given;
  const lane = new LaneHarness({
    options: { echo: 'off', ...options },
    settings: { rollLeadMs },
  });
  behave(lane, { ...(maxDurationMs !== undefined && { maxDurationMs }) });
  lane.start();
  lane.until(() => lane.phase === 'live', 10_000);
  return lane;
}

/** The longest time without audio to the service. */
function longestGapMs(lane: LaneHarness, from: number): number {
  const times = lane.all('send_audio').flatMap(({ at }) => (at >= from ? [at] : []));
  return Math.max(...[...times, lane.now].map((at, i) => at - (times[i - 1] ?? from)));
}

describe('repeated changes of the languages', () => {
  it.each([
    ['in sentences', sentences],
    ['without a pause', noPause],
    ['not at all', nothing],
  ])('while a visitor speaks %s: the lane hears, and loses nothing', (_, speech) => {
    const lane = served();
    lane.speak(10);
    const from = lane.now;
    pressFlags(lane, speech);
    expect(longestGapMs(lane, from)).toBeLessThanOrEqual(ONE_CONFIRMATION_MS);
    expect(lane.state.backlog.accounts).toMatchObject({ lost: 0, dropped: 0 });
    lane.until(() => lane.last('send_task').targets[0] === LANGUAGES[(CHANGES - 1) % 4], 15_000);
    lane.until(() => lane.phase === 'live', 5000);
    expect(lane.hearing?.confirmedTask).toEqual(taskOf(lane.state));
    expect(lane.all('open_stream')).toHaveLength(1);
    expect(lane.state.counts.failures).toBe(0);
  });

  it('poll for the first task at its time, whatever change follows', () => {
    const lane = served();
    lane.pass(5000);
    const from = lane.now;
    pressFlags(lane, nothing, 2);
    const asked = lane.all('poll_task').filter(({ at }) => at > from);
    expect(asked[0]?.at).toBe(from + LANE_DEFAULTS.reapplyMs);
    expect(lane.all('send_task').filter(({ at }) => at >= from)[0]?.targets).toEqual(['fr']);
  });

  it('let the next session begin in time, with the newest languages', () => {
    const lane = served({ maxDurationMs: 30_000, rollLeadMs: 12_000 });
    lane.speak(3);
    const from = lane.now;
    pressFlags(lane, sentences, 40);
    expect(longestGapMs(lane, from)).toBeLessThanOrEqual(ONE_CONFIRMATION_MS);
    expect(lane.state.backlog.accounts.lost).toBe(0);
    expect(lane.state.counts).toMatchObject({ failures: 0, maxDurations: 0, takenBack: 0 });
    const opened = lane.all('open_stream').map(({ at }) => at);
    expect(opened.length).toBeGreaterThanOrEqual(4);
    for (const [i, at] of opened.slice(1).entries()) expect(at - (opened[i] ?? 0)).toBeLessThan(24_000);
  });

  it('let the next session begin in time with the usual lead, too', () => {
    const lane = served({ maxDurationMs: 60_000 });
    pressFlags(lane, sentences, 80);
    expect(lane.state.backlog.accounts.lost).toBe(0);
    expect(lane.state.counts).toMatchObject({ failures: 0, maxDurations: 0 });
    expect(lane.state.counts.rollovers).toBeGreaterThanOrEqual(3);
  });

  it('during the set-up of the first session: it goes live', () => {
    const lane = new LaneHarness({ options: { echo: 'off' } });
    behave(lane);
    lane.start();
    lane.until(() => lane.phase === 'configuring', 3000);
    const from = lane.now;
    pressFlags(lane, sentences, 6);
    expect(lane.all('send_audio')[0]?.at).toBeLessThan(from + 12_000);
  });

  it('once, during the set-up of the first session: the task is sent as soon as allowed, although a poll comes between', () => {
    const lane = new LaneHarness().goConfiguring();
    const { now } = lane;
    lane.pass(300);
    lane.options({ targets: ['fr'] });
    lane.pass(2000);
    expect(lane.last('send_task')).toMatchObject({ at: now + LANE_DEFAULTS.pollMs, targets: ['fr'] });
  });

  it('with none confirmed: the time limit does not restart', () => {
    const lane = new LaneHarness().goLive();
    lane.pass(3000);
    const from = lane.now;
    for (let i = 0; lane.phase !== 'waiting'; i++) {
      lane.options({ targets: [LANGUAGES[i % 4] ?? 'fr'] });
      lane.pass(500);
      expect(lane.now - from).toBeLessThanOrEqual(LANE_DEFAULTS.setupMs);
    }
    expect(lane.state.problem?.code).toBe('setup_timeout');
  });

  it('with none confirmed: the newest task is sent on the same stream before that fails', () => {
    const lane = new LaneHarness().goLive();
    lane.pass(3000);
    lane.options({ targets: ['fr'] });
    lane.pass(1000);
    lane.options({ targets: ['it'] });
    lane.until(() => lane.last('send_task').targets[0] === 'it', 10_000);
    expect(lane.due('setup')).toBeLessThan(LANE_DEFAULTS.setupMs - 7000);
    lane.taskRuns();
    expect(lane.hearing).toMatchObject({ id: 1, confirmedTask: { targets: ['it'] } });
  });

  it('and back to the pending task: no other task is sent', () => {
    const lane = new LaneHarness().goLive();
    lane.pass(3000);
    for (const target of ['fr', 'it', 'fr']) {
      lane.options({ targets: [target] });
      lane.pass(300);
    }
    lane.taskRuns();
    lane.pass(5000);
    expect(lane.all('send_task')).toHaveLength(2);
    expect(lane.hearing).toMatchObject({ taskStale: false, confirmedTask: { targets: ['fr'] } });
  });

  it('near the limit of a session: the next one gets the task, and takes over with the newest', () => {
    const lane = new LaneHarness().goReady();
    const latestAt = (lane.hearing?.limitAt ?? 0) - LANE_DEFAULTS.rollLatestMs;
    while (lane.now < latestAt - 5000) lane.speak(1);
    lane.options({ targets: ['fr'] });
    expect(lane.hearing?.id).toBe(2);
    lane.until(() => lane.phase === 'configuring', 3000);
    expect(lane.last('send_task')).toMatchObject({ stream: 2, targets: ['fr'] });
    lane.taskRuns();
    expect(lane.hearing).toMatchObject({ id: 2, confirmedTask: { targets: ['fr'] } });
  });

  it('near the limit of a session: the next one is set up with the task, and takes over during speech', () => {
    const lane = new LaneHarness().goRolling();
    const latestAt = (lane.hearing?.limitAt ?? 0) - LANE_DEFAULTS.rollLatestMs;
    while (lane.now < latestAt - 11_000) lane.speak(1);
    lane.options({ targets: ['fr'] });
    lane.grant({ maxDurationMs: 60_000 });
    lane.open();
    lane.speak(8);
    expect(lane.last('send_task')).toMatchObject({ stream: 2, targets: ['fr'] });
    lane.says(ready());
    expect(lane.hearing).toMatchObject({ id: 2, confirmedTask: { targets: ['fr'] } });
  });

  it('and back near the limit of a session: the next one waits for a pause as usual', () => {
    const lane = new LaneHarness().goRolling();
    const [first] = [taskOf(lane.state).targets];
    const latestAt = (lane.hearing?.limitAt ?? 0) - LANE_DEFAULTS.rollLatestMs;
    while (lane.now < latestAt - 11_000) lane.speak(1);
    lane.options({ targets: ['fr'] });
    lane.grant({ maxDurationMs: 60_000 });
    lane.open();
    lane.speak(6);
    lane.options({ targets: [...first] });
    lane.speak(2);
    lane.says(ready());
    expect(lane.hearing).toMatchObject({ id: 1, confirmedTask: { targets: first } });
    expect(lane.state.counts.splits).toBe(0);
  });

  it('near the limit of a session whose successor fails: the live one gets the task after all', () => {
    const lane = new LaneHarness().goRolling();
    const latestAt = (lane.hearing?.limitAt ?? 0) - LANE_DEFAULTS.rollLatestMs;
    while (lane.now < latestAt - 5000) lane.speak(1);
    lane.options({ targets: ['fr'] });
    expect(lane.phase).toBe('rolling');
    lane.deny();
    lane.pass(100);
    expect(lane.last('send_task')).toMatchObject({ stream: 1, targets: ['fr'] });
  });
});
