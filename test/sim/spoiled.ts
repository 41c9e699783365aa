import type { AgentDeps } from '../../src/device/deps/deps.ts';
import type { PlaybackSink } from '../../src/ports/audio.ts';
import type { ServiceEvent, StreamConnection } from '../../src/ports/stream.ts';
import { CANCELLING_SEEDS, HOURS } from './fixed-seeds.ts';
import { runSeed } from './run-seed.ts';
import type { Violation } from './violations.ts';
import type { RunOptions } from './world.ts';

type Trial = Omit<RunOptions, 'spoil'> & {
  /** The first seed: one that shows the defect early. */
  readonly first?: number;
};

/**
 * Runs seeds with a broken agent until an oracle reports a violation, or a violation of the rule `named`. A single seed may
 * have too few faults. The shipped agent breaks no rule in these seeds (`seeds.long.test.ts`).
 */
export async function violationsOf(
  spoil: (world: AgentDeps) => AgentDeps,
  { first = CANCELLING_SEEDS[0], ...more }: Trial = {},
  named?: string,
): Promise<readonly Violation[]> {
  const seeds = CANCELLING_SEEDS.toSorted((a, b) => Number(b === first) - Number(a === first));
  for (const seed of seeds) {
    const isEnough = ({ rule }: Violation): boolean => named === undefined || rule === named;
    const { violations } = await runSeed(seed, HOURS, { spoil, isEnough, ...more });
    if (violations.some(isEnough)) return violations;
  }
  return [];
}

export async function rulesThatNotice(
  spoil: (world: AgentDeps) => AgentDeps,
  more: Trial = {},
  named?: string,
): Promise<string[]> {
  return [...new Set((await violationsOf(spoil, more, named)).map(({ rule }) => rule))];
}

/** Changes the agent's calls of its connections. */
export function withConnections(change: (connection: StreamConnection) => Partial<StreamConnection>) {
  return (world: AgentDeps): AgentDeps => ({
    ...world,
    openStream: (target, listener) => {
      const connection = world.openStream(target, listener);
      return { ...connection, ...change(connection) };
    },
  });
}

/** Changes the output of the agent's echo canceller. */
export function withCanceller(change: (captured: Uint8Array, cancelled: Uint8Array) => Uint8Array) {
  return (world: AgentDeps): AgentDeps => ({
    ...world,
    openEchoCanceller: (rates, sink) => {
      const waiting: Uint8Array[] = [];
      const canceller = world.openEchoCanceller?.(rates, {
        ...sink,
        frames: (pcm, capturedAt) => sink.frames(change(waiting.shift() ?? pcm, pcm), capturedAt),
      });
      if (canceller === undefined) throw new Error('the simulated device has a canceller');
      return {
        ...canceller,
        captured(pcm, capturedAt, missingMs) {
          waiting.push(pcm);
          canceller.captured(pcm, capturedAt, missingMs);
        },
      };
    },
  });
}

/** Changes the loudspeaker's reports to the agent. */
export function withLoudspeaker(change: (sink: PlaybackSink) => PlaybackSink) {
  return (world: AgentDeps): AgentDeps => ({
    ...world,
    openAudio(lane) {
      const audio = world.openAudio(lane);
      return { ...audio, openPlayback: (sink) => audio.openPlayback(change(sink)) };
    },
  });
}

/** Drops messages of the service before they reach the agent. */
export function withMessages(hears: (said: ServiceEvent) => boolean) {
  return (world: AgentDeps): AgentDeps => ({
    ...world,
    openStream: (target, listener) =>
      world.openStream(target, {
        ...listener,
        said: (event) => (hears(event) ? listener.said(event) : undefined),
      }),
  });
}

/** Calls `other` at every `times`th call, and `usual` at all others. */
export function every(times: number, usual: (pcm: Uint8Array) => void, other: (pcm: Uint8Array) => void) {
  let calls = 0;
  return (pcm: Uint8Array): void => (++calls % times === 0 ? other(pcm) : usual(pcm));
}
