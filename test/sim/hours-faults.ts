/** What an owner orders since the fourth generation of worlds: when a device is open, what a day may cost, what it is to say. */
import { type Fault, lasting } from './fault-targets.ts';

export const HOURS_FAULTS: Readonly<Record<string, Fault>> = {
  opening_hours: ({ owner, dice }) =>
    lasting(
      dice.between(90_000, 900_000),
      () => owner?.order('schedule'),
      () => owner?.revoke('schedule'),
    ),
  budget: ({ owner, dice }) =>
    lasting(
      dice.between(120_000, 2_400_000),
      () => owner?.order('minutesPerDay'),
      () => owner?.revoke('minutesPerDay'),
    ),
  say: ({ owner }) => owner?.say() as undefined,
};

/** All of these, and what may come in between. */
export const WITH_TROUBLE = [...Object.keys(HOURS_FAULTS), 'commands', 'kill', 'broker_away', 'clock_jumps'];
