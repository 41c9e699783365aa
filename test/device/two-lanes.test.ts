import { describe, expect, it } from 'vitest';
import type { AgentDeps } from '../../src/device/deps/deps.ts';
import type { AudioFault, CaptureSink } from '../../src/ports/audio.ts';
import type { Config } from '../../src/protocol/config.ts';
import { closed, ready } from '../service-events.ts';
import { BASE, createFakeDeps, type FakeStream, testConfig } from './fake-deps.ts';

/** Two languages at one counter: each lane has its own microphone, loudspeaker and stream. */
function twoLanes(): Config {
  const config = testConfig();
  const [main] = config.lanes;
  if (main === undefined) throw new Error('no lane');
  return { ...config, lanes: [main, { ...main, id: 'back', source: 'de', targets: ['fr'] }] };
}

type Id = 'main' | 'back';
const IDS: readonly Id[] = ['main', 'back'];
const GONE: AudioFault = { code: 'lost', message: 'it is unplugged' };

function createTwoLanes(spoil: (deps: AgentDeps) => AgentDeps = (deps) => deps) {
  const microphones = new Map<string, CaptureSink>();
  const deps = createFakeDeps(twoLanes(), {}, (given) =>
    spoil({
      ...given,
      openAudio: (lane) => {
        const audio = given.openAudio(lane);
        return {
          ...audio,
          openCapture: (sink) => {
            microphones.set(lane.id, sink);
            return audio.openCapture(sink);
          },
        };
      },
    }),
  );
  const lane = (id: Id) => {
    const found = deps.agent.lanes.find((one) => one.id === id);
    if (found === undefined) throw new Error(`no lane ${id}`);
    return found;
  };
  const streamOf = (id: Id): FakeStream => {
    const found = deps.streams.findLast(({ token }) => token.startsWith(`token-of-${id}`));
    if (found === undefined) throw new Error(`lane ${id} has no stream`);
    return found;
  };
  /** The backend answers the last request of a lane with a token that names the lane. */
  const grant = (id: Id): void => {
    const request = deps.sent('token/req').findLast(({ body }) => body['lane'] === id);
    deps.deliver(`${BASE}/token/res`, {
      id: request?.body['id'],
      ok: true,
      session: deps.session({ token: `token-of-${id}` }),
      stream_url: 'wss://service.example/{random_hash}/v1',
    });
  };
  const run = (id: Id): void => {
    streamOf(id).listener.opened();
    deps.clock.advance(2800);
    streamOf(id).listener.said(ready());
  };
  const phases = () => IDS.map((id) => lane(id).phase);
  /** One chunk of a tone at one microphone. @returns the chunks with sound that each lane's stream received from it */
  const speak = (id: Id): number[] => {
    const sounds = (one: Id): number =>
      deps.streams
        .filter(({ token }) => token.includes(`token-of-${one}`))
        .reduce((sum, { audio }) => sum + audio.filter((pcm) => pcm.some((byte) => byte !== 0)).length, 0);
    const before = IDS.map(sounds);
    deps.clock.advance(320);
    const pcm = new Uint8Array(5120 * 2);
    const view = new DataView(pcm.buffer);
    for (let i = 0; i < 5120; i++) view.setInt16(i * 2, i % 2 === 0 ? 8000 : -8000, true);
    microphones.get(id)?.frames(pcm, deps.clock.now());
    return IDS.map((one, index) => sounds(one) - (before[index] ?? 0));
  };
  return {
    deps,
    lane,
    streamOf,
    grant,
    run,
    phases,
    speak,
    fault: (id: Id) => microphones.get(id)?.fault(GONE),
    status: () => deps.sent('status').at(-1)?.body,
    async goLive() {
      await deps.agent.start();
      deps.brokerUp();
      for (const id of ['back', 'main'] as const) {
        grant(id);
        run(id);
      }
    },
  };
}

