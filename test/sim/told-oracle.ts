/** What the device publishes while speech is lost or not heard: the status, and the sum when it is over. */

import type { LaneStep } from '../../src/agent/lane/lane-runner.ts';
import { phaseOf } from '../../src/core/lane/session/session.ts';
import type { LaneState } from '../../src/core/lane/state.ts';
import { laneStatus } from '../../src/core/lane/status.ts';
import { wrongWith } from '../published.ts';
import type { Violations } from './violations.ts';

const CHUNK_MS = 320;
/** Time without a session after which the status is not ready (ms): a set-up takes up to 20 s. */
const UNTOLD_MS = 25_000;
/** Time of streaming, or with a loudspeaker, after which the sum of a loss has been reported (ms). */
const SUM_WITHIN_MS = 60_000;
/** Time within which the published status follows the lane (ms). */
const STATUS_WITHIN_MS = 60_000;
/** Time within which an event reaches the connection, even if that throws at first (ms). */
const PUBLISHED_WITHIN_MS = 30_000;
const STREAMS = new Set(['live', 'rolling']);
const RESTS = new Set(['standby', 'draining', 'idle', 'closed']);

export interface ToldOracle {
  published(topic: string, payload: string): void;
  step(step: LaneStep, now: number): void;
  /** The process ended: what it has not reported is gone. */
  ended(): void;
  /** @param state of the running lane */
  judge(state: LaneState | null, now: number): void;
}

/** The sums of a kind of loss, and when it grew last. */
interface Loss {
  ms: number;
  reportedMs: number;
  at: number;
}

const NO_LOSS: Loss = { ms: 0, reportedMs: 0, at: 0 };

/**
 * @param lane whose losses are published
 * @param busThrewAt when the connection to the owner threw last
 */
export function createToldOracle(violations: Violations, lane: string, busThrewAt: () => number): ToldOracle {
  /** Null until the process has had a connection to publish it. */
  let status: string | null = null;
  let reasons: readonly string[] = [];
  /** Since when a reason has been missing in it. */
  let lacksSince: number | null = null;
  /** Since when the lane is on its way to a session. */
  let awaySince: number | null = null;
  let streamsSince: number | null = null;
  let lost = { ...NO_LOSS };
  let unheard = { ...NO_LOSS };
  /** Sums that the lane has reported, and those of them that reached the connection. */
  let owed: { ms: number; at: number }[] = [];
  const published: number[] = [];

  const grow = (loss: Loss, ms: number, now: number): void => {
    if (ms <= 0) return;
    loss.ms += ms;
    loss.at = now;
  };
  /** @param since the loss can have been reported */
  const compare = (loss: Loss, what: string, since: number, now: number): boolean => {
    if (loss.ms + loss.reportedMs === 0 || now - Math.max(loss.at, since) < SUM_WITHIN_MS) return false;
    const isRight = Math.abs(loss.ms - loss.reportedMs) <= CHUNK_MS;
    violations.check('told', isRight, () => `${what} ${loss.ms} ms, and ${loss.reportedMs} ms are reported`);
    return true;
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
      if (kind === 'speech_dropped' && detail['why'] === 'no_loudspeaker')
        unheard.reportedMs += Number(detail['dropped_ms']);
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
      else violations.add('told', `speech_lost of ${ms} ms never reached the connection`);
      return false;
    });
  };
  const judgeStatus = (state: LaneState, now: number): void => {
    const isTold = (code: string): boolean =>
      reasons.some((reason) => reason === code || reason.startsWith(`${code}:`));
    const lacking = laneStatus(state, now).reasons.find(({ code }) => !isTold(code));
    const isUp = status !== null && state.brokerUp;
    lacksSince = lacking === undefined || !isUp ? null : (lacksSince ?? now);
    if (lacksSince === null || now - lacksSince < STATUS_WITHIN_MS) return;
    violations.add('told', `the status has lacked the reason ${lacking?.code} for a minute`);
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
      grow(unheard, after.counts.unheardMs - before.counts.unheardMs, now);
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
      lost = { ...NO_LOSS };
      unheard = { ...NO_LOSS };
      awaySince = null;
      streamsSince = null;
    },
    judge(state, now) {
      checkPublished(now);
      // Its sum follows when the loudspeaker is back; until then the lane need not do a step.
      if (state?.playbackLost === true) unheard.at = now;
      if (compare(unheard, 'not heard were', 0, now)) unheard = { ...NO_LOSS };
      if (state === null) return;
      judgeStatus(state, now);
      if (awaySince !== null && now - awaySince > UNTOLD_MS)
        violations.check(
          'told',
          status !== 'ready',
          () => `no session for ${Math.round((now - (awaySince ?? now)) / 1000)} s and the status is ready`,
        );
      if (streamsSince !== null && compare(lost, 'lost were', streamsSince, now)) lost = { ...NO_LOSS };
    },
  };
}
