/** Lanes that a configuration adds, removes or changes when it is read again. */
import { describe, expect, it } from 'vitest';
import type { CaptureSink } from '../../../src/ports/audio.ts';
import type { Config } from '../../../src/protocol/config.ts';
import { ready, spoke } from '../../service-events.ts';
import { BASE, createFakeDeps, type FakeStream, testConfig } from '../fake-deps.ts';

const RATE_HZ = 16_000;
const MICROPHONE = { driver: 'command', command: ['rec'], sampleRate: RATE_HZ };
const LOUDSPEAKER = { driver: 'command', command: ['play'] };

/** A configuration with these lanes: the id, and what is special about each. */
function configured(lanes: Record<string, object>, more: object = {}): Config {
  const base = { capture: MICROPHONE, playback: LOUDSPEAKER, source: 'en', targets: ['es'] };
  const all = Object.entries(lanes).map(([id, special]) => ({ id, ...base, ...special }));
  return testConfig({}, { lanes: all, ...more });
}

/** An agent with live lanes; the test speaks into each microphone. */
async function live(config: Config) {
  const microphones = new Map<string, CaptureSink>();
  const devices: string[] = [];
  const deps = createFakeDeps(config, {}, (given) => ({
    ...given,
    openStream(target, listener) {
      const stream = given.openStream(target, listener);
      return { ...stream, ping: () => void deps.clock.at(deps.clock.now() + 20, () => listener.pong()) };
    },
    openAudio(lane) {
      const audio = given.openAudio(lane);
      const noted = <D extends { close(): Promise<void> }>(device: D, name: string): D => {
        devices.push(`+${name}`);
        const close = async (): Promise<void> => {
          devices.push(`-${name}`);
          await device.close();
        };
        return { ...device, close };
      };
      return {
        openCapture: async (sink, short) => {
          microphones.set(lane.id, sink);
          return noted(await audio.openCapture(sink, short), `${lane.id} ${lane.capture.sampleRate}`);
        },
        openPlayback: async (sink) => noted(await audio.openPlayback(sink), `${lane.id} out`),
      };
    },
  }));
  const answered = new Set<unknown>();
  /** The backend answers each request once, and the service takes each task. */
  const serve = async (): Promise<void> => {
    for (const { body } of deps.sent('token/req')) {
      if (answered.has(body['id'])) continue;
      answered.add(body['id']);
      deps.deliver(`${BASE}/token/res`, {
        id: body['id'],
        ok: true,
        session: deps.session({ token: `token-of-${body['lane']}` }),
        stream_url: 'wss://service.example/{random_hash}/v1',
      });
      const opened = deps.lastStream();
      opened.listener.opened();
      await deps.clock.elapse(2800);
      opened.listener.said(ready());
    }
  };
  const streamOf = (id: string): FakeStream => {
    const found = deps.streams.findLast(({ token }) => token === `token-of-${id}`);
    if (found === undefined) throw new Error(`lane ${id} has no stream`);
    return found;
  };
  /** One chunk at the microphone of a lane: a tone, or a quiet room. */
  const hear = (id: string, amplitude = 8000, rateHz = RATE_HZ): void => {
    const samples = rateHz * 0.32;
    const pcm = new Int16Array(samples).map((_, at) => (at % 2 === 0 ? amplitude : -amplitude));
    microphones.get(id)?.frames(new Uint8Array(pcm.buffer), deps.clock.now());
  };
  /** Chunks of a tone among those that the stream of this lane got. */
  const loudChunks = (id: string): number =>
    streamOf(id).audio.filter((pcm) => Math.abs(new Int16Array(pcm.slice().buffer)[100] ?? 0) > 4000).length;
  const phases = () => Object.fromEntries(deps.agent.lanes.map(({ id, phase }) => [id, phase]));
  await deps.agent.start();
  await deps.clock.elapse(0);
  deps.brokerUp();
  await serve();
  await deps.clock.elapse(5000);
  return { ...deps, deps, devices, serve, streamOf, hear, loudChunks, phases };
}

