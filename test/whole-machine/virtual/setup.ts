import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { openRunFolder } from '../../setup/run-folder.ts';
import { bundleForGuest } from '../guest-program.ts';
import { linesOfThePage } from '../install-page.ts';
import { configuration } from '../kiosk.ts';
import { backendSettings, emulatorWords, makeFolder } from '../owner-folder.ts';
import { NO_END_S, pack, ROOT, whatIsMissing } from '../setup.ts';
import type { VirtualHardware } from './machine.ts';
import { DESK_ADDRESS, type Order, OWNER_ADDRESS, PORTS, SCENARIOS, type ScenarioName } from './report.ts';

const run = promisify(execFile);
const CUTS = 5;
const MAIN = new URL('inside/main.ts', import.meta.url).pathname;

/** The parts of the machine, or the reason why there can be none here. */
export type VirtualTestbed =
  | {
      readonly missing: null;
      readonly hardware: Omit<VirtualHardware, 'lifeLimitMs'>;
      readonly scenarios: readonly ScenarioName[];
      /** Time by `Date.now()` after which no scenario starts. */
      readonly endsAt: number;
    }
  | { readonly missing: string };

declare module 'vitest' {
  interface ProvidedContext {
    virtualTestbed: VirtualTestbed;
  }
}

const UNIT = `
[Unit]
After=multi-user.target
FailureAction=poweroff-force
[Service]
ExecStartPre=/bin/sh -euc 'test -e /srv/goods || { mkdir /srv/goods; tar -xf /dev/pmem1 -C /srv/goods; }'
ExecStartPre=/bin/tar -xf /srv/goods/owner.tar -C /
ExecStart=/usr/bin/node /srv/goods/main.mjs /srv/goods /dev/virtio-ports/told
StandardError=journal+console
`;

/** Makes the disk, unless it exists, and the parcel. */
export default async function setup(project: TestProject): Promise<() => void> {
  openRunFolder();
  const missing = whatIsMissing('amd64');
  if (missing !== null) {
    project.provide('virtualTestbed', { missing });
    return () => {};
  }
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-device-'));
  const forget = () => rmSync(folder, { recursive: true, force: true });
  try {
    const { stdout } = await run('scripts/device-image.sh', ['trixie', 'amd64'], { cwd: ROOT });
    const image = stdout.trim();
    const bundles = join(folder, 'dist');
    execFileSync(process.execPath, ['scripts/build.mjs', '--quiet', '--out', bundles], { cwd: ROOT });
    const parcel = await pack(folder, 'amd64', (goods) => addOwner(folder, bundles, goods));
    const parts = {
      disk: join(image, 'root.img'),
      kernel: join(image, 'vmlinuz'),
      initrd: join(image, 'initrd'),
    };
    const timeMs = (Number(process.env['DRAGOMAN_DEVICE_TIME_S']) || NO_END_S) * 1000;
    project.provide('virtualTestbed', {
      missing: null,
      hardware: { ...parts, parcel, unit: UNIT },
      scenarios: ordered(),
      endsAt: Date.now() + timeMs,
    });
  } catch (error) {
    forget();
    throw error;
  }
  return forget;
}

/** All scenarios, or the named ones. */
function ordered(): ScenarioName[] {
  const asked = process.env['DRAGOMAN_DEVICE_SCENARIOS']?.split(',');
  for (const name of asked ?? [])
    if (!SCENARIOS.some((known) => known === name)) throw new Error(`there is no scenario ${name}`);
  return SCENARIOS.filter((name) => asked === undefined || asked.includes(name));
}

/** Adds the owner's folder and the order to the parcel. */
async function addOwner(folder: string, bundles: string, goods: string): Promise<void> {
  const museum = join(folder, 'museum');
  const names = [OWNER_ADDRESS, DESK_ADDRESS];
  makeFolder(bundles, museum, {
    names,
    brokerPort: PORTS.device,
    peoplePort: PORTS.people,
    listen: '0.0.0.0',
  });
  execFileSync('tar', ['-cf', join(goods, 'owner.tar'), '-C', '/', museum.slice(1)]);
  writeFileSync(join(goods, 'main.mjs'), await bundleForGuest(MAIN));
  const order: Order = {
    scenarios: ordered(),
    lines: linesOfThePage(),
    configuration: configuration(),
    folder: museum,
    cuts: Number(process.env['DRAGOMAN_DEVICE_CUTS']) || CUTS,
    backend: backendSettings(PORTS.service, OWNER_ADDRESS),
    emulator: [
      ...emulatorWords(museum, PORTS.service),
      '--host',
      '0.0.0.0',
      '--translate',
      'echo',
      '--setup-ms',
      '300',
      '--allow-host',
      OWNER_ADDRESS,
      // Like a real service: a stream without pauses could never catch up after a delay.
      '--set',
      'echoSilence=false',
    ],
  };
  writeFileSync(join(goods, 'order.json'), JSON.stringify(order));
}
