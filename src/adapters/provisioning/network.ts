import { existsSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { Interface, WifiTrouble } from '../../core/provisioning/start-facts.ts';
import { wifiTrouble } from '../../core/provisioning/wifi-log.ts';
import type { RunProgram } from '../doctor/program.ts';
import { listIfReadable, readIfReadable } from '../if-readable.ts';

const NETWORK_CLASS = '/sys/class/net';
/** Bridges and the like, which containers bring and which lead nowhere. */
const MADE_OF_SOFTWARE = /^(lo|docker|veth|br-|virbr|dummy|sit|ip6tnl|tun|tap|wg)/;
/** Addresses that a machine gives itself. */
const OWN_MAKING = /^(169\.254\.|fe80:)/i;

type Addresses = Readonly<
  Record<string, readonly { readonly address: string; readonly internal: boolean }[] | undefined>
>;

/** The ways out of this machine. Never throws. */
export function readInterfaces(folder = NETWORK_CLASS, addresses = ownAddresses): Interface[] {
  const names = listIfReadable(folder).filter((name) => !MADE_OF_SOFTWARE.test(name));
  const known = addresses();
  return names.sort().map((name) => ({
    name,
    isWireless: ['wireless', 'phy80211'].some((sign) => existsSync(join(folder, name, sign))),
    // An interface that is down has none.
    hasLink: readIfReadable(join(folder, name, 'carrier'))?.trim() === '1',
    addresses: (known[name] ?? [])
      .filter(({ address, internal }) => !internal && !OWN_MAKING.test(address))
      .map(({ address }) => address),
  }));
}

/** NetworkManager's numbers of why a device is not connected: secrets that are missing, a network that is not found. */
const MANAGER_REASONS: Readonly<Record<string, WifiTrouble>> = { 7: 'password_wrong', 53: 'not_found' };

/**
 * What the supplicant says of the Wi-Fi, as far as its log can be read, or else whoever manages it.
 * @param sockets a folder in which the supplicant can answer; left out: the usual one
 */
export async function readWifiTrouble(
  run: RunProgram,
  device: string,
  sockets?: string,
): Promise<WifiTrouble> {
  const words = ['-b', '-t', 'wpa_supplicant', '-n', '200', '-o', 'cat', '--no-pager'];
  const log = await run('journalctl', words);
  const found = log.ok ? wifiTrouble(log.text.split('\n')) : null;
  if (found !== null) return found;
  const manager = await run('nmcli', ['-g', 'GENERAL.REASON', 'device', 'show', device]);
  const [reason = ''] = manager.ok ? (/^\d+/.exec(manager.text) ?? []) : [];
  if (MANAGER_REASONS[reason] !== undefined) return MANAGER_REASONS[reason];
  const place = sockets === undefined ? [] : ['-s', sockets];
  const status = await run('wpa_cli', [...place, '-i', device, 'status']);
  // A supplicant that goes on looking has not found what it looks for.
  return status.ok && /^wpa_state=SCANNING$/m.test(status.text) ? 'not_found' : null;
}

function ownAddresses(): Addresses {
  try {
    return networkInterfaces();
  } catch {
    return {};
  }
}
