import { samplesOf } from '../../core/audio/pcm.ts';
import type { Effect } from './effect.ts';
import { createOutbox, type OutMessage } from './outbox.ts';
import { levelDb } from './pcm.ts';
import type { Random } from './random.ts';
import { noteText, type StreamReport } from './stream-report.ts';

/** Messages that may wait at once on one stream: minutes of speech in several languages. */
const MOST_WAITING = 4000;

/** Messages come late: by `ms` and up to `jitterMs` more, until a moment. */
export interface Delay {
  readonly ms: number;
  readonly jitterMs: number;
  readonly what: 'all' | 'audio' | 'text' | 'transcripts';
  readonly until: number;
}

/** What is done to the next so many pieces of speech. */
export interface SpeechImpairments {
  reorder: number;
  omitLast: number;
  duplicate: number;
  lose: number;
}

/** Sends a stream's messages, at once or at their moment, and counts them. */
export interface Sender {
  readonly nextAt: number;
  readonly waiting: number;
  readonly impairments: SpeechImpairments;
  delay: Delay | null;
  send(message: OutMessage, now: number): void;
  sendAt(message: OutMessage, dueAt: number): void;
  /** Sends past every delay: a stream's last words. */
  sendNow(message: OutMessage, now: number): void;
  /** Lets go what is due. */
  flush(now: number): void;
  /** Forgets speech that waits. */
  dropSpeech(): number;
  /** Forgets all that waits. */
  clear(): void;
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

function isMeant(what: Delay['what'], message: OutMessage): boolean {
  if (what === 'all') return true;
  if (what === 'transcripts') return message.type.endsWith('_transcription');
  return (what === 'audio') === isSpeech(message);
}

export interface SenderSetup {
  readonly report: StreamReport;
  /** Texts are noted with the time since then. */
  readonly openedAt: number;
  readonly emit: (effect: Effect) => void;
  readonly record: (pcm: Uint8Array) => void;
  readonly random: Random;
}

export function createSender(setup: SenderSetup): Sender {
  const { report, openedAt } = setup;
  const outbox = createOutbox<Waiting>(MOST_WAITING);
  const impairments: SpeechImpairments = { reorder: 0, omitLast: 0, duplicate: 0, lose: 0 };
  let delay: Delay | null = null;
  let lastDelayedAt = 0;
  let heldBack: OutMessage | null = null;

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

  const go = (message: OutMessage, now: number): void => {
    account(message, now);
    setup.emit({ kind: 'send', stream: report.id, message });
  };

  const goSpeech = (message: OutMessage, now: number): void => {
    const last = message.data['last_chunk'] === true;
    if (impairments.lose > 0) {
      impairments.lose--;
      return;
    }
    if (impairments.reorder > 0 && heldBack === null && !last) {
      heldBack = message;
      return;
    }
    if (last && impairments.omitLast > 0) {
      impairments.omitLast--;
      go({ ...message, data: { ...message.data, last_chunk: false } }, now);
    } else {
      go(message, now);
    }
    if (heldBack !== null) {
      impairments.reorder--;
      const late = heldBack;
      heldBack = null;
      go(late, now);
    }
    if (impairments.duplicate > 0) {
      impairments.duplicate--;
      go(message, now);
    }
  };

  const pass = (message: OutMessage, now: number): void => {
    if (isSpeech(message)) goSpeech(message, now);
    else go(message, now);
  };

  /** Puts a message off if a delay is on. Delayed messages keep their order. */
  const putOff = (message: OutMessage, now: number): boolean => {
    if (delay === null) return false;
    if (now >= delay.until) delay = null;
    if (delay === null) return false;
    if (!isMeant(delay.what, message)) return false;
    lastDelayedAt = Math.max(lastDelayedAt, now + delay.ms + setup.random() * delay.jitterMs);
    outbox.put({ message, delayed: true }, lastDelayedAt);
    return true;
  };

  return {
    get nextAt() {
      return outbox.nextAt;
    },
    get waiting() {
      return outbox.length;
    },
    impairments,
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
    sendNow: go,
    flush(now) {
      for (let entry = outbox.take(now); entry !== undefined; entry = outbox.take(now)) {
        if (entry.delayed || !putOff(entry.message, now)) pass(entry.message, now);
      }
    },
    dropSpeech() {
      heldBack = null;
      return outbox.drop(({ message }) => isSpeech(message));
    },
    clear() {
      outbox.drop(() => true);
    },
  };
}
