import type { Dice } from './dice.ts';

/** The device's network: it carries both the broker's and the service's connections. */
export interface Network {
  /** One-way delay and its variation (ms). */
  latencyMs: number;
  jitterMs: number;
  /** Packets vanish without an error. */
  blackHole: boolean;
  /** The name server does not answer. */
  dnsFails: boolean;
  /** Bytes per second from the device; Infinity: no limit. */
  uplinkBytesPerS: number;
  /** Share of packets that are lost. They are sent again, which delays them and all later ones. */
  lossShare: number;
  /** Host of the service; no other host answers. */
  serviceHost: string;
  /** Host of the service in the backend's configuration. */
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
