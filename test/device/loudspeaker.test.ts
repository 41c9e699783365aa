import { describe, expect, it } from 'vitest';
import { stateSchema } from '../../src/protocol/mqtt/device.ts';
import { spoke } from '../service-events.ts';
import { createFakeDeps, type FakeDeps, testConfig } from './fake-deps.ts';

const laneOf = (deps: FakeDeps) => {
  const lane = deps.agent.lanes[0];
  if (lane === undefined) throw new Error('no lane');
  return lane.state;
};

async function live(lane: Record<string, unknown> = {}): Promise<FakeDeps> {
  const deps = createFakeDeps(testConfig(lane));
  await deps.goLive();
  return deps;
}

/** Translated speech of a steady level arrives. */
function say(deps: FakeDeps, ms: number, last = true, value = 8000): void {
  const pcm = new Uint8Array(new Int16Array(ms * 24).fill(value).buffer);
  deps.service(spoke(pcm, { sentence: 's', utterance: 's', last }));
}

const samplesOf = (pcm: Uint8Array): number[] => [...new Int16Array(pcm.slice().buffer)];
const stateNow = (deps: FakeDeps) => {
  deps.clock.advance(1000);
  return stateSchema.parse(deps.sent('state').at(-1)?.body).lanes[0];
};

describe('the volume', () => {
  const playback = { driver: 'file', path: 'out.wav' };

  it('starts at the configured value, and is reported', async () => {
    const deps = await live({ playback: { ...playback, volume: 50 } });
    expect(stateNow(deps)?.volume).toBe(50);
    say(deps, 100);
    expect(new Set(samplesOf(deps.played[0] ?? new Uint8Array()))).toEqual(new Set([1000]));
  });

  it('changes at once by command, and is reported', async () => {
    const deps = await live();
    deps.command('volume', { id: 'v', args: { percent: 50 } });
    expect(deps.answers('volume')).toEqual([
      expect.objectContaining({
        id: 'v',
        status: 'ok',
        data: { lanes: [expect.objectContaining({ id: 'main', volume: 50 })] },
      }),
    ]);
    say(deps, 100);
    expect(new Set(samplesOf(deps.played[0] ?? new Uint8Array()))).toEqual(new Set([1000]));
    expect(stateNow(deps)?.volume).toBe(50);
  });

  it('follows a changed configuration without a restart', async () => {
    const deps = await live();
    const stale = deps.agent.apply(testConfig({ playback: { ...playback, volume: 30 } }));
    expect(stale).toEqual([]);
    expect(stateNow(deps)?.volume).toBe(30);
    // The same file read again changes nothing.
    deps.command('volume', { id: 'v', args: { percent: 60 } });
    deps.agent.apply(testConfig({ playback: { ...playback, volume: 30 }, standbyAfter: 60 }));
    expect(stateNow(deps)?.volume).toBe(60);
    deps.agent.apply(testConfig({ playback: { ...playback, volume: 31 } }));
    expect(stateNow(deps)?.volume).toBe(31);
  });

  it('does not hide a device that changed with it', async () => {
    const deps = await live();
    const stale = deps.agent.apply(testConfig({ playback: { ...playback, path: 'other.wav', volume: 30 } }));
    expect(stale).toEqual([]);
    await deps.clock.elapse(5000);
    expect(deps.agent.configuration.lanes[0]?.playback).toMatchObject({ path: 'other.wav', volume: 30 });
    expect(laneOf(deps).options.volume).toBe(30);
  });
});

describe('a loudspeaker that fails', () => {
  it('is reported, makes the device degraded, and recovers when it works again', async () => {
    const deps = await live();
    deps.loudspeaker.fault({ code: 'lost', message: 'the loudspeaker is gone' });
    expect(deps.sent('event/audio_lost').at(-1)?.body).toMatchObject({
      lane: 'main',
      device: 'playback',
      code: 'lost',
    });
    expect(deps.sent('status').at(-1)?.body).toMatchObject({
      status: 'degraded',
      reasons: ['playback:lost'],
    });
    expect(stateNow(deps)?.last_error).toMatchObject({ code: 'playback_lost' });
    deps.loudspeaker.back();
    expect(deps.sent('event/audio_back').at(-1)?.body).toMatchObject({ lane: 'main', device: 'playback' });
    expect(deps.sent('status').at(-1)?.body).toMatchObject({ status: 'ready', reasons: [] });
    expect(stateNow(deps)?.last_error).toBeNull();
  });
});

describe('speech that lags', () => {
  it('is published as an event, logged and counted', async () => {
    const deps = await live();
    for (let i = 0; i < 8; i++) {
      const pcm = new Uint8Array(6000 * 48);
      deps.service(spoke(pcm, { sentence: `${i}`, utterance: `${i}`, last: true }));
    }
    for (let i = 0; i < 12; i++) {
      deps.clock.advance(320);
      deps.speak(0, 1);
    }
    const events = deps.sent('event/speech_dropped').map(({ body }) => body);
    expect(events).toMatchObject([{ lane: 'main', why: 'lag', sentences: 3, dropped_ms: 18_000 }]);
    expect(deps.logged.filter(([, text]) => text === 'event speech_dropped')).toHaveLength(1);
    deps.command('status', { id: 's' });
    expect(deps.answers('status')[0]).toMatchObject({
      data: { audio: [{ shed_sentences: 3, shed_ms: 18_000, playout_gaps: 0 }] },
    });
  });
});

describe('chimes', () => {
  const chimed = (deps: FakeDeps): number => deps.played.length;

  it('are left out of a recording, unless configured', async () => {
    expect(chimed(await live())).toBe(0);
    expect(chimed(await live({ earcons: true }))).toBeGreaterThan(0);
  });

  it('play on a real loudspeaker, unless configured otherwise', async () => {
    const playback = { driver: 'alsa' };
    expect(chimed(await live({ playback }))).toBeGreaterThan(0);
    expect(chimed(await live({ playback, earcons: false }))).toBe(0);
  });

  it('can be turned on and off while the agent runs', async () => {
    const deps = await live();
    expect(deps.agent.apply(testConfig({ earcons: true }))).toEqual([]);
    deps.command('mute', { id: 'm' });
    expect(chimed(deps)).toBeGreaterThan(0);
  });
});
