/** Facts about the device: its network manager, existing files, and checks that need the machine. */
import { pbkdf2Sync } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { loadConfig } from '../adapters/config/load.ts';
import { LARGEST_CONFIG_BYTES, readBoundedFile, UnreadableFile } from '../adapters/config/read-file.ts';
import { readTextFile } from '../adapters/config/text-file.ts';
import type { ProvisioningDocument } from '../protocol/provisioning.ts';
import type { NetworkBackend } from './core/outcome.ts';
import { PLACES, SUPPLICANT_UNIT, ZONES } from './core/places.ts';
import type { Facts } from './core/plan.ts';
import { findZone } from './zone.ts';

const UNITS = '/usr/lib/systemd/system';
const WANTED = '/etc/systemd/system/multi-user.target.wants';
const RAW_KEY = /^[0-9A-Fa-f]{64}$/;
/** IEEE 802.11i, H.4. */
const KEY_ROUNDS = 4096;
const KEY_BYTES = 32;

export type FoundFacts = Omit<Facts, 'keyProblems' | 'configProblems'>;

export function findFacts({ wifi }: ProvisioningDocument, root: string): FoundFacts {
  return {
    network: findNetwork(root, wifi !== undefined),
    wifiKey: typeof wifi?.passphrase === 'string' ? wifiKey(wifi.passphrase, wifi.ssid) : null,
    present: (place) => presentText(root, place),
    zoneFor: (name) => findZone(name, join(root, ZONES)),
    readsSshKeys: readsSshKeys(root),
    isSetUp: isSetUp(root),
  };
}

/** A bare file name is a credential, which systemd can take from anywhere: it counts as present. */
function isSetUp(root: string): boolean {
  const file = join(root, PLACES.mainConfig);
  const loaded = isFile(file) ? loadConfig({ file, env: {} }) : null;
  if (loaded?.ok !== true) return false;
  const { passwordFile, keyFile } = loaded.config.mqtt;
  return [passwordFile, keyFile].every(
    (path) => path === null || !isAbsolute(path) || isFile(placeBelow(root, path)),
  );
}

/** Prepends the root to a path, unless the path already has it, like names found beside the configuration. */
const placeBelow = (root: string, path: string): string =>
  path.startsWith(join(root, '/')) ? path : join(root, path);

/**
 * NetworkManager when it is enabled, otherwise systemd-networkd. Wi-Fi needs wpa_supplicant beside it; every Debian has
 * systemd-networkd, so without wpa_supplicant it counts only when it is enabled.
 */
export function findNetwork(root: string, isForWifi: boolean): NetworkBackend | null {
  const isThere = (path: string): boolean => existsSync(join(root, path));
  const isEnabled = (service: string): boolean =>
    lstatSync(join(root, WANTED, service), { throwIfNoEntry: false }) !== undefined;
  const isManaged = isThere(`${UNITS}/NetworkManager.service`);
  const hasNetworkd =
    isThere(`${UNITS}/systemd-networkd.service`) &&
    (isThere(SUPPLICANT_UNIT) || (!isForWifi && isEnabled('systemd-networkd.service')));
  if (isManaged && (isEnabled('NetworkManager.service') || !hasNetworkd)) return 'networkmanager';
  return hasNetworkd ? 'networkd' : null;
}

/** The WPA key from passphrase and network name. A passphrase of 64 digits is the key itself. */
function wifiKey(passphrase: string, ssid: string): string {
  if (RAW_KEY.test(passphrase)) return passphrase.toLowerCase();
  return pbkdf2Sync(passphrase, ssid, KEY_ROUNDS, KEY_BYTES, 'sha1').toString('hex');
}

/** The private key on the device; null when it is absent or unreadable. */
export function presentKey(root: string): string | null {
  try {
    return readTextFile(join(root, PLACES.key), LARGEST_CONFIG_BYTES).text;
  } catch (error) {
    if (error instanceof UnreadableFile) return null;
    throw error;
  }
}

/** Null when the file is absent or unreadable. */
export function presentText(root: string, place: string): string | null {
  try {
    return readBoundedFile(join(root, place), LARGEST_CONFIG_BYTES).bytes.toString('utf8');
  } catch (error) {
    if (error instanceof UnreadableFile) return null;
    throw error;
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function readsSshKeys(root: string): boolean {
  const folder = '/etc/ssh/sshd_config.d';
  let more: string[] = [];
  try {
    more = readdirSync(join(root, folder)).map((name) => `${folder}/${name}`);
  } catch {
    // Older systems lack this folder.
  }
  return ['/etc/ssh/sshd_config', ...more].some((file) =>
    (presentText(root, file) ?? '')
      .split('\n')
      .some((line) => /^\s*AuthorizedKeysFile\s/i.test(line) && line.includes(PLACES.sshKeys)),
  );
}
