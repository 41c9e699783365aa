import { resolveChoices } from '../../src/emulator/core/choices.ts';
import { parseFaults } from '../../src/emulator/core/fault.ts';
import { createService, type Service } from '../../src/emulator/core/service.ts';
import { createEnergyDetector } from '../../src/sound/energy-detector.ts';
import type { Dice } from './dice.ts';
import { createOutputFaults, type OutputFaults } from './output-faults.ts';
import type { SimClock } from './sim-clock.ts';
import { paintRendering, readTicks, ticksOfRendering } from './sound.ts';
import type { ServiceEnd, ServiceLink } from './wire.ts';

export const API_KEY = 'sim-api-key';
/** Wall time of the service when the world begins. */
const WALL_AT_ZERO = Date.UTC(2026, 0, 15, 9);

/** Reports the service's actions to the oracles. */
export interface ServiceWatch {
  /** A stream has heard these ticks. @param running whether its task runs */
  heard(stream: string, sound: Int16Array, running: boolean): void;
  /** The service has skipped this sound because too much came at once. */
  overrun(stream: string, sound: Int16Array): void;
  /** The service speaks the translation of a sentence. */
  rendered(job: {
    id: number;
    stream: string;
    sentence: string;
    language: string;
    ticks: readonly number[];
    lengthTicks: number;
  }): void;
}

/** The emulator's pure core, on the world's clock. */
export interface ServiceHost extends ServiceEnd {
  readonly service: Service;
  now(): number;
  act<T>(call: (now: number) => T): T;
  /** @param body as of `POST /emulator/faults` */
  fault(body: object): void;
  /** The service accepts no connections. */
  isDown: boolean;
  stop(): void;
  /** Silences the open streams from now on. @param answers they still answer get_task */
  turnZombies(answers?: boolean): void;
  readonly output: OutputFaults;
  /** Number of open streams. */
  readonly running: number;
  /** The client reference of each session, by token: the service forgets revoked sessions. */
  readonly references: Map<string, string>;
}

const SENTENCES_KEPT = 100;
/** Speech per letter (ms): voices differ. */
const MS_PER_LETTER = [50, 60, 70, 80] as const;
const LEAST_SPEECH_MS = 200;

export function createServiceHost(
  clock: SimClock,
  dice: Dice,
  profile: 'spec' | 'live',
  choices: Record<string, unknown>,
  watch: ServiceWatch,
): ServiceHost {
  const service = createService({
    // The oracles could not distinguish speech that the service drops from a full queue from a loss by the device.
    choices: resolveChoices(profile, { queueLimits: false, ...choices }),
    keys: { apiKeys: [API_KEY], jwts: [], clients: [] },
    random: () => dice.next(),
    createDetector: createEnergyDetector,
    wallAtZero: WALL_AT_ZERO,
  });
  const links = new Map<string, ServiceLink>();
  let disarm = (): void => {};
  let jobs = 0;
  const sentences = new Map<number, { tick: number; language: string }>();
  const output = createOutputFaults((job) => sentences.get(job));
  const now = (): number => clock.now();

  const settle = (): void => {
    service.tick(now());
    for (let effects = service.takeEffects(); effects.length > 0; effects = service.takeEffects()) {
      for (const effect of effects) {
        if (effect.type === 'render') {
          const { job } = effect;
          const ticks: number[] = [];
          readTicks(job.spoken, (tick) => ticks.push(tick));
          const id = ++jobs;
          const speechMs = [...job.text].length * (MS_PER_LETTER[id % MS_PER_LETTER.length] ?? 65);
          const pcm = paintRendering(id, Math.max(LEAST_SPEECH_MS, speechMs));
          const { stream, sentence, language } = job;
          sentences.set(id, { tick: ticks[0] ?? 0, language });
          if (sentences.size > SENTENCES_KEPT) sentences.delete(sentences.keys().next().value ?? 0);
          watch.rendered({
            id,
            stream,
            sentence,
            language,
            ticks,
            lengthTicks: ticksOfRendering(pcm),
          });
          service.rendered(job.stream, job.id, pcm, now());
          continue;
        }
        const link = links.get(effect.stream);
        if (effect.type === 'send') {
          const fate = output.fateOf(effect.stream, effect.message);
          if (fate === 'goes') link?.send(effect.message);
          else if (fate !== 'lost') breakOff(effect.stream, fate.resetInMs);
        } else if (effect.type === 'sendRaw') link?.sendRaw(effect.payload);
        else if (effect.type === 'link') link?.setLink(effect.link);
        else {
          links.delete(effect.stream);
          if (effect.type === 'close') link?.close(effect.code, effect.reason);
          else link?.reset();
        }
      }
      service.tick(now());
    }
  };
  const breakOff = (stream: string, inMs: number): void => {
    clock.at(clock.now() + inMs, () => {
      const link = links.get(stream);
      if (link === undefined) return;
      links.delete(stream);
      link.reset();
      act((at) => service.disconnected(stream, 1006, '', 'network', at));
    });
  };
  const arm = (): void => {
    disarm();
    const next = service.nextAt(now());
    if (next === Number.POSITIVE_INFINITY) return;
    disarm = clock.at(Math.max(clock.now(), next), () => {
      settle();
      arm();
    });
  };
  const act = <T>(call: (at: number) => T): T => {
    const result = call(now());
    settle();
    arm();
    return result;
  };

  return {
    service,
    now,
    act,
    output,
    isDown: false,
    references: new Map(),
    get running() {
      return links.size;
    },
    open(token) {
      if (this.isDown) return 'down';
      return act((at) => service.open({ secret: token, intent: 's2s' }, at));
    },
    attach(stream, link) {
      links.set(stream, link);
      output.opened(stream);
    },
    hear(stream, pcm) {
      const report = service.stream(stream)?.report;
      const sound = new Int16Array(pcm.buffer, pcm.byteOffset, pcm.byteLength >> 1);
      const unheard = report?.frames_unheard;
      watch.heard(stream, sound, report?.phase === 'running');
      act((at) => service.hear(stream, pcm, Math.ceil(pcm.byteLength / 3) * 4, at));
      if (report?.frames_unheard !== unheard) watch.overrun(stream, sound);
    },
    receive(stream, json) {
      act((at) => service.receive(stream, json, at));
    },
    gone(stream, code, by) {
      links.delete(stream);
      output.closed(stream);
      act((at) => service.disconnected(stream, code, '', by, at));
    },
    upgradeDelayMs: () => service.faults.takeUpgradeDelayMs(),
    fault(body) {
      const parsed = parseFaults(body);
      if (!parsed.ok) throw new Error(`invalid fault: ${parsed.issues.join('; ')}`);
      act((at) => service.faults.plan.add(parsed.request, at));
    },
    turnZombies: (answers) => output.turnZombies(links.keys(), answers),
    stop() {
      this.isDown = true;
      for (const [stream, link] of [...links]) {
        links.delete(stream);
        link.reset();
        act((at) => service.disconnected(stream, 1006, 'restart', 'network', at));
      }
    },
  };
}
