import { logRepeated, ORDINARY_A_MINUTE, type RepeatFilter } from '../../../machine/repeat-filter.ts';
import type { Log } from '../../../ports/log.ts';
import type { EventKind } from '../../../protocol/mqtt/event.ts';
import { phaseOf } from '../state/session-state.ts';
import type { LaneStep } from './lane-runner.ts';

/** Events for the log level `warn`: an operator should look into them. */
const TROUBLE: readonly EventKind[] = [
  'echo_fallback',
  'two_way_fallback',
  'capture_problem',
  'speech_lost',
  'unspoken',
  'messages_unreadable',
  'internal_error',
];

/** The service's own problem codes: they share one kind of log line. */
const SERVICE_CODE = /^service_.*/;

/** Logs the steps of a lane that matter to an operator. Never captions, never tokens. */
export function logStep(
  deps: { log: Log; repeats: RepeatFilter },
  { lane, effects, before, after }: LaneStep,
): void {
  const { log } = deps;
  const line = (level: 'info' | 'warn', kind: string, fields: object, sentence: string): void =>
    logRepeated(deps, {
      level,
      kind: `${kind}:${lane}`,
      fields: { lane, ...fields },
      sentence,
      atOnce: ORDINARY_A_MINUTE,
    });
  const [from, to] = [phaseOf(before.session), phaseOf(after.session)];
  if (from !== to) line('info', `phase:${to}`, { from, to }, `lane ${lane}: ${to}`);
  if (after.captureEnded && !before.captureEnded)
    log.info({ lane }, 'the recording has ended; silence follows');
  const { capture, playback, headset, also } = before.deviceFaults;
  for (const [what, old, present] of [
    ['problem', before.problem, after.problem],
    ['problem', capture, after.deviceFaults.capture],
    ['problem', playback, after.deviceFaults.playback],
    ['problem', headset, after.deviceFaults.headset],
    ['problem', also, after.deviceFaults.also],
    ['warning', before.warning, after.warning],
  ] as const) {
    if (present === null || present === old) continue;
    const { code, message } = present;
    // Repeats of a lasting fault are not news.
    const again = old?.code === code && old.message === message;
    if (!again) line('warn', `${what}:${code.replace(SERVICE_CODE, 'service')}`, { code }, message);
  }
  if (after.loss !== null && before.loss === null) {
    const { cause } = after.loss;
    line('warn', 'loss', { cause }, `speech is being lost: ${cause.replaceAll('_', ' ')}`);
  }
  for (const effect of effects) {
    if (effect.type === 'notify') {
      const level = TROUBLE.includes(effect.kind) ? 'warn' : 'info';
      line(level, `event:${effect.kind}`, effect.detail, `event ${effect.kind}`);
    }
    if (effect.type === 'request_token') {
      const { reason, attempt } = effect;
      line('info', 'token', { reason, attempt }, 'requesting a token');
    }
  }
}
