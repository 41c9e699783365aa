/** Why a connection to the broker ended or failed, worded for an operator. */
import './no-debug-output.ts';
import { ReasonCodes } from 'mqtt';
import type { BusProblem } from '../../ports/bus.ts';
import { isMulticastName, readAddress } from '../../protocol/host-name.ts';
import { ownLine } from '../own-line.ts';
import { reasonOf } from '../system-error.ts';
import { UnusableCredential } from './endpoint.ts';
import { explainHandshake } from './handshake-failures.ts';
import type { ProtocolVersion } from './protocol-version.ts';

export interface Ending {
  readonly problem: BusProblem;
  readonly message: string;
  /** The broker answered that it does not know MQTT 5. */
  readonly lacks5?: true;
  /** The broker's own reason: MQTT 5 reason code, or MQTT 3.1.1 return code. */
  readonly code?: number;
  /** TCP, and TLS if used, were fine, but the broker ended the connection before CONNACK, without a byte. */
  readonly isUnheard?: true;
  /** Another attempt with other requirements may be accepted: try it at once. */
  readonly asksForLess?: true;
  /** Closed without a reason. */
  readonly silent?: true;
  /** By this machine's clock, the broker's certificate is not valid yet. */
  readonly tooEarly?: true;
  /** The broker sent a message too large for memory, and would send it again: it is retained, or kept for our session. */
  readonly tooLarge?: true;
}

/** Refusals of CONNECT that a person must resolve: MQTT 3.1.1 return codes and MQTT 5 reason codes. */
const REFUSED_CODES: ReadonlySet<number> = new Set([
  2, 4, 5, 0x85, 0x86, 0x87, 0x8a, 0x8c,
  // About the will: topic, size, quota, format, retain, QoS. And: the broker has moved.
  0x90, 0x95, 0x97, 0x99, 0x9a, 0x9b, 0x9d,
]);
const UNSUPPORTED_VERSION_CODES: ReadonlySet<number> = new Set([1, 0x84]);
const SESSION_TAKEN_OVER = 0x8e;
/** Refusals of a message that last until a person changes the broker's rules: not authorized, invalid topic. */
const FORBIDDEN_CODES: ReadonlySet<number> = new Set([0x87, 0x90]);

const TOO_LARGE = 'it sent a message that is too large; set message_size_limit at the broker';

const MULTICAST_HINT = '; names in ".local" need multicast DNS on this machine: "dragoman doctor" says how';

const hostOf = (broker: string): string => readAddress(broker)?.hostname ?? '';

/** A code that we cannot explain is added to the error's own text, unless the text contains it. */
function reasonFor(code: string, text: string): string {
  if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') return TOO_LARGE;
  const reason = reasonOf(code);
  if (reason !== code) return reason;
  return text.includes(code) ? text : `${text} (${code})`;
}

const reasonText = (code: number): string =>
  (ReasonCodes as Readonly<Record<number, string>>)[code] ?? `reason ${code}`;

function codeOf(error: unknown): string | number | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' || typeof code === 'number' ? code : undefined;
}

/** The broker's reason, with the server to which it refers clients (MQTT 5: 0x9C and 0x9D). */
function reasonWith(code: number, server: string | undefined): string {
  return server === undefined || server === '' ? reasonText(code) : `${reasonText(code)}: ${ownLine(server)}`;
}

/** The broker answered CONNECT with a refusal. */
function explainRefusal(
  broker: string,
  code: number,
  version: ProtocolVersion,
  server: string | undefined,
): Ending {
  if (UNSUPPORTED_VERSION_CODES.has(code)) {
    const message = `${broker} speaks neither MQTT 5 nor MQTT 3.1.1`;
    return { problem: 'refused', message, code, ...(version === 5 && { lacks5: true }) };
  }
  const refused = REFUSED_CODES.has(code);
  return {
    problem: refused ? 'refused' : 'unreachable',
    message: `${broker} refused the connection: ${reasonWith(code, server)}`,
    code,
  };
}

