/** Broker, service and backend in a separate network namespace of the same machine, connected by a virtual cable. */
import { until } from '../../../nspawn/kiosk.ts';
import { DESK_ADDRESS, DEVICE_ADDRESS, type Order, OWNER_ADDRESS, PORTS } from '../report.ts';
import { must, sh } from './commands.ts';

const STARTS_WITHIN_MS = 60_000;
const QUIET = ['--property=StandardOutput=null', '--property=StandardError=null'];
/** `wire` is the device's end of the cable. */
const NETWORK = `
ip netns add owner
ip link add wire type veth peer name plug netns owner
ip address add ${DEVICE_ADDRESS}/24 dev wire; ip link set wire up
ip link add desk type veth peer name screen netns owner
ip address add 10.0.3.15/24 dev desk; ip link set desk up
ip -n owner address add ${DESK_ADDRESS}/24 dev screen; ip -n owner link set screen up
ip -n owner link set lo up; ip -n owner address add ${OWNER_ADDRESS}/24 dev plug; ip -n owner link set plug up
`;

export const plugCable = (): Promise<string> => sh(NETWORK);
export const pullCable = (): Promise<string> => must(['ip', '-n', 'owner', 'link', 'set', 'plug', 'down']);
export const putCableBack = (): Promise<string> => must(['ip', '-n', 'owner', 'link', 'set', 'plug', 'up']);

async function start(name: string, words: readonly string[], more: readonly string[] = []): Promise<void> {
  const there = '--property=NetworkNamespacePath=/run/netns/owner';
  await must(['systemd-run', '--quiet', '--collect', `--unit=${name}`, there, ...QUIET, ...more, ...words]);
}

const isThere = async (port: number): Promise<boolean> =>
  (await must(['ip', 'netns', 'exec', 'owner', 'ss', '-Hltn', `sport = :${port}`])).trim() !== '';

const untilThere = (port: number): Promise<number> =>
  until(`a server listens on ${port}`, () => isThere(port), STARTS_WITHIN_MS);

export async function startBroker(folder: string): Promise<void> {
  await start('broker', ['mosquitto', '-c', `${folder}/broker/mosquitto.conf`]);
  await untilThere(PORTS.device);
}

export const stopBroker = (): Promise<string> => must(['systemctl', 'stop', 'broker']);

/** Starts the owner's programs from the installed packages. */
export async function startOwner({ folder, emulator, backend }: Order): Promise<void> {
  await startBroker(folder);
  await start('emulator', ['/usr/bin/dragoman-emulator', ...emulator]);
  await untilThere(PORTS.service);
  const environment = Object.entries(backend).map(([name, value]) => `--setenv=${name}=${value}`);
  const at = `--working-directory=${folder}/logins/backend`;
  await start(
    'backend',
    ['/usr/bin/dragoman-backend', 'run', '--config', 'backend.json'],
    [at, ...environment],
  );
}
