import { describe, expect, it } from 'vitest';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';

/** Intervals between sends, of captured chunks and fillers alike. */
function gaps(lane: LaneHarness): number[] {
  const sent = lane.all('send_audio');
  return sent.slice(1).map(({ at }, i) => at - (sent[i]?.at ?? 0));
}

function ofSound(lane: LaneHarness): number[] {
  return lane.all('send_audio').flatMap(({ capturedAt }) => (capturedAt === null ? [] : [capturedAt]));
}

describe('a live lane', () => {
  it('sends each chunk as it comes, bit-exact, in order, without delay', () => {
    const lane = new LaneHarness().goLive();
    lane.speak(30);
    expect(lane.wire).toBe('s'.repeat(30));
    for (const sent of lane.all('send_audio')) {
      expect(sent.at).toBe(sent.capturedAt);
      expect(sent.queued).toBe(false);
    }
    expect(gaps(lane)).toEqual(new Array(29).fill(CHUNK_MS));
  });

  it('sends the pauses too: without silence no sentence is confirmed', () => {
    const lane = new LaneHarness().goLive();
    lane.hush(5);
    lane.speak(5);
    lane.hush(40);
    expect(lane.accounts).toMatchObject({ captured: 50, sent: 50, trimmed: 0 });
  });

  it('sends chunks with jitter as they come', () => {
    const lane = new LaneHarness().goLive();
    let late = 0;
    for (let i = 0; i < 40; i++) {
      const next = (i * 37) % 150;
      lane.pass(CHUNK_MS + next - late);
      late = next;
      lane.capture();
    }
    expect(lane.all('send_audio').every(({ at, capturedAt }) => at === capturedAt)).toBe(true);
    expect(lane.wire).toBe('s'.repeat(40));
  });

  it('never queues because a sound card runs 300 ppm fast', () => {
    const lane = new LaneHarness().goLive();
    for (let i = 0; i < 1000; i++) {
      lane.pass(CHUNK_MS * 0.9997);
      lane.capture();
    }
    expect(lane.accounts).toMatchObject({ sent: 1000, held: 0, trimmed: 0 });
    expect(lane.wire).not.toContain('f');
  });

  it('needs no filler because a sound card runs 300 ppm slow', () => {
    const lane = new LaneHarness().goLive();
    for (let i = 0; i < 1000; i++) {
      lane.pass(CHUNK_MS * 1.0003);
      lane.capture();
    }
    expect(lane.wire).toBe('s'.repeat(1000));
  });
});

describe('held audio', () => {
  it('is caught up by trimming pauses, never faster than real time', () => {
    const lane = new LaneHarness().goConfiguring();
    lane.hush(3);
    lane.speak(5);
    lane.hush(10);
    lane.speak(5);
    lane.hush(10);
    lane.taskRuns();
    const behind = lane.accounts.held;
    expect(behind).toBeGreaterThan(10);
    lane.speak(10);
    lane.hush(30);
    lane.speak(10);
    expect(lane.accounts.held).toBeLessThanOrEqual(1);
    expect(lane.accounts).toMatchObject({ captured: 83, dropped: 0 });
    expect(lane.accounts.trimmed).toBeGreaterThan(10);
    expect(lane.accounts.trimmed + lane.accounts.sent + lane.accounts.held).toBe(83);
    // The backlog is empty again, and no chunk is marked as queued any more.
    expect(lane.last('send_audio').queued).toBe(false);
  });

  it('keeps its delay without a pause, rather than exceed real time', () => {
    const lane = new LaneHarness().goConfiguring();
    lane.speak(20);
    lane.taskRuns();
    lane.speak(50);
    const sent = lane.all('send_audio');
    const took = (sent.at(-1)?.at ?? 0) - (sent[0]?.at ?? 0);
    expect(took).toBeGreaterThan((sent.length - 2) * CHUNK_MS * 0.998);
    expect(lane.accounts.held).toBeGreaterThanOrEqual(17);
    expect(lane.accounts.held).toBeLessThanOrEqual(20);
    expect(lane.last('send_audio').queued).toBe(true);
  });

  it('keeps enough of each pause to confirm a sentence', () => {
    const lane = new LaneHarness().goConfiguring();
    lane.hush(1);
    lane.speak(2);
    lane.hush(20);
    lane.speak(2);
    lane.taskRuns();
    lane.pass(CHUNK_MS * 10);
    const kept = ofSound(lane).filter((at) => at > 50_000 + 3 * CHUNK_MS && at <= 50_000 + 23 * CHUNK_MS);
    // A new stream gets one more chunk until it has caught up.
    expect(kept).toHaveLength(5);
    expect(kept.length * CHUNK_MS).toBeGreaterThan(700);
  });

  it('is bounded: the oldest is lost first, and counted', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.speak(100);
    expect(lane.accounts).toMatchObject({ captured: 100, held: 93, dropped: 7, lost: 7 });
    lane.grant();
    lane.open();
    lane.taskRuns();
    expect(lane.all('send_audio')[0]?.capturedAt).toBe(50_000 + 8 * CHUNK_MS);
  });

  it('drops a long pause before speech', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.hush(20);
    lane.speak(90);
    expect(lane.accounts).toMatchObject({ captured: 110, held: 93, lost: 0, dropped: 3, trimmed: 14 });
  });

  it('is dropped at a stop', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.hush(5);
    lane.speak(4);
    lane.stop();
    expect(lane.accounts).toMatchObject({ captured: 9, dropped: 9, lost: 0 });
  });
});

