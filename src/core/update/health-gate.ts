import type { Sighting } from '../../ports/update.ts';
import type { AgentHealth } from '../../protocol/common/update.ts';

export interface GateTimes {
  /** Length of the watch (ms). */
  readonly watchMs: number;
  /** Time until the agent must be ready (ms): the start timeout of its unit. */
  readonly readyMs: number;
  /** Tolerated time without a microphone (ms): a card that was just closed can be busy, and visitors pull plugs. */
  readonly hearMs: number;
}

export const GATE: GateTimes = { watchMs: 600_000, readyMs: 300_000, hearMs: 120_000 };

/** Number of restarts at which a version is rolled back: three failed starts are not an accident. */
const MOST_RESTARTS = 3;
/** Number of machine boots at which a version is rolled back: it must not bring the machine down forever. */
export const MOST_BOOTS = 3;
/** Minimum bytes per second, as a share of those before the switch: a deaf version reads hardly any, a good one may read half. */
const LEAST_SHARE = 0.25;
/** Minimum bytes per second that count as sound. */
const LEAST_SOUND = 8000;

/** What the watch has seen since the switch, or since the machine last booted after it. */
export interface GateState {
  readonly since: number;
  /** Since when a microphone is missing; null: none is. */
  readonly deafSince: number | null;
  readonly hasBroker: boolean;
  readonly hasBackend: boolean;
}

export const openGate = (now: number): GateState => ({
  since: now,
  deafSince: null,
  hasBroker: false,
  hasBackend: false,
});

export type Judgement =
  | { readonly kind: 'wait' | 'keep' }
  | { readonly kind: 'roll_back'; readonly reason: string };

/**
 * Whether a new version stays. Failures from before the switch do not count.
 * @param before null: not known
 */
export function judge(
  gate: GateState,
  before: AgentHealth | null,
  seen: Sighting,
  now: number,
  times: GateTimes = GATE,
): { readonly gate: GateState; readonly judgement: Judgement } {
  const deafness = seen.active ? deafnessOf(before, seen) : null;
  const next: GateState = {
    since: gate.since,
    deafSince: deafness === null ? null : (gate.deafSince ?? now),
    hasBroker: gate.hasBroker || seen.broker,
    hasBackend: gate.hasBackend || seen.backend,
  };
  const reason = fault(next, before, seen, deafness, now, times);
  if (reason !== null) return { gate: next, judgement: { kind: 'roll_back', reason } };
  return { gate: next, judgement: { kind: now - gate.since < times.watchMs ? 'wait' : 'keep' } };
}

function fault(
  gate: GateState,
  before: AgentHealth | null,
  seen: Sighting,
  deafness: string | null,
  now: number,
  { watchMs, readyMs, hearMs }: GateTimes,
): string | null {
  const { restarts, problem, active, network } = seen;
  // The owner has stopped the service, or it did not work before either.
  if (before?.active === false && !active) return null;
  const after = inWords(now - gate.since);
  if (restarts >= MOST_RESTARTS) return `it ended ${restarts} times within ${after}`;
  if (problem !== null && before?.usable !== false) return `it cannot use the configuration: ${problem}`;
  if (!active && now - gate.since >= readyMs) return `it was not ready within ${after}`;
  if (gate.deafSince !== null && now - gate.deafSince >= hearMs) return deafness;
  if (now - gate.since < watchMs) return null;
  if (restarts > 0) return `it ended ${restarts === 1 ? 'once' : 'twice'} within ${after}`;
  if (!network) return null;
  if (before?.broker === true && !gate.hasBroker) return `it did not connect to the broker within ${after}`;
  if (before?.backend === true && !gate.hasBackend) return `the backend did not answer it within ${after}`;
  return null;
}

/** Why the agent does not hear what it heard before the switch; null: it does. */
function deafnessOf(before: AgentHealth | null, { reports, deaf, readsPerS }: Sighting): string | null {
  if (!reports) return 'it runs, but does not report its state';
  const worse = deaf.filter((one) => before?.deaf.includes(one) !== true);
  if (worse.length > 0) return `it does not hear a microphone that worked before (${worse.join(', ')})`;
  const usual = before?.readsPerS ?? 0;
  if (usual < LEAST_SOUND || readsPerS === null || readsPerS >= usual * LEAST_SHARE) return null;
  return `it reads ${inKilobytes(readsPerS)} kB a second from the microphones, and the previous version read ${inKilobytes(usual)}`;
}

const inKilobytes = (bytes: number): string => (bytes / 1000).toFixed(0);

function inWords(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} minutes`;
}
