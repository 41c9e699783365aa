import { describe, expect, it } from 'vitest';
import { AudioFaultError } from '../../src/adapters/audio/fault.ts';
import type { Playback, PlaybackSink } from '../../src/ports/audio.ts';
import { createFakeWorld, type FakeWorld, testConfig } from './fake-world.ts';

const FULL = new AudioFaultError('failed', 'cannot write out.wav: the disk is full; free some space');
const WORDS = { code: 'failed', message: FULL.message };

const phaseOf = (world: FakeWorld): string | undefined => world.agent.lanes[0]?.state.phase;
const lostOf = (world: FakeWorld) => world.sent('event/audio_lost').map(({ body }) => body);

/** A world whose loudspeaker opens when the test says so. */
function slowLoudspeaker() {
  let opened: (playback: Playback) => void = () => {};
  const opening = new Promise<Playback>((resolve) => {
    opened = resolve;
  });
  const world = createFakeWorld(testConfig(), {}, (given) => ({
    ...given,
    openAudio: (lane) => ({ ...given.openAudio(lane), openPlayback: () => opening }),
  }));
  let closed = 0;
  const playback: Playback = {
    ...{ mixer: null, flush() {} },
    write: () => world.clock.now(),
    close: async () => void closed++,
  };
  return { world, open: () => opened(playback), closed: () => closed };
}

describe('what an audio device tells', () => {
  it('reaches the owner with its words, from a loudspeaker', async () => {
    const world = createFakeWorld();
    await world.goLive();
    world.loudspeaker.fault(FULL);
    world.clock.advance(1000);
    expect(lostOf(world)).toMatchObject([{ device: 'playback', ...WORDS }]);
    expect(world.sent('state').at(-1)?.body).toMatchObject({
      lanes: [{ last_error: { code: 'playback_failed', message: FULL.message } }],
    });
  });

  it('and from a microphone', async () => {
    const world = createFakeWorld();
    await world.goLive();
    world.microphoneFault(FULL);
    expect(lostOf(world)).toMatchObject([{ device: 'capture', ...WORDS }]);
  });

  it.each(['openCapture', 'openPlayback'] as const)('and from %s, with its code', async (part) => {
    const missing = new AudioFaultError('not_found', 'cannot read in.wav: there is no such file');
    const world = createFakeWorld(testConfig(), {}, (given) => ({
      ...given,
      openAudio: (lane) => ({ ...given.openAudio(lane), [part]: () => Promise.reject(missing) }),
    }));
    await world.goLive();
    const device = part === 'openCapture' ? 'capture' : 'playback';
    expect(lostOf(world)).toMatchObject([{ device, code: 'not_found', message: missing.message }]);
  });

  it('and from a file that is written, through the real driver', async () => {
    const { createFilePlayback } = await import('../../src/adapters/audio/file-playback.ts');
    const world = createFakeWorld(testConfig(), {}, (given) => ({
      ...given,
      openAudio: (lane) => ({
        ...given.openAudio(lane),
        openPlayback: createFilePlayback({ path: '/nowhere/at/all.wav', rateHz: 24_000, clock: given.clock }),
      }),
    }));
    await world.goLive();
    world.clock.advance(1000);
    expect(lostOf(world)[0]?.['message']).toMatch(/^cannot write \/nowhere\/at\/all\.wav: /);
  });
});

describe('a loudspeaker that does not open', () => {
  it('keeps no lane from starting, and is told after a while', async () => {
    const { world } = slowLoudspeaker();
    const started = world.agent.start();
    world.brokerUp();
    await world.clock.elapse(2900);
    expect(lostOf(world)).toEqual([]);
    await world.clock.elapse(200);
    await started;
    expect(phaseOf(world)).toBe('acquiring');
    expect(lostOf(world)).toMatchObject([{ device: 'playback', code: 'hung' }]);
    expect(lostOf(world)[0]?.['message']).toMatch(/has not opened within 3 s/);
    expect(world.sent('status').at(-1)?.body).toMatchObject({ reasons: ['playback:lost'] });
    world.grant();
    world.lastStream().listener.opened();
    world.clock.advance(2800);
    world.service({ message_type: 'current_task', data: {} });
    world.speak();
    expect(world.lastStream().audio).toHaveLength(1);
  });

  it('sounds from then on when it opens late', async () => {
    const { world, open } = slowLoudspeaker();
    void world.agent.start();
    world.brokerUp();
    await world.clock.elapse(5000);
    open();
    await world.clock.elapse(100);
    expect(world.sent('event/audio_back')).toHaveLength(1);
    expect(world.sent('status').at(-1)?.body).toMatchObject({ reasons: [] });
  });

  it('is closed when it opens after the end', async () => {
    const { world, open, closed } = slowLoudspeaker();
    void world.agent.start();
    await world.clock.elapse(5000);
    const stopping = world.agent.stop();
    await world.clock.elapse(100);
    await stopping;
    open();
    await world.clock.elapse(100);
    expect(closed()).toBe(1);
  });

  it('is asked for at once: other lanes do not wait for it', async () => {
    const opened: string[] = [];
    const sinks: PlaybackSink[] = [];
    const config = testConfig();
    const [main] = config.lanes;
    if (main === undefined) throw new Error('no lane');
    const two = { ...config, lanes: [main, { ...main, id: 'second' }] };
    const world = createFakeWorld(two, {}, (given) => ({
      ...given,
      openAudio: (lane) => ({
        ...given.openAudio(lane),
        openPlayback: (sink) => {
          opened.push(lane.id);
          sinks.push(sink);
          return lane.id === 'main' ? new Promise(() => {}) : given.openAudio(lane).openPlayback(sink);
        },
      }),
    }));
    void world.agent.start();
    await world.clock.elapse(10);
    expect(opened).toEqual(['main', 'second']);
    expect(world.agent.lanes.map(({ state }) => state.phase)).toEqual(['idle', 'acquiring']);
  });
});
