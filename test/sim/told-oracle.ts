/** What the operator is told while speech is being lost, or not heard: the status, and the sum of it when it is over. */

import type { LaneStep } from '../../src/agent/lane/lane-runner.ts';
import { phaseOf } from '../../src/core/lane/session/session.ts';
import type { LaneState } from '../../src/core/lane/state.ts';
import { laneStatus } from '../../src/core/lane/status.ts';
import { wrongWith } from '../published.ts';
import { createStopAccount } from './stop-account.ts';
import type { Violations } from './violations.ts';

const CHUNK_MS = 320;
/** A set-up takes up to 20 s in which what is said is kept for the session; then the device says that it has none. */
const UNTOLD_MS = 25_000;
/** An outage is over when the lane has streamed for a while. */
const SUM_WITHIN_MS = 60_000;
/** A connection that throws is tried again every second, up to five times: the status is that late then. */
/** The status that stands at the broker is as the lane is, within this. */
const STATUS_WITHIN_MS = 60_000;
/** What a lane tells has reached the connection within this, even if that throws at first. */
const PUBLISHED_WITHIN_MS = 30_000;
const STREAMS = new Set(['live', 'rolling']);
const RESTS = new Set(['standby', 'draining', 'idle', 'closed']);

export interface ToldOracle {
  published(topic: string, payload: string): void;
  step(step: LaneStep, now: number): void;
  /** The process ended: what it has not told it will not tell. */
  ended(): void;
  /** @param state of the running lane */
  judge(state: LaneState | null, now: number): void;
}

/** @param lane whose losses are told */
export function createToldOracle(violations: Violations, lane: string): ToldOracle {
  /** Null until the process has had a connection to tell it. */
  let status: string | null = null;
  let reasons: readonly string[] = [];
  /** Since when a reason has been missing in it. */
  let lacksSince: number | null = null;
  let lostMs = 0;
  let lostAt = 0;
  /** Since when the lane is on its way to a session. */
  let awaySince: number | null = null;
  let streamsSince: number | null = null;

  /** Sums that the lane has told, and those of them that reached the connection. */
  let owed: { ms: number; at: number }[] = [];
  const published: number[] = [];

  const tell = (sums: readonly Readonly<Record<string, unknown>>[], now: number): void => {
    const ended = sums.filter(({ ongoing }) => ongoing !== true).map((one) => Number(one['lost_ms']));
    if (ended.length === 0) return;
    owed.push(...ended.map((ms) => ({ ms, at: now })));
    // A stop can end one outage's sum and tell another's.
    const told = ended.reduce((sum, ms) => sum + ms, 0);
    violations.check(
      'told',
      Math.abs(told - lostMs) <= CHUNK_MS,
      () => `speech_lost says ${told} ms where ${lostMs} ms were lost`,
    );
    lostMs = 0;
  };
  const stops = createStopAccount(violations);
  /** Translated speech without a loudspeaker, since that was told last. */
  let unheardMs = 0;
  let unheardAt = 0;
  const noteUnheard = ({ before, after, effects }: LaneStep, now: number): void => {
    const more = after.counts.unheardMs - before.counts.unheardMs;
    if (more > 0) unheardAt = now;
    unheardMs += more;
    for (const effect of effects) {
      if (effect.type !== 'notify' || effect.kind !== 'speech_dropped') continue;
      const { why, ongoing, dropped_ms: sum } = effect.detail;
      if (why !== 'no_loudspeaker' || ongoing === true) continue;
      const isRight = Math.abs(Number(sum) - unheardMs) <= 1;
      violations.check('told', isRight, () => `speech_dropped says ${sum} ms where ${unheardMs} ms were`);
      unheardMs = 0;
    }
  };
  const judgeUnheard = (isLost: boolean, now: number): void => {
    // Its sum is told when the loudspeaker is back; the lane need not do a step meanwhile.
    if (isLost) unheardAt = now;
    if (unheardMs === 0 || now - unheardAt < SUM_WITHIN_MS) return;
    violations.add('told', `${unheardMs} ms were translated and not heard, and nobody was told`);
    unheardMs = 0;
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
    violations.add('told', `the status has not told for a minute that the lane is ${lacking?.code}`);
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
      noteUnheard(step, now);
      stops.step(step);
      const { before, after, effects } = step;
      const sums = effects.flatMap((effect) =>
        effect.type === 'notify' && effect.kind === 'speech_lost' ? [effect.detail] : [],
      );
      // One sum ends where another begins.
      const isBefore = after.loss !== null && after.loss !== before.loss;
      const tellSums = (): void => {
        tell(sums.splice(0), now);
      };
      if (isBefore && before.loss !== null) tellSums();
      const lost = after.backlog.accounts.lost - before.backlog.accounts.lost;
      if (lost > 0) {
        lostMs += lost * CHUNK_MS;
        lostAt = now;
        // That a sentence was left out is known when the service has gone on for long.
        const isLeftOut = after.loss?.cause === 'left_out';
        // A loss that is over as soon as it is known has its event, and changes no status: as where a stream ends in standby.
        const isOver = after.loss === null && sums.some(({ lost_ms: ms }) => ms === lost * CHUNK_MS);
        const isTold = status !== 'ready' || isLeftOut || isOver;
        violations.check('told', isTold, () => 'speech is lost and the status is ready');
      }
      tellSums();
      const phase = phaseOf(after.session);
      if (phaseOf(before.session) === phase) return;
      const streams = STREAMS.has(phase);
      streamsSince = streams ? (streamsSince ?? now) : null;
      awaySince = streams || RESTS.has(phase) ? null : (awaySince ?? now);
    },
    ended() {
      stops.ended();
      status = null;
      lacksSince = null;
      owed = [];
      published.length = 0;
      lostMs = 0;
      unheardMs = 0;
      awaySince = null;
      streamsSince = null;
    },
    judge(state, now) {
      checkPublished(now);
      judgeUnheard(state?.playbackLost === true, now);
      if (state === null) return;
      judgeStatus(state, now);
      if (awaySince !== null && now - awaySince > UNTOLD_MS)
        violations.check(
          'told',
          status !== 'ready',
          () => `no session for ${Math.round((now - (awaySince ?? now)) / 1000)} s and the status is ready`,
        );
      const since = Math.max(lostAt, streamsSince ?? now);
      if (lostMs === 0 || streamsSince === null || now - since < SUM_WITHIN_MS) return;
      violations.add('told', `${lostMs} ms of speech were lost, and nobody was told`);
      lostMs = 0;
    },
  };
}
