import { describe, expect, it } from 'vitest';
import { AudioFaultError } from '../../src/adapters/audio/fault.ts';
import type { Capture, CaptureSink, Playback, PlaybackSink } from '../../src/ports/audio.ts';
import type { OpenEchoCanceller } from '../../src/ports/echo.ts';
import { ready } from '../service-events.ts';
import { createFakeDeps, type FakeDeps, testConfig } from './fake-deps.ts';

const FULL = new AudioFaultError('failed', 'cannot write out.wav: the disk is full; free some space');
const WORDS = { code: 'failed', message: FULL.message };

const phaseOf = (deps: FakeDeps): string | undefined => deps.agent.lanes[0]?.phase;
const lostOf = (deps: FakeDeps) => deps.sent('event/audio_lost').map(({ body }) => body);

/** A world whose loudspeaker opens when the test says so. */
function slowLoudspeaker() {
  let opened: (playback: Playback) => void = () => {};
  const opening = new Promise<Playback>((resolve) => {
    opened = resolve;
  });
  const deps = createFakeDeps(testConfig(), {}, (given) => ({
    ...given,
    openAudio: (lane) => ({ ...given.openAudio(lane), openPlayback: () => opening }),
  }));
  let closed = 0;
  const playback: Playback = {
    mixer: null,
    flush() {},
    write: () => ({ from: deps.clock.now(), until: deps.clock.now() }),
    close: async () => void closed++,
  };
  return { deps, open: () => opened(playback), closed: () => closed };
}

describe('a report of an audio device', () => {
  it('is published with its text when a loudspeaker reports it', async () => {
    const deps = createFakeDeps();
    await deps.goLive();
    deps.loudspeaker.fault(FULL);
    deps.clock.advance(1000);
    expect(lostOf(deps)).toMatchObject([{ device: 'playback', ...WORDS }]);
    expect(deps.sent('state').at(-1)?.body).toMatchObject({
      lanes: [{ last_error: { code: 'playback_failed', message: FULL.message } }],
    });
  });

  it('is published with its text when a microphone reports it', async () => {
    const deps = createFakeDeps();
    await deps.goLive();
    deps.microphoneFault(FULL);
    expect(lostOf(deps)).toMatchObject([{ device: 'capture', ...WORDS }]);
  });

  it.each(['openCapture', 'openPlayback'] as const)(
    'is published with its code when %s fails',
    async (part) => {
      const missing = new AudioFaultError('not_found', 'cannot read in.wav: there is no such file');
      const deps = createFakeDeps(testConfig(), {}, (given) => ({
        ...given,
        openAudio: (lane) => ({ ...given.openAudio(lane), [part]: () => Promise.reject(missing) }),
      }));
      await deps.goLive();
      const device = part === 'openCapture' ? 'capture' : 'playback';
      expect(lostOf(deps)).toMatchObject([{ device, code: 'not_found', message: missing.message }]);
    },
  );

  it('is published when the real driver cannot write its file', async () => {
    const { createFilePlayback } = await import('../../src/adapters/audio/file-playback.ts');
    const deps = createFakeDeps(testConfig(), {}, (given) => ({
      ...given,
      openAudio: (lane) => ({
        ...given.openAudio(lane),
        openPlayback: createFilePlayback({
          path: '/nowhere/at/all.wav',
          rateHz: 24_000,
          maxMs: 60_000,
          clock: given.clock,
        }),
      }),
    }));
    await deps.goLive();
    deps.clock.advance(1000);
    expect(lostOf(deps)[0]?.['message']).toMatch(/^cannot write \/nowhere\/at\/all\.wav: /);
  });
});

