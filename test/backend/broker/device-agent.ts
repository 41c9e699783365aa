/** Runs an agent of this project at a broker of `setUpBroker`. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { createRequest } from '../../../src/adapters/certificates/certificate-request.ts';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { createLogger } from '../../../src/adapters/log.ts';
import { Agent } from '../../../src/device/agent.ts';
import { createMachineDeps } from '../../../src/device/machine-deps.ts';
import type { Bus, OpenBus } from '../../../src/ports/bus.ts';
import { configSchema } from '../../../src/protocol/config.ts';
import { DAY_MS, openTestAuthority } from '../../adapters/certificates/authority.ts';
import type { SetUp } from './set-up-broker.ts';

/** Replaces a device's certificate by one whose validity is almost over. */
export function age(broker: SetUp, name: string, from = -60, to = 20): void {
  const authority = openTestAuthority(join(broker.folder, 'authority'), broker.login('.'));
  const { key, request } = createRequest(name);
  const now = Date.now();
  const certificate = authority.issue(request, { from: now + from * DAY_MS, to: now + to * DAY_MS });
  writeFileSync(join(broker.login(name), 'mqtt.crt'), certificate);
  writeFileSync(join(broker.login(name), 'mqtt.key'), key, { mode: 0o600 });
}

/**
 * Starts a real agent with a login of the set-up, without a microphone.
 * @param opened gets its connection to the broker
 */
export async function startAgent(
  broker: SetUp,
  id: string,
  more: { caFile?: string; publicKeyFiles?: string[]; opened?: (bus: Bus) => void } = {},
): Promise<Agent> {
  const at = (file: string): string => join(broker.login(`museum.${id}`), file);
  const state = at('state');
  const config = configSchema.parse({
    device: { id, tenant: 'museum', groups: [] },
    mqtt: {
      url: `mqtts://127.0.0.1:${broker.devicePort}`,
      username: `museum.${id}`,
      ...(existsSync(at('mqtt.crt'))
        ? { certFile: at('mqtt.crt'), keyFile: at('mqtt.key') }
        : { passwordFile: at('mqtt-password') }),
      caFile: more.caFile ?? at('broker-ca.crt'),
    },
    owner: { publicKeyFiles: more.publicKeyFiles ?? [] },
    lanes: [
      {
        source: 'en',
        targets: ['es'],
        start: 'command',
        capture: { driver: 'file', path: at('none.wav') },
        playback: { driver: 'file', path: at('said.wav') },
      },
    ],
  });
  const log = createLogger({ level: 'info', format: 'json', sink: new PassThrough().resume() });
  const deps = await createMachineDeps(config, createSystemClock(), log, { STATE_DIRECTORY: state });
  const openBus: OpenBus = (...given) => {
    const bus = deps.openBus(...given);
    more.opened?.(bus);
    return bus;
  };
  const agent = new Agent(config, { ...deps, openBus });
  await agent.start();
  return agent;
}
