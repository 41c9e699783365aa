/** HTTPS servers that give the time to a machine without a clock and without a reachable time server. */
import { readAddress } from '../protocol/host-name.ts';

/** Range of credible times: the program did not exist before, and no present certificate is valid after it. */
const EARLIEST_MS = Date.UTC(2024, 0, 1);
const LATEST_MS = Date.UTC(2100, 0, 1);
const ENCRYPTED = new Set(['mqtts:', 'wss:', 'https:']);

/**
 * HTTPS addresses whose `Date` header may give the time: the broker's host and the fully named hosts of streams.
 * @param hosts `service.hosts` of the configuration
 */
export function timeSources(brokerUrl: string, hosts: readonly string[]): string[] {
  const sources = hosts.filter((host) => !host.startsWith('*.')).map((host) => `https://${host}/`);
  const broker = readAddress(brokerUrl);
  if (broker !== null) {
    const { protocol, hostname, port } = broker;
    // The mqtts port does not speak HTTP, but the host often does on the default port.
    const place = protocol === 'wss:' && port !== '' ? `:${port}` : '';
    if (ENCRYPTED.has(protocol)) sources.push(`https://${hostname}${place}/`);
  }
  return [...new Set(sources.filter((source) => URL.canParse(source)))];
}

/** Time and certificate validity of a server, wall-clock milliseconds. */
export interface ServerTime {
  readonly date: number;
  /** Certificate validity: a server outside its own certificate's validity has a wrong clock. */
  readonly validFrom: number;
  readonly validTo: number;
}

export function isBelievable({ date, validFrom, validTo }: ServerTime): boolean {
  return date > EARLIEST_MS && date < LATEST_MS && date >= validFrom && date <= validTo;
}
