/** What a person may request of a roll-out. */
import { suspects } from './judgement.ts';
import type { Entry, Rollout } from './rollout.ts';

/** The next state, or why the request is refused. */
export type Asked = { readonly ok: true; readonly rollout: Rollout } | { readonly ok: false; why: string };

const refused = (why: string): Asked => ({ ok: false, why });

export function pause(rollout: Rollout): Asked {
  if (rollout.state === 'running') return { ok: true, rollout: { ...rollout, state: 'paused' } };
  if (rollout.state === 'done')
    return refused(
      'all waves are done, so nothing can be paused; "rollout abort" stops orders to devices that connect later',
    );
  return refused(`it is already ${rollout.state} and sends no orders`);
}

/** Resumes a roll-out; the reports that paused or stopped it no longer count. */
export function resume(rollout: Rollout): Asked {
  const { state, drawn } = rollout;
  if (state !== 'paused' && state !== 'stopped')
    return refused(
      state === 'aborted'
        ? 'it was aborted: start a new one with "rollout start"'
        : `it is ${state}: only a paused or stopped roll-out can be resumed`,
    );
  const seen = suspects(rollout);
  const isSeen = (name: string, entry: Entry): boolean =>
    entry.state === 'rolled_back' || entry.state === 'failed' || (state === 'paused' && seen.has(name));
  const entries = Object.entries(drawn).map(
    ([name, entry]) => [name, isSeen(name, entry) ? { ...entry, isExcused: true } : entry] as const,
  );
  const sums = state === 'stopped' && { updated: {}, rest: {} };
  const going = {
    state: 'running',
    reason: null,
    endedAt: null,
    drawn: Object.fromEntries(entries),
  } as const;
  return { ok: true, rollout: { ...rollout, ...sums, ...going } };
}

export function abort(rollout: Rollout, now: number): Asked {
  if (rollout.state === 'aborted') return refused('it was aborted already');
  return { ok: true, rollout: { ...rollout, state: 'aborted', endedAt: now } };
}

/** Why a new roll-out may not begin yet; null: it may. */
export function whyNotYet(rollout: Rollout): string | null {
  if (rollout.state !== 'running' && rollout.state !== 'paused') return null;
  return `a roll-out of ${rollout.plan.version} is ${rollout.state}: wait until it ends, or end it with "dragoman-backend rollout abort"`;
}

/** @returns shares in percent, or a fault that completes a sentence after the name of the option */
export function readWaves(text: string): readonly number[] | string {
  const parts = text.split(',').map((part) => part.trim());
  const waves = parts.map((part) =>
    /^\d{1,3}(\.\d{1,3})?%?$/.test(part) ? Number(part.replace('%', '')) : Number.NaN,
  );
  const wrong = parts.find((_, index) => !((waves[index] ?? 0) > 0 && (waves[index] ?? 0) <= 100));
  if (wrong !== undefined)
    return `"${wrong}" is not a share from 0 to 100 %: write shares such as 1%,10%,100%`;
  const falls = waves.findIndex((share, index) => index > 0 && share <= (waves[index - 1] ?? 0));
  if (falls > 0)
    return `"${parts[falls]}" must be more than "${parts[falls - 1]}" before it: write rising shares such as 1%,10%,100%`;
  if (waves.at(-1) !== 100) return `must end with all devices: add ",100%"`;
  return waves;
}
