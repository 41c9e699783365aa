/** Reports when a fault strikes: it may wait for the next connection, which is late if the lane sleeps. */
import type { FaultRegistry } from '../../src/emulator/core/fault-registry.ts';

/** Called when a fault strikes. @param forMs how long it lasts */
export type OnStrike = (kind: string, forMs: number) => void;

/** Calls back when a fault of the service strikes. */
export function watchStrikes(faults: FaultRegistry, onStrike: OnStrike): void {
  const { plan, takeRefusal, takeHttpFault, takeUpgradeDelayMs } = faults;
  const { takeDue } = plan;
  plan.takeDue = (targets, now) => {
    const due = takeDue(targets, now);
    for (const { order, streams } of due) if (streams.length > 0) onStrike(order.fault.kind, 0);
    return due;
  };
  faults.takeRefusal = () => {
    const refusal = takeRefusal();
    if (refusal !== null) onStrike(refusal.kind, 0);
    return refusal;
  };
  faults.takeHttpFault = (route) => {
    const fault = takeHttpFault(route);
    if (fault !== null) onStrike(fault.kind, 0);
    return fault;
  };
  faults.takeUpgradeDelayMs = () => {
    const delayMs = takeUpgradeDelayMs();
    if (delayMs > 0) onStrike('slow_upgrade', delayMs);
    return delayMs;
  };
}
