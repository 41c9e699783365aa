import type { Random } from '../../core/random.ts';
import type { Choices } from './choices.ts';
import type { Effect } from './effect.ts';
import type { CreateDetector } from './interpreter.ts';
import type { Bookmark } from './page-cursor.ts';
import type { Recording } from './recording.ts';
import type { ProblemReason } from './refusal.ts';
import type { Sender } from './sender.ts';
import type { StreamReport } from './stream-report.ts';
import type { FindVoice } from './task-plan.ts';

export interface StreamSetup {
  readonly report: StreamReport;
  readonly choices: Choices;
  readonly createDetector: CreateDetector;
  readonly findVoice: FindVoice;
  readonly nextJobId: () => number;
  readonly bookmark: Bookmark;
  readonly emit: (effect: Effect) => void;
  /** Milliseconds since 1970 as the service shows them. */
  readonly shownClockAt: (now: number) => number;
  /** Random numbers for jitter. */
  readonly random: Random;
  /** Records the sound of a frame; true if another stream of the same client has sent it. */
  readonly isRepeated: (print: number) => boolean;
}

/** One streaming connection (docs/service.md 4.7), from its opening to its close. */
export interface Stream {
  readonly report: StreamReport;
  readonly openedAt: number;
  readonly recording: Recording;
  readonly sender: Sender;
  readonly nextAt: number;
  readonly speaking: boolean;
  /** A message other than audio, as parsed JSON of any shape. */
  receive(json: unknown, now: number): void;
  /** A frame that is not a JSON message. */
  receiveJunk(why: string, now: number): void;
  /** The audio of an `input_audio_data`. @param chars length of its base64 */
  hear(pcm: Uint8Array, chars: number, now: number): void;
  rendered(jobId: number, pcm: Uint8Array, now: number): void;
  tick(now: number): void;
  /** Sends a message of docs/service.md 6 that ends the stream, and closes after `afterMs`. */
  end(reason: ProblemReason, message: string, afterMs: number, now: number): void;
  /** Sends SERVICE_TIMEOUT and closes, as after too long without audio. */
  timeOut(now: number): void;
  /** Disregards a period in which the service did not listen. */
  excuse(ms: number): void;
  /** The connection is gone. */
  closed(code: number, reason: string, by: 'client' | 'service' | 'network', now: number): void;
}