/**
 * Explains socket, TLS and protocol errors, and refusals (numeric codes), of an attempt with `version`. Never holds a secret.
 * @param server the other server that a refusal names
 */
export function explainError(
  broker: string,
  error: unknown,
  version: ProtocolVersion,
  server?: string,
): Ending {
  if (error instanceof UnusableCredential) {
    return { problem: 'refused', message: error.message };
  }
  const code = codeOf(error);
  if (typeof code === 'number') return explainRefusal(broker, code, version, server);
  if (code === 'CERT_NOT_YET_VALID') {
    const message = `the certificate of ${broker} is not valid yet: is this machine's clock right?`;
    return { problem: 'unreachable', message, tooEarly: true };
  }
  const handshake = explainHandshake(broker, error);
  if (handshake !== null) return handshake;
  const text = ownLine(error instanceof Error ? error.message : 'unknown error');
  if (code === undefined) {
    return {
      problem: 'unreachable',
      message: `the connection to ${broker} failed: ${text}`,
    };
  }
  const isMulticast = (code === 'ENOTFOUND' || code === 'EAI_AGAIN') && isMulticastName(hostOf(broker));
  const why = `${reasonFor(code, text)}${isMulticast ? MULTICAST_HINT : ''}`;
  return { problem: 'unreachable', message: `cannot reach ${broker}: ${why}` };
}

/** @param last our packet that the broker has not answered; null: none. Another client's takeover has nothing to do with it. */
export function withLastPacket(ending: Ending, last: string | null): Ending {
  return last === null || ending.problem === 'taken_over'
    ? ending
    : { ...ending, message: `${ending.message} after our ${last}` };
}

/** The broker does not accept the only version that `mqtt.version` allows. */
export function explainFixedVersion(broker: string, version: ProtocolVersion, { code }: Ending): Ending {
  const name = version === 5 ? 'MQTT 5' : 'MQTT 3.1.1';
  const message = `${broker} does not speak ${name}, the only version that mqtt.version allows: set it to "auto"`;
  return { problem: 'refused', message, ...(code !== undefined && { code }) };
}

/** Whether the broker refused the version. */
export const isAboutVersion = ({ code }: Ending): boolean =>
  code !== undefined && UNSUPPORTED_VERSION_CODES.has(code);

/** The socket closed without an error. */
export function explainClose(broker: string, accepted: boolean): Ending {
  const message = accepted
    ? `${broker} closed the connection`
    : `${broker} closed the connection before it answered`;
  return { problem: 'unreachable', message, silent: true };
}

/** The broker began to send more than may be buffered in memory. */
export function explainLargePacket(broker: string, bytes: number, most: number): Ending {
  const message = `${broker} sent a message of ${bytes} bytes, more than the ${most} allowed: set its limit (mosquitto: message_size_limit 262144), and delete the message if it is retained`;
  return { problem: 'unreachable', message, tooLarge: true };
}

/** The broker's answer that it does not accept a message. */
export interface PublishRefusal {
  /** A few words for the log. */
  readonly reason: string;
  /** The broker's rules forbid the topic. */
  readonly isForbidden: boolean;
}

/** Null: the error does not come from the broker. */
export function explainPublishRefusal(error: unknown): PublishRefusal | null {
  const code = codeOf(error);
  return typeof code === 'number'
    ? { reason: reasonText(code).toLowerCase(), isForbidden: FORBIDDEN_CODES.has(code) }
    : null;
}

/** MQTT 5: the broker gave a reason for its disconnect. */
export function explainDisconnect(broker: string, reason: number, server?: string): Ending {
  if (reason === SESSION_TAKEN_OVER) {
    const message = `another client connected to ${broker} with this client identifier`;
    return { problem: 'taken_over', message };
  }
  return {
    problem: REFUSED_CODES.has(reason) ? 'refused' : 'unreachable',
    message: `${broker} disconnected us: ${reasonWith(reason, server)}`,
    code: reason,
  };
}
