/** Faults of the service. */
import { changeChoices } from '../../src/emulator/core/choices.ts';
import { REFUSAL_REASONS } from '../../src/protocol/service/error.ts';
import { changing, type Fault, OUTAGE_MS, ordering } from './fault-targets.ts';

export const SERVICE_FAULTS: Readonly<Record<string, Fault>> = {
  revoke: ({ host }) => void host.fault({ kind: 'revoke' }),
  revoke_lingering: ({ host }) => void host.fault({ kind: 'revoke', linger: true }),
  max_duration: ({ host }) => void host.fault({ kind: 'max_duration' }),
  reset: ({ host }) => void host.fault({ kind: 'drop' }),
  reset_mid_speech: ({ host }) => void host.fault({ kind: 'drop', when: 'mid_speech' }),
  reset_mid_output: ({ host }) => void host.fault({ kind: 'drop', when: 'mid_output' }),
  close: ({ host, dice }) =>
    void host.fault({ kind: 'close', code: dice.pick([1000, 1001, 1008, 1011, 1012, 4001]) }),
  service_timeout: ({ host }) => void host.fault({ kind: 'service_timeout' }),
  service_black_hole: ({ host, dice }) => ordering(dice.pick(OUTAGE_MS), host, { kind: 'black_hole' }),
  service_slow_read: ({ host, dice }) =>
    ordering(dice.between(5000, 60_000), host, { kind: 'slow_read', bytes_per_s: 20_000 }),
  service_restart: ({ host, dice }) => {
    const forMs = dice.pick(OUTAGE_MS);
    host.stop();
    return changing(forMs, host, {}, { isDown: false });
  },
  late_messages: ({ host, dice }) => {
    const forMs = dice.between(5000, 60_000);
    return ordering(forMs, host, { kind: 'delay', ms: dice.between(200, 3000), jitter_ms: 500 });
  },
  malformed_messages: ({ host, dice }) => {
    const form = dice.pick(['not_json', 'empty', 'no_type', 'unknown_type', 'wrong_data']);
    host.fault({ kind: 'malformed', form });
    return undefined;
  },
  last_chunk_omitted: ({ host, dice }) => {
    // A draw that is no longer used: with it, regression seeds draw the same as before.
    dice.next();
    host.fault({ kind: 'omit_last_chunk', times: 3 });
    return undefined;
  },
  warning: ({ host }) => void host.fault({ kind: 'warning', code: 'AUDIO_STREAM_TOO_FAST' }),
  service_error: ({ host, dice }) =>
    void host.fault({
      kind: 'error',
      code: dice.pick(['INTERNAL', 'RATE_LIMIT_EXCEEDED', 'VALIDATION_ERROR']),
    }),
  refused: ({ host, dice }) => {
    const reason = dice.pick([...REFUSAL_REASONS, 'forbidden', 'unauthorized'] as [string, ...string[]]);
    const delivery = dice.pick(['http', 'message', 'close']);
    host.fault({ kind: 'refuse', reason, delivery, times: dice.whole(1, 3) });
    host.fault({ kind: 'drop' });
    return undefined;
  },
  slow_upgrade: ({ host, dice }) => {
    host.fault({ kind: 'slow_upgrade', ms: dice.between(500, 40_000) });
    host.fault({ kind: 'drop' });
    return undefined;
  },
  balance_out: ({ host, dice }) => ordering(dice.between(5000, 200_000), host, { kind: 'balance_out' }),
  account_blocked: ({ host, dice }) => ordering(dice.between(5000, 200_000), host, { kind: 'block_account' }),
  creation_fails: ({ host, dice }) => {
    const answer = dice.pick(['status', 'timeout', 'reset', 'garbage']);
    const status = dice.pick([429, 500, 503]);
    host.fault({ kind: 'http', route: 'any', answer, status, times: dice.whole(1, 4) });
    if (dice.chance(0.5)) host.fault({ kind: 'drop' });
    return undefined;
  },
  no_room_for_two: ({ host, dice }) => {
    const forMs = dice.between(60_000, 400_000);
    const allow = (concurrent: number): void => void changeChoices(host.service.choices, { concurrent });
    allow(1);
    return { forMs, end: () => allow(10) };
  },
};
