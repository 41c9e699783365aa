/** Asks all devices for their status, where the broker sends no retained messages to console and metrics. */
import { ASK_SPREAD_S, createStatusAsker } from '../../machine/status-asker.ts';
import type { OpenBus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { BackendConfig } from '../../protocol/backend-config.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import { deviceTopics, operatorTopics } from '../../protocol/mqtt/topics.ts';
import { nameOf } from '../config/owned-devices.ts';

/** The most devices whose tenants are read from the store. */
const MOST_DEVICES = 20_000;

export interface AskStatusesParts {
  readonly openBus: OpenBus;
  readonly config: Pick<BackendConfig, 'mqtt' | 'allow' | 'groups' | 'devices'>;
  /** Devices that had a session before. */
  readonly knownDevices: (most: number) => Promise<readonly string[]>;
  readonly clock: Clock;
  readonly log: Log;
  readonly randomId: () => string;
}

export function askStatuses(parts: AskStatusesParts): { close(): Promise<void> } {
  const { openBus, config, knownDevices, clock, log, randomId } = parts;
  const { prefix } = config.mqtt;
  const ask = async (): Promise<void> => {
    // Without the store, those of the configuration are asked.
    const known = await knownDevices(MOST_DEVICES).catch(() => []);
    if (!bus.connected) return;
    const tenants = tenantsOf(config, known);
    log.info({ tenants }, 'the broker has sent no retained status: all devices are asked for theirs');
    for (const tenant of tenants) {
      const body = { ts: timestamp(clock.wall()), id: randomId(), args: { spread_s: ASK_SPREAD_S } };
      // QoS 0: a device that is away publishes its status anyway when it comes back.
      bus.publish(operatorTopics(prefix, tenant).command('all', 'status'), JSON.stringify(body), { qos: 0 });
    }
  };
  const asker = createStatusAsker(clock, () => void ask());
  const { status } = deviceTopics({ prefix, tenant: '+', device: '+' });
  const bus = openBus(
    { subscriptions: [{ filter: status, qos: 1, mayBeRefused: true }], will: null },
    {
      up: () => asker.up(),
      down: () => asker.down(),
      message({ retain }) {
        if (retain) asker.heardRetained();
      },
    },
  );
  return {
    close() {
      asker.down();
      return bus.close();
    },
  };
}

/** Tenants whose names the configuration gives in full, and those of the known devices. */
function tenantsOf(
  { allow, groups, devices }: AskStatusesParts['config'],
  known: readonly string[],
): readonly string[] {
  const patterns = [...allow, ...groups.flatMap(({ members }) => members), ...Object.keys(devices), ...known];
  const tenants = new Set(patterns.map((name) => nameOf(name).tenant));
  return [...tenants].filter((tenant) => !tenant.includes('*')).sort();
}
