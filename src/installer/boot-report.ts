import type { Clock } from '../ports/clock.ts';
import type { PhraseCode } from './core/phrases.ts';
import {
  beginReport,
  type ReportEffect,
  type ReportEvent,
  type ReportSettings,
  type ReportStep,
  type StartState,
  stepReport,
} from './core/report-schedule.ts';
import type { SettingsNews } from './core/settings-news.ts';
import { judgeStart, type StartFacts } from './core/start-facts.ts';
import type { Said } from './core/start-text.ts';

/** Ports of the boot report; none of them rejects. */
export interface ReportDeps {
  readonly clock: Clock;
  look(asksDoctor: boolean, abort: AbortSignal): Promise<StartFacts>;
  say(codes: readonly PhraseCode[]): Promise<readonly Said[]>;
  /** @param said the devices of the last phrase; null: no phrase yet */
  write(state: StartState, said: readonly Said[] | null): void;
}

/**
 * Watches and reports the kiosk's start until it is ready, the watch ends, or the program is stopped.
 * @returns whether it is ready; null: stopped before that was known
 */
export async function runReport(
  deps: ReportDeps,
  news: SettingsNews,
  settings: ReportSettings,
  abort: AbortSignal,
): Promise<boolean | null> {
  const { clock } = deps;
  const aborted = new Promise<null>((resolve) => {
    if (abort.aborted) resolve(null);
    abort.addEventListener('abort', () => resolve(null), { once: true });
  });
  let state = beginReport(news, clock.now(), settings);
  let written: StartState = { kind: 'starting', troubles: [] };
  let said: readonly Said[] | null = null;
  let event: ReportEvent | null = { type: 'begin' };
  while (event !== null) {
    const step: ReportStep = stepReport(state, event, clock.now());
    state = step.state;
    event = null;
    for (const effect of step.effects) {
      if (effect.type === 'end') return effect.isReady;
      if (effect.type === 'write') {
        written = effect.state;
        deps.write(written, said);
        continue;
      }
      const done: Done | null = await Promise.race([perform(effect, deps, abort), aborted]);
      if (done === null) return null;
      event = done.event;
      if (done.said === null) continue;
      // The report names the devices that spoke the phrase.
      said = done.said;
      deps.write(written, said);
    }
  }
  return null;
}

interface Done {
  readonly event: ReportEvent;
  /** Null: no phrase was due. */
  readonly said: readonly Said[] | null;
}

async function perform(
  effect: Exclude<ReportEffect, { type: 'end' | 'write' }>,
  { clock, look, say }: ReportDeps,
  abort: AbortSignal,
): Promise<Done> {
  switch (effect.type) {
    case 'say': {
      const said = await say(effect.codes);
      const wasRefused = said.length > 0 && said.every(({ trouble }) => trouble !== null);
      return { event: { type: 'said', wasRefused }, said };
    }
    case 'wake_at':
      await new Promise<void>((resolve) => void clock.at(effect.at, resolve));
      return { event: { type: 'wake' }, said: null };
    case 'look': {
      const facts = await look(effect.asksDoctor, abort);
      return { event: { type: 'looked', verdict: judgeStart(facts) }, said: null };
    }
  }
}
