import type { LossCause } from '../../../protocol/mqtt/causes.ts';
import type { DropReason } from '../../playout/playout-state.ts';

/** Losses of a lane that are not reported yet. All times are monotonic milliseconds. */

/** Time between two reports of a continuing loss (ms). */
export const REPORT_EACH_MS = 600_000;

/** Speech that never reached a working service. */
export interface SpeechLoss {
  readonly lostMs: number;
  /** The cause as known when the loss began. */
  readonly cause: LossCause;
  /** Beginning of the first lost speech; `to`: end of the last. */
  readonly from: number;
  readonly to: number;
  /** Time of the newest loss. */
  readonly lastAt: number;
  /** Time of the last report; before the first report, the time of the first loss. */
  readonly reportedAt: number;
  /** `held`: it was waiting for a stream; `sent`: a stream had taken it. */
  readonly source: 'held' | 'sent';
}

/** Speech in one language that the service received and did not speak in full. */
export interface UnspokenLanguage {
  readonly language: string;
  /** Unspoken speech since the last report (ms). */
  readonly ms: number;
  readonly sentences: number;
  /** The last sentence that was counted: parts of one sentence count once. */
  readonly sentence: string;
  /** Unspoken speech since the last sound of this language (ms). */
  readonly silentMs: number;
  /** Time of the last report; before the first report, the time of the first loss. */
  readonly reportedAt: number;
}

/** Translated speech that was not played. */
export interface DroppedSpeech {
  readonly why: DropReason;
  readonly ms: number;
  readonly sentences: number;
  /** Time of the newest dropped chunk. */
  readonly lastAt: number;
  /** Time of the last report; before the first report, the time of the first loss. */
  readonly reportedAt: number;
}
