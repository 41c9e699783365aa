/** The output of `rollout status`. */

import { inSeconds, troubleOf, WAVE_CONVERSATIONS, WAVE_MS } from './judgement.ts';
import type { Rollout } from './rollout.ts';

export interface Counts {
  /** Number of devices that have got the order. */
  readonly ordered: number;
  /** The version is confirmed. */
  readonly live: number;
  /** The update is running. */
  readonly under_way: number;
  /** Nothing was changed. */
  readonly failed: number;
  /** The previous version runs again. */
  readonly rolled_back: number;
  /** Selected but not connected: they get the order when they connect. */
  readonly offline: number;
}

export function countsOf({ drawn }: Rollout): Counts {
  const all = Object.values(drawn);
  const count = (state: string): number => all.filter((entry) => entry.state === state).length;
  const offline = count('waiting');
  return {
    ordered: all.length - offline,
    live: count('live'),
    under_way: count('ordered'),
    failed: count('failed'),
    rolled_back: count('rolled_back'),
    offline,
  };
}

/** The output for programs. */
export function rolloutJson(rollout: Rollout, isDriven: boolean): object {
  const { id, plan, at, state, reason, wave, waveSince, conversations, devices, unsupported, drawn } =
    rollout;
  const trouble = troubleOf(rollout);
  const time = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
  return {
    id,
    version: plan.version,
    state,
    reason,
    wave: wave + 1,
    waves: plan.waves,
    group: plan.group,
    manifest_url: plan.manifestUrl,
    by: plan.by,
    started_at: time(at),
    wave_since: time(waveSince),
    conversations,
    devices,
    ...countsOf(rollout),
    without_updater: unsupported,
    driven: isDriven,
    implausible: rollout.implausible,
    trouble_ms_an_hour: { updated: Math.round(trouble.updated), others: Math.round(trouble.others) },
    drawn: Object.entries(drawn).map(([device, entry]) => ({
      device,
      wave: entry.wave + 1,
      state: entry.state,
      reason: entry.reason,
    })),
  };
}

const MOST_NAMED = 5;

/** Lines for people. Each begins with a word or with spaces, and may be wrapped. */
export function rolloutLines(rollout: Rollout, isDriven: boolean): string[] {
  const { plan, state, reason, wave, devices, unsupported, at } = rollout;
  const { updated, others } = troubleOf(rollout);
  const { ordered, live, under_way, failed, rolled_back, offline } = countsOf(rollout);
  const share = `wave ${wave + 1} of ${plan.waves.length} (${plan.waves[wave]} %)`;
  const whom = plan.group === null ? '' : ` in group ${plan.group}`;
  return [
    `roll-out of ${plan.version}: ${state}, ${share}`,
    `  started   ${minuteOf(at)} by ${plan.by}`,
    `  devices   ${devices}${whom}${unsupported === 0 ? '' : `; ${unsupported} more have no updater`}`,
    `  ordered   ${ordered}: ${live} live, ${under_way} under way, ${failed} failed, ${rolled_back} rolled back`,
    `  offline   ${offline}${offline === 0 ? '' : '; they get the order when they connect'}`,
    `  speech    lost or unspoken per hour (median): ${inSeconds(updated)} s with ${plan.version}, ${inSeconds(others)} s without`,
    ...(reason === null ? [] : [`  reason    ${reason}`]),
    `  next      ${nextOf(rollout, isDriven)}`,
    ...doubts(rollout),
    ...troubles(rollout),
  ];
}

function nextOf(rollout: Rollout, isDriven: boolean): string {
  const { state, wave, plan, waveSince, conversations, devices } = rollout;
  if (state === 'aborted') return 'no more orders; devices that have the version keep it';
  if (state === 'stopped')
    return 'no more orders; devices that have the version keep it; "resume" goes on, "start" begins another';
  if (!isDriven)
    return 'no backend works on it: start "dragoman-backend run" with this store, or see its log';
  if (state === 'paused')
    return rollout.reason === null
      ? '"dragoman-backend rollout resume" goes on'
      : 'check that device; "dragoman-backend rollout resume" continues without it';
  if (state === 'done') return 'devices that connect later get it, until another roll-out or "abort"';
  if (devices === 0) return 'it waits for the first device that can be updated';
  if (waveSince === null) return `it waits until most devices of this wave run ${plan.version}`;
  const what = wave + 1 >= plan.waves.length ? 'done' : `wave ${wave + 2}`;
  return `${what} at ${minuteOf(waveSince + WAVE_MS)}, or at ${WAVE_CONVERSATIONS} conversations (${conversations} so far)`;
}

function doubts({ implausible }: Rollout): string[] {
  if (implausible.length === 0) return [];
  const more = implausible.length > MOST_NAMED ? ` and ${implausible.length - MOST_NAMED} more` : '';
  return [
    `  doubtful  ${implausible.slice(0, MOST_NAMED).join(', ')}${more}: implausible reports do not count`,
  ];
}

function troubles({ drawn, reason: mainReason }: Rollout): string[] {
  const all = Object.entries(drawn).filter(
    ([device, { state, reason }]) =>
      state !== 'live' && reason !== null && mainReason?.startsWith(`${device}: `) !== true,
  );
  const lines = all
    .slice(0, MOST_NAMED)
    .map(([device, { state, reason }]) => `  ${device} ${state.replace('_', ' ')}: ${reason}`);
  return all.length > MOST_NAMED ? [...lines, `  and ${all.length - MOST_NAMED} more: see --json`] : lines;
}

const minuteOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
