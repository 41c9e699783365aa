/** Servers that can tell a machine without a clock what time it is, where no time server can be reached. */

/** Nothing of this program was there before; and no certificate of today outlives it. Wall-clock milliseconds. */
const EARLIEST_MS = Date.UTC(2024, 0, 1);
const LATEST_MS = Date.UTC(2100, 0, 1);
const ENCRYPTED = new Set(['mqtts:', 'wss:', 'https:']);

/**
 * HTTPS addresses whose `Date` header is worth a question: the broker's host, and the hosts of streams that are named in full.
 * @param hosts `service.hosts` of the configuration
 */
export function timeSources(brokerUrl: string, hosts: readonly string[]): string[] {
  const sources = hosts.filter((host) => !host.startsWith('*.')).map((host) => `https://${host}/`);
  if (URL.canParse(brokerUrl)) {
    const { protocol, hostname, port } = new URL(brokerUrl);
    // The port of mqtts speaks no HTTP; a host that serves it often does on its usual port.
    const place = protocol === 'wss:' && port !== '' ? `:${port}` : '';
    if (ENCRYPTED.has(protocol)) sources.push(`https://${hostname}${place}/`);
  }
  return [...new Set(sources.filter((source) => URL.canParse(source)))];
}

/** What a server showed, wall-clock milliseconds. */
export interface ServerTime {
  readonly date: number;
  /** Of its certificate: a server that is outside of its own certificate's time is wrong, or none. */
  readonly validFrom: number;
  readonly validTo: number;
}

export function isBelievable({ date, validFrom, validTo }: ServerTime): boolean {
  return date > EARLIEST_MS && date < LATEST_MS && date >= validFrom && date <= validTo;
}
