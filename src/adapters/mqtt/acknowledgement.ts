import type { IPublishPacket, MqttClient } from 'mqtt';

const PUBACK = 0x40;

/**
 * Takes the acknowledgement of incoming QoS 1 messages over from the library, which would give it before anybody has
 * written down what came, and handles no further packet while it is kept back.
 */
export function acknowledgeOurselves(client: MqttClient): {
  /** The acknowledgement of a message that has just come: sent once, at the first call. */
  of(packet: IPublishPacket): () => void;
} {
  const identifiers = new WeakMap<object, number>();
  client.on('packetreceive', (packet) => {
    if (packet.cmd !== 'publish' || packet.qos !== 1 || packet.messageId === undefined) return;
    identifiers.set(packet, packet.messageId);
    // From here on the library sees a message that needs no answer.
    packet.qos = 0;
  });
  return {
    of(packet) {
      const identifier = identifiers.get(packet);
      let isSent = false;
      return () => {
        if (identifier === undefined || isSent || !client.stream.writable) return;
        isSent = true;
        // The same in MQTT 3.1.1 and 5: success, no properties.
        client.stream.write(Uint8Array.of(PUBACK, 2, identifier >> 8, identifier & 0xff));
      };
    },
  };
}
