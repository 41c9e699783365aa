/** A card that is prepared like an owner's, and its status. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LANE, OWNER } from '../kiosk.ts';
import type { Owner } from '../owner.ts';

export const GIB = 2 ** 30;
/** Size of a card (bytes): a power of two, as QEMU's Raspberry Pi requires. */
export const CARD_BYTES = 4 * GIB;
/** Limit for a login (ms): many times the duration on an idle machine, so that only a hang exceeds it. */
export const LOGIN_LIMIT_MS = 1_200_000;
export const STATUS = 'dragoman-status.txt';
export const FILE = 'dragoman.json';

/** The content of `dragoman.json` for a kiosk of this owner. */
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
