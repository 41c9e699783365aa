import { describe, expect, it } from 'vitest';
import { CHUNK_MS, World } from './world.ts';

/** Times between the sends of captured chunks and fillers alike. */
function gaps(world: World): number[] {
  const sent = world.all('send_audio');
  return sent.slice(1).map(({ at }, i) => at - (sent[i]?.at ?? 0));
}

function ofSound(world: World): number[] {
  return world.all('send_audio').flatMap(({ capturedAt }) => (capturedAt === null ? [] : [capturedAt]));
}

describe('a live lane', () => {
  it('sends each chunk as it comes, bit-exact, in order, without delay', () => {
    const world = new World().goLive();
    world.speak(30);
    expect(world.wire).toBe('s'.repeat(30));
    for (const sent of world.all('send_audio')) {
      expect(sent.at).toBe(sent.capturedAt);
      expect(sent.queued).toBe(false);
    }
    expect(gaps(world)).toEqual(new Array(29).fill(CHUNK_MS));
  });

  it('sends the pauses too: without silence no sentence is confirmed', () => {
    const world = new World().goLive();
    world.hush(5);
    world.speak(5);
    world.hush(40);
    expect(world.accounts).toMatchObject({ captured: 50, sent: 50, trimmed: 0 });
  });

  it('takes chunks with jitter as they come', () => {
    const world = new World().goLive();
    let late = 0;
    for (let i = 0; i < 40; i++) {
      const next = (i * 37) % 150;
      world.pass(CHUNK_MS + next - late);
      late = next;
      world.capture();
    }
    expect(world.all('send_audio').every(({ at, capturedAt }) => at === capturedAt)).toBe(true);
    expect(world.wire).toBe('s'.repeat(40));
  });

  it('never queues because a sound card runs 300 ppm fast', () => {
    const world = new World().goLive();
    for (let i = 0; i < 1000; i++) {
      world.pass(CHUNK_MS * 0.9997);
      world.capture();
    }
    expect(world.accounts).toMatchObject({ sent: 1000, held: 0, trimmed: 0 });
    expect(world.wire).not.toContain('f');
  });

  it('needs no filler because a sound card runs 300 ppm slow', () => {
    const world = new World().goLive();
    for (let i = 0; i < 1000; i++) {
      world.pass(CHUNK_MS * 1.0003);
      world.capture();
    }
    expect(world.wire).toBe('s'.repeat(1000));
  });
});

describe('held audio', () => {
  it('is caught up with by leaving out pauses, never faster than real time', () => {
    const world = new World().goConfiguring();
    world.hush(3);
    world.speak(5);
    world.hush(10);
    world.speak(5);
    world.hush(10);
    world.taskRuns();
    const behind = world.accounts.held;
    expect(behind).toBeGreaterThan(10);
    world.speak(10);
    world.hush(30);
    world.speak(10);
    expect(world.accounts.held).toBeLessThanOrEqual(1);
    expect(world.accounts).toMatchObject({ captured: 83, dropped: 0 });
    expect(world.accounts.trimmed).toBeGreaterThan(10);
    expect(world.accounts.trimmed + world.accounts.sent + world.accounts.held).toBe(83);
    // At live again, and no chunk is marked as queued any more.
    expect(world.last('send_audio').queued).toBe(false);
  });

  it('without a pause stays behind by what it was, rather than hurry', () => {
    const world = new World().goConfiguring();
    world.speak(20);
    world.taskRuns();
    world.speak(50);
    const sent = world.all('send_audio');
    const took = (sent.at(-1)?.at ?? 0) - (sent[0]?.at ?? 0);
    expect(took).toBeGreaterThan((sent.length - 2) * CHUNK_MS * 0.998);
    expect(world.accounts.held).toBeGreaterThanOrEqual(17);
    expect(world.accounts.held).toBeLessThanOrEqual(20);
    expect(world.last('send_audio').queued).toBe(true);
  });

  it('keeps of each pause what confirms a sentence', () => {
    const world = new World().goConfiguring();
    world.hush(1);
    world.speak(2);
    world.hush(20);
    world.speak(2);
    world.taskRuns();
    world.pass(CHUNK_MS * 10);
    const kept = ofSound(world).filter((at) => at > 50_000 + 3 * CHUNK_MS && at <= 50_000 + 23 * CHUNK_MS);
    expect(kept).toHaveLength(4);
    expect(kept.length * CHUNK_MS).toBeGreaterThan(700);
  });

  it('is bounded: the oldest is lost first, and counted', () => {
    const world = new World().goAcquiring();
    world.speak(100);
    expect(world.accounts).toMatchObject({ captured: 100, held: 93, dropped: 7, lost: 7 });
    world.grant();
    world.open();
    world.taskRuns();
    expect(world.all('send_audio')[0]?.capturedAt).toBe(50_000 + 8 * CHUNK_MS);
  });

  it('gives up a pause that is long enough before speech', () => {
    const world = new World().goAcquiring();
    world.hush(20);
    world.speak(90);
    expect(world.accounts).toMatchObject({ captured: 110, held: 93, lost: 0, dropped: 3, trimmed: 14 });
  });

  it('is thrown away at a stop', () => {
    const world = new World().goAcquiring();
    world.speak(9);
    world.stop();
    expect(world.accounts).toMatchObject({ captured: 9, dropped: 9, lost: 0 });
  });
});

