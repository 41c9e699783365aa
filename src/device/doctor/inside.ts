import { ignoredProxy } from '../../adapters/network/ignored-proxy.ts';
import type { Clock } from '../../ports/clock.ts';
import type { MachineParts } from '../../ports/machine.ts';
import type { Config, LaneConfig } from '../../protocol/config.ts';
import type { CheckName } from '../../protocol/mqtt/diagnose.ts';
import { serviceAuthority } from '../config/unusable-file.ts';
import type { LaneRunner, LaneStep } from '../lane/runner/lane-runner.ts';
import type { BackendProbe } from './checks/backend/backend-probe.ts';
import { type LiveParts, takeLiveConnection } from './checks/broker/live-connection.ts';
import { about, type LaneOutcome } from './report/check.ts';
import { type Outcome, skipped } from './report/finding.ts';
import { createServers, type Servers } from './servers.ts';

/** The state of the running agent. */
export interface OwnState extends LiveParts {
  readonly clock: Clock;
  readonly version: string;
  readonly lanes: readonly LaneRunner[];
  /** Null without a real machine, as in a simulation. */
  readonly machine: MachineParts | null;
  config(): Config;
  status(): { readonly status: string; readonly reasons: readonly string[] };
  watch(listener: (step: LaneStep) => void): () => void;
}

/** What the checks know inside the running agent. They open no sound device and no second connection to the broker. */
export interface Inside {
  readonly own: OwnState;
  readonly config: Config;
  readonly machine: MachineParts | null;
  /** Over the agent's own connection. */
  readonly servers: Servers;
}

export function createInside(
  own: OwnState,
  probe: BackendProbe,
  tells: (name: CheckName) => boolean,
): Inside {
  const { topics, clock, lanes, machine } = own;
  const config = own.config();
  const servers = createServers({
    clock,
    topics,
    probe,
    lane: lanes[0]?.id ?? 'main',
    join: async () => takeLiveConnection(own, config),
    hosts: config.service.hosts,
    serviceCa: () => serviceAuthority(config),
    proxy: machine === null ? null : ignoredProxy(machine.env),
    tells,
  });
  return { own, config, machine, servers };
}

/** Judges each running lane. */
export function judgeLanes(
  { own, config }: Inside,
  judge: (lane: LaneRunner, config: LaneConfig) => Promise<Outcome> | Outcome,
): Promise<LaneOutcome[]> {
  return Promise.all(
    own.lanes.map(async (lane) => {
      const configured = config.lanes.find(({ id }) => id === lane.id);
      return about(
        lane.id,
        configured === undefined ? skipped('not configured') : await judge(lane, configured),
      );
    }),
  );
}
