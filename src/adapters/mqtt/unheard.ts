import { TLSSocket } from 'node:tls';
import type { MqttClient } from 'mqtt';
import { systemCode } from '../system-error.ts';

/**
 * Watches whether the broker says anything at all. Some brokers without MQTT 5 close or reset each connection instead of an answer.
 * @returns whether TCP, and TLS if used, were fine, and no byte has come; meant for the end of the connection
 */
export function watchUnheard(client: MqttClient): () => boolean {
  const { stream } = client;
  // A WebSocket reports no `connect`: only its regular close counts.
  let isOpen = false;
  let isHeard = false;
  let hasFailed = false;
  stream.once(stream instanceof TLSSocket ? 'secureConnect' : 'connect', () => {
    isOpen = true;
  });
  stream.once('data', () => {
    isHeard = true;
  });
  const note = (error: unknown): void => {
    hasFailed ||= !isOpen || systemCode(error) !== 'ECONNRESET';
  };
  stream.on('error', note);
  client.on('error', note);
  return () => !isHeard && !hasFailed;
}
