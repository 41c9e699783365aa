/** Long-term upkeep of the connection to the owner's broker: certificate renewal and broker changes. */

import type { RepeatFilter } from '../../machine/repeat-filter.ts';
import type { Runner } from '../../machine/runner.ts';
import type { Bus, BusProblem } from '../../ports/bus.ts';
import type { Config } from '../../protocol/config.ts';
import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';
import { CommandError } from '../commands/command-request.ts';
import type { CommandHandlers } from '../commands/command-table.ts';
import type { GuardedDeps } from '../guard/guarded-deps.ts';
import type { Publisher } from '../status/publisher.ts';
import type { Troubles } from '../status/troubles.ts';
import { createBrokerChange } from './broker-change.ts';
import { createCertificateRenewal } from './certificate-renewal.ts';

export interface BrokerUpkeepDeps {
  readonly runner: Runner;
  readonly repeats: RepeatFilter;
  readonly deps: GuardedDeps;
  readonly topics: DeviceTopics;
  readonly publisher: Publisher;
  readonly troubles: Troubles;
  bus(): Bus | null;
}

export interface BrokerUpkeep {
  /** Events can reach the owner from now on. */
  begin(): void;
  connected(): void;
  /** A connection ended or failed. */
  disconnected(problem: BusProblem): void;
  /** The configuration was read again. */
  changed(mqtt: Config['mqtt']): void;
  readonly certificate: CommandHandlers['certificate'];
  close(): void;
}

export function createBrokerUpkeep({
  runner,
  deps,
  topics,
  publisher,
  troubles,
  repeats,
  bus,
}: BrokerUpkeepDeps): BrokerUpkeep {
  const { clock, log, random, randomHash, certificate, brokers } = deps;
  const telling = {
    clock,
    log,
    bus,
    tell: (...[kind, detail]: Parameters<Publisher['tell']>) =>
      publisher.tell(kind, { lane: null, ...detail }),
  };
  const renewal =
    certificate === undefined
      ? null
      : createCertificateRenewal({
          ...telling,
          runner,
          repeats,
          certificate,
          topics,
          draw: random(),
          newId: randomHash,
          ending: (day) => publisher.condition('certificate', day !== null, day),
        });
  const change =
    brokers === undefined
      ? null
      : createBrokerChange({
          ...telling,
          runner,
          brokers,
          seed: Math.floor(random() * 2 ** 32),
          offlineStatus: () => ({ topic: topics.status, payload: publisher.offlineStatus(), retain: true }),
          away: (host) => publisher.condition('broker', host !== null, host),
        });
  return {
    begin() {
      renewal?.begin();
    },
    connected() {
      troubles.needed(brokers?.unreadable ?? []);
      change?.connected();
      renewal?.connected();
    },
    disconnected(problem) {
      troubles.needed(brokers?.unreadable ?? []);
      // Before a try at another broker shows another certificate, or none.
      renewal?.failed(problem);
      change?.failed();
    },
    changed(mqtt) {
      change?.changed(mqtt);
      bus()?.tryNow?.();
    },
    certificate(args) {
      if (renewal !== null) return renewal.take(args);
      throw new CommandError('unsupported', 'the device has no client certificate');
    },
    close() {
      change?.close();
      renewal?.close();
    },
  };
}
