import type { Clock } from '../../../../ports/clock.ts';
import { AddressError, streamAddress } from '../../../tokens/stream-address.ts';
import { reach, type Server, STEP_LIMIT_MS, serverOf } from '../../network/reach.ts';
import { judgeReach } from '../../network/reach-rules.ts';
import { combine, type Outcome, problem } from '../../report/finding.ts';
import type { ClockReading } from '../clock/clock-rules.ts';
import { judgeUpgrade, type UpgradeFacts } from './stream-rules.ts';
import { askForUpgrade } from './upgrade.ts';

export interface StreamHostParts {
  readonly clock: Clock;
  /** The allowed stream hosts (`service.hosts`). */
  readonly hosts: readonly string[];
  /** Name of the environment variable that sets a proxy, which the agent ignores; null: not set. */
  readonly proxy?: string | null;
  /** PEM of the service's certificate authority. */
  serviceCa(): Buffer | undefined;
}

/** The stream host as it was found. */
export interface StreamHost {
  readonly outcome: Outcome;
  /** A reading of its clock; null: it gave none. */
  readonly sight: ClockReading | null;
}

/** @param template as in the grant; secrets in it are not shown */
export async function examineStreamHost(template: string, parts: StreamHostParts): Promise<StreamHost> {
  const { clock, hosts, serviceCa, proxy = null } = parts;
  let url: URL;
  try {
    url = streamAddress(template, 'x', hosts);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    return { outcome: judgeAddress(error.message), sight: null };
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
  return {
    outcome: combine([reached, judgeUpgrade(upgrade, server.host)]),
    sight: sightOf(upgrade, askedAt, clock),
  };
}

function judgeAddress(fault: string): Outcome {
  return problem(
    `the stream address of the backend ${fault}`,
    fault.includes('service.hosts')
      ? "Add the host to service.hosts if it is the translation service's; else fix streamUrl in the backend's configuration."
      : "Fix streamUrl in the backend's configuration; it looks like wss://stream.example/...",
  );
}

function sightOf({ date }: UpgradeFacts, askedAt: number, clock: Clock): ClockReading | null {
  const tookMs = clock.now() - askedAt;
  const wall = clock.wall();
  if (date === null || wall === null) return null;
  // The `Date` header has a resolution of one second.
  return {
    who: 'the stream host',
    offsetMs: date + 500 - (wall - tookMs / 2),
    uncertaintyMs: 500 + tookMs / 2,
  };
}
