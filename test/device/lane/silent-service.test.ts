import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/device/lane/state/lane-options.ts';
import { finished, heard, pushed, ready, warned } from '../../service-events.ts';
import { ends, HOUR_CHUNKS, LaneHarness } from './asking-lane.ts';
import { behave } from './behaviour.ts';
import { CHUNK_MS } from './lane-harness.ts';

const { silentAskMs, silentAnswerMs, silentGoOnMs, pollMs } = LANE_DEFAULTS;
const task = ready();

/** A visitor speaks until the lane asks for the task. Returns how long that took. */
function speakUntilAsked(lane: LaneHarness, withinMs = 100_000): number {
  const polls = lane.all('poll_task').length;
  const beganAt = lane.now;
  while (lane.all('poll_task').length === polls && lane.now - beganAt < withinMs) lane.speak(1);
  expect(lane.all('poll_task').length).toBe(polls + 1);
  return lane.last('poll_task').at - beganAt;
}

describe('a service that takes speech and sends no result', () => {
  it('is asked after 12 s, and disconnected 3 s later; the speech returns to the backlog', () => {
    const lane = new LaneHarness().goLive();
    const tookMs = speakUntilAsked(lane);
    expect(tookMs).toBeGreaterThanOrEqual(silentAskMs);
    expect(tookMs).toBeLessThanOrEqual(silentAskMs + 1000);
    const spoken = lane.all('send_audio').length;
    lane.until(() => lane.phase === 'waiting', silentAnswerMs + 10);
    expect(lane.now - lane.last('poll_task').at).toBe(silentAnswerMs);
    expect(lane.last('notify')).toMatchObject({
      kind: 'session_ended',
      detail: { cause: 'silent_service' },
    });
    expect(lane.state.problem).toMatchObject({ code: 'silent_service' });
    expect(lane.state.counts.takenBack).toBe(spoken);
    expect(lane.due('retry')).toBeLessThanOrEqual(1000);
    lane.comeBack();
    expect(lane.last('request_token')).toMatchObject({ reason: 'network' });
    const again = lane.all('send_audio').length;
    lane.hush(spoken);
    const seqs = (from: number, to: number) =>
      lane
        .all('send_audio')
        .slice(from, to)
        .map(({ pcm }) => pcm);
    expect(seqs(again - 1, again - 1 + spoken)).toEqual(seqs(0, spoken));
  });

  it.each([
    ['is gone', ready('none')],
    ['is paused', ready('paused')],
  ] as const)('is left at once where it answers that the task %s, and nothing is lost', (what, answer) => {
    const lane = new LaneHarness().goLive();
    lane.says(answer);
    expect(lane.phase).toBe('live');
    speakUntilAsked(lane);
    const spoken = lane.all('send_audio').length;
    lane.says(answer);
    expect(lane.phase).toBe('waiting');
    expect(lane.state.problem).toMatchObject({
      code: 'silent_service',
      message: `the service received speech, but reports that the task ${what}`,
    });
    expect([lane.state.counts.takenBack, lane.accounts.lost]).toEqual([spoken, 0]);
    // The service has given its reason: it was not noise.
    expect(lane.state.silentEnds.count).toBe(0);
  });

  it('is asked when a transcript gets no sound', () => {
    const lane = new LaneHarness().goLive();
    lane.speak(6);
    lane.understands('a');
    const polls = lane.all('poll_task').length;
    const writtenAt = lane.now;
    lane.hush(60);
    expect(lane.all('poll_task').length).toBe(polls + 1);
    expect(lane.last('poll_task').at - writtenAt).toBeLessThanOrEqual(silentAskMs + 1000);
    expect(ends(lane)).toBe(1);
    expect(lane.state.counts.takenBack).toBeGreaterThanOrEqual(6);
  });

  it('is asked when a partial gets no sound after the sentence before it was spoken', () => {
    const lane = new LaneHarness().goLive();
    lane.speak(6);
    lane.understands('a');
    lane.speak(6);
    lane.says(heard({ id: 'b', text: 'When will the results' }));
    lane.hear('a', 2000, true);
    const polls = lane.all('poll_task').length;
    lane.hush(60);
    expect(lane.all('poll_task').length).toBe(polls + 1);
    expect(ends(lane)).toBe(1);
    expect(lane.state.counts.takenBack).toBeGreaterThanOrEqual(6);
    expect(lane.accounts.lost).toBe(0);
  });

  it('is not asked when it has spoken all its transcripts', () => {
    const lane = new LaneHarness().goLive();
    lane.speak(6);
    lane.understands('a');
    lane.hear('a', 2000, true);
    lane.understands('a');
    const polls = lane.all('poll_task').length;
    lane.hush(200);
    expect(lane.all('poll_task')).toHaveLength(polls);
  });

  it('is not asked without speech, nor for noise that is not a voice', () => {
    const lane = new LaneHarness().goLive();
    const polls = lane.all('poll_task').length;
    lane.hush(200);
    for (let i = 0; i < 200; i++) {
      lane.pass(CHUNK_MS);
      const levels = { loudestDb: -20, quietestDb: i % 3 === 0 ? -60 : -30, isSpeech: false };
      lane.step({ type: 'captured', capturedAt: lane.now, pcm: new Uint8Array(2), levels });
    }
    expect(lane.all('poll_task')).toHaveLength(polls);
  });

  it.each([
    warned('warning', { code: 'AUDIO_STREAM_TOO_SLOW' }),
    pushed('unclear'),
    warned('error', { code: 'RATE_LIMIT_EXCEEDED' }),
  ])('is not asked as long as it says anything: $type', (message) => {
    const lane = new LaneHarness().goLive();
    const polls = lane.all('poll_task').length;
    for (let i = 0; i < 12; i++) {
      lane.speak(30);
      lane.says(message);
    }
    expect(lane.all('poll_task')).toHaveLength(polls);
    expect(lane.phase).toBe('live');
  });

  it('is asked although it answers pings', () => {
    const lane = new LaneHarness().goLive();
    expect(lane.pongs).toBe(true);
    speakUntilAsked(lane);
    expect(lane.all('ping').length).toBeGreaterThan(3);
  });

  it('goes on for 30 s when it answers, and is then disconnected', () => {
    const lane = new LaneHarness().goLive();
    speakUntilAsked(lane);
    lane.says(task);
    const answeredAt = lane.now;
    while (lane.phase === 'live' && lane.now - answeredAt < 60_000) lane.speak(1);
    expect(ends(lane)).toBe(1);
    const goneOn = lane.last('close_stream').at - answeredAt;
    expect(goneOn).toBeGreaterThanOrEqual(silentGoOnMs);
    expect(goneOn).toBeLessThanOrEqual(silentGoOnMs + 1000);
  });

  it('loses speech that is too old by then: one event, and counted', () => {
    const lane = new LaneHarness().goLive();
    speakUntilAsked(lane);
    lane.says(task);
    while (lane.phase === 'live') lane.speak(1);
    const spoken = lane.all('send_audio').length;
    const { lost, sent, dropped, captured } = lane.accounts;
    // The next chunk has no room beside the replayed ones.
    expect(lost).toBe(spoken - lane.state.counts.takenBack + 1);
    expect(lost * CHUNK_MS).toBeGreaterThan(10_000);
    expect(captured).toBe(sent + dropped + lane.state.backlog.chunks.length);
    expect(lane.state.loss).toMatchObject({ lostMs: lost * CHUNK_MS, cause: 'silent_service' });
    lane.comeBack();
    lane.hush(200);
    const told = lane.all('notify').filter(({ kind }) => kind === 'speech_lost');
    expect(told).toMatchObject([{ detail: { lost_ms: lost * CHUNK_MS, cause: 'silent_service' } }]);
  });

  it.each(['stop', 'shutdown'] as const)(
    'ended by the owner (%s): the speech that is too old by then is reported',
    (how) => {
      const lane = new LaneHarness({ silentGoOnMs: 500_000 }).goLive();
      speakUntilAsked(lane);
      lane.says(task);
      lane.speak(20);
      lane.hush(150);
      const spoken = lane.hearing?.replay.unanswered?.chunks ?? 0;
      expect(spoken * CHUNK_MS).toBeGreaterThan(10_000);
      lane[how]();
      lane.end('closed');
      expect(lane.all('notify').filter(({ kind }) => kind === 'speech_lost')).toMatchObject([
        { detail: { lost_ms: spoken * CHUNK_MS, cause: 'silent_service' } },
      ]);
    },
  );

  it.each([
    ['says it late', true],
    ['never does', false],
  ])('ended by standby: %s', (_, isLate) => {
    const lane = new LaneHarness({ silentGoOnMs: 500_000 }).goLive();
    lane.options({ standbyAfterMs: 20_000 });
    while (lane.all('send_audio').length < 120) {
      lane.speak(1);
      if (lane.all('poll_task').length > 1) lane.says(task);
    }
    lane.hush(60);
    if (isLate) {
      lane.understands('late');
      lane.hear('late', 4000, true);
    }
    lane.until(() => lane.phase === 'standby', 120_000);
    lane.hush(10);
    expect(lane.accounts.lost).toBe(isLate ? 0 : 120);
    const told = lane.all('notify').filter(({ kind }) => kind === 'speech_lost');
    expect(told.map(({ detail }) => detail)).toMatchObject(
      isLate ? [] : [{ lost_ms: 120 * CHUNK_MS, cause: 'silent_service' }],
    );
  });

  it('is not disconnected for a cough after its answer', () => {
    const lane = new LaneHarness().goLive();
    behave(lane);
    const polls = lane.all('poll_task').length;
    for (let i = 0; i < 10; i++) {
      lane.speak(2);
      lane.hush(150);
    }
    expect(ends(lane)).toBe(0);
    expect(lane.all('poll_task').length).toBeGreaterThan(polls + 8);
  });

  it('gets the full time again when it sends a result after the answer', () => {
    const lane = new LaneHarness().goLive();
    speakUntilAsked(lane);
    lane.says(task);
    lane.speak(10);
    lane.understands('a');
    expect(speakUntilAsked(lane)).toBeLessThanOrEqual(silentAskMs + 1000);
    expect(ends(lane)).toBe(0);
  });

  it('is asked no sooner than 2 s after another poll', () => {
    const lane = new LaneHarness({ silentAskMs: 1200 }).goLive();
    lane.speak(1);
    lane.options({ targets: ['fr'] });
    lane.taskRuns();
    lane.speak(20);
    const asked = lane.all('poll_task').map(({ at }) => at);
    asked.slice(1).forEach((at, i) => {
      expect(at - (asked[i] ?? 0)).toBeGreaterThanOrEqual(pollMs);
    });
  });

  it('is neither asked nor disconnected while sent bytes do not leave', () => {
    const lane = new LaneHarness({ stuckMs: 120_000 }).goLive();
    lane.speak(2);
    lane.step({ type: 'congested', stream: lane.stream });
    const polls = lane.all('poll_task').length;
    lane.hush(100);
    expect(lane.all('poll_task')).toHaveLength(polls);
    lane.step({ type: 'drained', stream: lane.stream });
    lane.hush(12);
    expect(lane.all('poll_task')).toHaveLength(polls + 1);
  });

  it('lets a successor that is being set up take over', () => {
    const lane = new LaneHarness().goReady();
    while (lane.state.counts.takenBack === 0 && lane.state.counts.rollovers === 0) lane.speak(1);
    lane.hush(10);
    expect(lane.phase).toBe('live');
  });

  it('has not heard the speech when it only answers about its task, also after a clean end', () => {
    const lane = new LaneHarness();
    lane.isSpeech = true;
    lane.goReady();
    const old = lane.last('send_audio').stream;
    const asked = lane.all('poll_task').length;
    while (lane.all('poll_task').length === asked) lane.speak(1);
    expect(lane.last('poll_task').stream).toBe(old);
    lane.says(task, old);
    lane.hush(20);
    expect(lane.last('end_task').stream).toBe(old);
    lane.says(finished(), old);
    expect(ends(lane)).toBe(1);
    expect(lane.state.counts.takenBack).toBeGreaterThanOrEqual(30);
  });

  it('is detected while it finishes, too', () => {
    const lane = new LaneHarness().goOldSession();
    const oldSession = lane.state.oldSession?.stream.id ?? 0;
    expect(oldSession).toBeGreaterThan(0);
    lane.hush(60);
    // It answers pings, but sends neither the speech that it owes nor the end of the task.
    expect(lane.state.oldSession).toBeNull();
    expect(lane.state.counts.takenBack).toBeGreaterThan(0);
  });
});