describe('two lanes of one device', () => {
  it('request one token each, and get their own, in whatever order the answers arrive', async () => {
    const two = createTwoLanes();
    await two.goLive();
    const asked = two.deps.sent('token/req').map(({ body }) => body['lane']);
    expect(asked).toEqual(['main', 'back']);
    expect(two.phases()).toEqual(['live', 'live']);
    expect(two.streamOf('main').calls[0]).toContain('"source":"en"');
    expect(two.streamOf('back').calls[0]).toContain('"source":"de"');
    const targets = two.streamOf('back').calls[0];
    expect(targets).toContain('"targets":["fr"]');
    expect(targets).not.toContain('"es"');
  });

  it('receive only their own microphone', async () => {
    const two = createTwoLanes();
    await two.goLive();
    expect(two.speak('main')).toEqual([1, 0]);
    expect(two.speak('back')).toEqual([0, 1]);
  });

  it('get separate answers: the denial of one does not affect the other', async () => {
    const two = createTwoLanes();
    await two.deps.agent.start();
    two.deps.brokerUp();
    two.grant('main');
    two.run('main');
    const request = two.deps.sent('token/req').findLast(({ body }) => body['lane'] === 'back');
    two.deps.deliver(`${BASE}/token/res`, {
      id: request?.body['id'],
      ok: false,
      error: { code: 'disabled', title: 'no', detail: 'no', final: true },
    });
    expect(two.phases()).toEqual(['live', 'parked']);
    expect(two.deps.sent('event/parked').map(({ body }) => body['lane'])).toEqual(['back']);
    expect(two.status()).toMatchObject({ status: 'degraded', reasons: ['parked:back/token_denied_final'] });
    expect(two.speak('main')).toEqual([1, 0]);
  });

  it('lose their streams separately: the other one keeps streaming', async () => {
    const two = createTwoLanes();
    await two.goLive();
    two.streamOf('back').listener.said(closed());
    expect(two.phases()).toEqual(['live', 'waiting']);
    expect(two.speak('main')).toEqual([1, 0]);
    for (let s = 0; s < 10 && two.lane('back').phase !== 'acquiring'; s++) {
      two.deps.clock.advance(1000);
    }
    two.grant('back');
    two.run('back');
    expect(two.speak('back').at(1)).toBeGreaterThan(0);
  });

  it('lose their devices separately, and the reason names the lane', async () => {
    const two = createTwoLanes();
    await two.goLive();
    two.fault('back');
    expect(two.status()).toMatchObject({ status: 'degraded', reasons: ['capture:back/lost'] });
    expect(two.deps.sent('event/audio_lost').map(({ body }) => body['lane'])).toEqual(['back']);
    expect(two.speak('main')).toEqual([1, 0]);
    expect(two.speak('back')).toEqual([0, 1]);
    expect(two.status()).toMatchObject({ status: 'ready', reasons: [] });
  });

  it('do not share the fault of a port: one restarts or continues without it, the other keeps streaming', async () => {
    let isBroken = true;
    const two = createTwoLanes((given) => ({
      ...given,
      openAudio: (lane) => ({
        ...given.openAudio(lane),
        ...(lane.id === 'back'
          ? {
              openPlayback: () => {
                throw new TypeError('no such device');
              },
            }
          : {}),
      }),
      openStream: (target, listener) => {
        const stream = given.openStream(target, listener);
        if (!isBroken || !target.token.includes('token-of-back')) return stream;
        const sendAudio = (): never => {
          throw new TypeError('broken');
        };
        return { ...stream, sendAudio };
      },
    }));
    two.deps.expectDefects();
    await two.goLive();
    two.speak('back');
    expect(two.phases()).toEqual(['live', 'waiting']);
    expect(two.deps.sent('event/internal_error').map(({ body }) => body['lane'])).toEqual(['back']);
    expect(two.status()?.['reasons']).toEqual(['playback:back/lost']);
    expect(two.speak('main')).toEqual([1, 0]);
    isBroken = false;
    for (let s = 0; s < 20 && two.lane('back').phase !== 'acquiring'; s++) {
      two.deps.clock.advance(1000);
    }
    two.grant('back');
    two.run('back');
    expect(two.phases()).toEqual(['live', 'live']);
    expect(two.speak('main')).toEqual([1, 0]);
  });

  it('obey a command together, or only the named one', async () => {
    const two = createTwoLanes();
    await two.goLive();
    const muted = () => IDS.map((id) => two.lane(id).state.options.muted);
    const lanesIn = (name: string) => {
      const data = two.deps.answers(name).at(-1)?.['data'] as { lanes: { id: string }[] };
      return data.lanes.map(({ id }) => id);
    };
    two.deps.command('mute', { id: 'm1', args: { lane: 'back' } });
    expect(muted()).toEqual([false, true]);
    expect(lanesIn('mute')).toEqual(['back']);
    two.deps.command('mute', { id: 'm2' });
    expect(muted()).toEqual([true, true]);
    expect(lanesIn('mute')).toEqual(['main', 'back']);
    two.deps.command('unmute', { id: 'm3' });
    two.deps.command('languages', { id: 'l1', args: { lane: 'back', targets: ['it'] } });
    expect(IDS.map((id) => two.lane(id).state.options.targets)).toEqual([['es'], ['it']]);
    two.deps.command('stop', { id: 's1', args: { lane: 'main' } });
    expect(two.phases()).toEqual(['draining', 'configuring']);
    two.deps.command('stop', { id: 's2', args: { lane: 'side' } });
    expect(two.deps.answers('stop').at(-1)).toMatchObject({
      status: 'error',
      error: { code: 'unknown_lane', message: expect.stringContaining('main, back') },
    });
  });

  it('are listed separately in the state, and an idle one does not hide the other', async () => {
    const two = createTwoLanes();
    await two.goLive();
    two.deps.command('stop', { id: 's1', args: { lane: 'back' } });
    two.streamOf('back').listener.said(closed('closed'));
    two.deps.clock.advance(2000);
    expect(two.deps.sent('state').at(-1)?.body).toMatchObject({
      lanes: [
        { id: 'main', phase: 'live' },
        { id: 'back', phase: 'idle' },
      ],
    });
    expect(two.status()).toMatchObject({ status: 'idle', reasons: ['stopped:back'] });
  });

  it('end together', async () => {
    const two = createTwoLanes();
    await two.goLive();
    const stopping = two.deps.agent.stop();
    expect(IDS.every((id) => two.streamOf(id).calls.includes('end'))).toBe(true);
    two.streamOf('back').listener.said(closed('closed'));
    await two.deps.clock.elapse(10_000);
    await stopping;
    expect(two.phases()).toEqual(['closed', 'closed']);
    expect(two.deps.openMicrophones).toBe(0);
    expect(two.deps.clock.armed).toBe(0);
    expect(JSON.stringify(two.deps.finale)).toContain('offline');
  });
});