describe('a loudspeaker that does not open', () => {
  it('lets the lane start, and is reported after a delay', async () => {
    const { deps } = slowLoudspeaker();
    const started = deps.agent.start();
    deps.brokerUp();
    await deps.clock.elapse(2900);
    expect(lostOf(deps)).toEqual([]);
    await deps.clock.elapse(200);
    await started;
    expect(phaseOf(deps)).toBe('acquiring');
    expect(lostOf(deps)).toMatchObject([{ device: 'playback', code: 'hung' }]);
    expect(lostOf(deps)[0]?.['message']).toMatch(/has not opened within 3 s/);
    expect(deps.sent('status').at(-1)?.body).toMatchObject({ reasons: ['playback:lost'] });
    deps.grant();
    deps.lastStream().listener.opened();
    deps.clock.advance(2800);
    deps.service(ready());
    deps.speak();
    expect(deps.lastStream().audio).toHaveLength(1);
  });

  it('plays from then on when it opens late', async () => {
    const { deps, open } = slowLoudspeaker();
    void deps.agent.start();
    deps.brokerUp();
    await deps.clock.elapse(5000);
    open();
    await deps.clock.elapse(100);
    expect(deps.sent('event/audio_back')).toHaveLength(1);
    expect(deps.sent('status').at(-1)?.body).toMatchObject({ reasons: [] });
  });

  it('is closed when it opens after the agent has ended', async () => {
    const { deps, open, closed } = slowLoudspeaker();
    void deps.agent.start();
    await deps.clock.elapse(5000);
    const stopping = deps.agent.stop();
    await deps.clock.elapse(100);
    await stopping;
    open();
    await deps.clock.elapse(100);
    expect(closed()).toBe(1);
  });

  it('does not delay the other lanes', async () => {
    const opened: string[] = [];
    const sinks: PlaybackSink[] = [];
    const config = testConfig();
    const [main] = config.lanes;
    if (main === undefined) throw new Error('no lane');
    const two = { ...config, lanes: [main, { ...main, id: 'second' }] };
    const deps = createFakeDeps(two, {}, (given) => ({
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
    void deps.agent.start();
    await deps.clock.elapse(10);
    expect(opened).toEqual(['main', 'second']);
    expect(deps.agent.lanes.map(({ phase }) => phase)).toEqual(['idle', 'acquiring']);
  });
});

describe('a microphone that does not open', () => {
  /** Returns what it receives, at once. */
  const openEchoCanceller: OpenEchoCanceller = (_rates, sink) => {
    queueMicrotask(() => sink.ready());
    return { played() {}, flushed() {}, captured: (pcm, at) => sink.frames(pcm, at), close() {} };
  };

  /** A world whose microphone opens when the test says so. */
  function slowMicrophone(lane: Record<string, unknown> = {}) {
    let opened: (capture: Capture) => void = () => {};
    let sink: CaptureSink | null = null;
    let closed = 0;
    const deps = createFakeDeps(testConfig(lane), { openEchoCanceller }, (given) => ({
      ...given,
      openAudio: (config) => ({
        ...given.openAudio(config),
        openCapture: (frames) => {
          sink = frames;
          return new Promise<Capture>((resolve) => {
            opened = resolve;
          });
        },
      }),
    }));
    return {
      deps,
      open: () => opened({ close: async () => void closed++ }),
      hear: () => sink?.frames(new Uint8Array(10_240), deps.clock.now()),
      closed: () => closed,
    };
  }
  const reasonsOf = (deps: FakeDeps) => deps.sent('status').at(-1)?.body['reasons'];
  const capturesLost = (deps: FakeDeps) => lostOf(deps).filter(({ device }) => device === 'capture');

  it.each([
    ['of a lane that streams', {}],
    ['in standby', { start: 'voice' }],
    ['with the canceller on', { echo: 'cancel' }],
  ])('%s is reported once after a delay, and again when it opens', async (_which, lane) => {
    const { deps, open, hear } = slowMicrophone(lane);
    await deps.agent.start();
    deps.brokerUp();
    await deps.clock.elapse(9900);
    expect(lostOf(deps)).toEqual([]);
    await deps.clock.elapse(100);
    expect(lostOf(deps)).toMatchObject([{ device: 'capture', code: 'hung' }]);
    expect(lostOf(deps)[0]?.['message']).toMatch(/has not opened within 10 s/);
    expect(reasonsOf(deps)).toContain('capture:lost');
    await deps.clock.elapse(60_000);
    expect(lostOf(deps)).toHaveLength(1);
    open();
    await deps.clock.elapse(100);
    // An open microphone may still deliver nothing.
    expect(reasonsOf(deps)).toContain('capture:lost');
    hear();
    expect(deps.sent('event/audio_back')).toMatchObject([{ body: { device: 'capture' } }]);
    expect(reasonsOf(deps)).not.toContain('capture:lost');
    await deps.clock.elapse(30_000);
    expect(lostOf(deps)).toHaveLength(1);
  });

  it('is reported in the state with its own reason when it fails late, and is retried', async () => {
    let tries = 0;
    const deps = createFakeDeps(testConfig(), {}, (given) => ({
      ...given,
      openAudio: (config) => ({
        ...given.openAudio(config),
        openCapture: async (sink, short) => {
          if (++tries > 1) return given.openAudio(config).openCapture(sink, short);
          await new Promise<void>((resolve) => given.clock.at(given.clock.now() + 15_000, resolve));
          throw new AudioFaultError('busy', 'the microphone is busy');
        },
      }),
    }));
    await deps.goLive();
    await deps.clock.elapse(15_000);
    expect(capturesLost(deps)).toMatchObject([{ code: 'hung' }, { code: 'busy' }]);
    expect(deps.agent.lanes[0]?.state.deviceFaults.capture).toMatchObject({ code: 'capture_busy' });
    await deps.clock.elapse(2000);
    deps.speak();
    expect(deps.sent('event/audio_back')).toHaveLength(1);
  });

  it('is not reported when it opens in time', async () => {
    const { deps, open, hear } = slowMicrophone();
    await deps.goLive();
    open();
    for (let tick = 0; tick < 40; tick++) {
      await deps.clock.elapse(500);
      hear();
    }
    expect(capturesLost(deps)).toEqual([]);
  });

  it.each(['stop', 'end'])(
    'is not reported when the %s comes first, and is closed when it opens',
    async (how) => {
      const { deps, open, hear, closed } = slowMicrophone();
      await deps.goLive();
      if (how === 'end') void deps.agent.stop();
      else deps.command(how, { id: 'c' });
      await deps.clock.elapse(20_000);
      open();
      await deps.clock.elapse(1000);
      hear();
      await deps.clock.elapse(20_000);
      expect(closed()).toBe(1);
      expect(capturesLost(deps)).toEqual([]);
      expect(deps.sent('event/audio_back')).toEqual([]);
    },
  );
});
