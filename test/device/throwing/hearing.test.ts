import { describe, expect, it } from 'vitest';
import { expectStreaming, expectTold, explode, stopped, throwing, withAudio } from './tools.ts';

describe('a voice detector that throws', () => {
  it.each(['as it is made', 'as it hears', 'as it is closed'])(
    '%s is replaced by a plainer one',
    async (when) => {
      const deps = throwing((given) => ({
        ...given,
        createVoiceDetector: (rateHz) => {
          if (when === 'as it is made') explode();
          const detector = given.createVoiceDetector(rateHz);
          return when === 'as it hears' ? { ...detector, hear: explode } : { ...detector, close: explode };
        },
      }));
      await deps.goLive();
      expectStreaming(deps);
      await stopped(deps);
      expect(deps.defects).toHaveLength(1);
      expectTold(deps);
    },
  );
});

describe('a voice detector that throws as it hears', () => {
  it('is closed when it is replaced, which frees its memory', async () => {
    let closed = 0;
    const deps = throwing((given) => ({
      ...given,
      createVoiceDetector(rateHz) {
        const detector = given.createVoiceDetector(rateHz);
        const close = (): void => {
          closed += 1;
          detector.close();
        };
        return { ...detector, hear: explode, close };
      },
    }));
    await deps.goLive();
    expectStreaming(deps);
    expect(closed).toBe(1);
    await stopped(deps);
    expect(closed).toBe(1);
  });
});

describe('a voice detector whose talk function throws', () => {
  it('is replaced by a plainer one', async () => {
    let asked = 0;
    const talk = () => {
      asked += 1;
      return explode();
    };
    const deps = throwing((given) => ({
      ...given,
      createVoiceDetector: (rateHz) => ({ ...given.createVoiceDetector(rateHz), talk }),
    }));
    await deps.goLive();
    expectStreaming(deps);
    expectStreaming(deps);
    expect(asked).toBe(1);
    expect(deps.defects).toEqual(['voice.talk']);
    expectTold(deps);
    await stopped(deps);
  });
});

describe('an echo detector that throws', () => {
  it('makes the microphone fail until the next chunk without an exception', async () => {
    let isBroken = true;
    const hear = () => (isBroken ? explode() : null);
    const createEchoDetector = () => ({ played() {}, flushed() {}, late() {}, hear });
    const deps = throwing(withAudio(() => ({ createEchoDetector })));
    await deps.goLive();
    deps.speak();
    deps.speak();
    expect(deps.defects).toContain('capture.frames');
    expectTold(deps);
    expect(deps.sent('event/audio_lost').map(({ body }) => body)).toMatchObject([
      { device: 'capture', code: 'failed' },
    ]);
    isBroken = false;
    deps.speak();
    expect(deps.sent('event/audio_back').map(({ body }) => body['device'])).toEqual(['capture']);
    expectStreaming(deps);
    await stopped(deps);
  });
});
