import { describe, expect, it } from 'vitest';
import type { LaneConfig } from '../../src/protocol/config.ts';
import { spoke } from '../service-events.ts';
import { createFakeDeps, testConfig } from './fake-deps.ts';

const MICROPHONE = { driver: 'command', command: ['rec'] };
const LOUDSPEAKER = { driver: 'command', command: ['play'] };
const configured = (lane: object = {}) => testConfig({ capture: MICROPHONE, playback: LOUDSPEAKER, ...lane });
const OTHER_MICROPHONE = { driver: 'alsa', device: 'plughw:CARD=Mic' };
const OTHER_LOUDSPEAKER = { driver: 'alsa', device: 'plughw:CARD=Speaker', normalize: true };

/** A live lane whose opened devices are counted. */
async function live(base = configured()) {
  const opened: string[] = [];
  const closed: string[] = [];
  const deps = createFakeDeps(base, {}, (given) => ({
    ...given,
    openAudio(lane: LaneConfig) {
      const audio = given.openAudio(lane);
      const nameOf = (part: LaneConfig['capture'] | LaneConfig['playback']): string =>
        part.driver === 'alsa' ? part.device : part.driver;
      const noted = <D extends { close(): Promise<void> }>(device: D, name: string): D => {
        opened.push(name);
        const close = async (): Promise<void> => {
          closed.push(name);
          await device.close();
        };
        return { ...device, close };
      };
      return {
        openCapture: async (sink) =>
          noted(await audio.openCapture(sink, false), `in ${nameOf(lane.capture)}`),
        openPlayback: async (sink) => noted(await audio.openPlayback(sink), `out ${nameOf(lane.playback)}`),
      };
    },
  }));
  await deps.goLive();
  await deps.clock.elapse(5000);
  expect(opened.splice(0).sort()).toEqual(['in command', 'out command']);
  return { deps, opened, closed };
}
type Live = Awaited<ReturnType<typeof live>>['deps'];
const state = (deps: Live) => deps.agent.lanes[0]?.state;

describe('new devices of a configuration that is read again', () => {
  it('are used at once when no sentence is under way, and the session goes on', async () => {
    const { deps, opened, closed } = await live();
    deps.command('mute', { id: 'c1' });
    const session = state(deps)?.session;
    const next = configured({ capture: OTHER_MICROPHONE, playback: OTHER_LOUDSPEAKER });
    expect(deps.agent.apply(next)).toEqual([]);
    await deps.clock.elapse(1000);
    expect(opened.sort()).toEqual(['in plughw:CARD=Mic', 'out plughw:CARD=Speaker']);
    expect(closed.sort()).toEqual(['in command', 'out command']);
    expect(state(deps)?.session.kind).toBe(session?.kind);
    expect(deps.sent('token/req')).toHaveLength(1);
    expect(state(deps)?.options.muted).toBe(true);
    expect(deps.sent('state').at(-1)?.body).toMatchObject({
      lanes: [{ capture: 'plughw:CARD=Mic', playback: 'plughw:CARD=Speaker' }],
    });
    expect(deps.agent.configuration).toEqual(next);
  });

  it('wait for the end of a sentence', async () => {
    const { deps, opened } = await live();
    for (let chunk = 0; chunk < 4; chunk += 1) deps.speak();
    expect(deps.agent.apply(configured({ capture: OTHER_MICROPHONE }))).toEqual([]);
    await deps.clock.elapse(0);
    expect(opened).toEqual([]);
    expect(deps.agent.configuration.lanes[0]?.capture).toMatchObject(MICROPHONE);
    for (let chunk = 0; chunk < 200; chunk += 1) deps.speak(1);
    await deps.clock.elapse(1000);
    expect(opened).toEqual(['in plughw:CARD=Mic']);
    expect(deps.agent.configuration.lanes[0]?.capture).toMatchObject(OTHER_MICROPHONE);
  });

  it('wait for what is played only when the loudspeaker changes', async () => {
    const { deps, opened } = await live();
    const pcm = new Uint8Array(48_000 * 4);
    deps.service(spoke(pcm, { sentence: 'a', utterance: 'a', last: true }));
    await deps.clock.elapse(500);
    deps.agent.apply(configured({ capture: OTHER_MICROPHONE }));
    await deps.clock.elapse(0);
    expect(opened).toEqual(['in plughw:CARD=Mic']);
    deps.agent.apply(configured({ capture: OTHER_MICROPHONE, playback: OTHER_LOUDSPEAKER }));
    await deps.clock.elapse(1000);
    expect(opened).toHaveLength(1);
    await deps.clock.elapse(60_000);
    expect(opened).toEqual(['in plughw:CARD=Mic', 'out plughw:CARD=Speaker']);
  });

  it('repair a lane whose devices are lost', async () => {
    const { deps } = await live();
    deps.loudspeaker.fault({ code: 'not_found', message: 'gone' });
    deps.microphoneFault({ code: 'not_found', message: 'gone' });
    await deps.clock.elapse(5000);
    const lost = deps.agent.publisher.status().reasons;
    expect(lost).toEqual(['capture:lost', 'playback:lost']);
    deps.agent.apply(configured({ capture: OTHER_MICROPHONE, playback: OTHER_LOUDSPEAKER }));
    await deps.clock.elapse(1000);
    for (let chunk = 0; chunk < 4; chunk += 1) deps.speak(1);
    await deps.clock.elapse(0);
    expect(deps.agent.publisher.status()).toEqual({ status: 'ready', reasons: [] });
  });
});
