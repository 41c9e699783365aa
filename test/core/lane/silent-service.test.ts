import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS, type LaneSettings } from '../../../src/core/lane/settings.ts';
import { behave } from './behaviour.ts';
import { World as AnyWorld, CHUNK_MS } from './world.ts';

class World extends AnyWorld {
  constructor(settings: Partial<LaneSettings> = {}) {
    super({ settings: { silentAskMs: LANE_DEFAULTS.silentAskMs, ...settings } });
  }
}

const { silentAskMs, silentAnswerMs, silentGoOnMs, pollMs } = LANE_DEFAULTS;
const CHUNKS_A_SECOND = 1000 / CHUNK_MS;
const HOUR_CHUNKS = 3600 * CHUNKS_A_SECOND;
const task = { message_type: 'current_task', data: { task_status: 'running' } } as const;

/** Someone speaks until the lane asks whether anybody listens; returns how long that took. */
function speakUntilAsked(world: World, withinMs = 100_000): number {
  const polls = world.all('poll_task').length;
  const beganAt = world.now;
  while (world.all('poll_task').length === polls && world.now - beganAt < withinMs) world.speak(1);
  expect(world.all('poll_task').length).toBe(polls + 1);
  return world.last('poll_task').at - beganAt;
}

const ends = (world: World): number =>
  world
    .all('notify')
    .filter(({ kind, detail }) => kind === 'session_ended' && detail['cause'] === 'silent_service').length;

describe('a service that takes speech and says nothing', () => {
  it('is asked after twelve seconds, and left three seconds later, with the speech taken back', () => {
    const world = new World().goLive();
    const tookMs = speakUntilAsked(world);
    expect(tookMs).toBeGreaterThanOrEqual(silentAskMs);
    expect(tookMs).toBeLessThanOrEqual(silentAskMs + 1000);
    const spoken = world.all('send_audio').length;
    world.until(() => world.phase === 'waiting', silentAnswerMs + 10);
    expect(world.now - world.last('poll_task').at).toBe(silentAnswerMs);
    expect(world.last('notify')).toMatchObject({
      kind: 'session_ended',
      detail: { cause: 'silent_service' },
    });
    expect(world.state.problem).toMatchObject({ code: 'silent_service' });
    expect(world.state.counts.takenBack).toBe(spoken);
    expect(world.due('retry')).toBeLessThanOrEqual(1000);
    world.comeBack();
    expect(world.last('request_token')).toMatchObject({ reason: 'network' });
    const again = world.all('send_audio').length;
    world.hush(spoken);
    const seqs = (from: number, to: number) =>
      world
        .all('send_audio')
        .slice(from, to)
        .map(({ pcm }) => pcm);
    expect(seqs(again - 1, again - 1 + spoken)).toEqual(seqs(0, spoken));
  });

  it('is not asked when nobody speaks, nor for noise that is no voice', () => {
    const world = new World().goLive();
    const polls = world.all('poll_task').length;
    world.hush(200);
    for (let i = 0; i < 200; i++) {
      world.pass(CHUNK_MS);
      const levels = { loudestDb: -20, quietestDb: i % 3 === 0 ? -60 : -30, isSpeech: false };
      world.step({ type: 'captured', capturedAt: world.now, pcm: new Uint8Array(2), levels });
    }
    expect(world.all('poll_task')).toHaveLength(polls);
  });

  it.each([
    { message_type: 'warning', data: { code: 'AUDIO_STREAM_TOO_SLOW' } },
    { message_type: 'task_status', data: {} },
    { message_type: 'tts_buffer_stats', data: {} },
    { message_type: 'error', data: { code: 'RATE_LIMIT_EXCEEDED' } },
  ] as const)('is not asked as long as it says anything: $message_type', (message) => {
    const world = new World().goLive();
    const polls = world.all('poll_task').length;
    for (let i = 0; i < 12; i++) {
      world.speak(30);
      world.says(message);
    }
    expect(world.all('poll_task')).toHaveLength(polls);
    expect(world.phase).toBe('live');
  });

  it('is asked although pings are answered: they say nothing of speech', () => {
    const world = new World().goLive();
    expect(world.pongs).toBe(true);
    speakUntilAsked(world);
    expect(world.all('ping').length).toBeGreaterThan(3);
  });

  it('goes on for thirty seconds when it answers, and then is left', () => {
    const world = new World().goLive();
    speakUntilAsked(world);
    world.says(task);
    const answeredAt = world.now;
    while (world.phase === 'live' && world.now - answeredAt < 60_000) world.speak(1);
    expect(ends(world)).toBe(1);
    const goneOn = world.last('close_stream').at - answeredAt;
    expect(goneOn).toBeGreaterThanOrEqual(silentGoOnMs);
    expect(goneOn).toBeLessThanOrEqual(silentGoOnMs + 1000);
  });

  it('is not left for a cough after its answer', () => {
    const world = new World().goLive();
    behave(world);
    const polls = world.all('poll_task').length;
    for (let i = 0; i < 10; i++) {
      world.speak(2);
      world.hush(150);
    }
    expect(ends(world)).toBe(0);
    expect(world.all('poll_task').length).toBeGreaterThan(polls + 8);
  });

  it('begins anew when it says something of its own after the answer', () => {
    const world = new World().goLive();
    speakUntilAsked(world);
    world.says(task);
    world.speak(10);
    world.understands('a');
    expect(speakUntilAsked(world)).toBeLessThanOrEqual(silentAskMs + 1000);
    expect(ends(world)).toBe(0);
  });

  it('is asked no sooner than two seconds after another question', () => {
    const world = new World({ silentAskMs: 1200 }).goLive();
    world.speak(1);
    world.orders({ targets: ['fr'] });
    world.taskRuns();
    world.speak(20);
    const asked = world.all('poll_task').map(({ at }) => at);
    asked.slice(1).forEach((at, i) => {
      expect(at - (asked[i] ?? 0)).toBeGreaterThanOrEqual(pollMs);
    });
  });

  it('is not asked, nor left, while what it is sent does not leave', () => {
    const world = new World({ stuckMs: 120_000 }).goLive();
    world.speak(2);
    world.step({ type: 'congested', stream: world.stream });
    const polls = world.all('poll_task').length;
    world.hush(100);
    expect(world.all('poll_task')).toHaveLength(polls);
    world.step({ type: 'drained', stream: world.stream });
    world.hush(12);
    expect(world.all('poll_task')).toHaveLength(polls + 1);
  });

  it('leaves the way free for a successor that is on its way', () => {
    const world = new World().goReady();
    while (world.state.counts.takenBack === 0 && world.state.counts.rollovers === 0) world.speak(1);
    world.hush(10);
    expect(world.phase).toBe('live');
  });

  it('is found out while it retires, too', () => {
    const world = new World().goRetiring();
    const retiring = world.state.retiring?.stream.id ?? 0;
    expect(retiring).toBeGreaterThan(0);
    world.hush(60);
    // Its pings are answered, but neither what it owes comes, nor an end to the task.
    expect(world.state.retiring).toBeNull();
    expect(world.state.counts.takenBack).toBeGreaterThan(0);
  });
});