describe('a session that ends for its silence', () => {
  it('doubles the time before the next question when it is the second in a row without any text', () => {
    const lane = new LaneHarness().goLive();
    const waits: number[] = [];
    for (let i = 0; i < 4; i++) {
      // The speech taken back is replayed as soon as the session is live.
      const upAt = lane.now;
      while (lane.phase === 'live') lane.speak(1);
      waits.push(lane.last('poll_task').at - upAt);
      lane.comeBack();
    }
    expect(ends(lane)).toBe(4);
    for (const [i, wait] of waits.entries()) {
      const patience = i < 2 ? silentAskMs : 2 * silentAskMs;
      expect(wait).toBeGreaterThanOrEqual(patience);
      expect(wait).toBeLessThanOrEqual(patience + 1500);
    }
  });

  it.each(['text', 'sound'])('is forgotten with the first %s', (what) => {
    const lane = new LaneHarness().goLive();
    for (let i = 0; i < 2; i++) {
      while (lane.phase === 'live') lane.speak(1);
      lane.comeBack();
    }
    expect(lane.state.silentEnds.count).toBe(2);
    if (what === 'text') lane.understands('a');
    else lane.hear('a', 200, true);
    expect(lane.state.silentEnds.count).toBe(0);
    const saidAt = lane.now;
    const asked = saidAt + speakUntilAsked(lane);
    expect(asked - saidAt).toBeLessThanOrEqual(silentAskMs + 1500);
  });

  it('happens again with a service that answers nothing', () => {
    const lane = new LaneHarness().goLive();
    behave(lane);
    lane.speak(HOUR_CHUNKS / 4);
    expect(ends(lane)).toBe(2);
    lane.watchers.length = 0;
    while (lane.phase === 'live' && ends(lane) < 3) lane.speak(1);
    expect(ends(lane)).toBe(3);
  });
});
