import { describe, expect, it } from 'vitest';
import {
  expectNoSecret,
  expectStreaming,
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
    const world = throwing(withAudio(() => ({ openCapture })));
    await world.goLive();
    expect(phaseOf(world)).toBe('live');
    expect(world.sent('event/audio_lost')[0]?.body).toMatchObject({ device: 'capture', code: 'failed' });
    expect(world.sent('status').at(-1)?.body).toMatchObject({ reasons: ['capture:lost'] });
    expect(world.defects).toEqual([]);
  });

  it.each([
    ['throws', explode],
    ['rejects', reject],
  ])('%s as it is closed is let go', async (_how, close) => {
    const world = throwing(withCapture({ close: close as () => Promise<void> }));
    await world.goLive();
    world.command('stop', { id: 'c1' });
    await stopped(world);
    expect(world.defects).toContain('capture.close');
  });

  it('throws when it shall hurry goes on', async () => {
    const world = throwing(withCapture({ hasten: explode }));
    await world.goLive();
    world.command('echo', { id: 'c1', args: { mode: 'cancel' } });
    expect(world.defects).toEqual(['capture.hasten']);
    expect(world.answers('echo').at(-1)).toMatchObject({ status: 'ok' });
  });
});

describe('a loudspeaker that', () => {
  it.each([
    ['throws', explode],
    ['rejects', reject],
  ])('%s as it is opened is lost, and the lane runs', async (_how, openPlayback) => {
    const world = throwing(withAudio(() => ({ openPlayback })));
    await world.goLive();
    expectStreaming(world);
    expect(world.sent('event/audio_lost')[0]?.body).toMatchObject({ device: 'playback', code: 'failed' });
  });

  it('throws when it is written to is lost once, and back when it takes sound again', async () => {
    let isBroken = true;
    const world = throwing(
      withAudio(({ openPlayback }) => ({
        openPlayback: async (sink) => {
          const playback = await openPlayback(sink);
          return { ...playback, write: (pcm) => (isBroken ? explode() : playback.write(pcm)) };
        },
      })),
    );
    await world.goLive();
    world.service(SPEECH);
    world.service({ ...SPEECH, utterance: 'b' });
    expect(world.sent('event/audio_lost').map(({ body }) => body['device'])).toEqual(['playback']);
    expect(world.sent('event/audio_lost')[0]?.body['message']).toMatch(
      /defect.*loudspeaker's driver.*TypeError/,
    );
    expect(world.sent('status').at(-1)?.body).toMatchObject({ reasons: ['playback:lost'] });
    // Nobody hears it: the gate is open.
    expectStreaming(world);
    isBroken = false;
    world.clock.advance(1000);
    world.service({ ...SPEECH, utterance: 'c' });
    expect(world.sent('event/audio_back')).toHaveLength(1);
    expect(world.played).toHaveLength(1);
    expectNoSecret(world);
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
  ])('throws in %s goes on', async (part, parts) => {
    const world = throwing(withPlayback(parts));
    await world.goLive();
    world.service(SPEECH);
    world.command('volume', { id: 'v', args: { percent: 30 } });
    world.command('stop', { id: 's' });
    world.clock.advance(5000);
    expect(world.defects).toContain(`playback.${part}`);
    expect(world.answers('volume').at(-1)).toMatchObject({ status: 'ok' });
    expect(phaseOf(world)).toBe('idle');
  });

  it.each([
    ['throws', explode],
    ['rejects', reject],
  ])('%s as it is closed does not keep the agent from ending', async (_how, close) => {
    const world = throwing(withPlayback({ close }));
    await world.goLive();
    await stopped(world);
    expect(world.defects).toEqual(['playback.close']);
    expect(world.finale).not.toBeNull();
  });

  it('never closes, and so does a microphone: the agent ends all the same', async () => {
    const never = (): Promise<void> => new Promise(() => {});
    const world = throwing((given) => withCapture({ close: never })(withPlayback({ close: never })(given)));
    await world.goLive();
    await stopped(world);
    expect(world.finale).not.toBeNull();
  });
});
