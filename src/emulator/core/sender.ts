import type { Random } from '../../core/random.ts';
import { samplesOf } from '../../sound/pcm.ts';
import type { Effect } from './effect.ts';
import { createOutbox, type OutMessage, type SpokenPart } from './outbox.ts';
import { levelDb } from './pcm.ts';
import { createSpeechFaults, type SpeechFaults } from './speech-faults.ts';
import { noteText, type StreamReport } from './stream-report.ts';

/** Most messages that wait at once on one stream: minutes of speech in several languages. */
const MOST_WAITING = 4000;

/** A delay of all messages, by `ms` and up to `jitterMs` more, until a given time. */
export interface Delay {
  readonly ms: number;
  readonly jitterMs: number;
  readonly until: number;
}

/** The service sends no messages until a given time. */
export interface Mute {
  readonly except: 'nothing' | 'get_task';
  readonly until: number;
}

/** Sends a stream's messages, at once or when they are due, and counts them. */
export interface Sender {
  readonly nextAt: number;
  readonly waiting: number;
  /** When the last waiting message is due; 0 if none waits. */
  readonly lastAt: number;
  readonly speechFaults: Pick<SpeechFaults, 'cut' | 'omitLast'>;
  /** A sentence has been spoken completely in one language, and has not begun in another. */
  readonly isBetweenLanguages: boolean;
  delay: Delay | null;
  mute: Mute | null;
  /** Whether speech is withheld. */
  isMute(now: number): boolean;
  send(message: OutMessage, now: number): void;
  sendAt(message: OutMessage, dueAt: number): void;
  /** Sends at once, despite delay and mute: for a stream's last message. */
  sendNow(message: OutMessage, now: number): void;
  /** Sends the messages that are due. */
  flush(now: number): void;
  /** Drops waiting speech. @param languages only the speech in these */
  dropSpeech(languages?: ReadonlySet<string> | null): number;
  /** Drops whole sentences in a language that have not begun, oldest first, until `ms` are dropped. @returns dropped ms */
  dropOldest(language: string, ms: number): number;
  /** Drops all waiting messages. */
  clear(): void;
  /** Ends the effects of all faults. */
  heal(): void;
}

interface Waiting {
  readonly message: OutMessage;
  readonly delayed: boolean;
}

interface TranscriptData {
  readonly transcription?: { readonly language: string; readonly text: string };
}

function isSpeech(message: OutMessage): boolean {
  return message.type === 'output_audio_data';
}

function answersGetTask({ type, data }: OutMessage): boolean {
  return type === 'current_task' || (type === 'error' && data['code'] === 'NOT_FOUND');
}

export interface SenderSetup {
  readonly report: StreamReport;
  /** Start of the times that are recorded with texts. */
  readonly openedAt: number;
  readonly emit: (effect: Effect) => void;
  readonly record: (pcm: Uint8Array) => void;
  readonly random: Random;
}

export function createSender(setup: SenderSetup): Sender {
  const { report, openedAt } = setup;
  const outbox = createOutbox<Waiting>(MOST_WAITING);
  const speechFaults = createSpeechFaults();
  let delay: Delay | null = null;
  let lastDelayedAt = Number.NEGATIVE_INFINITY;
  let mute: Mute | null = null;
  let spokenLast: { part: SpokenPart; finished: number } | null = null;

  const account = (message: OutMessage, now: number): void => {
    report.messages_out++;
    if (message.pcm !== undefined) {
      report.frames_out++;
      report.bytes_out += message.pcm.byteLength;
      report.level_out_db = levelDb(samplesOf(message.pcm));
      if (report.output_hz !== null) {
        report.audio_ms_out += (message.pcm.byteLength / 2 / report.output_hz) * 1000;
      }
      setup.record(message.pcm);
      return;
    }
    const { transcription } = message.data as TranscriptData;
    if (transcription !== undefined) {
      noteText(report, message.type, transcription.language, transcription.text, Math.round(now - openedAt));
    }
  };

  const isMute = (now: number): boolean => {
    if (mute !== null && now >= mute.until) mute = null;
    return mute !== null;
  };

  const go = (message: OutMessage, now: number): void => {
    if (isMute(now) && !(mute?.except === 'get_task' && answersGetTask(message))) return;
    account(message, now);
    setup.emit({ type: 'send', stream: report.id, message });
  };

  const noteSpoken = (part: SpokenPart): void => {
    const before = spokenLast?.part.sentence === part.sentence ? spokenLast.finished : 0;
    spokenLast = { part, finished: before + (part.isLast ? 1 : 0) };
  };

  const pass = (message: OutMessage, now: number): void => {
    if (!isSpeech(message)) return go(message, now);
    if (message.spoken !== undefined) noteSpoken(message.spoken);
    const changed = speechFaults.apply(message);
    if (changed !== null) go(changed, now);
  };

  /** Delays a message during a delay, or while an earlier message is still delayed, so that the order stays. */
  const putOff = (message: OutMessage, now: number): boolean => {
    if (delay !== null && now >= delay.until) delay = null;
    if (delay === null && now > lastDelayedAt) return false;
    const lateMs = delay === null ? 0 : delay.ms + setup.random() * delay.jitterMs;
    lastDelayedAt = Math.max(lastDelayedAt, now + lateMs);
    outbox.put({ message, delayed: true }, lastDelayedAt);
    return true;
  };

  return {
    get nextAt() {
      return outbox.nextAt;
    },
    get lastAt() {
      return outbox.lastAt;
    },
    get waiting() {
      return outbox.length;
    },
    speechFaults,
    get isBetweenLanguages() {
      return spokenLast?.part.isLast === true && spokenLast.finished < spokenLast.part.languages;
    },
    get mute() {
      return mute;
    },
    set mute(next) {
      mute = next;
    },
    isMute,
    get delay() {
      return delay;
    },
    set delay(next) {
      delay = next;
    },
    send(message, now) {
      if (!putOff(message, now)) pass(message, now);
    },
    sendAt(message, dueAt) {
      outbox.put({ message, delayed: false }, dueAt);
    },
    sendNow(message, now) {
      mute = null;
      go(message, now);
    },
    flush(now) {
      for (let entry = outbox.take(now); entry !== undefined; entry = outbox.take(now)) {
        if (entry.delayed || !putOff(entry.message, now)) pass(entry.message, now);
      }
    },
    dropSpeech(languages = null) {
      return outbox.drop(
        ({ message }) =>
          isSpeech(message) && (languages === null || languages.has(message.spoken?.language ?? '')),
      );
    },
    dropOldest(language, ms) {
      const dropped = new Set<string>();
      const last = spokenLast?.part;
      let goneMs = 0;
      outbox.drop(({ message: { spoken } }) => {
        if (spoken === undefined || spoken.language !== language) return false;
        const hasBegun = last?.sentence === spoken.sentence && last.language === language;
        if (!dropped.has(spoken.sentence) && (hasBegun || goneMs >= ms)) return false;
        dropped.add(spoken.sentence);
        goneMs += spoken.ms;
        return true;
      });
      return goneMs;
    },
    clear() {
      outbox.drop(() => true);
      lastDelayedAt = Number.NEGATIVE_INFINITY;
    },
    heal() {
      delay = null;
      mute = null;
      speechFaults.reset();
    },
  };
}
