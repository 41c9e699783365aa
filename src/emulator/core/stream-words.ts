import { textAt } from '../../protocol/common/json.ts';
import type { StreamPhase } from './stream-report.ts';

/** Close codes of RFC 6455 as the service uses them. */
export const CLOSE = { normal: 1000, goingAway: 1001, policy: 1008, tooBig: 1009 } as const;

/** Commands that both profiles know: the three of the specification, and `end_task`. */
export const KNOWN_TO_SPEC: ReadonlySet<string> = new Set([
  'set_task',
  'get_task',
  'input_audio_data',
  'end_task',
]);

/** Whether a message is an `end_task`, even an invalid one. */
export function isEndTask(json: unknown): boolean {
  return textAt(json, 'message_type') === 'end_task';
}

/** Converts the phase of a stream to a value of `task_status`. */
export function statusWord(phase: StreamPhase): 'running' | 'paused' | 'unknown' {
  return phase === 'running' || phase === 'paused' ? phase : 'unknown';
}
