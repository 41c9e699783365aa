import type { ServerMessage } from '../protocol/service/server-message.ts';
import type { Task } from '../protocol/service/task.ts';

/** The service's audio with its payload decoded; all other messages as they are. */
export type StreamMessage =
  | Exclude<ServerMessage, { message_type: 'output_audio_data' }>
  | {
      readonly message_type: 'output_audio';
      readonly pcm: Uint8Array;
      /** The spoken sentence that this translates (its transcription id), if the service names it. */
      readonly sentence: string | null;
      /** The part of the translation, if the service splits it into parts. */
      readonly part?: string | null;
      /** The service's language tag, if there is one. */
      readonly language: string | null;
      /** The name of this utterance in one language, if the service names it. */
      readonly utterance: string | null;
      /** This completes the sentence. */
      readonly last: boolean;
    };

/** `speech`: a text or sound. `frame`: unknown, because it is not a message at all. */
export type UnreadableWhat = 'speech' | 'frame';

/** The service's answer when it refused to open a stream. */
export interface UpgradeRefusal {
  readonly status: number;
  readonly errorCode: number | null;
  /** All texts that may name a reason. */
  readonly texts: readonly string[];
  /** The explanation for people: one short line without the token; null: none. */
  readonly detail: string | null;
  readonly retryAfterMs: number | null;
}

/** `service`: the service broke the protocol. `flood`: it sent too much. `agent`: a failure on this side. */
export type StreamFault = 'service' | 'flood' | 'agent';

/** Receives the events of a connection to the service. Exactly one of `refused`, `unreached`, `broke` and `ended` is called, last. */
export interface StreamListener {
  opened(): void;
  /** The service answered the upgrade with a refusal. */
  refused(refusal: UpgradeRefusal): void;
  /**
   * The service did not answer the upgrade.
   * @param spent whether the token may have reached the service
   * @param isOurs this machine has no room for a connection: another address would not help
   */
  unreached(spent: boolean, message: string, isOurs?: boolean): void;
  /**
   * This side ended the connection.
   * @param message what was wrong, for the owner
   */
  broke(fault: StreamFault, message: string): void;
  message(message: StreamMessage): void;
  /** A message of an unknown kind, ignored as agreed. Never holds content. */
  oddity(description: string): void;
  /**
   * A message that cannot be understood.
   * @param description its kind and what is wrong with it, never its content
   */
  unreadable(what: UnreadableWhat, description: string): void;
  pong(): void;
  /** All sent data has left this machine, after some of it had to wait. */
  drained(): void;
  ended(code: number, reason: string): void;
}

/** One WebSocket to the service. Methods never throw; what cannot be sent is dropped, because the connection is about to end. */
export interface StreamConnection {
  setTask(task: Task): void;
  getTask(): void;
  sendAudio(pcm: Uint8Array): void;
  /** Has a text spoken. @param translate the text is in another language, and is translated first */
  say(text: string, language: string, translate: boolean): void;
  endTask(): void;
  /**
   * Asks for a sign of life, reported as `pong`. If the peer was heard a moment ago, that counts as one, and nothing is sent.
   */
  ping(): void;
  /** Closes cleanly; no event follows. */
  close(): void;
  /** Cuts the connection; no event follows. */
  terminate(): void;
  /** Bytes that have not left this machine. */
  readonly bufferedBytes: number;
}

/** Stands for a connection that could not be opened, or was given up. */
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
 * @param url whole address including the token: never log it
 */
export type OpenStream = (url: string, listener: StreamListener) => StreamConnection;
