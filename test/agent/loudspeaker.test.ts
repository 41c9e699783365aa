import { describe, expect, it } from 'vitest';
import { stateSchema } from '../../src/protocol/mqtt/device.ts';
import { createFakeWorld, type FakeWorld, testConfig } from './fake-world.ts';

const laneOf = (world: FakeWorld) => {
  const lane = world.agent.lanes[0];
  if (lane === undefined) throw new Error('no lane');
  return lane.state;
};

async function live(lane: Record<string, unknown> = {}): Promise<FakeWorld> {
  const world = createFakeWorld(testConfig(lane));
  await world.goLive();
  return world;
}

/** Translated speech of a steady level arrives. */
function say(world: FakeWorld, ms: number, last = true, value = 8000): void {
  const pcm = new Uint8Array(new Int16Array(ms * 24).fill(value).buffer);
  world.service({ message_type: 'output_audio', pcm, sentence: 's', language: null, utterance: 's', last });
}

const samplesOf = (pcm: Uint8Array): number[] => [...new Int16Array(pcm.slice().buffer)];
const stateNow = (world: FakeWorld) => {
  world.clock.advance(1000);
  return stateSchema.parse(world.sent('state').at(-1)?.body).lanes[0];
};

describe('the volume', () => {
  const playback = { driver: 'file', path: 'out.wav' };

  it('is the configured one to begin with, and reported', async () => {
    const world = await live({ playback: { ...playback, volume: 50 } });
    expect(stateNow(world)?.volume).toBe(50);
    say(world, 100);
    expect(new Set(samplesOf(world.played[0] ?? new Uint8Array()))).toEqual(new Set([1000]));
  });

  it('is changed by command, at once, and reported', async () => {
    const world = await live();
    world.command('volume', { id: 'v', args: { percent: 50 } });
    expect(world.answers('volume')).toEqual([
      expect.objectContaining({
        id: 'v',
        status: 'ok',
        data: { lanes: [expect.objectContaining({ id: 'main', volume: 50 })] },
      }),
    ]);
    say(world, 100);
    expect(new Set(samplesOf(world.played[0] ?? new Uint8Array()))).toEqual(new Set([1000]));
    expect(stateNow(world)?.volume).toBe(50);
  });

  it.each([
    [{ percent: 101 }, 'percent'],
    [{ percent: -1 }, 'percent'],
    [{ percent: 2.5 }, 'percent'],
    [{ percent: '5' }, 'percent'],
    [{}, 'percent'],
    [{ percent: 5, channel: 1 }, 'channel'],
  ])('refuses %j and names the argument', async (args, field) => {
    const world = await live();
    world.command('volume', { id: 'v', args });
    const [answer] = world.answers('volume');
    expect(answer).toMatchObject({ status: 'error', error: { code: 'invalid_args' } });
    expect(JSON.stringify(answer)).toContain(field);
    expect(laneOf(world).orders.volume).toBe(100);
  });

  it('refuses a lane that is not there', async () => {
    const world = await live();
    world.command('volume', { id: 'v', args: { lane: 'other', percent: 5 } });
    expect(world.answers('volume')[0]).toMatchObject({ error: { code: 'unknown_lane' } });
  });

  it('follows a changed configuration without a restart', async () => {
    const world = await live();
    const stale = world.agent.apply(testConfig({ playback: { ...playback, volume: 30 } }));
    expect(stale).toEqual([]);
    expect(stateNow(world)?.volume).toBe(30);
    // The same file read again changes nothing.
    world.command('volume', { id: 'v', args: { percent: 60 } });
    world.agent.apply(testConfig({ playback: { ...playback, volume: 30 }, standbyAfter: 60 }));
    expect(stateNow(world)?.volume).toBe(60);
    world.agent.apply(testConfig({ playback: { ...playback, volume: 31 } }));
    expect(stateNow(world)?.volume).toBe(31);
  });

  it('is no excuse for a device that has changed with it', async () => {
    const world = await live();
    const stale = world.agent.apply(testConfig({ playback: { ...playback, path: 'other.wav', volume: 30 } }));
    expect(stale).toEqual(['lanes']);
    expect(laneOf(world).orders.volume).toBe(30);
  });
});