describe('a configuration that is read again', () => {
  it('begins a new lane, and the others go on without losing a chunk', async () => {
    const kiosk = await live(configured({ main: {} }));
    const { clock, agent } = kiosk;
    const before = kiosk.streamOf('main');
    for (let chunk = 0; chunk < 3; chunk += 1) {
      clock.advance(320);
      kiosk.hear('main');
    }
    expect(agent.apply(configured({ back: { targets: ['fr'] }, main: {} }))).toEqual([]);
    for (let chunk = 0; chunk < 3; chunk += 1) {
      await clock.elapse(320);
      kiosk.hear('main');
    }
    await kiosk.serve();
    expect(kiosk.phases()).toEqual({ back: 'live', main: 'live' });
    expect(kiosk.streamOf('main')).toBe(before);
    expect(before.calls.filter((call) => call === 'end')).toEqual([]);
    expect(kiosk.loudChunks('main')).toBe(6);
    kiosk.hear('back');
    expect(kiosk.loudChunks('back')).toBe(1);
    await clock.elapse(2000);
    expect(agent.publisher.status()).toEqual({ status: 'ready', reasons: [] });
    expect(kiosk.sent('state').at(-1)?.body).toMatchObject({
      lanes: [
        { id: 'back', targets: ['fr'] },
        { id: 'main', targets: ['es'] },
      ],
    });
    expect(agent.configuration.lanes.map(({ id }) => id)).toEqual(['back', 'main']);
    kiosk.command('mute', { id: 'c1', args: { lane: 'back' } });
    await clock.elapse(0);
    expect(kiosk.answers('mute')).toMatchObject([{ data: { lanes: [{ id: 'back' }] } }]);
  });

  it('tells a new lane whether broker and backend are there', async () => {
    const kiosk = await live(configured({ main: {} }));
    kiosk.bus.listener.down('unreachable', 'it is gone');
    kiosk.agent.apply(configured({ main: {}, back: {} }));
    await kiosk.clock.elapse(1000);
    const requests = () => kiosk.sent('token/req').filter(({ body }) => body['lane'] === 'back');
    expect(requests()).toEqual([]);
    kiosk.brokerUp(2);
    await kiosk.clock.elapse(3000);
    expect(requests()).toHaveLength(1);
  });

  it('ends a removed lane, frees its devices, and the others go on', async () => {
    const kiosk = await live(configured({ main: {}, back: {} }));
    const [main, back] = [kiosk.streamOf('main'), kiosk.streamOf('back')];
    kiosk.agent.apply(configured({ main: {} }));
    await kiosk.clock.elapse(5000);
    expect(back.calls).toContain('end');
    expect(main.calls).not.toContain('end');
    expect(kiosk.phases()).toEqual({ main: 'live' });
    expect(kiosk.devices.filter((name) => name.startsWith('-')).sort()).toEqual(['-back 16000', '-back out']);
    expect(kiosk.agent.publisher.status()).toEqual({ status: 'ready', reasons: [] });
    kiosk.command('mute', { id: 'c1', args: { lane: 'back' } });
    await kiosk.clock.elapse(0);
    expect(kiosk.answers('mute')).toMatchObject([{ error: { code: 'unknown_lane' } }]);
  });

  it.each<[string, object, object]>([
    ['another sample rate', {}, { capture: { ...MICROPHONE, sampleRate: 48_000 } }],
    ['another lead of the rollover', {}, { rolloverLead: 60 }],
    ['a recording instead of its loudspeaker', {}, { playback: { driver: 'file', path: 'out.wav' } }],
  ])('begins a lane with %s anew, with what an operator has set', async (_, before, after) => {
    const kiosk = await live(configured({ main: before, back: {} }));
    const { clock, agent } = kiosk;
    kiosk.command('volume', { id: 'c1', args: { lane: 'main', percent: 30 } });
    kiosk.command('mute', { id: 'c2', args: { lane: 'main' } });
    expect(agent.apply(configured({ main: { ...after, targets: ['de'] }, back: {} }))).toEqual([]);
    await clock.elapse(5000);
    // The old devices are free before the new ones open: a sound card has room for one.
    const own = kiosk.devices.filter((name) => name.includes('main'));
    expect(own.slice(2, 4).sort()).toEqual(['-main 16000', '-main out']);
    expect(own.slice(4).every((name) => name.startsWith('+'))).toBe(true);
    await kiosk.serve();
    expect(kiosk.phases()).toEqual({ main: 'live', back: 'live' });
    expect(agent.lanes[0]?.state.options).toMatchObject({ volume: 30, muted: true, targets: ['de'] });
    expect(kiosk.streamOf('back').calls).not.toContain('end');
    expect(agent.publisher.status()).toEqual({ status: 'idle', reasons: ['muted:main'] });
  });

  it('begins a lane anew without what a visitor has set in the conversation that it ends', async () => {
    const kiosk = await live(configured({ main: {} }, { conversation: { notice: false } }));
    const { clock, agent } = kiosk;
    kiosk.command('volume', { id: 'c1', args: { percent: 30 } });
    await clock.elapse(0);
    await agent.carryOut('volume', { percent: 95 });
    await agent.carryOut('mute', {});
    agent.apply(configured({ main: { rolloverLead: 60 } }, { conversation: { notice: false } }));
    await clock.elapse(5000);
    await kiosk.serve();
    expect(kiosk.phases()).toEqual({ main: 'live' });
    expect(agent.lanes[0]?.state.settings.rollLeadMs).toBe(60_000);
    expect(agent.lanes[0]?.state.options.volume).toBe(30);
    expect(agent.publisher.status()).toEqual({ status: 'ready', reasons: [] });
  });

  it('leaves a changed lane stopped that an operator has stopped', async () => {
    const kiosk = await live(configured({ main: {} }));
    kiosk.command('stop', { id: 'c1' });
    await kiosk.clock.elapse(4000);
    const published = kiosk.sent('status').length;
    kiosk.agent.apply(configured({ main: { rolloverLead: 60 } }));
    await kiosk.clock.elapse(5000);
    expect(kiosk.phases()).toEqual({ main: 'idle' });
    expect(kiosk.agent.lanes[0]?.state.settings.rollLeadMs).toBe(60_000);
    // Not even for a moment does it claim to be ready.
    const after = kiosk.sent('status').slice(published);
    expect(after.filter(({ body }) => body['status'] !== 'idle')).toEqual([]);
  });

  it('lets a lane finish its sentence before it changes', async () => {
    const kiosk = await live(configured({ main: {} }));
    const { clock, agent } = kiosk;
    const stream = kiosk.streamOf('main');
    for (let chunk = 0; chunk < 4; chunk += 1) {
      clock.advance(320);
      kiosk.hear('main');
    }
    agent.apply(configured({ main: { rolloverLead: 60 } }));
    await clock.elapse(1000);
    kiosk.hear('main', 1);
    stream.listener.said(spoke(new Uint8Array(48_000 * 4), { sentence: 'a', utterance: 'a', last: true }));
    await clock.elapse(3000);
    expect(stream.calls).not.toContain('end');
    expect(agent.configuration.lanes[0]?.rolloverLead).toBe(22);
    await clock.elapse(45_000);
    expect(stream.calls).toContain('end');
    expect(agent.configuration.lanes[0]?.rolloverLead).toBe(60);
  });

  it('changes a lane after a minute although somebody speaks all the time', async () => {
    const kiosk = await live(configured({ main: {} }));
    const leadNow = () => kiosk.agent.configuration.lanes[0]?.rolloverLead;
    kiosk.hear('main');
    kiosk.agent.apply(configured({ main: { rolloverLead: 60 } }));
    const speakFor = async (chunks: number): Promise<void> => {
      for (let chunk = 0; chunk < chunks; chunk += 1) {
        await kiosk.clock.elapse(320);
        kiosk.hear('main');
      }
    };
    await speakFor(180);
    expect(leadNow()).toBe(22);
    await speakFor(30);
    expect(leadNow()).toBe(60);
  });

  it('keeps the lane when the file has the old value again before its sentence ends', async () => {
    const kiosk = await live(configured({ main: {} }));
    kiosk.hear('main');
    kiosk.agent.apply(configured({ main: { rolloverLead: 60 } }));
    await kiosk.clock.elapse(500);
    kiosk.agent.apply(configured({ main: {} }));
    await kiosk.clock.elapse(90_000);
    expect(kiosk.streamOf('main').calls).not.toContain('end');
    expect(kiosk.devices).toHaveLength(2);
  });

  it('counts the minutes of a removed lane in the budget of the day', async () => {
    const budget = { minutesPerDay: 60 };
    const always = { standbyAfter: 0 };
    const kiosk = await live(configured({ main: always, back: always }, { budget }));
    await kiosk.clock.elapse(10 * 60_000);
    const used = () => kiosk.agent.admissions.budget()?.used_minutes ?? 0;
    kiosk.agent.apply(configured({ main: always }, { budget }));
    await kiosk.clock.elapse(5000);
    const before = used();
    expect(before).toBeGreaterThanOrEqual(20);
    await kiosk.clock.elapse(10 * 60_000);
    expect(used() - before).toBeGreaterThanOrEqual(9);
    expect(used() - before).toBeLessThanOrEqual(11);
  });

  it('begins both lanes of a room anew when they come to share it', async () => {
    const lanes = { main: {}, back: { playback: { driver: 'command', command: ['play', '2'] } } };
    const kiosk = await live(configured(lanes));
    const rooms = [{ id: 'desk', lanes: ['main', 'back'] }];
    expect(kiosk.agent.apply(configured(lanes, { rooms }))).toEqual([]);
    await kiosk.clock.elapse(5000);
    await kiosk.serve();
    expect(kiosk.phases()).toEqual({ main: 'live', back: 'live' });
    expect(kiosk.agent.lanes.every(({ state }) => state.room !== null)).toBe(true);
    expect(kiosk.agent.configuration.rooms).toEqual(rooms);
  });

  it('ends both lanes of a room together, when neither has a sentence under way', async () => {
    const back = { playback: { driver: 'command', command: ['play', '2'] } };
    const rooms = [{ id: 'desk', lanes: ['main', 'back'] }];
    const kiosk = await live(configured({ main: {}, back }, { rooms }));
    kiosk.hear('main');
    await kiosk.clock.elapse(1000);
    kiosk.agent.apply(configured({ main: {}, back: { ...back, rolloverLead: 60 } }, { rooms }));
    await kiosk.clock.elapse(500);
    expect(kiosk.phases()).toEqual({ main: 'live', back: 'live' });
    await kiosk.clock.elapse(70_000);
    expect(kiosk.devices.filter((name) => name.endsWith('out')).sort()).toEqual(
      ['+back out', '+back out', '+main out', '+main out', '-back out', '-main out'].sort(),
    );
  });

  it('ends the conversation at the desk of a lane that goes, and knows the desks that are left', async () => {
    const kiosk = await live(configured({ main: {}, back: {} }));
    kiosk.command('conversation', { id: 'c1', args: { do: 'begin' } });
    await kiosk.clock.elapse(0);
    expect(kiosk.sent('event/conversation_started')).toHaveLength(2);
    kiosk.agent.apply(configured({ main: {}, desk: {} }));
    await kiosk.clock.elapse(30_000);
    await kiosk.serve();
    expect(kiosk.sent('event/conversation_ended').map(({ body }) => body['lane'])).toEqual(['back']);
    kiosk.command('conversation', { id: 'c2', args: { do: 'begin', lane: 'desk' } });
    await kiosk.clock.elapse(0);
    expect(kiosk.sent('event/conversation_started').at(-1)?.body).toMatchObject({ lane: 'desk' });
  });

  it('begins no lane any more when the agent ends meanwhile', async () => {
    const kiosk = await live(configured({ main: {} }));
    kiosk.agent.apply(configured({ main: { rolloverLead: 60 } }));
    await kiosk.clock.elapse(100);
    const stopped = kiosk.agent.stop();
    await kiosk.clock.elapse(20_000);
    await stopped;
    expect(kiosk.devices.filter((name) => name.startsWith('+'))).toHaveLength(2);
  });
});
