/** What can go wrong where a test, or `--fault`, names it: no seed draws it. */
import { type Fault, lasting } from './fault-targets.ts';

export const NAMED_FAULTS: Readonly<Record<string, Fault>> = {
  /** It answers pings and tells its task when it is asked, reads all and says nothing more. */
  zombie_answering: ({ host }) => void host.turnZombies(true),
  /** So does every stream that opens, for minutes, until all of them break off. */
  zombies_answering: ({ host, dice }) =>
    lasting(
      dice.pick([120_000, 300_000, 600_000]),
      () => {
        host.turnZombies(true);
        host.output.isZombie = 'answering';
      },
      () => {
        host.output.isZombie = false;
        host.fault({ kind: 'drop' });
      },
    ),
};
