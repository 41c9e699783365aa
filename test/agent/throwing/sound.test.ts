import { describe, expect, it } from 'vitest';
import {
  expectNoSecret,
  expectStreaming,
  expectTold,
  explode,
  phaseOf,
  reject,
  SPEECH,
  stopped,
  throwing,
  withAudio,
  withCapture,
  withPlayback,
} from './tools.ts';

describe('a microphone that', () => {
  it.each([
    ['throws', explode],
    ['rejects', reject],
  ])('%s as it is opened is lost, with its text', async (_how, openCapture) => {
    const deps = throwing(withAudio(() => ({ openCapture })));
    await deps.goLive();
    expect(phaseOf(deps)).toBe('live');
    expect(deps.sent('event/audio_lost')[0]?.body).toMatchObject({ device: 'capture', code: 'failed' });
    expect(deps.sent('status').at(-1)?.body).toMatchObject({ reasons: ['capture:lost'] });
    expect(deps.defects).toEqual([]);
  });

  it.each([
    ['throws', explode],
    ['rejects', reject],
  ])('%s as it is closed is let go', async (_how, close) => {
    const deps = throwing(withCapture({ close: close as () => Promise<void> }));
    await deps.goLive();
    deps.command('stop', { id: 'c1' });
    await stopped(deps);
    expect(deps.defects).toContain('capture.close');
    expectTold(deps);
  });

  it('throws when it shall hurry goes on', async () => {
    const deps = throwing(withCapture({ useShortPeriods: explode }));
    await deps.goLive();
    deps.command('echo', { id: 'c1', args: { mode: 'cancel' } });
    expect(deps.defects).toEqual(['capture.hasten']);
    expectTold(deps);
    expect(deps.answers('echo').at(-1)).toMatchObject({ status: 'ok' });
  });
});

describe('a microphone that throws', () => {
  it('as its figures are asked for costs the figures', async () => {
    const figures = {
      get figures(): never {
        return explode();
      },
    };
    const deps = throwing(
      withAudio(({ openCapture }) => ({
        openCapture: async (sink, short) =>
          Object.defineProperties(await openCapture(sink, short), Object.getOwnPropertyDescriptors(figures)),
      })),
    );
    await deps.goLive();
    deps.clock.advance(61_000);
    expect(new Set(deps.defects)).toEqual(new Set(['capture.figures']));
    expectTold(deps);
    expect(deps.sent('health').at(-1)?.body).toMatchObject({ lanes: [{ xruns: 0, capture_restarts: 0 }] });
  });
});

