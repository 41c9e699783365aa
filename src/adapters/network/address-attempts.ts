import { setDefaultResultOrder } from 'node:dns';
import { setDefaultAutoSelectFamily, setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';

/**
 * Timeout for one address of a host (milliseconds), if the host has further ones. Node's default of 250 ms is too short for a host
 * with a round trip of 300 ms. The last address has no limit of its own.
 */
export const ADDRESS_LIMIT_MS = 3000;

/**
 * Makes every connection of this process try all addresses of a host, IPv4 and IPv6 in turn: MQTT, streams and HTTP. Call it before
 * the first connection. MQTT.js does not forward such options, so they must be defaults of the process.
 *
 * IPv4 is first, because the usual fault is a network whose IPv6 drops packets, which would delay each connection by the time
 * limit. Without IPv4 its addresses fail at once.
 */
export function allowSlowAddresses(): void {
  setDefaultResultOrder('ipv4first');
  setDefaultAutoSelectFamily(true);
  setDefaultAutoSelectFamilyAttemptTimeout(ADDRESS_LIMIT_MS);
}
