import type { ServerMessage } from '../protocol/service/server-message.ts';
import type { Task } from '../protocol/service/task.ts';

/** The service's audio with its payload decoded; all other messages as they are. */
export type StreamMessage =
  | Exclude<ServerMessage, { message_type: 'output_audio_data' }>
  | {
      readonly message_type: 'output_audio';
      readonly pcm: Uint8Array;
      /** The spoken sentence that this translates (its transcription id), where the service names it. */
      readonly sentence: string | null;
      /** Of which part of its translation this is, where the service makes parts of it. */
      readonly part?: string | null;
      /** As the service tags it, where it does. */
      readonly language: string | null;
      /** Names what is spoken here, in one language, where the service does. */
      readonly utterance: string | null;
      /** The sentence is complete with this. */
      readonly last: boolean;
    };

/** `speech`: a text, or sound. `frame`: nobody can tell, for it is no message at all. */
export type UnreadableWhat = 'speech' | 'frame';

/** What the service said when it would not open a stream. */
export interface UpgradeRefusal {
  readonly status: number;
  readonly errorCode: number | null;
  /** Whatever may hold a reason by name. */
  readonly texts: readonly string[];
  /** What it says in words for people: one short line without the token; null: nothing. */
  readonly detail: string | null;
  readonly retryAfterMs: number | null;
}

/** `service`: it sent what the protocol does not allow. `flood`: more than anybody has to say. `agent`: something here failed. */
export type StreamFault = 'service' | 'flood' | 'agent';

/** Where a connection to the service reports. Exactly one of `refused`, `unreached`, `broke` and `ended` comes, and comes last. */
export interface StreamListener {
  opened(): void;
  /** The upgrade was answered with something else. */
  refused(refusal: UpgradeRefusal): void;
  /**
   * The upgrade was not answered.
   * @param spent whether the token may have reached the service
   * @param isOurs this machine has no room for a connection: another address would do no better
   */
  unreached(spent: boolean, message: string, isOurs?: boolean): void;
  /**
   * It was ended on this side.
   * @param message what was wrong, in words for the owner
   */
  broke(fault: StreamFault, message: string): void;
  message(message: StreamMessage): void;
  /** A message of a kind that is not known, ignored by agreement. Never holds content. */
  oddity(description: string): void;
  /**
   * A message whose meaning is lost.
   * @param description what it was and what is wrong with it, never its content
   */
  unreadable(what: UnreadableWhat, description: string): void;
  pong(): void;
  /** Everything that was sent has left this machine, after some of it had to wait. */
  drained(): void;
  ended(code: number, reason: string): void;
}

/** One WebSocket to the service. Methods never throw; what can't be sent is dropped, because an end is on its way. */
export interface StreamConnection {
  setTask(task: Task): void;
  getTask(): void;
  sendAudio(pcm: Uint8Array): void;
  /** Has a text spoken. @param translate it is in another language, and translated first */
  say(text: string, language: string, translate: boolean): void;
  endTask(): void;
  /**
   * Asks for a sign of life, which comes as `pong`. Where the other end was heard a moment ago, that is one, and nothing is
   * sent.
   */
  ping(): void;
  /** Closes in order; no event follows. */
  close(): void;
  /** Cuts the connection; no event follows. */
  terminate(): void;
  /** Bytes that have not left this machine. */
  readonly bufferedBytes: number;
}

/** What stands for a connection that could not be opened, or has been given up. */
export const NO_CONNECTION: StreamConnection = {
  setTask() {},
  getTask() {},
  sendAudio() {},
  say() {},
  endTask() {},
  ping() {},
  close() {},
  terminate() {},
  bufferedBytes: 0,
};

/**
 * Opens a stream (docs/service.md 4.7).
 * @param url whole address with the token in it: never to be logged
 */
export type OpenStream = (url: string, listener: StreamListener) => StreamConnection;