describe('a microphone that delivers nothing', () => {
  it('is replaced by silence in real time, after a grace of a chunk and a half', () => {
    const world = new World().goLive();
    world.speak(5);
    world.pass(CHUNK_MS + 479);
    expect(world.wire).toBe('sssss');
    world.pass(2);
    expect(world.wire).toBe('sssssf');
    world.pass(3200);
    expect(world.wire).toBe(`sssss${'f'.repeat(11)}`);
    expect(world.state.counts.fillers).toBe(11);
    expect(world.last('send_audio')).toMatchObject({ pcm: null, capturedAt: null, queued: false });
    for (const gap of gaps(world).slice(-10)) expect(gap).toBeCloseTo(CHUNK_MS * 0.999, 6);
  });

  it('from the first moment on keeps the service awake all the same', () => {
    const world = new World().goLive();
    world.pass(20_000);
    expect(world.wire).toMatch(/^f{60,63}$/);
    expect(world.phase).toBe('live');
  });

  it('is heard again at once when it is back', () => {
    const world = new World().goLive();
    world.speak(3);
    world.pass(5000);
    const fillers = world.state.counts.fillers;
    world.speak(10);
    expect(world.accounts).toMatchObject({ captured: 13, sent: 13 });
    expect(world.state.counts.fillers - fillers).toBeLessThanOrEqual(1);
    // And the grace is there again.
    const sent = world.wire;
    world.pass(CHUNK_MS + 400);
    expect(world.wire).toBe(sent);
  });

  it('counts no fillers while there is no live stream', () => {
    const world = new World().goConfiguring();
    world.pass(10_000);
    expect(world.state.counts.fillers).toBe(0);
    expect(world.wire).toBe('');
  });
});

describe('a blocked event loop', () => {
  it('of a second: what was captured meanwhile comes in a burst and goes out at real time', () => {
    const world = new World().goLive();
    world.hush(2);
    world.speak(5);
    world.stall(CHUNK_MS * 4);
    for (let i = 3; i >= 0; i--) world.capture(true, world.now - i * CHUNK_MS);
    world.speak(4);
    world.hush(15);
    world.pass(CHUNK_MS);
    expect(world.accounts).toMatchObject({ captured: 30, dropped: 0, held: 0 });
    expect(world.accounts.trimmed).toBeGreaterThan(0);
    expect(world.accounts.sent + world.accounts.trimmed).toBe(30);
  });

  it('gives no burst to the service: what comes late goes out strictly in time', () => {
    const world = new World().goLive();
    world.speak(5);
    world.stall(CHUNK_MS * 4);
    for (let i = 3; i >= 0; i--) world.capture(true, world.now - i * CHUNK_MS);
    expect(world.wire).toBe('ssssss');
    world.pass(CHUNK_MS * 2);
    for (const gap of gaps(world).slice(-2)) expect(gap).toBeCloseTo(CHUNK_MS * 0.999, 6);
  });

  it('whose timers go off first: one filler, then the burst', () => {
    const world = new World().goLive();
    world.speak(5);
    world.stall(CHUNK_MS * 6);
    world.pass(0);
    for (let i = 5; i >= 0; i--) world.capture(true, world.now - i * CHUNK_MS);
    world.pass(CHUNK_MS * 6);
    expect(world.wire).toBe(`sssssf${'s'.repeat(6)}`);
  });

  it('marks as queued what came in while there was no stream, or behind others, and nothing else', () => {
    const world = new World().goConfiguring();
    world.speak(3);
    world.taskRuns();
    world.pass(CHUNK_MS * 3);
    world.speak(1);
    expect(world.all('send_audio').map(({ queued }) => queued)).toEqual([true, true, true, false]);
  });
});

describe('the microphone', () => {
  it('is lost and back: told once each', () => {
    const world = new World().goLive();
    world.fault('capture', 'lost');
    world.fault('capture', 'not_found');
    expect(world.notes).toEqual(['session_started', 'audio_lost']);
    expect(world.last('notify').detail).toEqual({
      device: 'capture',
      code: 'lost',
      message: 'the capture device is gone',
    });
    expect(world.state).toMatchObject({ captureLost: true, problem: { code: 'capture_not_found' } });
    world.speak(3);
    expect(world.notes).toEqual(['session_started', 'audio_lost', 'audio_back']);
    expect(world.last('notify').detail).toEqual({ device: 'capture' });
    expect(world.state.captureLost).toBe(false);
  });

  it('that is lost does not end the session', () => {
    const world = new World().goLive();
    world.fault('capture');
    world.pass(60_000);
    expect(world.phase).toBe('live');
  });

  it('is not "back" after a stop, because it is another one then', () => {
    const world = new World().goAcquiring();
    world.fault('capture');
    world.stop();
    world.start();
    world.speak(1);
    expect(world.notes).toEqual(['audio_lost']);
  });

  it('that still delivers when nobody listens is not heard', () => {
    const world = new World();
    world.capture();
    expect(world.accounts.captured).toBe(0);
  });

  it('is not the loudspeaker', () => {
    const world = new World().goLive();
    world.fault('playback', 'busy');
    world.fault('playback', 'busy');
    expect(world.notes).toEqual(['session_started', 'audio_lost']);
    expect(world.last('notify').detail).toMatchObject({ device: 'playback', code: 'busy' });
    expect(world.state).toMatchObject({ captureLost: false, problem: { code: 'playback_busy' } });
  });
});
