/** A system in a folder, with a boot partition beside it, as `dragoman provision` expects both. */
import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { NetworkBackend } from '../../src/installer/core/outcome.ts';
import { type ProvisioningEnd, provision } from '../../src/installer/provision.ts';
import { report } from '../../src/installer/write-result.ts';
import { speakPlainly } from '../../src/protocol/plain-issues.ts';

const PACKAGED_CONFIG = fileURLToPath(new URL('../../scripts/deb/etc/dragoman.jsonc', import.meta.url));
const UNITS = 'usr/lib/systemd/system';
export const WALL = Date.UTC(2026, 10, 22);
/** The agent's user and group in that system. */
export const AGENT = { uid: 4711, gid: 4712 };

export const CONFIG = {
  device: { id: 'kiosk-01', tenant: 'museum' },
  mqtt: { url: 'mqtts://broker.example:8883', username: 'museum.kiosk-01' },
  lanes: [{ source: 'en', targets: ['es'] }],
};
export const WIFI = { ssid: 'Museum', passphrase: 'correct horse', country: 'DE' };
export const FULL = {
  format: 1,
  wifi: WIFI,
  address: 'dhcp',
  timeZone: 'Europe/Berlin',
  config: CONFIG,
  secrets: { 'mqtt-password': 'p4ssw0rd-of-the-broker' },
};

export interface System {
  readonly root: string;
  readonly boot: string;
  /** A whole run. */
  run(more?: { isDry?: boolean; isRoot?: boolean; wall?: number | null }): ProvisioningEnd;
  write(name: string, content: unknown): void;
  /** A file of the boot partition. */
  read(name?: string): string;
  /** A file of the system. */
  text(path: string): string;
  /** All files of the system, by path: content or target, rights. */
  everything(): Record<string, string>;
  remove(): void;
}

export function createSystem(network: NetworkBackend | null = 'networkd'): System {
  speakPlainly();
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-provision-'));
  const [root, boot] = [join(folder, 'root'), join(folder, 'boot')];
  const put = (path: string, text = ''): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  mkdirSync(boot, { recursive: true });
  const units = {
    networkmanager: ['NetworkManager.service'],
    networkd: ['systemd-networkd.service', 'wpa_supplicant@.service'],
  };
  for (const unit of network === null ? [] : units[network]) put(`${UNITS}/${unit}`);
  put('etc/passwd', `root:x:0:0::/root:/bin/sh\ndragoman:x:${AGENT.uid}:${AGENT.gid}::/:/bin/false\n`);
  put('usr/share/zoneinfo/Europe/Berlin', 'TZif');
  put('etc/dragoman/conf.d/.keep');
  copyFileSync(PACKAGED_CONFIG, join(root, 'etc/dragoman/config.json'));
  const file = (name: string): string => join(boot, name);
  return {
    root,
    boot,
    run({ isDry = false, isRoot = process.getuid?.() === 0, wall = WALL } = {}) {
      const ended = provision({ boot, root, isDry, isRoot, wall });
      if (!isDry) report(ended.result, boot, root);
      return ended;
    },
    write(name, content) {
      const isRaw = typeof content === 'string' || Buffer.isBuffer(content);
      writeFileSync(file(name), isRaw ? content : JSON.stringify(content));
    },
    read: (name = 'dragoman.json') => readFileSync(file(name), 'utf8'),
    text: (path) => readFileSync(join(root, path), 'utf8'),
    everything: () => listing(root),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

function listing(root: string): Record<string, string> {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();
  return Object.fromEntries(
    names.flatMap((name) => {
      const stats = lstatSync(join(root, name));
      if (stats.isDirectory() || name.startsWith('run/')) return [];
      const content = stats.isSymbolicLink()
        ? readlinkSync(join(root, name))
        : readFileSync(join(root, name), 'utf8');
      return [[name, `${(stats.mode & 0o7777).toString(8)} ${stats.uid}:${stats.gid} ${content}`]];
    }),
  );
}
