import type { AgentDeps } from '../../src/agent/deps.ts';
import type { PlaybackSink } from '../../src/ports/audio.ts';
import type { ServiceEvent, StreamConnection } from '../../src/ports/stream.ts';
import { runSeed } from './run-seed.ts';
import { CANCELLING_SEEDS, HOURS } from './standing-seeds.ts';
import type { Violation } from './violations.ts';
import type { Meddling } from './world.ts';

type Trial = Omit<Meddling, 'spoil'> & {
  /** The seed to begin with: one that meets early with what this is about. */
  readonly first?: number;
};

/**
 * Runs seeds with an agent whose world is tampered with, until one of the oracles notices, or the one that is
 * named: one of them alone may meet with too few faults. As it is the agent leaves each whole, which `seeds.long.test.ts` holds.
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

/** An agent whose connections are tampered with, as if its lane had decided so. */
export function withConnections(change: (connection: StreamConnection) => Partial<StreamConnection>) {
  return (world: AgentDeps): AgentDeps => ({
    ...world,
    openStream: (target, listener) => {
      const connection = world.openStream(target, listener);
      return { ...connection, ...change(connection) };
    },
  });
}

/** An agent whose canceller makes something else of the microphone's sound. */
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

/** An agent that is not told everything of its loudspeaker. */
export function withLoudspeaker(change: (sink: PlaybackSink) => PlaybackSink) {
  return (world: AgentDeps): AgentDeps => ({
    ...world,
    openAudio(lane) {
      const audio = world.openAudio(lane);
      return { ...audio, openPlayback: (sink) => audio.openPlayback(change(sink)) };
    },
  });
}

/** An agent that does not get everything that the service says. */
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

/** Does something else at every this many calls. */
export function every(times: number, usual: (pcm: Uint8Array) => void, other: (pcm: Uint8Array) => void) {
  let calls = 0;
  return (pcm: Uint8Array): void => (++calls % times === 0 ? other(pcm) : usual(pcm));
}