describe('a microphone that delivers nothing', () => {
  it('is replaced by silence in real time, after a grace of a chunk and a half', () => {
    const lane = new LaneHarness().goLive();
    lane.speak(5);
    lane.pass(CHUNK_MS + 479);
    expect(lane.wire).toBe('sssss');
    lane.pass(2);
    expect(lane.wire).toBe('sssssf');
    lane.pass(3200);
    expect(lane.wire).toBe(`sssss${'f'.repeat(11)}`);
    expect(lane.state.counts.fillers).toBe(11);
    expect(lane.last('send_audio')).toMatchObject({ pcm: null, capturedAt: null, queued: false });
    for (const gap of gaps(lane).slice(-10)) expect(gap).toBeCloseTo(CHUNK_MS * 0.999, 6);
  });

  it('is replaced by silence also from the first moment', () => {
    const lane = new LaneHarness().goLive();
    lane.pass(20_000);
    expect(lane.wire).toMatch(/^f{60,63}$/);
    expect(lane.phase).toBe('live');
  });

  it('is sent again at once when it is back', () => {
    const lane = new LaneHarness().goLive();
    lane.speak(3);
    lane.pass(5000);
    const fillers = lane.state.counts.fillers;
    lane.speak(10);
    expect(lane.accounts).toMatchObject({ captured: 13, sent: 13 });
    expect(lane.state.counts.fillers - fillers).toBeLessThanOrEqual(1);
    // And the grace applies again.
    const sent = lane.wire;
    lane.pass(CHUNK_MS + 400);
    expect(lane.wire).toBe(sent);
  });

  it('counts no fillers while there is no live stream', () => {
    const lane = new LaneHarness().goConfiguring();
    lane.pass(10_000);
    expect(lane.state.counts.fillers).toBe(0);
    expect(lane.wire).toBe('');
  });
});

describe('a blocked event loop', () => {
  it('of a second: the audio arrives in a burst and is sent in real time', () => {
    const lane = new LaneHarness().goLive();
    lane.hush(2);
    lane.speak(5);
    lane.stall(CHUNK_MS * 4);
    for (let i = 3; i >= 0; i--) lane.capture(true, lane.now - i * CHUNK_MS);
    lane.speak(4);
    lane.hush(15);
    lane.pass(CHUNK_MS);
    expect(lane.accounts).toMatchObject({ captured: 30, dropped: 0, held: 0 });
    expect(lane.accounts.trimmed).toBeGreaterThan(0);
    expect(lane.accounts.sent + lane.accounts.trimmed).toBe(30);
  });

  it('sends no burst to the service: late audio is sent strictly in real time', () => {
    const lane = new LaneHarness().goLive();
    lane.speak(5);
    lane.stall(CHUNK_MS * 4);
    for (let i = 3; i >= 0; i--) lane.capture(true, lane.now - i * CHUNK_MS);
    expect(lane.wire).toBe('ssssss');
    lane.pass(CHUNK_MS * 2);
    for (const gap of gaps(lane).slice(-2)) expect(gap).toBeCloseTo(CHUNK_MS * 0.999, 6);
  });

  it('with timers that go off first: one filler, then the burst', () => {
    const lane = new LaneHarness().goLive();
    lane.speak(5);
    lane.stall(CHUNK_MS * 6);
    lane.pass(0);
    for (let i = 5; i >= 0; i--) lane.capture(true, lane.now - i * CHUNK_MS);
    lane.pass(CHUNK_MS * 6);
    expect(lane.wire).toBe(`sssssf${'s'.repeat(6)}`);
  });

  it('marks only chunks as queued that waited for a stream or behind others', () => {
    const lane = new LaneHarness().goConfiguring();
    lane.speak(3);
    lane.taskRuns();
    lane.pass(CHUNK_MS * 3);
    lane.speak(1);
    expect(lane.all('send_audio').map(({ queued }) => queued)).toEqual([true, true, true, false]);
  });
});

describe('the microphone', () => {
  it('causes one event when it is lost and one when it is back', () => {
    const lane = new LaneHarness().goLive();
    lane.fault('capture', 'lost');
    lane.fault('capture', 'not_found');
    expect(lane.notes).toEqual(['session_started', 'audio_lost']);
    expect(lane.last('notify').detail).toEqual({
      device: 'capture',
      code: 'lost',
      message: 'the capture device is gone',
    });
    expect(lane.state).toMatchObject({
      captureLost: true,
      deviceFaults: { capture: { code: 'capture_not_found' } },
    });
    lane.speak(3);
    expect(lane.notes).toEqual(['session_started', 'audio_lost', 'audio_back']);
    expect(lane.last('notify').detail).toEqual({ device: 'capture' });
    expect(lane.state.captureLost).toBe(false);
  });

  it('does not end the session when it is lost', () => {
    const lane = new LaneHarness().goLive();
    lane.fault('capture');
    lane.pass(60_000);
    expect(lane.phase).toBe('live');
  });

  it('is not reported as back after a stop', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.fault('capture');
    lane.stop();
    lane.start();
    lane.speak(1);
    expect(lane.notes).toEqual(['audio_lost']);
  });

  it('is ignored while the lane does not listen', () => {
    const lane = new LaneHarness();
    lane.capture();
    expect(lane.accounts.captured).toBe(0);
  });

  it('fails independently of the loudspeaker', () => {
    const lane = new LaneHarness().goLive();
    lane.fault('playback', 'busy');
    lane.fault('playback', 'busy');
    expect(lane.notes).toEqual(['session_started', 'audio_lost']);
    expect(lane.last('notify').detail).toMatchObject({ device: 'playback', code: 'busy' });
    expect(lane.state).toMatchObject({
      captureLost: false,
      deviceFaults: { playback: { code: 'playback_busy' } },
    });
  });
});
