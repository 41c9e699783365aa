import type { UpdateOrder, UpdateStatus } from '../protocol/common/update.ts';

/** The updater of the machine, for the agent. Methods never throw. */
export interface Updates {
  /** The updater's status; null: there is no updater, or it is not running. */
  look(): Promise<UpdateStatus | null>;
  /** Leaves an order for the updater. Resolves to null, or to the reason why that is impossible, for an operator. */
  order(order: UpdateOrder): Promise<string | null>;
  /** Says that a restart for this order interrupts no speech or conversation; null: withdraws that. */
  allow(order: string | null): Promise<void>;
}
