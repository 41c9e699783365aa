import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/core/lane/lane-options.ts';
import { ends, LaneHarness } from './asking-lane.ts';
import { behave } from './behaviour.ts';
import { testNoise } from './doubtful-noise.ts';
import { CHUNK_MS } from './lane-harness.ts';
import { comesBack, inDoubt, MINUTE_CHUNKS, understandsSoon } from './silent-twice.ts';

/** What the owner is told of speech that a service took and said nothing of. */
const told = (lane: LaneHarness) =>
  lane
    .all('notify')
    .filter(({ kind }) => kind === 'speech_lost')
    .map(({ detail, times }) => ({ ...detail, ...times }));

describe('what silent sessions take when two of them have been left', () => {
  it('is told whole when the next one understands: the service was dead', () => {
    const { lane, owed, since } = inDoubt();
    const [before, toldBefore] = [lane.accounts.lost, told(lane).length];
    lane.speak(1875);
    const to = lane.now;
    const said = 1875 + owed;
    lane.hush(2 * MINUTE_CHUNKS);
    // It goes on, and it may be noise: nothing is told.
    expect([lane.phase, lane.accounts.lost, ends(lane)]).toEqual(['live', before, 2]);
    lane.end();
    expect(lane.accounts.lost).toBe(before);
    understandsSoon(lane);
    expect(lane.accounts.lost - before).toBe(said);
    lane.hush(2 * MINUTE_CHUNKS);
    expect(told(lane).slice(toldBefore)).toEqual([
      { lost_ms: said * CHUNK_MS, cause: 'silent_service', from: since, to },
    ]);
    const { captured, dropped, silenced, trimmed, sent: out } = lane.accounts;
    expect(captured).toBe(out + dropped + silenced + trimmed + lane.state.backlog.chunks.length);
  });

  it('is told as one sum, however many sessions took it', () => {
    const { lane, owed, since } = inDoubt();
    const before = lane.accounts.lost;
    for (let i = 0; i < 3; i++) {
      lane.speak(200);
      lane.hush(2 * MINUTE_CHUNKS);
      lane.end();
      lane.until(() => lane.phase === 'live', 20_000);
    }
    expect(lane.accounts.lost).toBe(before);
    const toldBefore = told(lane).length;
    understandsSoon(lane);
    lane.hush(MINUTE_CHUNKS);
    expect(told(lane).slice(toldBefore)).toMatchObject([
      { lost_ms: (600 + owed) * CHUNK_MS, cause: 'silent_service', from: since },
    ]);
  });

  it('is told where its session gave way to the next one in order, which understands before that has ended', () => {
    const { lane } = inDoubt({ maxDurationMs: 600_000 });
    const { lost, captured } = lane.accounts;
    while (lane.state.counts.rollovers === 0) {
      lane.speak(20);
      lane.hush(5);
    }
    const { hearing, old } = { hearing: lane.stream, old: lane.state.oldSession?.stream.id };
    expect(old).toBeLessThan(hearing);
    lane.speak(6);
    lane.understands('a');
    expect(lane.state.oldSession?.stream.id).toBe(old);
    expect(lane.accounts.lost - lost).toBeGreaterThan(0.5 * (lane.accounts.captured - captured));
  });

  it('is told where its session was ended because nobody spoke any more', () => {
    const { lane, owed } = inDoubt();
    const { lost } = lane.accounts;
    lane.options({ standbyAfterMs: 60_000 });
    lane.speak(400);
    lane.hush(3 * MINUTE_CHUNKS);
    expect([lane.phase, lane.accounts.lost]).toEqual(['standby', lost]);
    lane.speak(6);
    understandsSoon(lane);
    expect(lane.accounts.lost - lost).toBe(400 + owed);
  });

  it('is told where somebody has stopped and started the lane', () => {
    const { lane, owed } = inDoubt();
    const { lost } = lane.accounts;
    lane.speak(400);
    lane.hush(2 * MINUTE_CHUNKS);
    lane.stop();
    lane.until(() => lane.phase === 'idle', 20_000);
    lane.start();
    understandsSoon(lane);
    expect(lane.accounts.lost - lost).toBe(400 + owed);
  });

  it('is told behind a defect of the program', () => {
    const { lane, owed } = inDoubt();
    const { lost } = lane.accounts;
    lane.speak(400);
    lane.hush(2 * MINUTE_CHUNKS);
    lane.end();
    lane.crash();
    understandsSoon(lane);
    expect(lane.accounts.lost - lost).toBe(400 + owed);
  });

  it('is a sum of its own where an outage has just lost other speech', () => {
    const { lane } = inDoubt();
    const toldBefore = told(lane).length;
    lane.speak(2 * MINUTE_CHUNKS);
    lane.brokerIs(false);
    lane.end();
    lane.speak(2 * MINUTE_CHUNKS);
    lane.brokerIs(true);
    lane.until(() => lane.phase === 'live', 60_000);
    lane.speak(3);
    expect(lane.state.loss).toMatchObject({ wasSent: false });
    const overflow = lane.state.loss?.lostMs ?? 0;
    const { lost } = lane.accounts;
    lane.understands('a');
    const sum = lane.accounts.lost - lost;
    expect(sum).toBeGreaterThan(300);
    lane.hear('a', 2000, true);
    lane.hush(40);
    expect(told(lane).slice(toldBefore)).toMatchObject([
      { cause: 'no_broker', lost_ms: overflow },
      { cause: 'silent_service', lost_ms: sum * CHUNK_MS },
    ]);
  });
});

