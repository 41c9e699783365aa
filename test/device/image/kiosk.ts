/** A card as its owner prepares it, and what it says. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LANE, OWNER } from '../kiosk.ts';
import type { Owner } from '../owner.ts';

export const GIB = 2 ** 30;
/** A card's size that QEMU's Raspberry Pi takes, too: a power of two. */
export const CARD_BYTES = 4 * GIB;
/** Ends what hangs, not what is slow: many times what an emulated board takes on a quiet machine. */
export const LOGIN_LIMIT_MS = 1_200_000;
export const STATUS = 'dragoman-status.txt';
export const FILE = 'dragoman.json';

/** What `dragoman.json` says for a kiosk of this owner. */
export function provisioning(owner: Pick<Owner, 'login'>, publicKey: string, more: object = {}): object {
  const handed = (name: string) => readFileSync(join(owner.login, name), 'utf8');
  return {
    format: 1,
    address: 'dhcp',
    timeZone: 'Europe/Berlin',
    config: {
      device: { id: 'kiosk-01', tenant: 'museum' },
      mqtt: { url: `mqtts://${OWNER}:8883`, username: 'museum.kiosk-01' },
      service: { hosts: [OWNER], caFile: '/etc/dragoman/broker-ca.crt' },
      lanes: [LANE],
    },
    secrets: { 'mqtt-password': handed('mqtt-password').trim() },
    caPem: handed('broker-ca.crt'),
    sshKeys: [publicKey],
    ...more,
  };
}