describe('a loudspeaker that', () => {
  it.each([
    ['throws', explode],
    ['rejects', reject],
  ])('%s as it is opened is lost, and the lane runs', async (_how, openPlayback) => {
    const deps = throwing(withAudio(() => ({ openPlayback })));
    await deps.goLive();
    expectStreaming(deps);
    expect(deps.sent('event/audio_lost')[0]?.body).toMatchObject({ device: 'playback', code: 'failed' });
  });

  it('rejects as it is opened is tried again until it sounds', async () => {
    let isMissing = true;
    const deps = throwing(
      withAudio(({ openPlayback }) => ({
        openPlayback: (sink) => (isMissing ? reject() : openPlayback(sink)),
      })),
    );
    await deps.goLive();
    deps.service(SPEECH);
    expect(deps.played).toHaveLength(0);
    expect(deps.sent('status').at(-1)?.body).toMatchObject({ reasons: ['playback:lost'] });
    isMissing = false;
    await deps.clock.elapse(9000);
    expect(deps.sent('event/audio_back').map(({ body }) => body['device'])).toEqual(['playback']);
    // What was said meanwhile has waited.
    expect(deps.played).toHaveLength(1);
    deps.service({ ...SPEECH, utterance: 'b' });
    await deps.clock.elapse(1000);
    expect(deps.played).toHaveLength(2);
  });

  it('throws when it is written to is lost once, and back when it takes sound again', async () => {
    let isBroken = true;
    const deps = throwing(
      withAudio(({ openPlayback }) => ({
        openPlayback: async (sink) => {
          const playback = await openPlayback(sink);
          return { ...playback, write: (pcm) => (isBroken ? explode() : playback.write(pcm)) };
        },
      })),
    );
    await deps.goLive();
    deps.service(SPEECH);
    deps.service({ ...SPEECH, utterance: 'b' });
    await Promise.resolve();
    expect(deps.sent('event/audio_lost').map(({ body }) => body['device'])).toEqual(['playback']);
    expect(deps.sent('event/audio_lost')[0]?.body['message']).toMatch(
      /defect.*loudspeaker's driver.*TypeError/,
    );
    expect(deps.sent('status').at(-1)?.body).toMatchObject({ reasons: ['playback:lost'] });
    // Nobody hears it: the gate is open.
    expectStreaming(deps);
    isBroken = false;
    deps.service({ ...SPEECH, utterance: 'c' });
    // Only a write shows that it takes sound again: a few milliseconds of silence, each five seconds while something waits.
    await deps.clock.elapse(10_000);
    expect(deps.sent('event/audio_back')).toHaveLength(1);
    // What had waited; what the broken one was given is told as unheard.
    const isSilent = (pcm: Uint8Array): boolean => pcm.every((byte) => byte === 0);
    expect(deps.played.filter((pcm) => !isSilent(pcm))).toHaveLength(1);
    expect(deps.sent('event/speech_dropped').map(({ body }) => body)).toMatchObject([
      { why: 'no_loudspeaker', dropped_ms: 200 },
    ]);
    expectNoSecret(deps);
  });

  it.each([
    ['flush', { flush: explode }],
    [
      'mixer',
      {
        get mixer(): never {
          return explode();
        },
      },
    ],
    ['setVolume', { mixer: { setVolume: explode } }],
    [
      'place',
      {
        get place(): never {
          return explode();
        },
      },
    ],
    [
      'figures',
      {
        get figures(): never {
          return explode();
        },
      },
    ],
  ])('throws in %s goes on', async (part, parts) => {
    const deps = throwing(withPlayback(parts));
    await deps.goLive();
    deps.service(SPEECH);
    deps.command('volume', { id: 'v', args: { percent: 30 } });
    deps.clock.advance(61_000);
    expect(deps.played).toHaveLength(1);
    deps.command('stop', { id: 's' });
    deps.clock.advance(5000);
    expect(deps.sent('health').at(-1)?.body).toMatchObject({ lanes: [{ id: 'main', underruns: 0 }] });
    expect(deps.defects).toContain(`playback.${part}`);
    expectTold(deps);
    expect(deps.answers('volume').at(-1)).toMatchObject({ status: 'ok' });
    expect(phaseOf(deps)).toBe('idle');
  });

  it('throws when it shall play on through pauses goes on', async () => {
    const deps = throwing(withPlayback({ runOn: explode }));
    await deps.goLive();
    deps.command('echo', { id: 'c1', args: { mode: 'cancel' } });
    expect(deps.defects).toContain('playback.runOn');
    expectTold(deps);
    expectStreaming(deps);
  });

  it.each([
    ['throws', explode],
    ['rejects', reject],
  ])('%s as it is closed does not keep the agent from ending', async (_how, close) => {
    const deps = throwing(withPlayback({ close }));
    await deps.goLive();
    await stopped(deps);
    expect(deps.defects).toEqual(['playback.close']);
    expectTold(deps);
    expect(deps.finale).not.toBeNull();
  });

  it('never closes, and so does a microphone: the agent ends all the same', async () => {
    const never = (): Promise<void> => new Promise(() => {});
    const deps = throwing((given) => withCapture({ close: never })(withPlayback({ close: never })(given)));
    await deps.goLive();
    await stopped(deps);
    expect(deps.finale).not.toBeNull();
  });
});
