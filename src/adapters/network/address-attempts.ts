import { setDefaultAutoSelectFamily, setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';

/**
 * Time limit for one address of a host (milliseconds), if the host has further ones. Node's default of 250 never reaches a
 * host with a round trip of 300. The last address has no limit of its own.
 */
export const ADDRESS_LIMIT_MS = 3000;

/**
 * Makes every connection of this process try all addresses of a host, IPv6 and IPv4 in turn: MQTT, streams and HTTP. Call it
 * before the first connection. MQTT.js passes no such option on, so the process's defaults are the only place.
 */
export function allowSlowAddresses(): void {
  setDefaultAutoSelectFamily(true);
  setDefaultAutoSelectFamilyAttemptTimeout(ADDRESS_LIMIT_MS);
}
