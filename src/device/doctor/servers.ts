import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CheckName, Diagnosis } from '../../protocol/mqtt/diagnose.ts';
import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';
import { AddressError, streamAddress } from '../tokens/stream-address.ts';
import type { BackendProbe, Probed } from './checks/backend/backend-probe.ts';
import { judgeBackend } from './checks/backend/backend-rules.ts';
import { type ClockReading, judgeClock } from './checks/clock/clock-rules.ts';
import { type IsolationFacts, judgeIsolation } from './checks/isolation/isolation-rules.ts';
import { askForUpgrade } from './checks/stream/upgrade.ts';
import { reach, type Server, serverOf } from './network/reach.ts';
import { judgeReach, judgeUpgrade, NO_STREAM_ADDRESS } from './network/reach-rules.ts';
import { type Check, deviceCheck, once } from './report/check.ts';
import { combine, type Outcome, problem, skipped } from './report/finding.ts';

/** Time limits of the steps of a connection (ms). */
export const STEP_LIMIT_MS = 5000;
export const BROKER_LIMIT_MS = 40_000;
const BACKEND_LIMIT_MS = BROKER_LIMIT_MS + 15_000;
const STREAM_LIMIT_MS = BACKEND_LIMIT_MS + 25_000;

/** A connection to the broker, or why there is none. */
export interface BrokerConnection {
  readonly outcome: Outcome;
  readonly bus: Bus | null;
  /** Whether the broker has refused a message; absent if unknown. */
  readonly hasRefused?: () => boolean;
  /** The broker has refused the doctor's own login, while an agent may be running with the device's login. */
  readonly isAgentsAlone?: boolean;
  /** The result of publishing to foreign topics; null: not tried. */
  readonly isolation?: IsolationFacts | null;
}

export interface ConnectionParts {
  readonly clock: Clock;
  readonly topics: DeviceTopics;
  readonly probe: BackendProbe;
  /** The lane of the trial token. */
  readonly lane: string;
  join(): Promise<BrokerConnection>;
  /** The running agent's findings over its own connection; null: the agent does not answer. */
  askAgent?(only: readonly CheckName[]): Promise<Diagnosis | null>;
  /** Whether a check is reported. If not, the check that depends on it reports the failure. */
  tells(name: CheckName): boolean;
  /** The allowed stream hosts (`service.hosts`). */
  readonly hosts: readonly string[];
  /** Name of the environment variable that sets a proxy, which the agent ignores; null: not set. */
  readonly proxy?: string | null;
  /** PEM of the service's certificate authority. */
  serviceCa(): Buffer | undefined;
}

const NOT_TRIED = skipped(
  'the test could disconnect the running agent: stop the agent ("systemctl stop dragoman"), and run "dragoman doctor" on the device',
);
const NOT_BESIDE_AGENT = skipped(
  'the broker allows no second client with this login: stop the agent ("systemctl stop dragoman"), and run the doctor again',
);
const NO_CONNECTION = skipped('there is no connection to the broker');

/** Broker, backend, stream host and clock: each needs the one before it. */
export function connectionChecks(parts: ConnectionParts): Check[] {
  const { clock, topics, probe, lane, tells } = parts;
  const join = once(parts.join);
  const ask = once(async (): Promise<Probed | null> => {
    const { bus, hasRefused } = await join();
    return bus === null ? null : probe.ask(bus, lane, hasRefused);
  });
  const askLink = once(async () => (await parts.askAgent?.(['broker'])) ?? null);
  const askRest = once(async () => {
    // The agent allows one diagnosis at a time.
    await askLink();
    const rest = (['backend', 'stream', 'clock'] as const).filter((name) => tells(name));
    return (await parts.askAgent?.(rest)) ?? null;
  });
  /** The agent's own finding if only the agent can connect. */
  const orAgents = (name: CheckName, ask: () => Promise<Diagnosis | null>, judge: () => Promise<Outcome>) => {
    return async (): Promise<Outcome> => {
      const { isAgentsAlone = false } = await join();
      const finding = isAgentsAlone ? (await ask())?.checks.find(({ check }) => check === name) : undefined;
      return finding ?? judge();
    };
  };
  const look = once(async () => {
    const address = (await ask())?.streamUrl ?? null;
    return address === null ? null : lookAtStreamHost(address, parts);
  });
  const judgeAnswer = async (): Promise<Outcome> => {
    const probed = await ask();
    if (probed !== null) return judgeBackend(probed.answer, probed.tookMs, topics.tokenRequest);
    return tells('broker') ? NO_CONNECTION : (await join()).outcome;
  };
  const judgeStreamHost = async (): Promise<Outcome> => {
    const seen = await look();
    if (seen !== null) return seen.outcome;
    return tells('backend') ? NO_STREAM_ADDRESS : judgeAnswer();
  };
  const judgeOwnClock = async (): Promise<Outcome> => {
    const sights = [(await ask())?.sight, (await look())?.sight];
    return judgeClock(
      clock.wall(),
      sights.filter((sight) => sight != null),
    );
  };
  return [
    deviceCheck(
      'broker',
      BROKER_LIMIT_MS,
      orAgents('broker', askLink, async () => (await join()).outcome),
    ),
    deviceCheck('isolation', BROKER_LIMIT_MS, async () => {
      const { isolation, bus, outcome, isAgentsAlone = false } = await join();
      if (isolation === undefined) return NOT_TRIED;
      if (isolation === null && isAgentsAlone) return NOT_BESIDE_AGENT;
      return bus === null && !tells('broker') ? outcome : judgeIsolation(isolation);
    }),
    deviceCheck('backend', BACKEND_LIMIT_MS, orAgents('backend', askRest, judgeAnswer)),
    deviceCheck('stream', STREAM_LIMIT_MS, orAgents('stream', askRest, judgeStreamHost)),
    deviceCheck('clock', STREAM_LIMIT_MS + 1000, orAgents('clock', askRest, judgeOwnClock)),
  ];
}

/** @param template as in the grant; secrets in it are not shown */
async function lookAtStreamHost(
  template: string,
  { clock, hosts, serviceCa, proxy = null }: ConnectionParts,
): Promise<{ outcome: Outcome; sight: ClockReading | null }> {
  let url: URL;
  try {
    url = streamAddress(template, 'x', hosts);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    const fix = error.message.includes('service.hosts')
      ? "Add the host to service.hosts if it is the translation service's; else fix streamUrl in the backend's configuration."
      : "Fix streamUrl in the backend's configuration; it looks like wss://stream.example/...";
    return { outcome: problem(`the stream address of the backend ${error.message}`, fix), sight: null };
  }
  const ca = serviceCa();
  const server: Server = serverOf(url.href, ca === undefined ? {} : { ca });
  const facts = await reach(server, STEP_LIMIT_MS, clock);
  const reached = judgeReach(facts, {
    who: 'the stream host',
    addressFrom: "streamUrl in the backend's configuration",
    caKey: 'service.caFile',
    wall: clock.wall(),
    proxy,
  });
  if (reached.verdict === 'problem') return { outcome: reached, sight: null };
  const askedAt = clock.now();
  const upgrade = await askForUpgrade(template, ca, STEP_LIMIT_MS);
  const tookMs = clock.now() - askedAt;
  const wall = clock.wall();
  // The `Date` header has a resolution of one second.
  const sight =
    upgrade.date === null || wall === null
      ? null
      : {
          who: 'the stream host',
          offsetMs: upgrade.date + 500 - (wall - tookMs / 2),
          uncertaintyMs: 500 + tookMs / 2,
        };
  return { outcome: combine([reached, judgeUpgrade(upgrade, server.host)]), sight };
}