describe('noise that is taken for speech', () => {
  testNoise(5 * MINUTE_CHUNKS);

  it('is not told when the session that took it says something while the next one hears', () => {
    const { lane } = inDoubt({ maxDurationMs: 600_000 });
    const { lost } = lane.accounts;
    while (lane.state.counts.rollovers === 0) {
      lane.speak(20);
      lane.hush(5);
    }
    expect(lane.state.doubtful).not.toBeNull();
    lane.understands('late', lane.state.oldSession?.stream.id);
    expect([lane.accounts.lost, lane.state.doubtful]).toEqual([lost, null]);
  });

  it('is not told when the session that took it is left an hour later, nor when somebody is understood after another', () => {
    const { lane } = inDoubt();
    const [{ lost }, since] = [lane.accounts, lane.now];
    lane.speak(3 * MINUTE_CHUNKS);
    // The microphone gives nothing.
    lane.pass(3_300_000);
    lane.speak(60);
    while (ends(lane) < 3) lane.speak(1);
    expect(lane.now - since).toBeGreaterThan(3_400_000);
    expect([lane.accounts.lost, (lane.state.doubtful?.chunks ?? 0) > 3 * MINUTE_CHUNKS]).toEqual([
      lost,
      true,
    ]);
    lane.until(() => lane.phase === 'live', 20_000);
    lane.hush(MINUTE_CHUNKS);
    lane.pass(3_720_000);
    const { lost: before } = lane.accounts;
    comesBack(lane);
    lane.hush(MINUTE_CHUNKS);
    expect([lane.accounts.lost, lane.state.doubtful]).toEqual([before, null]);
  });

  it('is no cough now and then', () => {
    const { lane, owed } = inDoubt();
    lane.end();
    lane.until(() => lane.phase === 'live', 20_000);
    expect(lane.state.doubtful?.chunks).toBe(owed);
    for (let i = 0; i < 4; i++) {
      lane.speak(2);
      lane.hush(2 * MINUTE_CHUNKS);
    }
    lane.end();
    expect(lane.state.doubtful?.chunks).toBe(owed);
  });
});

describe('speech that a session has not answered when it ends for another reason', () => {
  it('is told with what it was, and when it was said', () => {
    const lane = new LaneHarness({ silentGoOnMs: LANE_DEFAULTS.silentGoOnMs * 10 }).goLive();
    behave(lane);
    lane.hush(10);
    const from = lane.now;
    lane.speak(40);
    const to = lane.now;
    lane.hush(2 * MINUTE_CHUNKS);
    lane.end(1006);
    expect(lane.state.problem).not.toMatchObject({ code: 'silent_service' });
    expect(lane.state.loss).toMatchObject({
      ...{ cause: 'silent_service', wasSent: true },
      ...{ lostMs: 40 * CHUNK_MS, from, to },
    });
  });
});
