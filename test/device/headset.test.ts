import { describe, expect, it } from 'vitest';
import { SAFE_PERCENT } from '../../src/device/lane/sound/headset.ts';
import type { PlugListener } from '../../src/ports/plug.ts';
import { volumeGain } from '../../src/sound/pcm.ts';
import { spoke } from '../service-events.ts';
import { createFakeDeps, testConfig } from './fake-deps.ts';

const HEADSET = { device: 'plughw:CARD=Headset', detect: 'Headphone Jack' };
const CONFIGURED = {
  capture: { driver: 'command', command: ['rec'] },
  playback: { driver: 'command', command: ['play'], volume: 100, normalize: false },
  earcons: false,
  headset: HEADSET,
};
const LOUD = 8000;

/** A live agent with a loudspeaker and a headset; `plug` moves its plug. */
async function live(isInAtStart: boolean | null = false) {
  const heard: { on: string; sample: number; at: number }[] = [];
  const open: string[] = [];
  const plugs: PlugListener[] = [];
  let unwatched = 0;
  const sounds = { loadMenuSound: async () => new Uint8Array(4800) };
  const deps = createFakeDeps(testConfig(CONFIGURED), sounds, (given) => ({
    ...given,
    openAudio(lane) {
      const audio = given.openAudio(lane);
      const named =
        (name: string): typeof audio.openPlayback =>
        async (sink) => {
          const playback = await audio.openPlayback(sink);
          open.push(name);
          return {
            ...playback,
            write(pcm) {
              const sample = new Int16Array(pcm.slice().buffer).reduce((most, one) => Math.max(most, one), 0);
              heard.push({ on: name, sample, at: given.clock.now() });
              return playback.write(pcm);
            },
            async close() {
              open.splice(open.indexOf(name), 1);
              await playback.close();
            },
          };
        };
      return {
        ...audio,
        openPlayback: named('loudspeaker'),
        ...(lane.headset !== null && {
          openHeadset: named('headset'),
          watchPlug: (listener) => {
            plugs.push(listener);
            if (isInAtStart !== null) queueMicrotask(() => listener.changed(isInAtStart));
            return { close: () => void unwatched++ };
          },
        }),
      };
    },
  }));
  const begin = async (): Promise<void> => {
    await deps.goLive();
    await deps.clock.elapse(5000);
  };
  if (isInAtStart !== null) await begin();
  const say = (name: string, ms: number): void => {
    const pcm = new Uint8Array(new Int16Array(ms * 24).fill(LOUD).buffer);
    deps.service(spoke(pcm, { sentence: name, utterance: name, last: true }));
  };
  const plug = async (isIn: boolean): Promise<void> => {
    plugs.at(-1)?.changed(isIn);
    await deps.clock.elapse(10);
  };
  const since = (at: number): string[] => [
    ...new Set(heard.filter((one) => one.at >= at && one.sample > 0).map(({ on }) => on)),
  ];
  return { deps, begin, say, plug, heard, open, plugs, since, unwatched: () => unwatched };
}
type Live = Awaited<ReturnType<typeof live>>;
const answers = ({ deps }: Live, command: string) =>
  deps.published.filter(({ topic }) => topic.endsWith(`cmd/${command}/res`)).map(({ body }) => body);
const loudest = ({ heard }: Live, at: number): number =>
  heard.filter((one) => one.at >= at).reduce((most, { sample }) => Math.max(most, sample), 0);

