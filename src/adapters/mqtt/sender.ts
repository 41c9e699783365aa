import type { Clock } from '../../ports/clock.ts';
import type { Link } from './link.ts';
import { expiryLeftS, type Letter, type Outbox } from './outbox.ts';

/** A broker that answers pings but acknowledges nothing for so long is taken for broken. */
const ACKNOWLEDGE_WITHIN_MS = 30_000;
/** Fixed header, topic length, packet identifier and properties: a generous bound. */
const PACKET_OVERHEAD_BYTES = 256;

/** Moves messages from the outbox over the present link, as far as the broker's window allows. */
export interface Sender {
  /** From now on messages go over `link`. */
  attach(link: Link): void;
  /** The link is gone or of no use: what was not acknowledged waits again. */
  detach(): void;
  /** Sends what waits. To be called after each addition to the outbox. */
  pump(): void;
}

/** @param progress told after every acknowledgement */
export function createSender(outbox: Outbox, clock: Clock, broker: string, progress: () => void): Sender {
  let link: Link | null = null;
  let cancelOverdue: (() => void) | null = null;

  /** Begins anew with each acknowledgement. */
  const watch = (): void => {
    cancelOverdue?.();
    cancelOverdue = null;
    if (link === null || outbox.inFlight() === 0) return;
    cancelOverdue = clock.at(clock.now() + ACKNOWLEDGE_WITHIN_MS, () => {
      link?.destroy(`${broker} acknowledges nothing`);
    });
  };

  const send = (over: Link, letter: Letter): void => {
    const expiryS = expiryLeftS(letter, clock.now());
    const properties = { ...letter.properties, ...(expiryS !== undefined && { expiryS }) };
    over.publish({ ...letter, qos: 1, properties }, (accepted) => {
      if (accepted) outbox.settle(letter);
      else outbox.discard(letter);
      watch();
      pump();
      progress();
    });
    if (cancelOverdue === null) watch();
  };

  const pump = (): void => {
    while (link !== null && outbox.inFlight() < link.window) {
      const letter = outbox.take(clock.now());
      if (letter === null) return;
      if (letter.bytes + PACKET_OVERHEAD_BYTES > link.largestPacketBytes) outbox.discard(letter);
      else send(link, letter);
    }
  };

  return {
    attach(opened) {
      link = opened;
      pump();
    },
    detach() {
      link = null;
      outbox.unsend();
      watch();
    },
    pump,
  };
}
