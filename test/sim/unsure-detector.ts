import { describe, expect, it } from 'vitest';
import type { AgentDeps } from '../../src/device/deps/deps.ts';
import type { CreateVoiceDetector, Talk } from '../../src/ports/voice.ts';
import { createDice } from './dice.ts';
import { runSeed } from './run-seed.ts';

/** Window of the detector, and the voice in it that counts as speech (ms). */
const WINDOW_MS = 1280;
const VOICED_MS = 160;
/** Share of all seconds in which the detector is sure. */
const SURE_SHARE = 0.25;

/** A detector that notices every voice, but is seldom sure of it. */
function unsure(create: CreateVoiceDetector): CreateVoiceDetector {
  return (rateHz) => {
    const inner = create(rateHz);
    const dice = createDice(1);
    let [heardMs, voicedAt, sureUntil, isSure] = [0, [] as number[], 0, false];
    return {
      hear(pcm, report) {
        inner.hear(pcm, (voiced, samples) => {
          const ms = (samples * 1000) / rateHz;
          heardMs += ms;
          if (voiced) for (let at = 0; at < ms; at += 20) voicedAt.push(heardMs);
          report(voiced, samples);
        });
        voicedAt = voicedAt.filter((at) => heardMs - at < WINDOW_MS);
      },
      talk(): Talk {
        if (heardMs >= sureUntil) {
          isSure = dice.chance(SURE_SHARE);
          sureUntil = heardMs + 1000;
        }
        const talks = voicedAt.length * 20 >= VOICED_MS;
        return { score: talks ? (isSure ? 3 : -2) : -30, roomDb: -50 };
      },
      close: () => inner.close(),
    };
  };
}

const withUnsureDetector = (world: AgentDeps): AgentDeps => ({
  ...world,
  createVoiceDetector: unsure(world.createVoiceDetector),
});

/** Tests that a lane with such a detector breaks no rule in these seeds. */
export function describeUnsureDetector(seeds: readonly number[], hours: number): void {
  describe('a lane with an unsure voice detector', () => {
    it.each(seeds)('breaks no rule when the service answers only get_task: seed %i', async (seed) => {
      const { violations, excusedS } = await runSeed(seed, hours, {
        spoil: withUnsureDetector,
        faults: ['zombie_answering'],
      });
      expect(violations.map(({ rule, text }) => `${rule}: ${text}`)).toEqual([]);
      // The fault has struck.
      expect(excusedS.outage).toBeGreaterThan(5);
    });
  });
}
