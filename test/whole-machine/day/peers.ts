/** All peers of a device, inside its machine: with virtual time it cannot reach peers outside. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../nspawn/kiosk.ts';
import { bundleForGuest } from '../guest-program.ts';
import type { Machine } from '../machine.ts';
import { backendSettings, brokerFile, emulatorWords, makeFolder } from '../owner-folder.ts';

const WATCHER = new URL('watcher.ts', import.meta.url).pathname;
const PORTS = { brokerPort: 8883, peoplePort: 8884, names: [] };
const SERVICE_PORT = 443;
const STARTS_WITHIN_MS = 240_000;

export interface Peers {
  /** A file of the device's login: broker-ca.crt, mqtt-password. */
  handed(name: string): Buffer;
  /** Restarts the service with another way of translating. */
  serve(translate: 'transform' | 'echo'): Promise<void>;
  close(): void;
}

/**
 * Starts broker, service and backend, and a watcher that records the device's messages. Their files are in memory, so that only
 * writes of the device reach the disk.
 * @param virtioPort device file in the machine for the device's messages
 * @param sessionS longest duration of a session
 */
export async function startPeers(
  machine: Machine,
  bundles: string,
  virtioPort: string,
  sessionS: number,
): Promise<Peers> {
  const root = mkdtempSync(join(tmpdir(), 'dragoman-peers-'));
  const folder = join(root, 'museum');
  makeFolder(bundles, folder, PORTS);
  // Keeps the path, because files in it contain it.
  await machine.sh('mkdir -p "$1"; mount -t tmpfs none "$1"', root);
  await machine.must(['tar', '-xC', '/'], execFileSync('tar', ['-cC', '/', folder.slice(1)]));
  await machine.write(join(root, 'watcher.mjs'), await bundleForGuest(WATCHER));
  const start = async (name: string, words: readonly string[], more: readonly string[] = []) => {
    const quiet = ['--property=StandardOutput=null', '--property=StandardError=null'];
    await machine.must(['systemd-run', '--quiet', `--unit=${name}`, ...quiet, ...more, ...words]);
  };
  await start('broker', ['mosquitto', '-c', brokerFile(folder)]);
  const isThere = async (port: number) => (await machine.sh(`ss -Hltn "sport = :${port}"`)).trim() !== '';
  const untilThere = (port: number) =>
    until(`a server listens on ${port}`, () => isThere(port), STARTS_WITHIN_MS);
  const serve = async (translate: string): Promise<void> => {
    await machine.run(['systemctl', 'stop', 'emulator']);
    const more = ['--translate', translate, '--setup-ms', '300', '--set', 'echoSilence=false'];
    await start('emulator', ['/usr/bin/dragoman-emulator', ...emulatorWords(folder, SERVICE_PORT), ...more]);
    await untilThere(SERVICE_PORT);
  };
  await serve('transform');
  const settings = {
    ...backendSettings(SERVICE_PORT, '127.0.0.1'),
    DRAGOMAN_BACKEND_SESSION_MAX_SESSION_DURATION_SECONDS: String(sessionS),
  };
  const environment = Object.entries(settings).map(([name, value]) => `--setenv=${name}=${value}`);
  const at = `--working-directory=${join(folder, 'logins/backend')}`;
  const backend = ['/usr/bin/dragoman-backend', 'run', '--config', 'backend.json'];
  await start('backend', backend, [at, ...environment]);
  await untilThere(PORTS.peoplePort);
  const node = (await machine.sh('command -v node || echo /usr/lib/dragoman-node/bin/node')).trim();
  const anna = join(folder, 'logins/anna');
  const watcher = [node, join(root, 'watcher.mjs'), String(PORTS.peoplePort), anna];
  await start('watcher', [...watcher, `/dev/virtio-ports/${virtioPort}`], ['--property=Restart=on-failure']);
  return {
    serve,
    handed: (name) => readFileSync(join(folder, 'logins/museum.kiosk-01', name)),
    close: () => rmSync(root, { recursive: true, force: true }),
  };
}
