/** Rate of the translated audio (hertz): the one rate that every known service delivers. */
export const OUTPUT_RATE_HZ = 24_000;

/** The reason that a service gives for refusing or ending a stream. */
export const REFUSALS = [
  'session_already_used',
  'max_duration_reached',
  'intent_mismatch',
  'connection_type_mismatch',
  'connect_window_expired',
  'session_limit_reached',
  'session_revoked',
  'service_timeout',
  'insufficient_balance',
  'account_blocked',
  'forbidden',
  'service_error',
] as const;
export type Refusal = (typeof REFUSALS)[number];

/** A stretch of the stream's own audio, milliseconds from its first sample. */
export interface HeardSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/** `none`: the service has no task. `unclear`: it does not say whether the task runs. */
export type TaskState = 'running' | 'paused' | 'none' | 'unclear';

/** Whether the task runs. */
export interface Ready {
  readonly type: 'ready';
  readonly task: TaskState;
  /** The target languages of the task, if the service names them. */
  readonly targets: readonly string[] | null;
  /** Whether this answers `askForTask`; false: the service reported it unasked. */
  readonly isAnswer: boolean;
  /** The service's explanation, fit to show; null: none. */
  readonly detail: string | null;
}

/** A partial transcript: the whole text of a sentence so far. */
export interface Heard {
  readonly type: 'heard';
  /** The service's name for the sentence; null: none. */
  readonly id: string | null;
  readonly language: string;
  readonly text: string;
}

/** The final transcript of a sentence. */
export interface Understood {
  readonly type: 'understood';
  readonly id: string | null;
  readonly language: string;
  readonly text: string;
  /** Which audio it covers, if the service says so. */
  readonly span: HeardSpan | null;
}

/** The translation of a sentence or of one part of a sentence. */
export interface Translated {
  readonly type: 'translated';
  readonly id: string | null;
  /** The part of the translation; null: the service does not split it. */
  readonly part: string | null;
  readonly language: string;
  readonly text: string;
  readonly span: HeardSpan | null;
  /** False: the text may still change. */
  readonly isFinal: boolean;
}

/** Translated audio. */
export interface Spoke {
  readonly type: 'spoke';
  /** 16-bit mono at `OUTPUT_RATE_HZ`, whole samples; may be empty. */
  readonly pcm: Uint8Array;
  /** The service's name for the sentence; null: none. */
  readonly sentence: string | null;
  readonly part: string | null;
  /** The service's language tag; null: none. */
  readonly language: string | null;
  /** The service's name for this utterance in one language; null: none. */
  readonly utterance: string | null;
  /** True: this audio completes the sentence. */
  readonly last: boolean;
}

/** The service objects to something, and the stream continues. */
export interface Warned {
  readonly type: 'warned';
  /** `rejection`: the service does not accept the task or the text. */
  readonly level: 'warning' | 'error' | 'rejection';
  /** The service does not support this kind of message at all. */
  readonly isUnknownKind?: true;
  readonly code: string | null;
  readonly text: string | null;
}

/** The service refuses the stream. */
export interface Refused {
  readonly type: 'refused';
  readonly reason: Refusal;
  /** HTTP status of the answer to the attempt to open the stream; null: the stream was open. */
  readonly status: number | null;
  /** The service's own number for the reason; null: none. */
  readonly errorCode: number | null;
  /** The service's explanation, fit to show; null: none. */
  readonly detail: string | null;
  readonly retryAfterMs: number | null;
}

/** The stream has reached its longest duration, or its session was revoked. */
export interface Limit {
  readonly type: 'limit';
  readonly reason: 'max_duration' | 'revoked';
}

/** The service ends the stream. */
export interface Ended {
  readonly type: 'ended';
  /** `complete`: it has spoken everything. `closed`: the connection closed cleanly. `cut`: it closed in any other way. */
  readonly how: 'complete' | 'closed' | 'cut';
  /** Why, if the service says so. */
  readonly reason: Refusal | null;
  /** How the connection closed, fit to show. */
  readonly detail: string;
}

/** Reports of a translation service on a stream, independent of its protocol. */
export type ServiceEvent = Ready | Heard | Understood | Translated | Spoke | Warned | Refused | Limit | Ended;

/** `speech`: a text. `sound`: translated sound. `frame`: unknown, because it is not a message at all. */
export type UnreadableWhat = 'speech' | 'sound' | 'frame';

/** `service`: the service broke the protocol. `flood`: it sent too much. `agent`: a failure on this side. */
export type StreamFault = 'service' | 'flood' | 'agent';

/**
 * Receives the events of a connection to the service. The last one is exactly one of: `refused` with a status, `ended` that is
 * not `complete`, `unreached`, `broke`.
 */
export interface StreamListener {
  opened(): void;
  said(event: ServiceEvent): void;
  /**
   * The service did not answer the attempt to open the stream.
   * @param spent whether the token may have reached the service
   * @param isOurs this machine lacks the resources for a connection: another address would not help
   */
  unreached(spent: boolean, message: string, isOurs?: boolean): void;
  /**
   * This side ended the connection.
   * @param message what was wrong, for the owner
   */
  broke(fault: StreamFault, message: string): void;
  /** A message of an unknown kind was ignored. The description never holds content. */
  oddity(description: string): void;
  /**
   * A message that cannot be understood.
   * @param description its kind and what is wrong with it, never its content
   */
  unreadable(what: UnreadableWhat, description: string): void;
  pong(): void;
  /** The send buffer is empty again, after some data had to wait. */
  drained(): void;
}

/** Languages of a stream, and the format of its sound. */
export interface StreamTask {
  readonly source: string;
  readonly targets: readonly string[];
  /** The service's name for a voice; null: the service chooses. */
  readonly voice: string | null;
  /** Either language may be spoken, and is translated into the other. */
  readonly bothWays?: boolean;
  readonly inputRateHz: number;
}

/** One connection to the service. Methods never throw; what cannot be sent is dropped, because the connection is about to end. */
export interface StreamConnection {
  /** Starts the task, or changes it. The service does not confirm: see `askForTask`. */
  runTask(task: StreamTask): void;
  /** Asks whether the task is running; the answer is `ready`. */
  askForTask(): void;
  sendAudio(pcm: Uint8Array): void;
  /** Has a text spoken. @param translate the text is in another language, and is translated first */
  say(text: string, language: string, translate: boolean): void;
  /** Lets the service finish speaking what it has heard, and then end the stream. */
  end(): void;
  /**
   * Asks for a sign of life, reported as `pong`. If the peer has just sent something, that counts, and nothing is sent.
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
  runTask() {},
  askForTask() {},
  sendAudio() {},
  say() {},
  end() {},
  ping() {},
  close() {},
  terminate() {},
  bufferedBytes: 0,
};

/** Address and token of a stream. Never log the token. */
export interface StreamTarget {
  /** The stream's address without the token. */
  readonly address: string;
  readonly token: string;
}

export type OpenStream = (target: StreamTarget, listener: StreamListener) => StreamConnection;
