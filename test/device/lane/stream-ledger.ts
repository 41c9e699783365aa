import type { LaneEffect } from '../../../src/device/lane/state/lane-effect.ts';
import type { Grant, LaneEvent } from '../../../src/device/lane/state/lane-event.ts';
import { leaseOf, streamsOf } from '../../../src/device/lane/state/session-state.ts';
import { demand, type Step } from './demand.ts';

/** The service allows one get_task and one set_task per this (docs/service.md 8, 10.2). */
const BETWEEN_QUESTIONS_MS = 2000;

interface Connection {
  readonly id: number;
  readonly grant: string;
  opened: boolean;
  taskAt: number;
  pollAt: number;
  /** get_task was sent after the last set_task. */
  asked: boolean;
  /** ... and answered: the task runs. */
  runs: boolean;
  ending: boolean;
}

/** Whether a failed attempt has left its token unspent: it did not reach the service, or the account had no room for a stream. */
function isUnspent(event: LaneEvent): boolean {
  if (event.type === 'unreached') return !event.spent;
  if (event.type !== 'service' || event.said.type !== 'refused') return false;
  return event.said.status !== null && event.said.reason === 'session_limit_reached';
}

/** Whether the connection is gone with it. */
function isOver(event: LaneEvent): boolean {
  if (event.type === 'unreached') return true;
  if (event.type !== 'service') return false;
  const { said } = event;
  return said.type === 'refused' ? said.status !== null : said.type === 'ended' && said.how !== 'complete';
}

/** Tracks tokens and streams from outside, as the backend and the service see them. */
export class StreamLedger {
  /** Two at most. */
  private readonly connections = new Map<number, Connection>();
  private lastStream = 0;
  /** The newest stream that received speech: an older one never receives any again. */
  private hearing = 0;
  /** When each request was first sent. */
  private readonly asked = new Map<string, { at: number; attempts: number }>();
  private lastAsked: string | null = null;
  private readonly grants = new Map<string, Grant>();
  private readonly opened = new Set<string>();
  private readonly forgotten = new Set<string>();

  check({ before, event, effects, now, state }: Step): void {
    if (before.session.kind !== 'closed') this.take(event);
    for (const effect of effects) this.follow(effect, now);
    const { session, oldSession } = state;
    const known = streamsOf(state).map(({ id }) => id);
    const open = [...this.connections.keys()];
    demand(
      known.length === open.length && known.every((id) => open.includes(id)),
      `streams ${open.join()} are open, ${known.join()} are known`,
    );
    demand(open.length <= 2, 'more than two streams');
    demand(open.length < 2 || session.kind === 'rolling' || oldSession !== null, 'two streams for no reason');
    const inUse = new Set([...this.connections.values()].map(({ grant }) => grant));
    for (const id of this.grants.keys()) {
      const needed = leaseOf(session)?.grant.id === id || inUse.has(id);
      demand(needed || this.forgotten.has(id), `token ${id} was not forgotten`);
    }
    for (const id of this.forgotten) this.grants.delete(id);
  }

  private take(event: LaneEvent): void {
    if (event.type === 'granted') {
      // The first answer counts; a later one under the same name is identical or ignored.
      if (!this.grants.has(event.grant.id)) this.grants.set(event.grant.id, event.grant);
      // The token store has it (again), so it has to be forgotten (again).
      this.forgotten.delete(event.grant.id);
    }
    if (!('stream' in event)) return;
    const connection = this.connections.get(event.stream);
    if (connection === undefined) return;
    if (event.type === 'opened') connection.opened = true;
    if (!connection.opened && isUnspent(event)) this.opened.delete(connection.grant);
    if (isOver(event)) this.connections.delete(event.stream);
    if (event.type !== 'service' || event.said.type !== 'ready') return;
    const { task, isAnswer } = event.said;
    if (connection.asked && isAnswer && task === 'running') connection.runs = true;
  }

  private follow(effect: LaneEffect, now: number): void {
    switch (effect.type) {
      case 'request_token': {
        const { at, attempts } = this.asked.get(effect.id) ?? { at: now, attempts: 0 };
        demand(attempts === 0 || effect.id === this.lastAsked, `asked again for the old ${effect.id}`);
        demand(effect.attempt > attempts, `attempt ${effect.attempt} after ${attempts}`);
        this.asked.set(effect.id, { at, attempts: effect.attempt });
        this.lastAsked = effect.id;
        return;
      }
      case 'forget_grant':
        this.forgotten.add(effect.grant);
        return;
      case 'open_stream':
        return this.open(effect.stream, effect.grant, now);
      case 'close_stream':
        // A stream that has ended may be closed again; another one may not.
        demand(effect.stream <= this.lastStream, `closed stream ${effect.stream}`);
        this.connections.delete(effect.stream);
        return;
      case 'send_task':
      case 'poll_task':
      case 'send_audio':
      case 'ping':
      case 'end_task':
      case 'say':
        return this.send(effect, now);
    }
  }

  private open(id: number, grantId: string, now: number): void {
    demand(id === this.lastStream + 1, `stream ${id} after stream ${this.lastStream}`);
    const grant = this.grants.get(grantId);
    const asked = this.asked.get(grantId);
    if (grant === undefined || asked === undefined) throw new Error(`${grantId} was never granted`);
    demand(!this.forgotten.has(grantId), `${grantId} was used after it was forgotten`);
    demand(!this.opened.has(grantId), `${grantId} was used twice`);
    demand(grant.intent === 's2s' && grant.connectionType === 'ws', `${grantId} is for something else`);
    demand(now < asked.at + grant.windowMs, `${grantId} was used after its window`);
    this.opened.add(grantId);
    this.lastStream = id;
    this.connections.set(id, {
      id,
      grant: grantId,
      opened: false,
      taskAt: -Infinity,
      pollAt: -Infinity,
      asked: false,
      runs: false,
      ending: false,
    });
  }

  private send(effect: Extract<LaneEffect, { stream: number }>, now: number): void {
    const connection = this.connections.get(effect.stream);
    if (connection === undefined || !connection.opened) {
      throw new Error(`invariant broken: ${effect.type} on stream ${effect.stream}, which is not open`);
    }
    demand(!connection.ending || effect.type === 'ping', `${effect.type} after end_task`);
    switch (effect.type) {
      case 'send_task':
        demand(now - connection.taskAt >= BETWEEN_QUESTIONS_MS, 'set_task too soon');
        Object.assign(connection, { taskAt: now, asked: false, runs: false });
        return;
      case 'poll_task':
        demand(connection.taskAt > -Infinity, 'get_task before set_task');
        demand(now - connection.pollAt >= BETWEEN_QUESTIONS_MS, 'get_task too soon');
        Object.assign(connection, { pollAt: now, asked: true });
        return;
      case 'send_audio':
        demand(connection.runs, 'audio before the task runs');
        return this.hear(effect);
      case 'end_task':
        connection.ending = true;
    }
  }

  /** One stream receives speech; an older one receives silence. */
  private hear({ stream, pcm, capturedAt }: Extract<LaneEffect, { type: 'send_audio' }>): void {
    if (capturedAt !== null) {
      demand(stream >= this.hearing, `what is said goes back to stream ${stream}`);
      this.hearing = stream;
    }
    if (stream < this.hearing) demand(pcm === null, 'an old stream is fed sound');
  }
}
