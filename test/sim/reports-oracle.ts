/** Checks the reports of the device about lost and unheard speech: the status, and the sums in events. */

import type { LaneStep } from '../../src/device/lane/runner/lane-runner.ts';
import type { LaneState } from '../../src/device/lane/state/lane-state.ts';
import { phaseOf } from '../../src/device/lane/state/session-state.ts';
import { laneStatus } from '../../src/device/status/status-rules.ts';
import { wrongWith } from '../published.ts';
import type { Violations } from './violations.ts';

const CHUNK_MS = 320;
/** Time without a session after which the status must not be ready (ms): a set-up takes up to 20 s. */
const NOT_READY_AFTER_MS = 25_000;
/** Time within which a sum is reported (ms), while the lane streams or has a loudspeaker. */
const SUM_WITHIN_MS = 60_000;
/** The same (ms) for speech that the service did not speak: reported every ten minutes, and when a session ends. */
const UNSPOKEN_WITHIN_MS = 660_000;
/** Smallest sum that is reported (ms). */
const LEAST_REPORTED_MS = 1000;
/** Time within which the published status follows the lane (ms). */
const STATUS_WITHIN_MS = 60_000;
/** Time within which an event is published (ms), even if the connection throws at first. */
const PUBLISHED_WITHIN_MS = 30_000;
/** Most languages of a lane: each has its own sum. */
const MOST_LANGUAGES = 3;
const STREAMS = new Set(['live', 'rolling']);
const RESTS = new Set(['standby', 'draining', 'idle', 'closed']);

export interface ReportsOracle {
  published(topic: string, payload: string): void;
  step(step: LaneStep, now: number): void;
  /** The process ended: sums that it has not reported are gone. */
  ended(): void;
  /** @param state state of the running lane; null: none runs */
  judge(state: LaneState | null, now: number): void;
}

/** The sums of a kind of loss, and when it last grew. */
interface Loss {
  ms: number;
  reportedMs: number;
  at: number;
}

const NO_LOSS: Loss = { ms: 0, reportedMs: 0, at: 0 };

/** @param lane the lane whose reports are checked */
export function createReportsOracle(violations: Violations, lane: string): ReportsOracle {
  /** Null until the process has published its status. */
  let status: string | null = null;
  let reasons: readonly string[] = [];
  /** Since when the status lacks a reason. */
  let lacksSince: number | null = null;
  /** Since when the lane needs a session and has none. */
  let awaySince: number | null = null;
  let streamsSince: number | null = null;
  const lost = { ...NO_LOSS };
  const dropped = { ...NO_LOSS };
  const unspoken = { ...NO_LOSS };
  /** Sums that the lane has reported, and that are not published yet. */
  let owed: { ms: number; at: number }[] = [];
  /** Published sums. */
  const published: number[] = [];

  const grow = (loss: Loss, ms: number, now: number): void => {
    if (ms <= 0) return;
    loss.ms += ms;
    loss.at = now;
  };
  const compare = (loss: Loss, what: string, slackMs: number): void => {
    const { ms, reportedMs } = loss;
    const isRight = Math.abs(ms - reportedMs) <= slackMs;
    violations.check(
      'reporting',
      isRight,
      () => `${what}: ${Math.round(ms)} ms, but ${reportedMs} ms were reported`,
    );
    Object.assign(loss, NO_LOSS);
  };
  const noteReports = ({ effects }: LaneStep, now: number): void => {
    for (const effect of effects) {
      if (effect.type !== 'notify' || effect.detail['ongoing'] === true) continue;
      const { kind, detail } = effect;
      if (kind === 'speech_lost') {
        const ms = Number(detail['lost_ms']);
        lost.reportedMs += ms;
        owed.push({ ms, at: now });
      }
      if (kind === 'speech_dropped') dropped.reportedMs += Number(detail['dropped_ms']);
      if (kind === 'unspoken') unspoken.reportedMs += Number(detail['unspoken_ms']);
    }
  };
  const arrived = (payload: string): void => {
    const { ongoing, lane: of, lost_ms: sum } = JSON.parse(payload) as Record<string, unknown>;
    if (ongoing !== true && of === lane) published.push(Number(sum));
  };
  const checkPublished = (now: number): void => {
    owed = owed.filter(({ ms, at }) => {
      const found = published.indexOf(ms);
      if (found >= 0) published.splice(found, 1);
      else if (now - at < PUBLISHED_WITHIN_MS) return true;
      else violations.add('reporting', `speech_lost of ${ms} ms was never published`);
      return false;
    });
  };
  const judgeStatus = (state: LaneState, now: number): void => {
    const isReported = (code: string): boolean =>
      reasons.some((reason) => reason === code || reason.startsWith(`${code}:`));
    const lacking = laneStatus(state, now).reasons.find(({ code }) => !isReported(code));
    const isUp = status !== null && state.brokerUp;
    lacksSince = lacking === undefined || !isUp ? null : (lacksSince ?? now);
    if (lacksSince === null || now - lacksSince < STATUS_WITHIN_MS) return;
    violations.add('reporting', `the status lacks the reason ${lacking?.code} for a minute`);
  };
  return {
    published(topic, payload) {
      const wrong = wrongWith(topic, JSON.parse(payload));
      violations.check('published', wrong === null, () => wrong ?? '');
      if (topic.endsWith('/status'))
        ({ status, reasons } = JSON.parse(payload) as { status: string; reasons: string[] });
      else if (topic.endsWith('/event/speech_lost')) arrived(payload);
    },
    step(step, now) {
      const { before, after } = step;
      grow(lost, (after.backlog.accounts.lost - before.backlog.accounts.lost) * CHUNK_MS, now);
      grow(dropped, after.counts.speechDroppedMs - before.counts.speechDroppedMs, now);
      grow(unspoken, after.counts.unspokenMs - before.counts.unspokenMs, now);
      noteReports(step, now);
      const phase = phaseOf(after.session);
      if (phaseOf(before.session) === phase) return;
      const streams = STREAMS.has(phase);
      streamsSince = streams ? (streamsSince ?? now) : null;
      awaySince = streams || RESTS.has(phase) ? null : (awaySince ?? now);
    },
    ended() {
      status = null;
      lacksSince = null;
      owed = [];
      published.length = 0;
      for (const loss of [lost, dropped, unspoken]) Object.assign(loss, NO_LOSS);
      awaySince = null;
      streamsSince = null;
    },
    judge(state, now) {
      checkPublished(now);
      // The lane reports the sum when the loudspeaker is back.
      if (state?.playbackLost === true) dropped.at = now;
      if (now - dropped.at > SUM_WITHIN_MS) compare(dropped, 'speech dropped', LEAST_REPORTED_MS);
      if (now - unspoken.at > UNSPOKEN_WITHIN_MS)
        compare(unspoken, 'speech unspoken', LEAST_REPORTED_MS * MOST_LANGUAGES);
      if (state === null) return;
      judgeStatus(state, now);
      if (awaySince !== null && now - awaySince > NOT_READY_AFTER_MS)
        violations.check(
          'reporting',
          status !== 'ready',
          () => `no session for ${Math.round((now - (awaySince ?? now)) / 1000)} s, but the status is ready`,
        );
      if (streamsSince !== null && now - Math.max(lost.at, streamsSince) > SUM_WITHIN_MS)
        compare(lost, 'speech lost', CHUNK_MS);
    },
  };
}
