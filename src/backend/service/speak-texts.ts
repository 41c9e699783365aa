import type { Clock } from '../../ports/clock.ts';
import {
  NO_CONNECTION,
  type OpenStream,
  OUTPUT_RATE_HZ,
  type ServiceEvent,
  type Spoke,
  type StreamTarget,
} from '../../ports/stream.ts';
import { primaryOf } from '../../protocol/common/language-tag.ts';

/** 16-bit mono. */
const BYTES_PER_SAMPLE = 2;
const INPUT_RATE_HZ = 16_000;
/** Silence that keeps the stream alive (ms): the service ends one without sound. */
const CHUNK_MS = 320;
/** Interval of the question whether the task runs (ms); the service allows one in 2 s. */
const POLL_MS = 2050;
/** Timeout for the running task (ms). */
const SETUP_MS = 30_000;
/** Timeout for the first sound of a text (ms). */
const BEGINS_WITHIN_MS = 15_000;
/** Pause (ms) after the mark that completes a sentence, for a text of several. */
const AFTER_SENTENCE_MS = 1500;
/** Pause (ms) after sound without a mark that counts as the end of the text. */
const UNMARKED_END_MS = 5000;

/** The service did not speak a text. The message is a sentence without the text. */
export class NotSpoken extends Error {}

export interface TextsToSpeak {
  readonly target: StreamTarget;
  readonly language: string;
  /** The service's name for a voice; null: its default. */
  readonly voice: string | null;
  readonly texts: readonly string[];
  /** Longest sound of a text (ms). */
  readonly longestMs: number;
}

/** Has the service speak texts, one after the other, on one stream. @returns a sound for each. @throws NotSpoken */
export function speakTexts(
  { openStream, clock }: { openStream: OpenStream; clock: Clock },
  { target, language, voice, texts, longestMs }: TextsToSpeak,
): Promise<readonly Uint8Array[]> {
  return new Promise((resolve, reject) => {
    const sounds: Uint8Array[] = [];
    let parts: Uint8Array[] = [];
    /** The service's names for what it has spoken: of the present text, and of those before. */
    let names = new Set<string>();
    const earlierNames = new Set<string>();
    let stage: 'setup' | 'speaking' | 'over' = 'setup';
    let connection = NO_CONNECTION;
    let cancelWait = (): void => {};
    let cancelTick = (): void => {};

    const end = (problem: string | null): void => {
      if (stage === 'over') return;
      stage = 'over';
      cancelWait();
      cancelTick();
      connection.close();
      if (problem === null) resolve(sounds);
      else reject(new NotSpoken(problem));
    };
    const within = (ms: number, then: () => void): void => {
      cancelWait();
      cancelWait = clock.at(clock.now() + ms, then);
    };
    const each = (ms: number, act: () => void): void => {
      cancelTick();
      cancelTick = clock.at(clock.now() + ms, () => {
        act();
        if (stage !== 'over') each(ms, act);
      });
    };
    const next = (): void => {
      const text = texts[sounds.length];
      if (text === undefined) return end(null);
      parts = [];
      for (const name of names) earlierNames.add(name);
      names = new Set();
      connection.say(text, language, false);
      within(BEGINS_WITHIN_MS, () => end(`the service spoke nothing within ${BEGINS_WITHIN_MS / 1000} s`));
    };
    const complete = (): void => {
      sounds.push(Buffer.concat(parts));
      next();
    };
    const onSound = ({ pcm, last, language: tag, utterance, sentence }: Spoke): void => {
      if (tag !== null && primaryOf(tag) !== primaryOf(language)) return;
      const name = utterance ?? sentence;
      // A file must not hold the end of the text before.
      if (name !== null && earlierNames.has(name))
        return pcm.byteLength > 0 ? end('the sound of a text came too late: try again') : undefined;
      if (name !== null) names.add(name);
      if (pcm.byteLength > 0) parts.push(pcm);
      if (parts.length === 0) return;
      const bytes = parts.reduce((sum, part) => sum + part.byteLength, 0);
      if ((bytes * 1000) / (BYTES_PER_SAMPLE * OUTPUT_RATE_HZ) > longestMs)
        return end(`the sound is longer than ${longestMs / 1000} s: shorten the text`);
      within(last ? AFTER_SENTENCE_MS : UNMARKED_END_MS, complete);
    };
    const said = (event: ServiceEvent): void => {
      switch (event.type) {
        case 'ready':
          if (stage !== 'setup' || event.task !== 'running') return;
          stage = 'speaking';
          each(CHUNK_MS, () =>
            connection.sendAudio(new Uint8Array((BYTES_PER_SAMPLE * INPUT_RATE_HZ * CHUNK_MS) / 1000)),
          );
          return next();
        case 'spoke':
          return stage === 'speaking' ? onSound(event) : undefined;
        case 'warned':
          if (event.level === 'warning') return;
          return end(
            event.isUnknownKind
              ? 'the service does not speak texts'
              : `the service says: ${event.text ?? event.code ?? 'no reason'}`,
          );
        case 'refused':
          return end(`the service refuses the stream: ${event.reason}`);
        case 'limit':
        case 'ended':
          return end('the service ended the stream');
        default:
          return;
      }
    };
    connection = openStream(target, {
      opened() {
        // The service wants another language at the microphone, where nothing is said.
        const source = primaryOf(language) === 'en' ? 'es' : 'en';
        connection.runTask({ source, targets: [language], voice, inputRateHz: INPUT_RATE_HZ });
        each(POLL_MS, () => connection.askForTask());
      },
      said: (event) => (stage === 'over' ? undefined : said(event)),
      unreached: (_spent, message) => end(`cannot reach the service: ${message}`),
      broke: (_fault, message) => end(message),
      oddity() {},
      unreadable() {},
      pong() {},
      drained() {},
    });
    if ((stage as string) === 'over') connection.close();
    else within(SETUP_MS, () => end(`the service was not ready within ${SETUP_MS / 1000} s`));
  });
}
