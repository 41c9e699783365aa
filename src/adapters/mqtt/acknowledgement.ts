import type { IPublishPacket, MqttClient } from 'mqtt';

const PUBACK = 0x40;

/**
 * Takes over the acknowledgement of incoming QoS 1 messages. The library would acknowledge a message before it is stored, and
 * handle no further packet while the acknowledgement is held back.
 */
export function acknowledgeOurselves(client: MqttClient): {
  /** Returns a function that acknowledges a message that has just arrived. Only its first call has an effect. */
  of(packet: IPublishPacket): () => void;
} {
  const identifiers = new WeakMap<object, number>();
  client.on('packetreceive', (packet) => {
    if (packet.cmd !== 'publish' || packet.qos !== 1 || packet.messageId === undefined) return;
    identifiers.set(packet, packet.messageId);
    // From here on the library sees a message that needs no acknowledgement.
    packet.qos = 0;
  });
  return {
    of(packet) {
      const identifier = identifiers.get(packet);
      let isSent = false;
      return () => {
        if (identifier === undefined || isSent || !client.stream.writable) return;
        isSent = true;
        // PUBACK is the same in MQTT 3.1.1 and 5: success, no properties.
        client.stream.write(Uint8Array.of(PUBACK, 2, identifier >> 8, identifier & 0xff));
      };
    },
  };
}