describe('a loudspeaker that is behind', () => {
  it('closes the gate when it is heard, whatever else waits in the queue, and opens it a tail after', async () => {
    const world = await live();
    world.delayLoudspeaker(300);
    say(world, 640);
    // Captured before anything is heard: 280 ms after the write.
    world.speak(8000, 280);
    for (let i = 0; i < 6; i++) world.speak();
    const silent = world.lastStream().audio.map((pcm) => pcm.every((byte) => byte === 0));
    // Heard from 300 to 940, and the room until 1240: chunks that end at 600, 920 and 1240, and the one that begins then.
    expect(silent.slice(0, 7)).toEqual([false, true, true, true, false, false, false]);
  });

  it('keeps the gate closed for as long as it measures itself behind', async () => {
    const world = await live();
    say(world, 320);
    world.clock.advance(100);
    world.loudspeaker.measured(world.clock.now() + 1500);
    for (let i = 0; i < 8; i++) world.speak();
    const silent = world.lastStream().audio.map((pcm) => pcm.every((byte) => byte === 0));
    expect(silent.indexOf(false)).toBeGreaterThanOrEqual(5);
    expect(silent.at(-1)).toBe(false);
  });

  it('is measured from the wire to the ear where it was free, and only there', async () => {
    const world = await live();
    world.delayLoudspeaker(300);
    say(world, 500);
    world.clock.advance(2000);
    say(world, 500);
    world.clock.advance(100);
    const latency = world.agent.lanes[0]?.wireToSpeaker.summary();
    expect(latency).toMatchObject({ count: 2, p50: 300, max: 300 });
  });
});

describe('a loudspeaker that fails', () => {
  it('is told, makes the device degraded, and is well again when it is back', async () => {
    const world = await live();
    world.loudspeaker.fault({ code: 'lost', message: 'the loudspeaker is gone' });
    expect(world.sent('event/audio_lost').at(-1)?.body).toMatchObject({
      lane: 'main',
      device: 'playback',
      code: 'lost',
    });
    expect(world.sent('status').at(-1)?.body).toMatchObject({
      status: 'degraded',
      reasons: ['playback:lost'],
    });
    expect(stateNow(world)?.last_error).toMatchObject({ code: 'playback_lost' });
    world.loudspeaker.back();
    expect(world.sent('event/audio_back').at(-1)?.body).toMatchObject({ lane: 'main', device: 'playback' });
    expect(world.sent('status').at(-1)?.body).toMatchObject({ status: 'ready', reasons: [] });
    expect(stateNow(world)?.last_error).toBeNull();
  });
});

describe('speech that lags', () => {
  it('is told as an event, logged and counted', async () => {
    const world = await live();
    for (let i = 0; i < 8; i++) {
      const pcm = new Uint8Array(6000 * 48);
      world.service({
        message_type: 'output_audio',
        pcm,
        sentence: `${i}`,
        language: null,
        utterance: `${i}`,
        last: true,
      });
    }
    const events = world.sent('event/speech_dropped').map(({ body }) => body);
    expect(events).toHaveLength(3);
    expect(events[0]).toMatchObject({ lane: 'main', why: 'lag', sentences: 1, dropped_ms: 6000 });
    expect(world.logged.filter(([, text]) => text === 'event speech_dropped')).toHaveLength(3);
    world.command('status', { id: 's' });
    expect(world.answers('status')[0]).toMatchObject({
      data: { audio: [{ shed_sentences: 3, shed_ms: 18_000, playout_gaps: 0 }] },
    });
  });
});

describe('chimes', () => {
  const chimed = (world: FakeWorld): number => world.played.length;

  it('are kept out of a recording, unless they are wanted there', async () => {
    expect(chimed(await live())).toBe(0);
    expect(chimed(await live({ earcons: true }))).toBeGreaterThan(0);
  });

  it('sound on a real loudspeaker, unless they are not wanted', async () => {
    const playback = { driver: 'alsa' };
    expect(chimed(await live({ playback }))).toBeGreaterThan(0);
    expect(chimed(await live({ playback, earcons: false }))).toBe(0);
  });

  it('can be turned on and off while the agent runs', async () => {
    const world = await live();
    expect(world.agent.apply(testConfig({ earcons: true }))).toEqual([]);
    world.command('mute', { id: 'm' });
    expect(chimed(world)).toBeGreaterThan(0);
  });
});
