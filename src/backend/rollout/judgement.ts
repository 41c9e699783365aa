/**
 * Whether a wave has shown enough, and whether the version is bad. One device may report what it likes: it never decides alone.
 * Therefore losses are medians over devices, each device has a share of the conversations, and one bad sign only pauses.
 */
import type { Entry, Rollout, Speech } from './rollout.ts';

export const HOUR_MS = 3_600_000;
/** A wave ends when it has reached this time or `WAVE_CONVERSATIONS`. */
export const WAVE_MS = 24 * HOUR_MS;
export const WAVE_CONVERSATIONS = 100;
/** Maximum number of conversations per wave that count for one device. */
const MOST_OF_ONE = 20;
/** Minimum billed time per counted conversation (ms). A shorter one says little about a version. */
const BILLED_MS = 20_000;
/** Conversations that a device may report at once after an outage of the broker. */
const LATE_CONVERSATIONS = 30;
/** The updated devices may lose this much speech an hour (ms), however little the others lose. */
const TROUBLE_MS = 1000;
const TROUBLE_FACTOR = 2;

/** Devices that reported more conversations than fit into the time of this wave. */
export function impossiblyBusy({ heard, waveSince }: Rollout, now: number): string[] {
  const most = LATE_CONVERSATIONS + (now - (waveSince ?? now)) / BILLED_MS;
  return Object.keys(heard).filter((name) => (heard[name] ?? 0) > most);
}

/** @param billedMs each device's stream time in the ledger since the wave began */
export function countConversations(
  { heard, implausible }: Rollout,
  billedMs: ReadonlyMap<string, number>,
): number {
  return Object.entries(heard)
    .filter(([name]) => !implausible.includes(name))
    .map(([name, count]) => Math.min(count, MOST_OF_ONE, Math.floor((billedMs.get(name) ?? 0) / BILLED_MS)))
    .reduce((sum, count) => sum + count, 0);
}

export function isWaveOver({ waveSince, conversations }: Rollout, now: number): boolean {
  return waveSince !== null && (conversations >= WAVE_CONVERSATIONS || now - waveSince >= WAVE_MS);
}

/** Speech that a device lost per hour (ms). Less than an hour counts as one hour: one lost sentence at the start says little. */
function troubleAnHour({ troubleMs, connectedMs }: Speech): number {
  return Math.min(HOUR_MS, troubleMs / Math.max(1, connectedMs / HOUR_MS));
}

/** Medians of the speech that devices lost per hour (ms). Of two middle values, the one that is worse for the version counts. */
export function troubleOf({ updated, rest, implausible, drawn }: Rollout): {
  updated: number;
  others: number;
} {
  const sorted = (all: Rollout['rest']): number[] =>
    Object.entries(all)
      .filter(([name]) => !implausible.includes(name) && drawn[name]?.isExcused !== true)
      .map(([, speech]) => troubleAnHour(speech))
      .sort((one, other) => one - other);
  const [ours, theirs] = [sorted(updated), sorted(rest)];
  return {
    updated: ours[Math.floor(ours.length / 2)] ?? 0,
    others: theirs[Math.floor((theirs.length - 1) / 2)] ?? 0,
  };
}

export const inSeconds = (ms: number): string => (ms / 1000).toFixed(1);

/** Devices that are evidence against the version, each with a sentence. Devices that a person has excused do not count. */
export function suspects(rollout: Rollout): ReadonlyMap<string, string> {
  const { drawn, plan } = rollout;
  const counts = ([, { isExcused }]: [string, Entry]): boolean => !isExcused;
  const found = new Map<string, string>();
  for (const [name, { state, reason }] of Object.entries(drawn).filter(counts))
    if (state === 'rolled_back') found.set(name, reason ?? `version ${plan.version} was rolled back`);
  if (rollout.state === 'done') return found;
  // All have failed, for example because no repository has the version: otherwise the wave would never end.
  const own = Object.entries(drawn).filter(([, { wave }]) => wave === rollout.wave);
  if (own.every(([, { state, isExcused }]) => state === 'failed' && !isExcused))
    for (const [name, { reason }] of own) found.set(name, reason ?? 'the update failed');
  for (const [name, sentence] of lossy(rollout)) if (!found.has(name)) found.set(name, sentence);
  return found;
}

/** Devices that lose too much speech; none if the median of the updated devices is within the limit. */
function lossy(rollout: Rollout): [string, string][] {
  const { updated, others } = troubleOf(rollout);
  const most = Math.max(TROUBLE_MS, TROUBLE_FACTOR * others);
  if (updated <= most) return [];
  return Object.entries(rollout.updated).flatMap(([name, speech]): [string, string][] => {
    const own = troubleAnHour(speech);
    if (own <= most || rollout.implausible.includes(name) || rollout.drawn[name]?.isExcused) return [];
    return [[name, `it loses ${lossSentence(own, others)}`]];
  });
}

const lossSentence = (ours: number, theirs: number): string =>
  `${inSeconds(ours)} s of speech an hour (lost or unspoken), the others ${inSeconds(theirs)} s`;

/** Pauses at one suspect, and stops at two. */
export function judge(rollout: Rollout, now: number): Rollout {
  if (rollout.state === 'stopped' || rollout.state === 'aborted') return rollout;
  const [first, ...more] = suspects(rollout);
  if (first === undefined) return rollout;
  const own = `${first[0]}: ${first[1]}`;
  if (more.length === 0) return { ...rollout, state: 'paused', reason: own };
  const { updated, others } = troubleOf(rollout);
  const isOwnSentence = ['rolled_back', 'failed'].includes(rollout.drawn[first[0]]?.state ?? '');
  const reason = isOwnSentence
    ? `${own}; ${more.length} more ${more.length === 1 ? 'device has' : 'devices have'} problems`
    : `devices with this version lose ${lossSentence(updated, others)}`;
  return { ...rollout, state: 'stopped', reason, endedAt: now };
}
