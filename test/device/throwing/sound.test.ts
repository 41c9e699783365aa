import { describe, expect, it } from 'vitest';
import {
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

describe('a microphone whose driver', () => {
  it.each([
    ['throws', explode],
    ['rejects', reject],
  ])('%s on opening is reported as lost, with the text of the error', async (_how, openCapture) => {
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
  ])('%s on closing does not block the end, and is logged', async (_how, close) => {
    const deps = throwing(withCapture({ close: close as () => Promise<void> }));
    await deps.goLive();
    deps.command('stop', { id: 'c1' });
    await stopped(deps);
    expect(deps.logged.map(([, sentence]) => sentence)).toContain('the microphone did not close cleanly');
  });
});

describe('a loudspeaker whose driver', () => {
  it.each([
    ['throws', explode],
    ['rejects', reject],
  ])('%s on opening is reported as lost, and the lane runs', async (_how, openPlayback) => {
    const deps = throwing(withAudio(() => ({ openPlayback })));
    await deps.goLive();
    expectStreaming(deps);
    expect(deps.sent('event/audio_lost')[0]?.body).toMatchObject({ device: 'playback', code: 'failed' });
  });

  it('rejects on opening is retried until it plays', async () => {
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
    // The earlier speech has waited.
    expect(deps.played).toHaveLength(1);
    deps.service({ ...SPEECH, utterance: 'b' });
    await deps.clock.elapse(1000);
    expect(deps.played).toHaveLength(2);
  });

  it.each([
    ['throws', explode],
    ['rejects', reject],
  ])('%s on closing does not block the end of the agent', async (_how, close) => {
    const deps = throwing(withPlayback({ close }));
    await deps.goLive();
    await stopped(deps);
    expect(deps.finale).not.toBeNull();
  });

  it('never closes, like the microphone, does not block the end of the agent', async () => {
    const never = (): Promise<void> => new Promise(() => {});
    const deps = throwing((given) => withCapture({ close: never })(withPlayback({ close: never })(given)));
    await deps.goLive();
    await stopped(deps);
    expect(deps.finale).not.toBeNull();
  });
});
