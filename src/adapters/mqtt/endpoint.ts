import type { IClientOptions } from 'mqtt';
import type { ProtocolVersion } from './version.ts';

/** Where the broker is and how to log in. Nothing of it but the address appears in a message. */
export interface MqttConnection {
  /** `mqtt://`, `mqtts://`, `ws://` or `wss://`; without user name and password. */
  readonly url: string;
  readonly clientId: string;
  readonly username?: string;
  /**
   * Asked for at each connection, so that a new password needs no restart. What it throws is told to the operator:
   * the message must not hold the password.
   */
  readonly password?: () => string;
  /** PEM; without it the system's authorities count. */
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

export const KEEPALIVE_S = 30;
export const CONNECT_TIMEOUT_MS = 15_000;
/**
 * Larger payloads are dropped when they have come; no payload of docs/mqtt.md comes near it. The broker is not told
 * (MQTT 5, Maximum Packet Size): mosquitto 2.0 never frees the places of what it holds back for it, and after 20 such
 * messages sends the client nothing any more.
 */
export const MOST_INBOUND_BYTES = 262_144;
/** A packet that announces more ends the connection: this much memory one packet may take. */
export const MOST_PACKET_BYTES = 4_194_304;
/** One WebSocket message may hold several packets, but is gathered whole, too. */
const MOST_FRAME_BYTES = 2 * MOST_PACKET_BYTES;

/** The password or a TLS file can't be had: a person must fix it. The message holds neither. */
export class UnusableCredential extends Error {}

/** The broker as messages name it: scheme, host and port, never user name or password. */
export function brokerName(connection: MqttConnection): string {
  if (!URL.canParse(connection.url)) return 'the broker';
  const { protocol, host } = new URL(connection.url);
  return `${protocol}//${host}`;
}

/**
 * The settings of MQTT.js for one connection. Throws when the address or the password can't be had.
 * @param session for how long the broker is to keep it after the end; `isNew`: not the one that it has kept
 */
export function clientOptions(
  connection: MqttConnection,
  version: ProtocolVersion,
  will: { topic: string; payload: string } | null,
  { keptForS, isNew = false }: { readonly keptForS?: number | undefined; readonly isNew?: boolean } = {},
): IClientOptions {
  const url = new URL(connection.url);
  const isWebSocket = url.protocol === 'ws:' || url.protocol === 'wss:';
  const { username, password, ca, cert, key } = connection;
  const tls = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  return {
    protocol: url.protocol.slice(0, -1) as NonNullable<IClientOptions['protocol']>,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    ...(url.port !== '' && { port: Number(url.port) }),
    ...(isWebSocket && {
      path: `${url.pathname}${url.search}`,
      wsOptions: { ...tls, maxPayload: MOST_FRAME_BYTES },
    }),
    ...tls,
    clientId: connection.clientId,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password: readPassword(password) }),
    protocolVersion: version,
    // Without an expiry a session of 3.1.1 could stay forever, tokens and commands of last year with it.
    ...(version === 5 && keptForS !== undefined
      ? { clean: isNew, properties: { sessionExpiryInterval: keptForS } }
      : { clean: true }),
    keepalive: KEEPALIVE_S,
    connectTimeout: CONNECT_TIMEOUT_MS,
    reconnectPeriod: 0,
    queueQoSZero: false,
    resubscribe: false,
    timerVariant: 'native',
    // It would allocate 65,536 small buffers at the start, 7 MB that a daemon with a few messages a minute never needs.
    writeCache: false,
    // The library's own debug log would print the password with DEBUG=mqttjs*.
    log: () => {},
    ...(will !== null && {
      will: { topic: will.topic, payload: Buffer.from(will.payload), qos: 1 as const, retain: true },
    }),
  };
}

function readPassword(password: () => string): string {
  try {
    return password();
  } catch (error) {
    const why = error instanceof Error ? error.message : 'unknown reason';
    throw new UnusableCredential(`the password for the broker cannot be had: ${why}`);
  }
}
