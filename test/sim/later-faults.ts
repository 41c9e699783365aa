/** Faults of later generations, and faults that no seed draws. */

import { changing, type Fault, OUTAGE_MS } from './fault-targets.ts';
import { PORT_CALLS, type PortCall } from './port-faults.ts';

const CALLS: readonly [PortCall, ...PortCall[]] = [...PORT_CALLS];
const DISK_MS = [1000, 10_000, 120_000] as const;

/** Since generation 2: faults of the service, the backend and the ports. */
export const LATER_FAULTS: Readonly<Record<string, Fault>> = {
  /** The open streams answer pings, but send nothing else. */
  zombie_stream: ({ host }) => void host.turnZombies(),
  zombie_service: ({ host, dice }) => {
    const forMs = dice.pick(OUTAGE_MS);
    host.turnZombies();
    return changing(forMs, host.output, { isZombie: true }, { isZombie: false });
  },
  address_dead: ({ answers, host, dice }) => {
    host.fault({ kind: 'drop' });
    const forMs = dice.pick(OUTAGE_MS);
    return changing(
      forMs,
      answers,
      { streamHost: dice.pick(['refuses.sim', 'silent.sim']) },
      { streamHost: null },
    );
  },
  /** The service moves to another address; the backend learns it at once or later. */
  address_moved: ({ answers, host, network, dice }) => {
    host.fault({ kind: 'drop' });
    const forMs = dice.pick([0, 2000, 15_000, 60_000]);
    const streamHost = network.serviceHost;
    network.serviceHost = `service-${dice.whole(2, 9999)}.sim`;
    return changing(forMs, answers, { streamHost }, { streamHost: null });
  },
  backend_malformed: ({ answers, host, dice }) => {
    if (dice.chance(0.7)) host.fault({ kind: 'drop' });
    return changing(dice.pick(OUTAGE_MS), answers, { malformed: true }, { malformed: false });
  },
  refused_bare: ({ host, dice }) => {
    const reason = dice.pick(['forbidden', 'unauthorized', 'not_found']);
    host.fault({ kind: 'refuse', reason, delivery: 'http', bare: true });
    host.fault({ kind: 'drop' });
    return undefined;
  },
  /** Cuts the next translation after its first 200 ms; most streams break soon after. */
  translation_cut: ({ host, dice }) =>
    void host.output.cutNext(dice.chance(0.7) ? dice.between(300, 4000) : null),
  reset_between_languages: ({ host }) => void host.output.resetBetweenLanguages(),
  port_throws: ({ ports, dice }) => {
    ports[dice.pick(CALLS)] += dice.pick([1, 1, 3]);
    return undefined;
  },
};

/** Since generation 2: documents and commands of an owner, and disk faults. */
export const OWNER_FAULTS: Readonly<Record<string, Fault>> = {
  documents: ({ owner }) => owner?.publish() as undefined,
  commands: ({ owner }) => owner?.command() as undefined,
  file_reread: ({ owner }) => owner?.rereadFile() as undefined,
  disk_troubled: ({ owner, dice }) => {
    const disk = owner?.disk ?? { isFull: false, hangs: false };
    const trouble = dice.chance(0.5) ? 'isFull' : 'hangs';
    return changing(dice.pick(DISK_MS), disk, { [trouble]: true }, { [trouble]: false });
  },
};

/** Since generation 3: opening hours, a budget, texts to speak. */
export const HOURS_FAULTS: Readonly<Record<string, Fault>> = {
  opening_hours: ({ owner, dice }) => {
    const forMs = dice.between(90_000, 900_000);
    owner?.order('schedule');
    return { forMs, end: () => owner?.revoke('schedule') };
  },
  budget: ({ owner, dice }) => {
    const forMs = dice.between(120_000, 2_400_000);
    owner?.order('minutesPerDay');
    return { forMs, end: () => owner?.revoke('minutesPerDay') };
  },
  say: ({ owner }) => owner?.say() as undefined,
};

/** These faults together with others that interfere with them. */
export const WITH_TROUBLE = [...Object.keys(HOURS_FAULTS), 'commands', 'kill', 'broker_away', 'clock_jumps'];

/** Faults that no seed draws: a test or `--fault` must name them. */
export const NAMED_FAULTS: Readonly<Record<string, Fault>> = {
  /** The open streams answer pings and get_task, but send nothing else. */
  zombie_answering: ({ host }) => void host.turnZombies(true),
  /** For minutes, all open and new streams answer only pings and get_task; then all of them break. */
  zombies_answering: ({ host, dice }) => {
    const forMs = dice.pick([120_000, 300_000, 600_000]);
    host.turnZombies(true);
    host.output.isZombie = 'answering';
    return {
      forMs,
      end() {
        host.output.isZombie = false;
        host.fault({ kind: 'drop', stream: 'all' });
      },
    };
  },
};
