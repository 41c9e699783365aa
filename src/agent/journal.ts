import type { Log } from '../ports/log.ts';
import type { EventKind } from '../protocol/mqtt/device.ts';
import type { LaneStep } from './lane-runner.ts';

/** Events that somebody should look into. */
const TROUBLE: readonly EventKind[] = ['echo_fallback', 'capture_problem', 'speech_lost'];

/** Writes into the log what an operator would want to read of a lane's step. Never captions, never tokens. */
export function journal(log: Log, { lane, effects, before, after }: LaneStep): void {
  if (before.phase !== after.phase) {
    log.info({ lane, from: before.phase, to: after.phase }, `lane ${lane}: ${after.phase}`);
  }
  if (after.captureEnded && !before.captureEnded)
    log.info({ lane }, 'the recording has ended; silence follows');
  if (after.problem !== null && after.problem !== before.problem) {
    // Repeats of a lasting fault say nothing new.
    const again =
      before.problem?.code === after.problem.code && before.problem.message === after.problem.message;
    const { code, message } = after.problem;
    if (!again) log.warn({ lane, code }, message);
  }
  if (after.loss !== null && before.loss === null) {
    const { cause } = after.loss;
    log.warn({ lane, cause }, 'the outage lasts longer than the backlog: what is said is being lost');
  }
  for (const effect of effects) {
    if (effect.type === 'notify') {
      const level = TROUBLE.includes(effect.kind) ? 'warn' : 'info';
      log[level]({ lane, ...effect.detail }, `event ${effect.kind}`);
    }
    if (effect.type === 'request_token') {
      log.info({ lane, reason: effect.reason, attempt: effect.attempt }, 'asking for a token');
    }
  }
}
