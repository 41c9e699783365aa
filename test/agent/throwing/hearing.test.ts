import { describe, expect, it } from 'vitest';
import { guardEchoCancellers, guardEchoDetectors } from '../../../src/agent/guard/detectors.ts';
import type { EchoCanceller, EchoCancellerSink } from '../../../src/ports/echo.ts';
import {
  expectStreaming,
  expectTold,
  explode,
  SPEECH,
  soundsOf,
  stopped,
  throwing,
  withAudio,
} from './tools.ts';

describe('a voice detector that throws', () => {
  it.each(['as it is made', 'as it hears', 'as it is closed'])(
    '%s gives way to a plainer one',
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

describe('a voice detector that throws when it is asked whether somebody talks', () => {
  it('gives way to a plainer one', async () => {
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
  it.each(['create', 'played', 'hear'])(
    'in %s recognises nothing more, and the lane goes on',
    async (part) => {
      const detector = { played() {}, flushed() {}, late() {}, hear: () => null, [part]: explode };
      const createEchoDetector = part === 'create' ? explode : () => detector;
      const deps = throwing(withAudio(() => ({ createEchoDetector })));
      await deps.goLive();
      deps.speak();
      deps.service(SPEECH);
      deps.clock.advance(2000);
      expectStreaming(deps);
      await stopped(deps);
      expect(deps.defects).toEqual([`echo detector.${part}`]);
      expectTold(deps);
    },
  );
});

describe('an echo canceller that throws', () => {
  const PARTS = ['open', 'played', 'captured', 'close'] as const;
  it.each(PARTS)('in %s is told as failed, and no sound is lost', async (part) => {
    let sink: EchoCancellerSink | null = null;
    const deps = throwing(
      (given) => ({
        ...given,
        openEchoCanceller: (_rates, given): EchoCanceller => {
          if (part === 'open') explode();
          sink = given;
          const canceller = {
            ...{ played() {}, flushed() {}, close() {} },
            captured: (pcm: Uint8Array, at: number) => given.frames(pcm, at),
          };
          return { ...canceller, [part]: explode };
        },
      }),
      { echo: 'cancel' },
    );
    await deps.goLive();
    (sink as EchoCancellerSink | null)?.ready();
    deps.service(SPEECH);
    deps.clock.advance(2000);
    deps.speak();
    expectStreaming(deps);
    if (part === 'close') deps.command('stop', { id: 's' });
    else expect(deps.sent('event/echo_fallback')).toHaveLength(1);
    await stopped(deps);
    expect(deps.defects).toContain(`canceller.${part}`);
    expectTold(deps);
    expect(soundsOf(deps)).toBe(2);
  });
});

describe('what takes sound back', () => {
  it('may throw in an echo detector, which then recognises nothing more', () => {
    const told: string[] = [];
    const detector = { played: explode, flushed: explode, late: explode, hear: () => null };
    const guarded = guardEchoDetectors(
      () => detector,
      (where) => told.push(where),
    )({ heardRateHz: 1, playedRateHz: 1 });
    guarded.flushed(5);
    guarded.played(new Uint8Array(2), 5);
    expect(told).toEqual(['echo detector.flushed']);
    const late = guardEchoDetectors(
      () => detector,
      (where) => told.push(where),
    )({ heardRateHz: 1, playedRateHz: 1 });
    late.late(5);
    late.late(5);
    expect(told).toEqual(['echo detector.flushed', 'echo detector.late']);
  });

  it('may throw in a canceller, which then has failed', () => {
    const told: string[] = [];
    const canceller = { played() {}, flushed: explode, captured() {}, close: () => void told.push('closed') };
    const sink = {
      ready() {},
      found() {},
      frames() {},
      failed: (message: string) => void told.push(message),
    };
    const open = guardEchoCancellers(
      () => canceller,
      (where) => told.push(where),
    );
    const guarded = open({ heardRateHz: 1, playedRateHz: 1 }, sink);
    guarded.flushed(5);
    guarded.flushed(6);
    expect(told).toEqual(['canceller.flushed', 'a defect of the program: flushed threw TypeError', 'closed']);
  });
});
