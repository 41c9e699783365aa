import type { MqttClient, Packet } from 'mqtt';

/** A SUBSCRIBE or PUBLISH that the broker has not answered. */
interface Unanswered {
  /** Undefined: nothing answers it (QoS 0). */
  readonly identifier: number | undefined;
  readonly name: string;
}

/**
 * Watches which SUBSCRIBE or PUBLISH was our last packet: brokers that forbid one often close the connection without a reason.
 * @returns names that packet, for an operator; null once the broker has answered it, or another packet followed
 */
export function watchLastPacket(client: MqttClient): () => string | null {
  let last: Unanswered | null = null;
  client.on('packetsend', (packet) => {
    last = nameOf(packet);
  });
  client.on('packetreceive', (packet) => {
    const isAnswer = packet.cmd === 'suback' || packet.cmd === 'puback';
    if (isAnswer && packet.messageId === last?.identifier) last = null;
  });
  return () => last?.name ?? null;
}

function nameOf(packet: Packet): Unanswered | null {
  if (packet.cmd === 'publish') {
    const identifier = packet.qos === 0 ? undefined : packet.messageId;
    return { identifier, name: `PUBLISH to "${packet.topic}"` };
  }
  if (packet.cmd !== 'subscribe') return null;
  const filters = packet.subscriptions.map(({ topic }) => topic);
  return { identifier: packet.messageId, name: `SUBSCRIBE to "${filters.join('", "')}"` };
}
