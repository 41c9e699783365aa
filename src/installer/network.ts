import { existsSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { listIfReadable, readIfReadable } from '../adapters/if-readable.ts';
import type { RunProgram } from '../ports/machine.ts';
import type { Interface, WifiTrouble } from './core/start-facts.ts';
import { wifiTrouble } from './core/wifi-log.ts';

const NETWORK_CLASS = '/sys/class/net';
/** Bridges and other virtual interfaces, for example of containers: they connect to no network. */
const MADE_OF_SOFTWARE = /^(lo|docker|veth|br-|virbr|dummy|sit|ip6tnl|tun|tap|wg)/;
/** Link-local addresses, which a machine assigns to itself. */
const OWN_MAKING = /^(169\.254\.|fe80:)/i;

type Addresses = Readonly<
  Record<string, readonly { readonly address: string; readonly internal: boolean }[] | undefined>
>;

/** The network interfaces of this machine. Never throws. */
export function readInterfaces(folder = NETWORK_CLASS, addresses = ownAddresses): Interface[] {
  const names = listIfReadable(folder).filter((name) => !MADE_OF_SOFTWARE.test(name));
  const known = addresses();
  return names.sort().map((name) => ({
    name,
    isWireless: ['wireless', 'phy80211'].some((sign) => existsSync(join(folder, name, sign))),
    // The file of an interface that is down cannot be read.
    hasLink: readIfReadable(join(folder, name, 'carrier'))?.trim() === '1',
    addresses: (known[name] ?? [])
      .filter(({ address, internal }) => !internal && !OWN_MAKING.test(address))
      .map(({ address }) => address),
  }));
}

/** NetworkManager's reasons for a failed connection: missing secrets, network not found. */
const MANAGER_REASONS: Readonly<Record<string, WifiTrouble>> = { 7: 'password_wrong', 53: 'not_found' };

/**
 * The Wi-Fi problem, from the supplicant's log if that can be read, otherwise from the network manager.
 * @param sockets a folder in which the supplicant can answer; the usual one by default
 */
export async function readWifiTrouble(
  run: RunProgram,
  device: string,
  sockets?: string,
): Promise<WifiTrouble> {
  const words = ['-b', '-t', 'wpa_supplicant', '-n', '200', '-o', 'cat', '--no-pager'];
  const log = await run('journalctl', words);
  const trouble = log.ok ? wifiTrouble(log.text.split('\n')) : null;
  if (trouble !== null) return trouble;
  const manager = await run('nmcli', ['-g', 'GENERAL.REASON', 'device', 'show', device]);
  const [reason = ''] = manager.ok ? (/^\d+/.exec(manager.text) ?? []) : [];
  if (MANAGER_REASONS[reason] !== undefined) return MANAGER_REASONS[reason];
  const place = sockets === undefined ? [] : ['-s', sockets];
  const status = await run('wpa_cli', [...place, '-i', device, 'status']);
  // A supplicant that keeps scanning has not found its network.
  return status.ok && /^wpa_state=SCANNING$/m.test(status.text) ? 'not_found' : null;
}

function ownAddresses(): Addresses {
  try {
    return networkInterfaces();
  } catch {
    return {};
  }
}
