/** What can happen to what the service says to a stream. */
import type { OutMessage } from '../../src/emulator/core/outbox.ts';
import { readRenderings, TICK_MS } from './sound.ts';
import type { OnStrike } from './strikes.ts';

/** What becomes of a message: it goes out, or never does; or the stream is reset in its place, now or a little later. */
export type Fate = 'goes' | 'lost' | { readonly resetInMs: number };

export interface OutputFaults {
  /** These streams say nothing from now on. @param answers but what their task is, when they are asked */
  turnZombies(streams: Iterable<string>, answers?: boolean): void;
  /** So do those that open from now on; `answering`: but what their task is, when they are asked. */
  isZombie: boolean | 'answering';
  /** The next translation ends after its first 200 ms. @param resetInMs then the stream is reset; null: it goes on */
  cutNext(resetInMs: number | null): void;
  /** The next stream that goes over to a sentence's second language is reset instead. */
  resetBetweenLanguages(): void;
  /** What waits for its occasion is taken back. */
  clear(): void;
  /** Is told of each that waited, when it strikes. */
  struck: OnStrike;
  opened(stream: string): void;
  closed(stream: string): void;
  fateOf(stream: string, message: OutMessage): Fate;
}

const CUT_AFTER_TICKS = 200 / TICK_MS;

/** @param sentenceOf the first piece of speech of a rendering, and its language */
export function createOutputFaults(
  sentenceOf: (job: number) => { tick: number; language: string } | undefined,
): OutputFaults {
  /** And whether they answer. */
  const zombies = new Map<string, boolean>();
  let toCut: { resetInMs: number | null } | null = null;
  let cut: { job: number; resetInMs: number | null } | null = null;
  let awaitsLanguage = false;
  let last: { stream: string; tick: number; language: string } | null = null;

  const cutFate = (stretch: { job: number; place: number }): Fate => {
    if (toCut !== null && stretch.place === 0) {
      cut = { job: stretch.job, ...toCut };
      toCut = null;
      faults.struck('translation_cut', cut.resetInMs ?? 0);
      return 'goes';
    }
    if (cut?.job !== stretch.job || stretch.place < CUT_AFTER_TICKS) return 'goes';
    const { resetInMs } = cut;
    cut.resetInMs = null;
    return resetInMs === null ? 'lost' : { resetInMs };
  };
  const languageFate = (stream: string, job: number): Fate => {
    const sentence = sentenceOf(job);
    if (sentence === undefined) return 'goes';
    const isSecond =
      last?.stream === stream && last.tick === sentence.tick && last.language !== sentence.language;
    last = { stream, ...sentence };
    if (!isSecond) return 'goes';
    awaitsLanguage = false;
    faults.struck('reset_between_languages', 0);
    return { resetInMs: 0 };
  };

  const faults: OutputFaults = {
    isZombie: false,
    struck() {},
    clear() {
      toCut = null;
      awaitsLanguage = false;
    },
    turnZombies(streams, answers = false) {
      for (const stream of streams) zombies.set(stream, answers);
    },
    cutNext(resetInMs) {
      toCut = { resetInMs };
    },
    resetBetweenLanguages() {
      awaitsLanguage = true;
      last = null;
    },
    opened(stream) {
      if (this.isZombie) zombies.set(stream, this.isZombie === 'answering');
    },
    closed(stream) {
      zombies.delete(stream);
    },
    fateOf(stream, message) {
      const { type, pcm } = message;
      const isAnswering = zombies.get(stream);
      if (isAnswering !== undefined) return isAnswering && type === 'current_task' ? 'goes' : 'lost';
      if (type !== 'output_audio_data' || pcm === undefined) return 'goes';
      if (toCut === null && cut === null && !awaitsLanguage) return 'goes';
      const [stretch] = readRenderings(pcm);
      if (stretch === undefined) return 'goes';
      const fate = cutFate(stretch);
      return fate === 'goes' && awaitsLanguage ? languageFate(stream, stretch.job) : fate;
    },
  };
  return faults;
}