describe('a session that ends for its silence', () => {
  it('makes the next patience double when it is the second in a row without any text', () => {
    const world = new World().goLive();
    const waits: number[] = [];
    for (let i = 0; i < 4; i++) {
      // What was taken back is said again as soon as the session is up.
      const upAt = world.now;
      while (world.phase === 'live') world.speak(1);
      waits.push(world.last('poll_task').at - upAt);
      world.comeBack();
    }
    expect(ends(world)).toBe(4);
    for (const [i, wait] of waits.entries()) {
      const patience = i < 2 ? silentAskMs : 2 * silentAskMs;
      expect(wait).toBeGreaterThanOrEqual(patience);
      expect(wait).toBeLessThanOrEqual(patience + 1500);
    }
  });

  it.each(['text', 'sound'])('is forgotten with the first %s', (what) => {
    const world = new World().goLive();
    for (let i = 0; i < 2; i++) {
      while (world.phase === 'live') world.speak(1);
      world.comeBack();
    }
    expect(world.state.silentEnds.count).toBe(2);
    if (what === 'text') world.understands('a');
    else world.hear('a', 200, true);
    expect(world.state.silentEnds.count).toBe(0);
    const saidAt = world.now;
    const asked = saidAt + speakUntilAsked(world);
    expect(asked - saidAt).toBeLessThanOrEqual(silentAskMs + 1500);
  });

  it('comes at most twice in an hour of noise that is taken for speech, and its sessions are asked on', () => {
    const world = new World().goLive();
    behave(world);
    world.speak(HOUR_CHUNKS);
    expect(ends(world)).toBe(2);
    expect(world.all('poll_task').length).toBeGreaterThan(40);
    expect(world.phase).toBe('live');
  });

  it('comes again where it really is the service: one that answers nothing', () => {
    const world = new World().goLive();
    behave(world);
    world.speak(HOUR_CHUNKS / 4);
    expect(ends(world)).toBe(2);
    world.watchers.length = 0;
    while (world.phase === 'live' && ends(world) < 3) world.speak(1);
    expect(ends(world)).toBe(3);
  });
});
