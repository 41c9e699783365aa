/** One device of a roll-out: how its reports and answers change its state. */
import { plainVersion } from '../../core/update/package-versions.ts';
import type { UpdateReport } from '../../protocol/common/update.ts';
import type { Entry } from './rollout.ts';

/** A device according to its messages. */
export interface SeenDevice {
  readonly isConnected: boolean;
  /** The agent's version; empty: not known. */
  readonly version: string;
  /** Id of the agent's run; null: not known. */
  readonly boot: string | null;
  readonly update: UpdateReport | null;
  /** Speech that was lost or unspoken since the last step. */
  readonly troubleMs: number;
  /** It has reported values that cannot be true. */
  readonly isImplausible: boolean;
}

/** A final answer to an order. */
export interface OrderAnswer {
  readonly device: string;
  readonly id: string;
  readonly status: 'ok' | 'error' | 'expired';
  readonly code: string;
  readonly message: string;
}

/** Codes after which the order is sent again: the device did not get it, or could not handle it then. */
const MAY_PASS: readonly string[] = ['not_sent', 'busy', 'stopping', 'interrupted', 'internal'];
const UNDER_WAY: readonly string[] = ['downloading', 'verifying', 'ready', 'switching', 'confirming'];
/** The new version runs, and is not confirmed yet. */
const ON_TRIAL: readonly string[] = ['switching', 'confirming'];

/** @param version plain, as devices report it */
export function newEntry(wave: number, device: SeenDevice, version: string): Entry {
  const entry: Entry = {
    state: 'waiting',
    wave,
    attempts: 0,
    sentAt: null,
    isHeard: false,
    before: null,
    reason: null,
    isExcused: false,
  };
  const before = reportOf(device, version);
  return followDevice({ ...entry, before }, device, version);
}

export function followDevice(entry: Entry, device: SeenDevice, version: string): Entry {
  const report = reportOf(device, version);
  const state = report === null || report === entry.before ? null : (device.update?.state ?? null);
  const reason = device.update?.reason ?? null;
  if (state === 'rolled_back' || state === 'failed')
    return entry.state === state ? entry : { ...entry, state, reason, isHeard: true, before: null };
  if (isConfirmed(device, version))
    return entry.state === 'live' ? entry : { ...entry, state: 'live', reason: null };
  if (state === null || !UNDER_WAY.includes(state)) return entry;
  const isKnown = entry.state === 'ordered' && entry.isHeard && entry.before === null;
  return isKnown ? entry : { ...entry, state: 'ordered', isHeard: true, before: null, reason: null };
}

/** An updater may take a day for its download and wait a day for a good moment. After this time (ms) it counts as failed. */
const FINISHES_WITHIN_MS = 50 * 3_600_000;
const UNFINISHED = 'it took the order more than two days ago, and has not finished';

/**
 * Gives up on a device that has the order but does not finish: a wave with this device alone would never end.
 * @param before the entry before the device's latest report
 */
export function giveUp(before: Entry, entry: Entry, now: number): Entry {
  if (entry.state !== 'ordered' || !entry.isHeard) return entry;
  if (entry.sentAt === null) return { ...entry, sentAt: now };
  if (now - entry.sentAt < FINISHES_WITHIN_MS) return entry;
  return before.reason === UNFINISHED ? before : { ...entry, state: 'failed', reason: UNFINISHED };
}

/** Whether the version is running, confirmed or on trial. */
export function hasVersion({ version: runs, update }: SeenDevice, version: string): boolean {
  // Package 1.3.0-2 reports 1.3.0, like the package before it: then the updater's report decides.
  const [upstream] = version.split('-');
  if (runs !== upstream || upstream === version) return runs === version;
  return isAbout(update, version) && (update.state === 'done' || ON_TRIAL.includes(update.state));
}

function isConfirmed(device: SeenDevice, version: string): boolean {
  const { update } = device;
  return hasVersion(device, version) && !(isAbout(update, version) && ON_TRIAL.includes(update.state));
}

const isAbout = (update: UpdateReport | null, version: string): update is UpdateReport =>
  update !== null && update.to !== null && plainVersion(update.to) === version;

/** The key of a device's report on this version: another run or another state gives another key. Null: no report. */
function reportOf({ update, boot }: SeenDevice, version: string): string | null {
  return isAbout(update, version) ? `${update.state} ${boot}` : null;
}

export function noteAnswer(entry: Entry, { status, code, message }: OrderAnswer): Entry {
  if (entry.state !== 'ordered' || entry.isHeard) return entry;
  if (status === 'ok') return { ...entry, isHeard: true };
  const mayPass = status === 'expired' || MAY_PASS.includes(code);
  const reason = status === 'expired' ? 'the order reached it too late, or its clock is wrong' : message;
  return { ...entry, state: mayPass ? 'waiting' : 'failed', reason };
}
