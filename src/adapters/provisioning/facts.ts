/** What is found on the device: which network manager, what lies at the places, what a machine has to check. */
import { pbkdf2Sync } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { NetworkBackend } from '../../core/provisioning/outcome.ts';
import { PLACES, SUPPLICANT_UNIT, ZONES } from '../../core/provisioning/places.ts';
import type { Facts } from '../../core/provisioning/plan.ts';
import type { ProvisioningDocument } from '../../protocol/provisioning.ts';
import { loadConfig } from '../config/load.ts';
import { LARGEST_CONFIG_BYTES, readBoundedFile, UnreadableFile } from '../config/read-file.ts';

const UNITS = '/usr/lib/systemd/system';
const RAW_KEY = /^[0-9A-Fa-f]{64}$/;
/** IEEE 802.11i, H.4. */
const KEY_ROUNDS = 4096;
const KEY_BYTES = 32;

export type FoundFacts = Omit<Facts, 'keyProblems' | 'configProblems'>;

export function findFacts({ wifi, timeZone }: ProvisioningDocument, root: string): FoundFacts {
  return {
    network: findNetwork(root),
    wifiKey: typeof wifi?.passphrase === 'string' ? wifiKey(wifi.passphrase, wifi.ssid) : null,
    present: (place) => presentText(root, place),
    isZoneKnown: timeZone !== undefined && isFile(join(root, ZONES, timeZone)),
    readsSshKeys: readsSshKeys(root),
    isSetUp: isSetUp(root),
  };
}

/** A name without a folder is that of a credential, which systemd may have from anywhere. */
function isSetUp(root: string): boolean {
  const file = join(root, PLACES.mainConfig);
  const loaded = isFile(file) ? loadConfig({ file, env: {} }) : null;
  if (loaded?.ok !== true) return false;
  const { passwordFile, keyFile } = loaded.config.mqtt;
  return [passwordFile, keyFile].every(
    (path) => path === null || !isAbsolute(path) || isFile(join(root, path)),
  );
}

/** NetworkManager where it is enabled; else systemd-networkd, if there is wpa_supplicant. */
export function findNetwork(root: string): NetworkBackend | null {
  const isThere = (path: string): boolean => existsSync(join(root, path));
  const isLinked = (path: string): boolean =>
    lstatSync(join(root, path), { throwIfNoEntry: false }) !== undefined;
  const wanted = '/etc/systemd/system/multi-user.target.wants/';
  const isManaged = isThere(`${UNITS}/NetworkManager.service`);
  const hasNetworkd = isThere(`${UNITS}/systemd-networkd.service`) && isThere(SUPPLICANT_UNIT);
  if (isManaged && (isLinked(`${wanted}NetworkManager.service`) || !hasNetworkd)) return 'networkmanager';
  return hasNetworkd ? 'networkd' : null;
}

/** What passphrase and name of a network become on the air; of 64 digits, they themselves. */
function wifiKey(passphrase: string, ssid: string): string {
  if (RAW_KEY.test(passphrase)) return passphrase.toLowerCase();
  return pbkdf2Sync(passphrase, ssid, KEY_ROUNDS, KEY_BYTES, 'sha1').toString('hex');
}

/** Null where there is no file, or none that can be read. */
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
    // Older ones have no such folder.
  }
  return ['/etc/ssh/sshd_config', ...more].some((file) =>
    (presentText(root, file) ?? '')
      .split('\n')
      .some((line) => /^\s*AuthorizedKeysFile\s/i.test(line) && line.includes(PLACES.sshKeys)),
  );
}
