import { describe, expect, it } from 'vitest';
import type { AgentDeps } from '../../src/agent/deps.ts';
import type { CreateVoiceDetector, Talk } from '../../src/ports/voice.ts';
import { createDice } from './dice.ts';
import { runSeed } from './run-seed.ts';

/** What it looks back over, and how much of a voice in it is speech. */
const WINDOW_MS = 1280;
const VOICED_MS = 160;
/** It is sure of this share of all seconds. */
const SURE_SHARE = 0.25;

/** A detector that hears every voice and is seldom sure that it is one. */
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

/** A lane with such a detector leaves these worlds whole. */
export function describeUnsureDetector(seeds: readonly number[], hours: number): void {
  describe('a lane that is seldom sure of a voice', () => {
    it.each(seeds)('and a service that says nothing unless it is asked: seed %i', async (seed) => {
      const { violations, excusedS } = await runSeed(seed, hours, {
        spoil: withUnsureDetector,
        faults: ['zombie_answering'],
      });
      expect(violations.map(({ rule, text }) => `${rule}: ${text}`)).toEqual([]);
      // It has met with what it is about.
      expect(excusedS.outage).toBeGreaterThan(5);
    });
  });
}
