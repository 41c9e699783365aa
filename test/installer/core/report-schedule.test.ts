import { describe, expect, it } from 'vitest';
import { PHRASE_CODES, type PhraseCode } from '../../../src/installer/core/phrases.ts';
import {
  beginReport,
  REPORT_SETTINGS,
  type ReportEffect,
  type ReportEvent,
  type ReportState,
  stepReport,
} from '../../../src/installer/core/report-schedule.ts';
import type { SettingsNews } from '../../../src/installer/core/settings-news.ts';
import type { StartVerdict, Trouble } from '../../../src/installer/core/start-facts.ts';
import { fc } from '../../properties.ts';

const QUIET: SettingsNews = { code: null, isBad: false, detail: '', isMissing: false };
const APPLIED: SettingsNews = { ...QUIET, code: 'applied' };
const INVALID: SettingsNews = { ...QUIET, code: 'file_invalid', isBad: true, detail: 'wifi.ssid is missing' };
const { graceMs, lookEveryMs, repeatEveryMs, repeats, longestMs, mostSayings } = REPORT_SETTINGS;
const SAYING_MS = 6000;
const SAID = { type: 'said', wasRefused: false } as const;
const READY: StartVerdict = { kind: 'ready' };
const NOT_YET: StartVerdict = { kind: 'not_yet', troubles: [] };
const troubled = (...codes: PhraseCode[]): StartVerdict => ({
  kind: 'troubled',
  troubles: codes.map((code): Trouble => ({ code, detail: 'x', isCertain: code === 'wifi_password_wrong' })),
});

interface Announced {
  readonly at: number;
  readonly codes: string;
}

/** Simulates a start; `how` gives the state of the kiosk at a time, seconds. */
function watch(
  news: SettingsNews,
  how: (s: number) => StartVerdict,
  untilS = 4000,
  refuses: (s: number) => boolean = () => false,
) {
  let now = 0;
  let state: ReportState = beginReport(news, now);
  const announced: Announced[] = [];
  const effects: ReportEffect[] = [];
  let event: ReportEvent | null = { type: 'begin' };
  let ended: boolean | null = null;
  while (event !== null && now < untilS * 1000) {
    const step = stepReport(state, event, now);
    state = step.state;
    event = null;
    for (const effect of step.effects) {
      effects.push(effect);
      if (effect.type === 'say') {
        announced.push({ at: now / 1000, codes: effect.codes.join(' ') });
        event = { type: 'said', wasRefused: refuses(now / 1000) };
        now += SAYING_MS;
      }
      if (effect.type === 'look') event = { type: 'looked', verdict: how(now / 1000) };
      if (effect.type === 'wake_at') {
        now = effect.at;
        event = { type: 'wake' };
      }
      if (effect.type === 'end') ended = effect.isReady;
    }
  }
  return { announced, ended, endedAt: now / 1000, effects };
}
const words = (announced: readonly Announced[]): string[] => announced.map(({ codes }) => codes);

