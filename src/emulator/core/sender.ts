import type { Random } from '../../core/random.ts';
import { samplesOf } from '../../sound/pcm.ts';
import { type Delay, DelayLine } from './delay-line.ts';
import type { Effect } from './effect.ts';
import { createOutbox, type OutMessage } from './outbox.ts';
import { levelDb } from './pcm.ts';
import { createSpeechFaults, type SpeechFaults } from './speech-faults.ts';
import { SpokenPosition } from './spoken-position.ts';
import { noteText, type StreamReport } from './stream-report.ts';

/** Maximum number of messages that wait at once on one stream: minutes of speech in several languages. */
const MOST_WAITING = 4000;

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
  /** Whether messages are withheld. */
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
  /** Zero point of the times recorded with texts. */
  readonly openedAt: number;
  readonly emit: (effect: Effect) => void;
  readonly record: (pcm: Uint8Array) => void;
  readonly random: Random;
}

export function createSender(setup: SenderSetup): Sender {
  return new MessageSender(setup);
}

class MessageSender implements Sender {
  readonly speechFaults = createSpeechFaults();
  mute: Mute | null = null;
  private readonly setup: SenderSetup;
  private readonly outbox = createOutbox<Waiting>(MOST_WAITING);
  private readonly delays: DelayLine;
  private readonly spoken = new SpokenPosition();

  constructor(setup: SenderSetup) {
    this.setup = setup;
    this.delays = new DelayLine(setup.random);
  }

  get nextAt(): number {
    return this.outbox.nextAt;
  }

  get lastAt(): number {
    return this.outbox.lastAt;
  }

  get waiting(): number {
    return this.outbox.length;
  }

  get isBetweenLanguages(): boolean {
    return this.spoken.isBetweenLanguages;
  }

  get delay(): Delay | null {
    return this.delays.delay;
  }

  set delay(next: Delay | null) {
    this.delays.delay = next;
  }

  isMute(now: number): boolean {
    if (this.mute !== null && now >= this.mute.until) this.mute = null;
    return this.mute !== null;
  }

  send(message: OutMessage, now: number): void {
    if (!this.isPutOff(message, now)) this.pass(message, now);
  }

  sendAt(message: OutMessage, dueAt: number): void {
    this.outbox.put({ message, delayed: false }, dueAt);
  }

  sendNow(message: OutMessage, now: number): void {
    this.mute = null;
    this.emit(message, now);
  }

  flush(now: number): void {
    const { outbox } = this;
    for (let entry = outbox.take(now); entry !== undefined; entry = outbox.take(now)) {
      if (entry.delayed || !this.isPutOff(entry.message, now)) this.pass(entry.message, now);
    }
  }

  dropSpeech(languages: ReadonlySet<string> | null = null): number {
    return this.outbox.drop(
      ({ message }) =>
        isSpeech(message) && (languages === null || languages.has(message.spoken?.language ?? '')),
    );
  }

  dropOldest(language: string, ms: number): number {
    const dropped = new Set<string>();
    let droppedMs = 0;
    this.outbox.drop(({ message: { spoken } }) => {
      if (spoken === undefined || spoken.language !== language) return false;
      const hasBegun = this.spoken.isAt(spoken);
      if (!dropped.has(spoken.sentence) && (hasBegun || droppedMs >= ms)) return false;
      dropped.add(spoken.sentence);
      droppedMs += spoken.ms;
      return true;
    });
    return droppedMs;
  }

  clear(): void {
    this.outbox.drop(() => true);
    this.delays.clear();
  }

  heal(): void {
    this.delay = null;
    this.mute = null;
    this.speechFaults.reset();
  }

  /** Queues a message that a delay holds back. */
  private isPutOff(message: OutMessage, now: number): boolean {
    const dueAt = this.delays.dueAt(now);
    if (dueAt !== null) this.outbox.put({ message, delayed: true }, dueAt);
    return dueAt !== null;
  }

  /** Sends a message after the speech faults have changed or removed it. */
  private pass(message: OutMessage, now: number): void {
    if (message.spoken !== undefined) this.spoken.note(message.spoken);
    const changed = isSpeech(message) ? this.speechFaults.apply(message) : message;
    if (changed !== null) this.emit(changed, now);
  }

  /** Sends a message, unless the service is mute. */
  private emit(message: OutMessage, now: number): void {
    if (this.isMute(now) && !(this.mute?.except === 'get_task' && answersGetTask(message))) return;
    this.count(message, now);
    this.setup.emit({ type: 'send', stream: this.setup.report.id, message });
  }

  private count({ type, data, pcm }: OutMessage, now: number): void {
    const { report, openedAt, record } = this.setup;
    report.messages_out++;
    if (pcm !== undefined) {
      report.frames_out++;
      report.bytes_out += pcm.byteLength;
      report.level_out_db = levelDb(samplesOf(pcm));
      if (report.output_hz !== null) report.audio_ms_out += (pcm.byteLength / 2 / report.output_hz) * 1000;
      record(pcm);
      return;
    }
    const { transcription } = data as TranscriptData;
    if (transcription === undefined) return;
    noteText(report, type, transcription.language, transcription.text, Math.round(now - openedAt));
  }
}
