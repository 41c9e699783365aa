/** Faults of the messages that the service sends to a stream. */
import type { OutMessage } from '../../src/emulator/core/outbox.ts';
import { readRenderings, TICK_MS } from './sound.ts';
import type { OnStrike } from './strikes.ts';

/** Fate of a message: it is sent, dropped, or replaced by a reset of the stream, now or a little later. */
export type Fate = 'goes' | 'lost' | { readonly resetInMs: number };

export interface OutputFaults {
  /** Silences these streams from now on. @param answers they still answer get_task */
  turnZombies(streams: Iterable<string>, answers?: boolean): void;
  /** Silences streams that open from now on; `answering`: they still answer get_task. */
  isZombie: boolean | 'answering';
  /** Cuts the next translation after its first 200 ms. @param resetInMs time until the stream is reset; null: never */
  cutNext(resetInMs: number | null): void;
  /** Resets the next stream that begins the second language of a sentence. */
  resetBetweenLanguages(): void;
  /** Cancels faults that have not struck yet. */
  clear(): void;
  /** Called when a waiting fault strikes. */
  struck: OnStrike;
  opened(stream: string): void;
  closed(stream: string): void;
  fateOf(stream: string, message: OutMessage): Fate;
}

const CUT_AFTER_TICKS = 200 / TICK_MS;

/** @param sentenceOf finds a rendering's first piece of speech and its language */
export function createOutputFaults(
  sentenceOf: (job: number) => { tick: number; language: string } | undefined,
): OutputFaults {
  /** Silent streams, and whether they answer get_task. */
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
