/** The parts of the world that a fault can change, and the type of a fault. */
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

/** Everything that a fault can change. */
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
  /** Null in generation 1, which has no owner. */
  readonly owner: Owner | null;
}

/** How long a fault lasts, and how it ends. */
interface Lasting {
  readonly forMs: number;
  readonly end: () => void;
}

/** Starts the fault. @returns its end, if it lasts */
export type Fault = (stage: Stage) => Lasting | undefined;

/** Gives fields of a part of the world other values for a while. */
export function changing<T extends object>(
  forMs: number,
  target: T,
  during: Partial<T>,
  after: Partial<T>,
): Lasting {
  Object.assign(target, during);
  return { forMs, end: () => void Object.assign(target, after) };
}

/** Gives the emulator a fault for a while. */
export function ordering(forMs: number, host: ServiceHost, fault: object): Lasting {
  host.fault({ ...fault, for_ms: forMs });
  return { forMs, end() {} };
}

export const OUTAGE_MS = [1000, 2000, 5000, 8000, 15_000, 25_000, 45_000, 120_000] as const;
