/** What a fault can act on, and what it is. */
import type { AnswerFaults } from './answers.ts';
import type { BackendHost } from './backend-host.ts';
import type { Broker } from './broker.ts';
import type { Device } from './device.ts';
import type { Loudspeaker, Microphone } from './devices.ts';
import type { Dice } from './dice.ts';
import type { Network } from './network.ts';
import type { Operator } from './operator.ts';
import type { Owner } from './owner.ts';
import type { PortFaults } from './port-faults.ts';
import type { ServiceHost } from './service-host.ts';
import type { SimClock } from './sim-clock.ts';

/** All that a fault can act on. */
export interface Stage {
  readonly clock: SimClock;
  readonly dice: Dice;
  readonly network: Network;
  readonly broker: Broker;
  readonly backend: BackendHost;
  readonly answers: AnswerFaults;
  readonly ports: PortFaults;
  readonly host: ServiceHost;
  readonly microphone: Microphone;
  readonly speaker: Loudspeaker;
  readonly device: Device;
  readonly operator: Operator;
  /** Null in worlds that are older than owners who desire something. */
  readonly owner: Owner | null;
}

/** What ends a fault, and after how long. */
interface Lasting {
  readonly forMs: number;
  readonly end: () => void;
}

/** Makes it happen. @returns its end, if it lasts */
export type Fault = (stage: Stage) => Lasting | undefined;

/** Fields of a part of the world have other values for a while. */
export function changing<T extends object>(
  forMs: number,
  target: T,
  during: Partial<T>,
  after: Partial<T>,
): Lasting {
  Object.assign(target, during);
  return { forMs, end: () => void Object.assign(target, after) };
}

/** The emulator has a fault for a while. */
export function ordering(forMs: number, host: ServiceHost, fault: object): Lasting {
  host.fault({ ...fault, for_ms: forMs });
  return { forMs, end() {} };
}

export const OUTAGE_MS = [1000, 2000, 5000, 8000, 15_000, 25_000, 45_000, 120_000] as const;
