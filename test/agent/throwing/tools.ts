import { expect } from 'vitest';
import type { AgentWorld } from '../../../src/agent/agent.ts';
import type { Capture, Playback } from '../../../src/ports/audio.ts';
import { createFakeWorld, type FakeWorld, TOKEN, testConfig } from '../fake-world.ts';

/** Its text holds what must never be told. */
export class Thrown extends TypeError {
  constructor() {
    super(`Invalid URL: wss://service.example/?token=${TOKEN}`);
  }
}
export const explode = (): never => {
  throw new Thrown();
};
export const reject = async (): Promise<never> => explode();

type Audio = ReturnType<AgentWorld['openAudio']>;
export type Spoil = (world: AgentWorld) => AgentWorld;

export const withAudio =
  (change: (audio: Audio) => Partial<Audio>): Spoil =>
  (world) => ({
    ...world,
    openAudio(lane) {
      const audio = world.openAudio(lane);
      return { ...audio, ...change(audio) };
    },
  });
export const withCapture = (parts: Partial<Capture>): Spoil =>
  withAudio(({ openCapture }) => ({
    openCapture: async (sink, hastened) => ({ ...(await openCapture(sink, hastened)), ...parts }),
  }));
export const withPlayback = (parts: object): Spoil =>
  withAudio(({ openPlayback }) => ({
    openPlayback: async (sink) =>
      Object.defineProperties(await openPlayback(sink), Object.getOwnPropertyDescriptors(parts)) as Playback,
  }));

export function throwing(spoil: Spoil, lane: Record<string, unknown> = {}): FakeWorld {
  const world = createFakeWorld(testConfig(lane), {}, spoil);
  world.expectDefects();
  return world;
}
export const phaseOf = (world: FakeWorld): string | undefined => world.agent.lanes[0]?.state.phase;
export const SPEECH = {
  message_type: 'output_audio',
  pcm: new Uint8Array(4800).fill(7),
  sentence: 'a',
  language: null,
  utterance: 'a',
  last: true,
} as const;
/** Chunks of sound that went out; the silence that fills a pause is none. */
export const soundsOf = (world: FakeWorld): number =>
  world.lastStream().audio.filter((pcm) => pcm.some((byte) => byte !== 0)).length;

/** The lane works: what is said goes out. */
export function expectStreaming(world: FakeWorld): void {
  expect(phaseOf(world)).toBe('live');
  const before = soundsOf(world);
  world.speak();
  expect(soundsOf(world)).toBe(before + 1);
}
/** What the service and the owner hear of it holds nothing of the error's own text. */
export function expectNoSecret(world: FakeWorld): void {
  expect(JSON.stringify(world.published)).not.toContain('Invalid URL');
  expect(JSON.stringify([world.published, world.agent.lanes.map(({ state }) => state)])).not.toContain(TOKEN);
}
export async function stopped(world: FakeWorld): Promise<void> {
  const stopping = world.agent.stop();
  await world.clock.elapse(11_000);
  await stopping;
  expect(phaseOf(world)).toBe('closed');
}
