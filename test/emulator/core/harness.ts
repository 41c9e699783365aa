import { seededRandom } from '../../../src/core/random.ts';
import { type Choices, type Profile, resolveChoices } from '../../../src/emulator/core/choices.ts';
import type { Effect } from '../../../src/emulator/core/effect.ts';
import { parseFaults } from '../../../src/emulator/core/fault.ts';
import type { OutMessage } from '../../../src/emulator/core/outbox.ts';
import { render } from '../../../src/emulator/core/render.ts';
import { createService, type Service } from '../../../src/emulator/core/service.ts';
import type { SessionRecord } from '../../../src/emulator/core/sessions.ts';
import {
  type CreateSessionInput,
  createSessionRequestSchema,
} from '../../../src/protocol/service/session.ts';
import { createEnergyDetector } from '../../../src/sound/energy-detector.ts';
import { chunks, concat, noise, speech } from './voice.ts';

export const API_KEY = 'key';
const RATE_HZ = 24_000;

/** The smallest task; `change` replaces whole parts. */
export function task(change: Record<string, unknown> = {}, targets: readonly string[] = ['es']): object {
  return {
    input_stream: {
      content_type: 'audio',
      source: { type: 'ws', format: 'pcm_s16le', sample_rate: RATE_HZ, channels: 1 },
    },
    output_stream: {
      content_type: 'audio',
      target: { type: 'ws', format: 'pcm_s16le', sample_rate: RATE_HZ, channels: 1 },
    },
    pipeline: {
      transcription: { source_language: 'en' },
      translations: targets.map((target) => ({ target_language: target, speech_generation: {} })),
    },
    ...change,
  };
}

/** A sentence with silence before and after it. */
export const sentence = (seconds = 1.5, pitchHz = 140): Int16Array =>
  concat(noise(0.6, RATE_HZ, 60), speech(seconds, RATE_HZ, pitchHz), noise(1.2, RATE_HZ, 60));

/** Everything that a stream's client received, with times. */
export interface Seen {
  readonly at: number;
  readonly effect: Effect;
}

/** The pure service in virtual time, with clients that receive its effects. */
export interface Harness {
  readonly service: Service;
  readonly seen: Seen[];
  now(): number;
  /** Advances the time and does everything that becomes due. */
  pass(ms: number): void;
  session(input?: Partial<CreateSessionInput>): SessionRecord;
  /** Opens a stream with a session's token or the API key; fails if it is refused. */
  open(secret?: string): string;
  send(stream: string, type: string, data?: unknown): void;
  /** Sets a task and waits until it runs. */
  run(stream: string, given?: object): void;
  /** Sends sound in chunks, in real time. */
  speak(stream: string, sound: Int16Array, chunkMs?: number): void;
  fault(body: object): void;
  messages(stream: string, type?: string): OutMessage[];
  close(stream: string): { code: number; reason: string; at: number } | null;
  disconnect(stream: string): void;
}

export function createHarness(overrides: Partial<Choices> = {}, profile: Profile = 'spec'): Harness {
  const service = createService({
    choices: resolveChoices(profile, overrides),
    keys: { apiKeys: [API_KEY], jwts: ['j.w.t'], clients: [] },
    random: seededRandom(11),
    createDetector: createEnergyDetector,
    wallAtZero: Date.UTC(2026, 0, 15, 9),
  });
  const seen: Seen[] = [];
  let now = 1000;

  const settle = (): void => {
    service.tick(now);
    for (let effects = service.takeEffects(); effects.length > 0; effects = service.takeEffects()) {
      for (const effect of effects) {
        seen.push({ at: now, effect });
        if (effect.type !== 'render') continue;
        const { job } = effect;
        service.rendered(job.stream, job.id, render(job), now);
      }
      service.tick(now);
    }
  };
  const act = <T>(call: () => T): T => {
    const result = call();
    settle();
    return result;
  };

  const harness: Harness = {
    service,
    seen,
    now: () => now,
    pass(ms) {
      const end = now + ms;
      for (let next = service.nextAt(now); next <= end; next = service.nextAt(now)) {
        now = Math.max(now, next);
        settle();
      }
      now = end;
      settle();
    },
    session: (input = {}) =>
      service.sessions.create(
        createSessionRequestSchema.parse({ intent: 's2s', ...input }),
        service.clockAt(now),
      ),
    open(secret = API_KEY) {
      const opening = act(() => service.open({ secret, intent: 's2s' }, now));
      if (opening.kind === 'refused') throw new Error(`refused: ${opening.reason}`);
      return opening.stream;
    },
    send(stream, type, data) {
      act(() => service.receive(stream, { message_type: type, data }, now));
    },
    run(stream, given = task()) {
      harness.send(stream, 'set_task', given);
      harness.pass(service.choices.setupMs);
    },
    speak(stream, sound, chunkMs = 320) {
      for (const pcm of chunks(sound, RATE_HZ, chunkMs)) {
        act(() => service.hear(stream, pcm, Math.ceil(pcm.length / 3) * 4, now));
        harness.pass(chunkMs);
      }
    },
    fault(body) {
      const parsed = parseFaults(body);
      if (!parsed.ok) throw new Error(parsed.issues.join());
      const ordered = act(() => service.order(parsed.request, now));
      if ('problem' in ordered) throw new Error(ordered.problem);
    },
    messages: (stream, type) =>
      seen.flatMap(({ effect }) =>
        effect.type === 'send' &&
        effect.stream === stream &&
        (type === undefined || effect.message.type === type)
          ? [effect.message]
          : [],
      ),
    close(stream) {
      const found = seen.find(({ effect }) => effect.type === 'close' && effect.stream === stream);
      return found?.effect.type === 'close'
        ? { code: found.effect.code, reason: found.effect.reason, at: found.at }
        : null;
    },
    disconnect(stream) {
      act(() => service.disconnected(stream, 1000, '', 'client', now));
    },
  };
  return harness;
}

/** The text of a transcript message. */
export function textOf(message: OutMessage | undefined): string {
  const data = message?.data as { transcription?: { text?: string } } | undefined;
  return data?.transcription?.text ?? '';
}

/** All sound that a stream sent, as one piece. */
export function soundOf(messages: readonly OutMessage[]): Buffer {
  return Buffer.concat(messages.map(({ pcm }) => pcm ?? new Uint8Array(0)));
}
