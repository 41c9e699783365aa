/**
 * When a kiosk without a screen says what after its start: a problem at once where it is certain, else after a time in which
 * networks and clocks come up; again every few minutes, a few times; and when all is well.
 */

import type { PhraseCode } from './phrases.ts';
import type { SettingsNews } from './settings-news.ts';
import type { StartVerdict, Trouble } from './start-facts.ts';

export interface ReportSettings {
  /** What is not certain may pass for so long. */
  readonly graceMs: number;
  readonly lookEveryMs: number;
  readonly repeatEveryMs: number;
  /** How often an unresolved problem is said again. */
  readonly repeats: number;
  /** However much changes, no more is said than this. */
  readonly mostSayings: number;
  /** It is watched no longer. */
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
  /** What the last look found: what two looks in a row find is no accident. */
  readonly seen: readonly PhraseCode[];
  /** What was last said of what is wrong. */
  readonly told: readonly PhraseCode[];
  readonly saidAt: number;
  readonly repeats: number;
  readonly sayings: number;
}

export type ReportEvent =
  | { readonly type: 'begin' }
  | { readonly type: 'looked'; readonly verdict: StartVerdict }
  /** @property wasRefused there was something to say it with, and none of it did */
  | { readonly type: 'said'; readonly wasRefused: boolean }
  | { readonly type: 'wake' };

/** What is written down: for the status file and the console. */
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
    ...{ settings, news, startedAt: now, activity: { kind: 'looking' } },
    ...{ seen: [], told: [], saidAt: now, repeats: 0, sayings: 0 },
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
  const isNew = speakable.some((code) => !state.told.includes(code));
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

/** That it is ready ends the watch: where nobody heard it, it is looked at and said once more. */
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

/** What is wrong, the first cause first, that of the settings among them. */
function troublesOf(state: ReportState, found: readonly Trouble[], now: number): Trouble[] {
  const own = ownTroubles(state);
  // Settings that were refused, or that were never there, are why there is no configuration.
  const others = found.flatMap((one) => {
    if (one.isConfiguration !== true) return [one];
    if (own.length > 0) return [];
    return state.news.isMissing ? [{ ...one, code: 'no_file' as const }] : [one];
  });
  const all = [...own, ...others];
  if (all.length > 0 || !isLate(state, now)) return all;
  return [
    { code: 'service_down', detail: 'nothing is found wrong, and the agent is not ready', isCertain: false },
  ];
}

function ownTroubles({ news }: ReportState): Trouble[] {
  if (!news.isBad || news.code === null) return [];
  return [{ code: news.code, detail: news.detail, isCertain: true }];
}

const isLate = ({ startedAt, settings }: ReportState, now: number): boolean =>
  now - startedAt >= settings.graceMs;

/** A problem that is told must not be gone in a moment. */
function isSure(state: ReportState, { code, isCertain }: Trouble, now: number): boolean {
  if (!isCertain && !isLate(state, now)) return false;
  return state.seen.includes(code) || state.told.includes(code);
}

function maySay({ sayings, repeats, saidAt, settings }: ReportState, isNew: boolean, now: number): boolean {
  if (sayings >= settings.mostSayings) return false;
  return isNew || (repeats < settings.repeats && now - saidAt >= settings.repeatEveryMs);
}

function say(
  state: ReportState,
  told: readonly PhraseCode[],
  codes: readonly PhraseCode[],
  now: number,
): ReportStep {
  const { sayings } = state;
  return {
    state: { ...state, told, saidAt: now, sayings: sayings + 1, activity: { kind: 'saying', isLast: false } },
    effects: [{ type: 'say', codes }],
  };
}

/** The doctor is asked when there may be something to tell: it costs time, and knocks at the broker's door. */
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
