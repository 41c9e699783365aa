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

/** Makes it happen; gives what ends it and after how long, where it lasts. */
export type Fault = (stage: Stage) => { forMs: number; end: () => void } | undefined;

export function lasting(
  forMs: number,
  begin: () => void,
  end: () => void,
): { forMs: number; end: () => void } {
  begin();
  return { forMs, end };
}

export const OUTAGE_MS = [1000, 2000, 5000, 8000, 15_000, 25_000, 45_000, 120_000] as const;