describe('the announcements of a kiosk after its start', () => {
  it('starts with the settings, and ends with "ready" as soon as it is ready', () => {
    const { announced, ended } = watch(APPLIED, (s) => (s >= 40 ? READY : troubled('no_network')));
    expect(words(announced)).toEqual(['applied', 'ready']);
    expect(announced[1]?.at).toBeLessThan(40 + lookEveryMs / 1000 + 1);
    expect(ended).toBe(true);
  });

  it('leaves out unchanged settings', () => {
    expect(words(watch(QUIET, () => READY).announced)).toEqual(['ready']);
  });

  it('has a mistake in the settings at once, and "ready" with the previous settings all the same', () => {
    const { announced } = watch(INVALID, (s) => (s >= 30 ? READY : NOT_YET));
    expect(announced[0]).toEqual({ at: 0, codes: 'file_invalid' });
    expect(words(announced)).toEqual(['file_invalid', 'ready']);
  });

  it('has a certain problem as soon as two looks have found it', () => {
    const { announced } = watch(QUIET, (s) => (s >= 20 ? troubled('wifi_password_wrong') : NOT_YET));
    expect(announced[0]?.codes).toBe('wifi_password_wrong');
    expect(announced[0]?.at).toBeGreaterThanOrEqual(25);
    expect(announced[0]?.at).toBeLessThanOrEqual(30);
  });

  it('has an uncertain problem only after the time of grace', () => {
    const { announced } = watch(QUIET, () => troubled('no_network'));
    expect(announced[0]?.codes).toBe('no_network');
    expect(announced[0]?.at).toBeGreaterThanOrEqual(graceMs / 1000);
    expect(announced[0]?.at).toBeLessThan((graceMs + 2 * lookEveryMs) / 1000);
  });

  it('leaves out a problem that is gone at the next look', () => {
    let count = 0;
    const { announced } = watch(
      QUIET,
      () => (count++ % 2 === 0 ? troubled('no_network') : troubled('no_address')),
      1700,
    );
    expect(announced).toEqual([]);
  });

  it('repeats a problem every few minutes, a few times, and then watches silently to the end', () => {
    const { announced, ended, endedAt, effects } = watch(QUIET, () => troubled('broker_unreachable'));
    expect(words(announced)).toEqual(Array(1 + repeats).fill('broker_unreachable'));
    for (const [index, { at }] of announced.slice(1).entries())
      expect(at - (announced[index]?.at ?? 0)).toBeGreaterThanOrEqual(repeatEveryMs / 1000);
    expect(ended).toBe(false);
    expect(endedAt - longestMs / 1000).toBeLessThanOrEqual(lookEveryMs / 1000);
    const last = effects.filter((effect) => effect.type === 'write').at(-1);
    expect(last).toMatchObject({ state: { kind: 'troubled', isWatched: false } });
  });

  it('repeats "ready" until it was played', () => {
    const { announced, ended, endedAt } = watch(
      QUIET,
      () => READY,
      4000,
      (s) => s < 20,
    );
    expect(words(announced)).toEqual(['ready', 'ready', 'ready']);
    expect(ended).toBe(true);
    expect(endedAt).toBeLessThan(40);
  });

  it('stops repeating "ready" when no loudspeaker ever takes it', () => {
    const { announced, ended } = watch(
      QUIET,
      () => READY,
      4000,
      () => true,
    );
    expect(words(announced)).toEqual(Array(mostSayings).fill('ready'));
    expect(ended).toBe(true);
  });

  it('has the new problem when the kiosk is not ready any more before "ready" was played', () => {
    const { announced } = watch(
      QUIET,
      (s) => (s < 5 ? READY : troubled('wifi_password_wrong')),
      100,
      (s) => s < 5,
    );
    expect(words(announced)).toEqual(['ready', 'wifi_password_wrong']);
  });

  it('has a new problem at once, and "ready" when all is fixed', () => {
    const { announced } = watch(QUIET, (s) =>
      s < 200 ? troubled('no_network') : s < 300 ? troubled('broker_refused') : READY,
    );
    expect(words(announced)).toEqual(['no_network', 'broker_refused', 'ready']);
    expect(announced[1]?.at).toBeLessThan(220);
    expect(announced[2]?.at).toBeLessThan(310);
  });

  it('has microphone and network problems side by side, and does not repeat the one that is left', () => {
    const { announced } = watch(QUIET, (s) =>
      s < 120 ? troubled('no_network', 'no_microphone') : s < 200 ? troubled('no_microphone') : READY,
    );
    expect(words(announced)).toEqual(['no_network no_microphone', 'ready']);
  });

  it('names refused settings instead of the configuration that is missing because of them', () => {
    const missing: StartVerdict = {
      kind: 'troubled',
      troubles: [{ code: 'service_down', detail: 'x', isCertain: false, isConfiguration: true }],
    };
    expect(new Set(words(watch(INVALID, () => missing).announced))).toEqual(new Set(['file_invalid']));
    const none = watch({ ...QUIET, isMissing: true }, () => missing);
    expect(none.announced[0]?.codes).toBe('no_file');
    expect(watch(QUIET, () => missing).announced[0]?.codes).toBe('service_down');
  });

  it('has a failed start when no cause is found for long', () => {
    const { announced } = watch(QUIET, () => NOT_YET);
    expect(announced[0]?.codes).toBe('service_down');
    expect(announced[0]?.at).toBeGreaterThanOrEqual(graceMs / 1000);
  });

  it('asks the doctor only when there may be something to announce', () => {
    const { effects } = watch(QUIET, () => NOT_YET, 80);
    const looks = effects.flatMap((effect) => (effect.type === 'look' ? [effect.asksDoctor] : []));
    expect(looks.indexOf(true)).toBe(graceMs / 2 / lookEveryMs);
    expect(looks.lastIndexOf(false)).toBe(graceMs / 2 / lookEveryMs - 1);
  });

  it('ignores unexpected events, and every event after its end', () => {
    const begun = stepReport(beginReport(APPLIED, 0), { type: 'begin' }, 0).state;
    for (const event of [{ type: 'wake' }, { type: 'looked', verdict: READY }] as const)
      expect(stepReport(begun, event, 1)).toEqual({ state: begun, effects: [] });
    const looking = stepReport(begun, SAID, 1).state;
    expect(stepReport(looking, SAID, 1).effects).toEqual([]);
    const over = stepReport(stepReport(looking, { type: 'looked', verdict: READY }, 2).state, SAID, 3);
    expect(over.effects).toEqual([{ type: 'end', isReady: true }]);
    for (const event of [{ type: 'begin' }, { type: 'wake' }, SAID] as const)
      expect(stepReport(over.state, event, 9).effects).toEqual([]);
  });

  it('ends and is limited in any course of events', () => {
    const verdict = fc.oneof(
      fc.constantFrom(NOT_YET, READY),
      fc
        .uniqueArray(fc.constantFrom(...PHRASE_CODES), { minLength: 1, maxLength: 4 })
        .map((codes) => troubled(...codes)),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(QUIET, APPLIED, INVALID),
        fc.array(verdict, { minLength: 1, maxLength: 40 }),
        fc.array(fc.boolean(), { minLength: 1, maxLength: 10 }),
        (news, all, refusals) => {
          let looks = 0;
          let sayings = 0;
          const { announced, ended, endedAt } = watch(
            news,
            () => all[Math.floor(looks++ / 3) % all.length] ?? NOT_YET,
            4000,
            () => refusals[sayings++ % refusals.length] === true,
          );
          // Good news is announced in any case, once more than the limit.
          expect(announced.length).toBeLessThanOrEqual(mostSayings + (ended === true ? 1 : 0));
          expect(ended).toBe(words(announced).at(-1) === 'ready');
          expect(endedAt).toBeLessThan((longestMs + 2 * lookEveryMs + SAYING_MS) / 1000);
        },
      ),
      { numRuns: 200 },
    );
  });
});
