/** What can go wrong since the second generation of worlds. */

import { type Fault, lasting, OUTAGE_MS } from './fault-targets.ts';
import { PORT_CALLS, type PortCall } from './port-faults.ts';

const CALLS: readonly [PortCall, ...PortCall[]] = [...PORT_CALLS];

export const LATER_FAULTS: Readonly<Record<string, Fault>> = {
  /** The stream answers pings, reads everything and sends nothing more. */
  zombie_stream: ({ host }) => void host.turnZombies(),
  zombie_service: ({ host, dice }) =>
    lasting(
      dice.pick(OUTAGE_MS),
      () => {
        host.turnZombies();
        host.output.isZombie = true;
      },
      () => {
        host.output.isZombie = false;
      },
    ),
  address_dead: ({ answers, host, dice }) => {
    host.fault({ kind: 'drop' });
    return lasting(
      dice.pick(OUTAGE_MS),
      () => {
        answers.streamHost = dice.pick(['refuses.sim', 'silent.sim']);
      },
      () => {
        answers.streamHost = null;
      },
    );
  },
  /** The service has another address, which the backend learns at once or later. */
  address_moved: ({ answers, host, network, dice }) => {
    host.fault({ kind: 'drop' });
    return lasting(
      dice.pick([0, 2000, 15_000, 60_000]),
      () => {
        answers.streamHost = network.serviceHost;
        network.serviceHost = `service-${dice.whole(2, 9999)}.sim`;
      },
      () => {
        answers.streamHost = null;
      },
    );
  },
  backend_malformed: ({ answers, host, dice }) => {
    if (dice.chance(0.7)) host.fault({ kind: 'drop' });
    return lasting(
      dice.pick(OUTAGE_MS),
      () => {
        answers.malformed = true;
      },
      () => {
        answers.malformed = false;
      },
    );
  },
  refused_bare: ({ host, dice }) => {
    const reason = dice.pick(['forbidden', 'unauthorized', 'not_found']);
    host.fault({ kind: 'refuse', reason, delivery: 'http', bare: true });
    host.fault({ kind: 'drop' });
    return undefined;
  },
  /** The next translation ends after its first 200 ms; most streams break off soon after. */
  translation_cut: ({ host, dice }) => {
    host.output.cutNext(dice.chance(0.7) ? dice.between(300, 4000) : null);
    return undefined;
  },
  reset_between_languages: ({ host }) => void host.output.resetBetweenLanguages(),
  port_throws: ({ ports, dice }) => {
    ports[dice.pick(CALLS)] += dice.pick([1, 1, 3]);
    return undefined;
  },
};
