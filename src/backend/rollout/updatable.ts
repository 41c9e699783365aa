/** Checks before a roll-out begins that it has a device to update: otherwise it would wait for ever. */
import { randomUUID } from 'node:crypto';
import { createSystemClock } from '../../adapters/clock.ts';
import { createMqttBus } from '../../adapters/mqtt/bus.ts';
import { Failure } from '../../program/problem.ts';
import { brokerLogin } from '../config/broker-login.ts';
import type { Opened } from '../config/open-config.ts';
import { isMeant, openFleetListener } from './fleet-listener.ts';

const LOOK_EACH_MS = 100;
/** Longest wait for the broker (ms). */
const UP_WITHIN_MS = 10_000;

/** Returns as soon as a device with an updater has reported. @throws Failure that says what is missing */
export async function insistOnUpdatable({ config, secrets }: Opened, group: string | null): Promise<void> {
  const { prefix } = config.mqtt;
  const clock = createSystemClock();
  const connection = brokerLogin(config, secrets, `dragoman-backend-rollout-${randomUUID().slice(0, 8)}`);
  let problem = 'no answer';
  const listener = openFleetListener({
    openBus: createMqttBus(connection, { clock, seed: 1 }),
    prefix,
    clock,
    log: { trace() {}, debug() {}, info() {}, warn() {}, error() {} },
    complain: (_kind, _fields, message) => {
      problem = message;
    },
    isMeant: (device) => isMeant(config, device, group),
  });
  try {
    for (;;) {
      const { devices, unsupported } = listener.look();
      if (devices.size > 0) return;
      if (listener.isSettled) throw new Failure(noDevice(group, unsupported));
      if (listener.downForMs > UP_WITHIN_MS)
        throw new Failure(
          `the broker cannot be asked which devices can be updated (${problem}): check mqtt.url, then try again`,
        );
      await new Promise<void>((resolve) => void clock.at(clock.now() + LOOK_EACH_MS, resolve));
    }
  } finally {
    await listener.close();
  }
}

function noDevice(group: string | null, unsupported: number): string {
  const where = group === null ? '' : ` in group ${group}`;
  if (unsupported === 0)
    return `no device${where} can be updated: the broker has no state of a device that "allow" permits; switch a device on first`;
  const [who, have] = unsupported === 1 ? ['the only device', 'has'] : [`all ${unsupported} devices`, 'have'];
  return `no device${where} can be updated: ${who}${where} ${have} no updater; install the package dragoman there (docs/updates.md)`;
}
