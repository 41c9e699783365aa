import { seededRandom } from '../../core/random.ts';
import { type FaultOrder, type FaultRequest, isStreamFault } from './fault.ts';

/** Maximum number of faults that may wait at once. */
const MOST_ORDERS = 2000;

/** The state of a stream that decides when a fault is due. */
export interface FaultTarget {
  readonly id: string;
  readonly openedAt: number;
  readonly running: boolean;
  readonly speaking: boolean;
  readonly sending: boolean;
  /** Whether a sentence has been spoken in one language, but not yet in the next. */
  readonly betweenLanguages: boolean;
}

/** Names for streams in faults, in addition to their ids. */
const ANY_STREAM: ReadonlySet<string> = new Set(['newest', 'all']);

export function isAnyStream(name: string): boolean {
  return ANY_STREAM.has(name);
}

interface Waiting {
  readonly id: number;
  readonly order: FaultOrder;
  readonly orderedAt: number;
  readonly notBefore: number;
}

/** A fault that is due, with the streams that it hits. */
export interface DueFault {
  readonly id: number;
  readonly order: FaultOrder;
  readonly streams: readonly string[];
}

/** Faults that wait until they are due. */
export interface FaultPlan {
  readonly waiting: number;
  /** When the next fault may become due by time alone; conditions are checked at each event. */
  nextAt(now: number): number;
  add(request: FaultRequest, now: number): { ids: number[] } | { problem: string };
  takeDue(targets: readonly FaultTarget[], now: number): DueFault[];
  clear(): void;
  /** Cancels a waiting fault. */
  remove(id: number): boolean;
  list(now: number): { id: number; kind: string; when: string; in_ms: number }[];
}

function meets(order: FaultOrder, target: FaultTarget, orderedAt: number): boolean {
  switch (order.when) {
    case 'now':
      return true;
    case 'mid_speech':
      return target.speaking;
    case 'mid_output':
      return target.sending;
    case 'between_languages':
      return target.betweenLanguages;
    case 'running':
      return target.running;
    case 'next_stream':
      return target.openedAt > orderedAt;
  }
}

/** The selected streams that are in the state that the fault waits for; empty: none yet. */
function choose(waiting: Waiting, targets: readonly FaultTarget[]): FaultTarget[] {
  const { order, orderedAt } = waiting;
  if (order.stream === 'all') return targets.filter((target) => meets(order, target, orderedAt));
  const named = order.stream === 'newest' ? targets.at(-1) : targets.find(({ id }) => id === order.stream);
  return named !== undefined && meets(order, named, orderedAt) ? [named] : [];
}

/** The random times of a schedule, with a fault for each. */
function roll(request: FaultRequest & { kind: 'schedule' }): { order: FaultOrder; afterMs: number }[] {
  const { schedule, orders } = request;
  const random = seededRandom(schedule.seed);
  const rolled: { order: FaultOrder; afterMs: number }[] = [];
  const span = Math.max(0, schedule.every_ms.max - schedule.every_ms.min);
  for (let at = 0; rolled.length <= MOST_ORDERS; ) {
    at += schedule.every_ms.min + random() * span;
    if (at > schedule.for_ms) break;
    const order = orders[Math.floor(random() * orders.length)];
    if (order !== undefined) rolled.push({ order, afterMs: at + order.after_ms });
  }
  return rolled;
}

export function createFaultPlan(): FaultPlan {
  let waiting: Waiting[] = [];
  let lastId = 0;
  return {
    get waiting() {
      return waiting.length;
    },
    nextAt(now) {
      let next = Number.POSITIVE_INFINITY;
      for (const { notBefore } of waiting) if (notBefore > now && notBefore < next) next = notBefore;
      return next;
    },
    add(request, now) {
      const rolled =
        request.kind === 'schedule'
          ? roll(request)
          : [{ order: request.order, afterMs: request.order.after_ms }];
      if (waiting.length + rolled.length > MOST_ORDERS)
        return { problem: `at most ${MOST_ORDERS} faults may be waiting` };
      const ids = rolled.map(({ order, afterMs }) => {
        waiting.push({ id: ++lastId, order, orderedAt: now, notBefore: now + afterMs });
        return lastId;
      });
      return { ids };
    },
    takeDue(targets, now) {
      if (waiting.length === 0) return [];
      const due: DueFault[] = [];
      waiting = waiting.filter((entry) => {
        if (entry.notBefore > now) return true;
        if (!isStreamFault(entry.order.fault) && entry.order.when === 'now') {
          due.push({ id: entry.id, order: entry.order, streams: [] });
          return false;
        }
        const chosen = choose(entry, targets);
        if (chosen.length === 0) return true;
        due.push({ id: entry.id, order: entry.order, streams: chosen.map(({ id }) => id) });
        return false;
      });
      return due;
    },
    clear() {
      waiting = [];
    },
    remove(id) {
      const before = waiting.length;
      waiting = waiting.filter((entry) => entry.id !== id);
      return waiting.length < before;
    },
    list: (now) =>
      waiting.map(({ id, order, notBefore }) => ({
        id,
        kind: order.fault.kind,
        when: order.when,
        in_ms: Math.max(0, Math.round(notBefore - now)),
      })),
  };
}
