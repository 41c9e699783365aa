import type { Dice } from './dice.ts';

/** The device's way to the world. One for everything: the broker and the service lie behind it. */
export interface Network {
  /** One-way delay, milliseconds, and how much it varies. */
  latencyMs: number;
  jitterMs: number;
  /** Packets vanish without an error. */
  blackHole: boolean;
  /** The name server does not answer. */
  dnsFails: boolean;
  /** Bytes per second from the device; Infinity: no limit. */
  uplinkBytesPerS: number;
  /** A packet that is lost comes again: it, and all behind it, are late by this. */
  lossShare: number;
  /** Where the service is; nothing answers at any other host. */
  serviceHost: string;
  /** Its name in the backend's configuration. */
  readonly serviceName: string;
  delay(): number;
}

const SERVICE = 'service.sim';

const RETRANSMIT_MS = 250;

export function createNetwork(dice: Dice): Network {
  return {
    latencyMs: dice.between(5, 60),
    jitterMs: 10,
    blackHole: false,
    dnsFails: false,
    uplinkBytesPerS: Number.POSITIVE_INFINITY,
    lossShare: 0,
    serviceHost: SERVICE,
    serviceName: SERVICE,
    delay() {
      const lost = this.lossShare > 0 && dice.chance(this.lossShare) ? RETRANSMIT_MS * dice.whole(1, 6) : 0;
      return this.latencyMs + dice.next() * this.jitterMs + lost;
    },
  };
}
