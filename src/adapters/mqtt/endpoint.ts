import type { IClientOptions } from 'mqtt';
import type { MqttVersion } from '../../protocol/common/setting-values.ts';
import { readAddress } from '../../protocol/host-name.ts';
import { ALL_ALLOWED, type Allowed } from './allowances.ts';
import type { ProtocolVersion } from './protocol-version.ts';
import { openWebSocket } from './web-socket.ts';

/** The broker's address and our login. Only the address may appear in a message. */
export interface MqttConnection {
  /** `mqtt://`, `mqtts://`, `ws://` or `wss://`; without user name and password. */
  readonly url: string;
  readonly clientId: string;
  /** Default: `auto`. */
  readonly version?: MqttVersion;
  readonly username?: string;
  /**
   * Called at each connection, so that a new password needs no restart. The operator sees the message of an error that it throws,
   * so the message must not hold the password.
   */
  readonly password?: () => string;
  /** PEM; without it the system's authorities apply. */
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

export const KEEPALIVE_S = 30;
export const CONNECT_TIMEOUT_MS = 15_000;
/**
 * Largest payload (bytes); a larger one is dropped after it has arrived. No payload of docs/mqtt.md comes near it. The limit is not
 * announced to the broker (MQTT 5, Maximum Packet Size): mosquitto 2.0 never frees the slots of messages that it then withholds,
 * and sends nothing more after 20 of them.
 */
export const MOST_INBOUND_BYTES = 262_144;
/** Largest packet (bytes), as announced in its header: a larger one ends the connection, to save memory. */
export const MOST_PACKET_BYTES = 4_194_304;
/** Largest WebSocket message (bytes): it may hold several packets, but is buffered whole. */
const MOST_FRAME_BYTES = 2 * MOST_PACKET_BYTES;

/** The password or a TLS file is unavailable: a person must fix it. The message reveals the content of neither. */
export class UnusableCredential extends Error {}

/** How messages name the broker: scheme, host and port, never user name or password. */
export function brokerName(connection: MqttConnection): string {
  const url = readAddress(connection.url);
  return url === null ? 'the broker' : `${url.protocol}//${url.host}`;
}

/**
 * The settings of MQTT.js for one connection. Throws when the address or the password is unavailable.
 * @param session `keptForS`: how long the broker keeps the session after the disconnect; `isNew`: discard the kept one; `allowed`:
 * limits for the will
 */
export function clientOptions(
  connection: MqttConnection,
  version: ProtocolVersion,
  will: { topic: string; payload: string } | null,
  {
    keptForS,
    isNew = false,
    allowed = ALL_ALLOWED,
  }: { readonly keptForS?: number | undefined; readonly isNew?: boolean; readonly allowed?: Allowed } = {},
): IClientOptions {
  // `new URL` throws for an invalid address.
  const url = readAddress(connection.url) ?? new URL(connection.url);
  const isWebSocket = url.protocol === 'ws:' || url.protocol === 'wss:';
  const { username, password, ca, cert, key } = connection;
  const tls = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  const wsOptions = { ...tls, maxPayload: MOST_FRAME_BYTES };
  return {
    protocol: url.protocol.slice(0, -1) as NonNullable<IClientOptions['protocol']>,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    ...(url.port !== '' && { port: Number(url.port) }),
    ...(isWebSocket && {
      path: `${url.pathname}${url.search}`,
      wsOptions,
      createWebsocket: (address, protocols) => openWebSocket(address, protocols, wsOptions),
    }),
    ...tls,
    clientId: connection.clientId,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password: readPassword(password) }),
    protocolVersion: version,
    // A session of 3.1.1 has no expiry, so it could keep last year's tokens and commands.
    ...(version === 5 && keptForS !== undefined
      ? { clean: isNew, properties: { sessionExpiryInterval: keptForS } }
      : { clean: true }),
    keepalive: KEEPALIVE_S,
    connectTimeout: CONNECT_TIMEOUT_MS,
    reconnectPeriod: 0,
    queueQoSZero: false,
    resubscribe: false,
    timerVariant: 'native',
    // The cache would allocate 65,536 small buffers (7 MB) at the start, far too much for a few messages a minute.
    writeCache: false,
    // The library's own debug log would print the password with DEBUG=mqttjs*.
    log: () => {},
    ...(will !== null && {
      will: { topic: will.topic, payload: Buffer.from(will.payload), ...allowed },
    }),
  };
}

function readPassword(password: () => string): string {
  try {
    return password();
  } catch (error) {
    const why = error instanceof Error ? error.message : 'unknown reason';
    throw new UnusableCredential(`the password for the broker cannot be read: ${why}`);
  }
}
