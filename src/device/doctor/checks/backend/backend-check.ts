import type { CheckName } from '../../../../protocol/mqtt/diagnose.ts';
import type { DeviceTopics } from '../../../../protocol/mqtt/topics.ts';
import { once } from '../../report/check.ts';
import { type Outcome, skipped } from '../../report/finding.ts';
import type { BrokerConnection } from '../broker/broker-connection.ts';
import type { BackendProbe, Probed } from './backend-probe.ts';
import { judgeBackend } from './backend-rules.ts';

export interface TokenTrialParts {
  readonly topics: DeviceTopics;
  readonly probe: BackendProbe;
  /** The lane of the trial token. */
  readonly lane: string;
  join(): Promise<BrokerConnection>;
  /** Whether a check is reported. If not, the check that depends on it reports the failure. */
  tells(name: CheckName): boolean;
}

/** One test request for a token. */
export interface TokenTrial {
  /** The backend's answer; null: there is no connection to the broker. */
  ask(): Promise<Probed | null>;
  judge(): Promise<Outcome>;
}

const NO_CONNECTION = skipped('there is no connection to the broker');

export function createTokenTrial({ topics, probe, lane, join, tells }: TokenTrialParts): TokenTrial {
  const ask = once(async (): Promise<Probed | null> => {
    const { bus, hasRefused } = await join();
    return bus === null ? null : probe.ask(bus, lane, hasRefused);
  });
  return {
    ask,
    async judge() {
      const probed = await ask();
      if (probed !== null) return judgeBackend(probed.answer, probed.tookMs, topics.tokenRequest);
      return tells('broker') ? NO_CONNECTION : (await join()).outcome;
    },
  };
}
