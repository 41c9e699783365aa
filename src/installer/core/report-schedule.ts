/**
 * Decides what a kiosk without a screen announces after its start. A problem that is certain is announced at once, others
 * only after networks and clocks have had time to come up. Problems are repeated every few minutes, a few times. Readiness is
 * announced at the end.
 */

import type { PhraseCode } from './phrases.ts';
import type { SettingsNews } from './settings-news.ts';
import type { StartVerdict, Trouble } from './start-facts.ts';

export interface ReportSettings {
  /** Grace period in which uncertain problems may pass. */
  readonly graceMs: number;
  readonly lookEveryMs: number;
  readonly repeatEveryMs: number;
  /** How often an unsolved problem is repeated. */
  readonly repeats: number;
  /** Maximum number of announcements, however much changes. */
  readonly mostSayings: number;
  /** When watching ends. */
  readonly longestMs: number;
}

export const REPORT_SETTINGS: ReportSettings = {
  graceMs: 90_000,
  lookEveryMs: 5000,
  repeatEveryMs: 180_000,
  repeats: 5,
  mostSayings: 20,
  longestMs: 1_800_000,
};

type Activity =
  | { readonly kind: 'looking' }
  | { readonly kind: 'saying'; readonly isLast: boolean }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'ended' };

export interface ReportState {
  readonly settings: ReportSettings;
  readonly news: SettingsNews;
  readonly startedAt: number;
  readonly activity: Activity;
  /** Problems of the last look. A problem is announced only if two consecutive looks find it. */
  readonly seen: readonly PhraseCode[];
  /** Problems that were last announced. */
  readonly announced: readonly PhraseCode[];
  readonly saidAt: number;
  readonly repeats: number;
  readonly sayings: number;
}

export type ReportEvent =
  | { readonly type: 'begin' }
  | { readonly type: 'looked'; readonly verdict: StartVerdict }
  /** @property wasRefused there were loudspeakers, but none played it */
  | { readonly type: 'said'; readonly wasRefused: boolean }
  | { readonly type: 'wake' };

/** State for the status file and the console. */
export type StartState =
  | { readonly kind: 'ready' }
  | { readonly kind: 'starting'; readonly troubles: readonly Trouble[] }
  | { readonly kind: 'troubled'; readonly troubles: readonly Trouble[]; readonly isWatched: boolean };

export type ReportEffect =
  | { readonly type: 'look'; readonly asksDoctor: boolean }
  | { readonly type: 'say'; readonly codes: readonly PhraseCode[] }
  | { readonly type: 'write'; readonly state: StartState }
  | { readonly type: 'wake_at'; readonly at: number }
  | { readonly type: 'end'; readonly isReady: boolean };

export interface ReportStep {
  readonly state: ReportState;
  readonly effects: readonly ReportEffect[];
}

export function beginReport(news: SettingsNews, now: number, settings = REPORT_SETTINGS): ReportState {
  return {
    settings,
    news,
    startedAt: now,
    activity: { kind: 'looking' },
    seen: [],
    announced: [],
    saidAt: now,
    repeats: 0,
    sayings: 0,
  };
}

export function stepReport(state: ReportState, event: ReportEvent, now: number): ReportStep {
  const { activity } = state;
  if (activity.kind === 'ended') return { state, effects: [] };
  switch (event.type) {
    case 'begin':
      return begin(state, now);
    case 'looked':
      return activity.kind === 'looking' ? onLook(state, event.verdict, now) : { state, effects: [] };
    case 'said':
      return activity.kind === 'saying'
        ? onSaid(state, activity, event.wasRefused, now)
        : { state, effects: [] };
    case 'wake':
      return activity.kind === 'waiting' ? look(state, now) : { state, effects: [] };
  }
}

function begin(state: ReportState, now: number): ReportStep {
  const { code, isBad } = state.news;
  const written = write({ kind: 'starting', troubles: ownTroubles(state) });
  if (code === null) return withEffects(written, look(state, now));
  return withEffects(written, say(state, isBad ? [code] : [], [code], now));
}

