/** Messages that a broker keeps for a device: unacknowledged ones, and retained ones for each subscription. */
import type { BusListener, BusMessage } from '../../src/ports/bus.ts';
import type { SimClock } from './sim-clock.ts';

/** Time that the broker keeps the session of a disconnected device (ms). */
const SESSION_MS = 600_000;
/** Time between two tries to deliver (ms). */
const LOOK_MS = 500;

/** Delivers a message: it calls `hand` once, which gives the message to the device. */
export type Deliver = (hand: () => void) => void;

interface Kept {
  readonly message: BusMessage;
  readonly since: number;
  readonly deliver: Deliver;
  onLost(): void;
}

export interface MessageStore {
  keep(message: BusMessage, deliver: Deliver, onLost: () => void, delayMs: number): void;
  retain(message: BusMessage, deliver: Deliver, delayMs: number): void;
  /** The device has connected: it gets unacknowledged messages again, then those that wait. */
  connected(): void;
  /** The device has subscribed: it gets the retained messages. */
  subscribed(): void;
}

/** @param reach the device's end of the connection; null: unreachable now */
export function createMessageStore(clock: SimClock, reach: () => BusListener | null): MessageStore {
  let queue: Kept[] = [];
  /** Messages that were delivered on this or an earlier connection, and not acknowledged. */
  let unacknowledged: Kept[] = [];
  const retained = new Map<string, Kept>();
  let isLooking = false;

  const give = (kept: Kept, again = false): void => {
    let isHeld = false;
    const acknowledge = (): void => {
      unacknowledged = unacknowledged.filter((one) => one !== kept);
    };
    const hold = (): (() => void) => {
      isHeld = true;
      return acknowledge;
    };
    if (!unacknowledged.includes(kept)) unacknowledged.push(kept);
    const message = { ...kept.message, hold, ...(again ? { again: true as const } : {}) };
    kept.deliver(() => reach()?.message(message));
    if (!isHeld) acknowledge();
  };
  const isKept = (kept: Kept): boolean => {
    if (clock.now() - kept.since < SESSION_MS) return true;
    kept.onLost();
    return false;
  };
  const giveQueued = (): void => {
    while (queue[0] !== undefined && reach() !== null) {
      const [first] = queue.splice(0, 1);
      if (first !== undefined) give(first);
    }
  };
  /** Tries to deliver again, as TCP does. */
  const look = (): void => {
    if (isLooking || queue.length === 0) return;
    isLooking = true;
    clock.at(clock.now() + LOOK_MS, () => {
      isLooking = false;
      giveQueued();
      look();
    });
  };
  const enqueue = (kept: Kept, delayMs: number): void => {
    queue.push(kept);
    clock.at(clock.now() + delayMs, () => {
      giveQueued();
      look();
    });
  };

  return {
    keep(message, deliver, onLost, delayMs) {
      enqueue({ message, since: clock.now(), deliver, onLost }, delayMs);
    },
    retain(message, deliver, delayMs) {
      const kept = { message, since: clock.now(), deliver, onLost: () => {} };
      if (message.payload === '') retained.delete(message.topic);
      else retained.set(message.topic, { ...kept, message: { ...message, retain: true } });
      enqueue(kept, delayMs);
    },
    connected() {
      const again = unacknowledged.filter(isKept);
      unacknowledged = [];
      queue = queue.filter(isKept);
      for (const kept of again) give(kept, true);
      giveQueued();
    },
    subscribed() {
      for (const kept of [...retained.values()]) if (reach() !== null) give(kept);
    },
  };
}
