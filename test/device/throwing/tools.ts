import { expect } from 'vitest';
import type { AgentDeps } from '../../../src/device/deps/deps.ts';
import type { Capture, Playback } from '../../../src/ports/audio.ts';
import type { Bus } from '../../../src/ports/bus.ts';
import { spoke } from '../../service-events.ts';
import { createFakeDeps, type FakeDeps, TOKEN, testConfig } from '../fake-deps.ts';

/** Its text contains a secret. */
export class Thrown extends TypeError {
  constructor() {
    super(`Invalid URL: wss://service.example/?token=${TOKEN}`);
  }
}
export const explode = (): never => {
  throw new Thrown();
};
export const reject = async (): Promise<never> => explode();

type Audio = ReturnType<AgentDeps['openAudio']>;
export type Spoil = (deps: AgentDeps) => AgentDeps;

export const withAudio =
  (change: (audio: Audio) => Partial<Audio>): Spoil =>
  (deps) => ({
    ...deps,
    openAudio(lane) {
      const audio = deps.openAudio(lane);
      return { ...audio, ...change(audio) };
    },
  });
export const withCapture = (parts: Partial<Capture>): Spoil =>
  withAudio(({ openCapture }) => ({
    openCapture: async (sink, shortPeriods) => ({ ...(await openCapture(sink, shortPeriods)), ...parts }),
  }));
export const withPlayback = (parts: object): Spoil =>
  withAudio(({ openPlayback }) => ({
    openPlayback: async (sink) =>
      Object.defineProperties(await openPlayback(sink), Object.getOwnPropertyDescriptors(parts)) as Playback,
  }));

export const withBus =
  (change: (bus: Bus) => Partial<Bus>): Spoil =>
  (deps) => ({
    ...deps,
    openBus(options, listener) {
      const bus = deps.openBus(options, listener);
      return Object.defineProperties({ ...bus }, Object.getOwnPropertyDescriptors(change(bus)));
    },
  });

export function throwing(spoil: Spoil, lane: Record<string, unknown> = {}): FakeDeps {
  const deps = createFakeDeps(testConfig(lane), {}, spoil);
  deps.expectDefects();
  return deps;
}
export const phaseOf = (deps: FakeDeps): string | undefined => deps.agent.lanes[0]?.phase;
export const SPEECH = spoke(new Uint8Array(4800).fill(7), { sentence: 'a', utterance: 'a', last: true });
/** Chunks of sound that were sent, without the silence that fills a pause. */
export const soundsOf = (deps: FakeDeps): number =>
  deps.lastStream().audio.filter((pcm) => pcm.some((byte) => byte !== 0)).length;

/** The lane works: speech is sent. */
export function expectStreaming(deps: FakeDeps): void {
  expect(phaseOf(deps)).toBe('live');
  const before = soundsOf(deps);
  deps.speak();
  expect(soundsOf(deps)).toBe(before + 1);
}
/** No message to the service or the owner contains the error's own text. */
export function expectNoSecret(deps: FakeDeps): void {
  expect(JSON.stringify(deps.published)).not.toContain('Invalid URL');
  expect(JSON.stringify([deps.published, deps.agent.lanes.map(({ state }) => state)])).not.toContain(TOKEN);
}
/** The agent published a defect for each part that threw, and for no other part. */
export function expectTold(deps: FakeDeps): void {
  const told = deps.sent('event/defect').map(({ body }) => body);
  expect(deps.defects.length).toBeGreaterThan(0);
  expect(new Set(told.map(({ where }) => where))).toEqual(new Set(deps.defects));
  for (const { where, lane, message } of told) {
    expect(lane).toBe(null);
    expect(message).toBe(`a defect of the program: ${where} threw (TypeError); the agent goes on`);
  }
  expectNoSecret(deps);
}
export async function stopped(deps: FakeDeps): Promise<void> {
  const stopping = deps.agent.stop();
  await deps.clock.elapse(11_000);
  await stopping;
  expect(phaseOf(deps)).toBe('closed');
}
