/** Invariants that hold after every step of a lane. */

import type { LaneStep } from '../../src/device/lane/runner/lane-runner.ts';
import type { LaneState } from '../../src/device/lane/state/lane-state.ts';
import { hearingStream, isStreaming, phaseOf, streamsOf } from '../../src/device/lane/state/session-state.ts';
import type { Violations } from './violations.ts';

const CHUNK_MS = 320;
/** Allowed lead over real time (ms): two chunks and a little; sound cards may be up to 0.1 % fast. */
const EARLY_MS = 2.1 * CHUNK_MS;
const DRIFT = 1.0011;
const MOST_PLAYOUT_BYTES = 60_000 * 48;
const MINUTE_MS = 60_000;
/** Limits per minute of one life, commands not counted: the first try is immediate, then waits double. */
const MOST_CONNECTIONS = 16;
const MOST_TOKEN_REQUESTS = 18;
const SPACING_MS = 2000;

/** The stream that gets the speech; null: none. */
export function speaksTo({ session }: LaneState): number | null {
  return isStreaming(session) ? session.stream.id : null;
}

export interface LaneOracle {
  step(step: LaneStep, now: number): void;
  /** A connection is opened. @param open number of open connections, this one included */
  opening(open: number, state: LaneState, now: number): void;
  command(now: number): void;
  /** The process ended: the next one does not know the earlier tries. */
  ended(): void;
  sent(connection: number, kind: string, now: number): void;
}

export function createLaneOracle(violations: Violations): LaneOracle {
  const creep = new Map<number, { ms: number; at: number }>();
  const asked = new Map<string, number>();
  const connections: number[] = [];
  const requests: number[] = [];
  const commands: number[] = [];

  const count = (list: number[], now: number): number => {
    list.push(now);
    while ((list[0] ?? now) <= now - MINUTE_MS) list.shift();
    return list.length;
  };
  const allowance = (now: number): number => commands.filter((at) => at > now - MINUTE_MS).length;

  const checkAccounts = ({ before, after, event }: LaneStep): void => {
    const { captured, sent, silenced, trimmed, dropped } = after.backlog.accounts;
    const held = after.backlog.chunks.length;
    violations.check('conservation', captured === sent + silenced + trimmed + dropped + held, () =>
      JSON.stringify({ captured, sent, silenced, trimmed, dropped, held }),
    );
    const taken = captured - before.backlog.accounts.captured;
    violations.check(
      'conservation',
      taken === 0 || event.type === 'captured',
      () => `the event ${event.type} changed the count of captured chunks`,
    );
  };

  const checkBounds = ({ after }: LaneStep): void => {
    const { backlog, playout } = after;
    violations.check(
      'bound',
      backlog.chunks.length <= 94,
      () => `the backlog has ${backlog.chunks.length} chunks`,
    );
    violations.check(
      'bound',
      playout.queuedBytes <= MOST_PLAYOUT_BYTES + 20_000,
      () => 'too much sound waits to be played',
    );
    violations.check(
      'bound',
      playout.utterances.length <= 400,
      () => `${playout.utterances.length} utterances wait`,
    );
  };

  const checkStreams = ({ before, after, effects }: LaneStep): void => {
    const { oldSession } = after;
    const phase = phaseOf(after.session);
    const up = streamsOf(after).length;
    violations.check(
      'streams',
      up <= 2 || (up === 3 && phase === 'rolling'),
      () => `${up} streams in ${phase}`,
    );
    if (up > 1)
      violations.check(
        'streams',
        phase === 'rolling' || oldSession !== null,
        () => `${up} streams in ${phase}`,
      );
    for (const effect of effects) {
      if (effect.type !== 'send_audio' || effect.pcm === null) continue;
      const hearing = [after.session, before.session].map((session) => hearingStream(session)?.id);
      const isLive = hearing.includes(effect.stream);
      violations.check('streams', isLive, () => 'speech was sent to a stream that is not live');
    }
  };

  return {
    step(step, now) {
      checkAccounts(step);
      checkBounds(step);
      checkStreams(step);
      for (const effect of step.effects) {
        if (effect.type !== 'request_token') continue;
        const most = MOST_TOKEN_REQUESTS + 2 * allowance(now);
        const requested = count(requests, now);
        violations.check('rate', requested <= most, () => `${requested} token requests in a minute`);
      }
    },
    opening(open, state, now) {
      const opened = count(connections, now);
      const most = MOST_CONNECTIONS + allowance(now);
      violations.check('rate', opened <= most, () => `${opened} connections in a minute`);
      const phase = phaseOf(state.session);
      const rolling = phase === 'rolling' || state.oldSession !== null;
      violations.check('streams', open <= (rolling ? 2 : 1), () => `${open} connections in ${phase}`);
    },
    command(now) {
      count(commands, now);
    },
    ended() {
      connections.length = 0;
      requests.length = 0;
    },
    sent(connection, kind, now) {
      if (kind === 'audio') {
        const before = creep.get(connection) ?? { ms: 0, at: now };
        const ms = Math.max(0, before.ms - (now - before.at) * DRIFT) + CHUNK_MS;
        creep.set(connection, { ms, at: now });
        violations.check(
          'pacing',
          ms <= CHUNK_MS + EARLY_MS + 1,
          () => `sound is ${Math.round(ms - CHUNK_MS)} ms ahead of real time`,
        );
        if (creep.size > 50) creep.delete(creep.keys().next().value ?? 0);
        return;
      }
      if (kind !== 'get_task' && kind !== 'set_task') return;
      const key = `${connection} ${kind}`;
      const last = asked.get(key) ?? Number.NEGATIVE_INFINITY;
      violations.check(
        'rate',
        now - last >= SPACING_MS,
        () => `${kind} again after ${Math.round(now - last)} ms`,
      );
      asked.set(key, now);
      if (asked.size > 100) asked.delete(asked.keys().next().value ?? '');
    },
  };
}