describe('an agent with a headset', () => {
  it('speaks to the headset alone while the plug is in, softly at first, and aloud again afterwards', async () => {
    const kiosk = await live();
    const { deps, say, plug, open, since } = kiosk;
    say('a', 1000);
    await deps.clock.elapse(2000);
    expect(since(0)).toEqual(['loudspeaker']);
    await plug(true);
    const pluggedAt = deps.clock.now();
    expect(open).toEqual(['headset']);
    say('b', 1000);
    await deps.clock.elapse(2000);
    expect(since(pluggedAt)).toEqual(['headset']);
    expect(loudest(kiosk, pluggedAt)).toBe(Math.round(LOUD * volumeGain(SAFE_PERCENT)));
    await plug(false);
    const pulledAt = deps.clock.now();
    expect(open).toEqual(['loudspeaker']);
    say('c', 1000);
    await deps.clock.elapse(2000);
    expect(since(pulledAt)).toEqual(['loudspeaker']);
    expect(loudest(kiosk, pulledAt)).toBe(LOUD);
  });

  it('says nothing aloud of a sentence in which the plug goes out, and reports that it was dropped', async () => {
    const { deps, say, plug, since } = await live(true);
    say('a', 6000);
    await deps.clock.elapse(2000);
    await plug(false);
    const pulledAt = deps.clock.now();
    await deps.clock.elapse(10_000);
    expect(since(pulledAt)).toEqual([]);
    for (let chunk = 0; chunk < 12; chunk += 1) {
      deps.speak();
      await deps.clock.elapse(320);
    }
    expect(deps.sent('event/speech_dropped').map(({ body }) => body)).toMatchObject([{ why: 'headset' }]);
  });

  it('knows a plug that is in at the start before it says a word', async () => {
    const { deps, begin, say, open, plugs, since } = await live(null);
    const starting = begin();
    await deps.clock.elapse(1000);
    plugs[0]?.changed(true);
    await starting;
    say('a', 1000);
    await deps.clock.elapse(2000);
    expect(open).toEqual(['headset']);
    expect(since(0)).toEqual(['headset']);
  });

  it('changes the volume of the headset by command, says so, and keeps that of the loudspeaker', async () => {
    const kiosk = await live(true);
    const { deps, plug } = kiosk;
    deps.command('volume', { id: 'v1', args: { percent: 60 } });
    await deps.clock.elapse(10);
    expect(answers(kiosk, 'volume')).toMatchObject([{ status: 'ok', data: { lanes: [{ volume: 60 }] } }]);
    expect(deps.sent('state').at(-1)?.body).toMatchObject({ lanes: [{ volume: 100, headset: true }] });
    await plug(false);
    await deps.clock.elapse(5000);
    expect(deps.sent('state').at(-1)?.body).toMatchObject({ lanes: [{ volume: 100, headset: false }] });
  });

  it('reports a plug that cannot be read, and speaks aloud until it can be', async () => {
    const { deps, say, plugs, since } = await live(true);
    plugs[0]?.lost('the card has no such jack');
    await deps.clock.elapse(1000);
    expect(deps.agent.publisher.status()).toEqual({ status: 'degraded', reasons: ['headset'] });
    const lostAt = deps.clock.now();
    say('a', 1000);
    await deps.clock.elapse(2000);
    expect(since(lostAt)).toEqual(['loudspeaker']);
    plugs[0]?.found();
    plugs[0]?.changed(true);
    await deps.clock.elapse(1000);
    expect(deps.agent.publisher.status()).toEqual({ status: 'ready', reasons: [] });
    expect(deps.sent('event/audio_back').map(({ body }) => body)).toMatchObject([{ device: 'headset' }]);
  });

  it('watches the plug as long as its lane lives', async () => {
    const { deps, open, plugs, unwatched } = await live(true);
    deps.agent.apply(testConfig({ ...CONFIGURED, headset: null }));
    await deps.clock.elapse(10_000);
    expect([plugs.length, unwatched()]).toEqual([1, 1]);
    expect(open).toEqual(['loudspeaker']);
    await deps.agent.stop();
    expect(open).toEqual([]);
  });

  it('is made louder by the spoken menu, from its own volume', async () => {
    const kiosk = await live();
    await kiosk.plug(true);
    const { deps } = kiosk;
    const desk = deps.agent.lanes[0]?.state;
    expect(desk?.options.volume).toBe(100);
    const press = async (key: string): Promise<void> => {
      deps.command('menu', { id: `menu-${key}-${deps.clock.now()}`, args: { do: key } });
      await deps.clock.elapse(3000);
    };
    await press('open');
    while (deps.agent.menu.shown()?.item !== 'louder') await press('next');
    await press('choose');
    expect(deps.agent.lanes[0]?.state.headset?.volume).toBe(SAFE_PERCENT + 10);
  });
});