function onLook(given: ReportState, verdict: StartVerdict, now: number): ReportStep {
  if (verdict.kind === 'ready') {
    const said = say(given, [], ['ready'], now);
    const state = { ...said.state, activity: { kind: 'saying', isLast: true } } as const;
    return withEffects(write({ kind: 'ready' }), { state, effects: said.effects });
  }
  const troubles = troublesOf(given, verdict.troubles, now);
  const codes = troubles.map(({ code }) => code);
  const state = { ...given, seen: codes };
  const isOver = now - state.startedAt >= state.settings.longestMs;
  const speakable = troubles.filter((one) => isSure(given, one, now)).map(({ code }) => code);
  const isNew = speakable.some((code) => !state.announced.includes(code));
  const written = write(
    isLate(state, now) || speakable.length > 0
      ? { kind: 'troubled', troubles, isWatched: !isOver }
      : { kind: 'starting', troubles },
  );
  if (isOver) return withEffects(written, end(state, false));
  if (speakable.length > 0 && maySay(state, isNew, now)) {
    const repeats = isNew ? 0 : state.repeats + 1;
    return withEffects(written, say({ ...state, repeats }, speakable, speakable, now));
  }
  return withEffects(written, wait(state, now));
}

/** Readiness ends the watch. If no loudspeaker played the announcement, the kiosk looks and announces again. */
function onSaid(
  state: ReportState,
  { isLast }: { readonly isLast: boolean },
  wasRefused: boolean,
  now: number,
): ReportStep {
  if (!isLast) return look(state, now);
  const isOver = now - state.startedAt >= state.settings.longestMs;
  return wasRefused && !isOver && state.sayings < state.settings.mostSayings
    ? wait(state, now)
    : end(state, true);
}

/** All problems, root causes first, including the one with the settings. */
function troublesOf(state: ReportState, found: readonly Trouble[], now: number): Trouble[] {
  const own = ownTroubles(state);
  // Missing or refused settings explain a missing configuration.
  const others = found.flatMap((one) => {
    if (one.isConfiguration !== true) return [one];
    if (own.length > 0) return [];
    return state.news.isMissing ? [{ ...one, code: 'no_file' as const }] : [one];
  });
  const all = [...own, ...others];
  if (all.length > 0 || !isLate(state, now)) return all;
  return [
    { code: 'service_down', detail: 'no fault was found, but the agent is not ready', isCertain: false },
  ];
}

function ownTroubles({ news }: ReportState): Trouble[] {
  if (!news.isBad || news.code === null) return [];
  return [{ code: news.code, detail: news.detail, isCertain: true }];
}

const isLate = ({ startedAt, settings }: ReportState, now: number): boolean =>
  now - startedAt >= settings.graceMs;

/** Whether a problem is likely to last, so that its announcement is not stale at once. */
function isSure(state: ReportState, { code, isCertain }: Trouble, now: number): boolean {
  if (!isCertain && !isLate(state, now)) return false;
  return state.seen.includes(code) || state.announced.includes(code);
}

function maySay({ sayings, repeats, saidAt, settings }: ReportState, isNew: boolean, now: number): boolean {
  if (sayings >= settings.mostSayings) return false;
  return isNew || (repeats < settings.repeats && now - saidAt >= settings.repeatEveryMs);
}

function say(
  state: ReportState,
  announced: readonly PhraseCode[],
  codes: readonly PhraseCode[],
  now: number,
): ReportStep {
  const { sayings } = state;
  return {
    state: {
      ...state,
      announced,
      saidAt: now,
      sayings: sayings + 1,
      activity: { kind: 'saying', isLast: false },
    },
    effects: [{ type: 'say', codes }],
  };
}

/** Looks at the kiosk. The doctor is only asked later, because it costs time and logs in at the broker. */
function look(state: ReportState, now: number): ReportStep {
  const asksDoctor = now - state.startedAt >= state.settings.graceMs / 2;
  return {
    state: { ...state, activity: { kind: 'looking' } },
    effects: [{ type: 'look', asksDoctor }],
  };
}

function wait(state: ReportState, now: number): ReportStep {
  return {
    state: { ...state, activity: { kind: 'waiting' } },
    effects: [{ type: 'wake_at', at: now + state.settings.lookEveryMs }],
  };
}

function end(state: ReportState, isReady: boolean): ReportStep {
  return { state: { ...state, activity: { kind: 'ended' } }, effects: [{ type: 'end', isReady }] };
}

const write = (state: StartState): ReportEffect => ({ type: 'write', state });

const withEffects = (first: ReportEffect, { state, effects }: ReportStep): ReportStep => ({
  state,
  effects: [first, ...effects],
});
