/** One connection to the broker, from CONNECT to the disconnect. Each attempt creates a new connection. */
import './no-debug-output.ts';
import { connect, type IClientOptions, type IPublishPacket, type MqttClient } from 'mqtt';
import type { BusMessage, RequestProperties, Subscription } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import { acknowledgeOurselves } from './acknowledgement.ts';
import { ALL_ALLOWED, type Allowed, allowedBy } from './allowances.ts';
import {
  type Ending,
  explainClose,
  explainDisconnect,
  explainError,
  explainLargePacket,
  explainPublishRefusal,
  type PublishRefusal,
  withLastPacket,
} from './end-reasons.ts';
import { MOST_INBOUND_BYTES, MOST_PACKET_BYTES } from './endpoint.ts';
import { watchLastPacket } from './last-packet.ts';
import { watchPacketSize } from './packet-size.ts';
import type { ProtocolVersion } from './protocol-version.ts';
import { everyFilterOf, subscribeAll } from './subscribe.ts';
import { watchUnheard } from './unheard.ts';

/** QoS 1 messages in flight at once, unless the broker allows fewer. */
const MOST_IN_FLIGHT = 16;
/** Unsent bytes in the socket above which fleeting (QoS 0) messages are dropped. */
const MOST_UNSENT_BYTES = 262_144;

export interface LinkSink {
  /** The broker accepted us: the will is active. */
  accepted(): void;
  /** Every subscription is in place, except for those that the broker refused. */
  ready(refused: readonly string[]): void;
  /** Only after `ready`. Acknowledged when this returns, unless held. */
  message(message: BusMessage): void;
  /** A message too large to be read was dropped. */
  oversized(topic: string, bytes: number): void;
  /** The last call, exactly once, also after `destroy` and `end`. */
  ended(ending: Ending): void;
}

export interface Outgoing {
  readonly topic: string;
  readonly payload: string;
  readonly qos: 0 | 1;
  readonly retain: boolean;
  readonly properties: RequestProperties;
}

export interface Link {
  readonly broker: string;
  readonly version: ProtocolVersion;
  readonly accepted: boolean;
  /** How many QoS 1 messages the broker accepts before it has acknowledged the first. */
  readonly window: number;
  /** The QoS and retain flag that the broker allows for messages. */
  readonly allowed: Allowed;
  /** Largest packet that the broker accepts, bytes. */
  readonly largestPacketBytes: number;
  /** The socket's unsent data is over the limit: unimportant messages should be dropped. */
  readonly congested: boolean;
  /** `done` is called at the broker's acknowledgement (QoS 1) or refusal; never if the connection ends first. */
  publish(message: Outgoing, done: (refusal: PublishRefusal | null) => void): void;
  /** Requests refused subscriptions again; `done` gets those that are still refused. */
  subscribe(subscriptions: readonly Subscription[], done: (refused: readonly string[]) => void): void;
  /** Ends these subscriptions; `done` is called when the broker has acknowledged that, or at once without a connection. */
  unsubscribe(subscriptions: readonly Subscription[], done: () => void): void;
  /** Sends DISCONNECT, so that the will is not published; then closes. */
  end(): void;
  /** Cuts the connection at once; the broker publishes the will. */
  destroy(why?: string): void;
}

export interface LinkTarget {
  readonly broker: string;
  readonly version: ProtocolVersion;
  readonly subscriptions: readonly Subscription[];
  /** The broker must not send retained messages. MQTT 3.1.1 cannot express that. */
  readonly isWithoutRetained?: boolean;
  /** Larger payloads are dropped unread (bytes). */
  readonly largestBytes?: number | undefined;
  /** Throws when an option (a password file, a certificate) is unavailable. */
  readonly options: () => IClientOptions;
}

export function openLink(target: LinkTarget, clock: Clock, sink: LinkSink): Link {
  const { broker, version, largestBytes = MOST_INBOUND_BYTES } = target;
  const how = { isWithoutRetained: version === 5 && target.isWithoutRetained === true };
  let client: MqttClient | null = null;
  let stage: 'connecting' | 'accepted' | 'ready' | 'ended' = 'connecting';
  let ending: Ending | null = null;
  let early: (() => void)[] = [];
  let allowed = ALL_ALLOWED;
  let lastPacket = (): string | null => null;
  let wasUnheard = (): boolean => false;
  /** This side cuts the connection. */
  let isLeft = false;

  const settle = (): void => {
    if (stage === 'ended') return;
    const accepted = stage !== 'connecting';
    stage = 'ended';
    const end = ending ?? withLastPacket(explainClose(broker, accepted), lastPacket());
    const isUnheard = !accepted && !isLeft && wasUnheard();
    sink.ended(isUnheard ? { ...end, isUnheard } : end);
  };
  // `client.end(true)` would do nothing after a graceful `end` that hangs.
  const destroy = (): void => void client?.stream.destroy();
  /** Only the first explanation counts: later failures are its consequences. */
  const fail = (why: Ending): void => {
    ending ??= why;
    destroy();
  };

  const begin = (opened: MqttClient): void => {
    client = opened;
    const watch = watchPacketSize(MOST_PACKET_BYTES, (bytes) =>
      fail(explainLargePacket(broker, bytes, MOST_PACKET_BYTES)),
    );
    opened.stream.on('data', watch);
    wasUnheard = watchUnheard(opened);
    const acknowledgements = acknowledgeOurselves(opened);
    lastPacket = watchLastPacket(opened);
    opened.on('connect', ({ properties }) => {
      stage = 'accepted';
      allowed = allowedBy(properties);
      sink.accepted();
      subscribeAll(opened, broker, target.subscriptions, how, (problem, refused) => {
        if (stage !== 'accepted') return;
        if (problem !== null) return fail(problem);
        stage = 'ready';
        sink.ready(refused);
        // If the connection ends meanwhile, the remaining messages stay unacknowledged, and the broker keeps them.
        for (const deliver of early) if (stage === 'ready') deliver();
        early = [];
      });
    });
    opened.on('message', (topic, payload, packet) => {
      const acknowledge = acknowledgements.of(packet);
      if (payload.length > largestBytes) {
        acknowledge();
        return sink.oversized(topic, payload.length);
      }
      const deliver = (): void => {
        let isHeld = false;
        const hold = (): (() => void) => {
          isHeld = true;
          return acknowledge;
        };
        sink.message({ ...readMessage(topic, payload, packet), hold });
        if (!isHeld) acknowledge();
      };
      if (stage === 'ready') deliver();
      else early.push(deliver);
    });
    let otherServer: string | undefined;
    // MQTT.js keeps only the code of a refusal.
    opened.on('packetreceive', (packet) => {
      if (packet.cmd === 'connack') otherServer = packet.properties?.serverReference;
    });
    opened.on('disconnect', ({ reasonCode = 0, properties }) =>
      fail(withLastPacket(explainDisconnect(broker, reasonCode, properties?.serverReference), lastPacket())),
    );
    opened.on('error', (error) =>
      fail(withLastPacket(explainError(broker, error, version, otherServer), lastPacket())),
    );
    // MQTT.js drops errors of the stream that have no code, such as those of a WebSocket's handshake.
    opened.stream.on('error', (error) => {
      if (stage === 'connecting') fail(explainError(broker, error, version));
    });
    opened.on('close', settle);
  };

  try {
    begin(connect(target.options()));
  } catch (error) {
    ending = explainError(broker, error, version);
    clock.at(clock.now(), settle);
  }

  return {
    broker,
    version,
    get accepted() {
      return stage === 'accepted' || stage === 'ready';
    },
    get allowed() {
      return allowed;
    },
    get window() {
      return Math.min(MOST_IN_FLIGHT, client?.serverProperties?.receiveMaximum ?? MOST_IN_FLIGHT);
    },
    get largestPacketBytes() {
      return client?.serverProperties?.maximumPacketSize ?? Number.POSITIVE_INFINITY;
    },
    get congested() {
      return (client?.stream.writableLength ?? 0) > MOST_UNSENT_BYTES;
    },
    publish(message, done) {
      const properties = version === 5 ? writeProperties(message.properties) : {};
      const qos = message.qos === 1 ? allowed.qos : 0;
      const retain = message.retain && allowed.retain;
      client?.publish(message.topic, message.payload, { qos, retain, properties }, (error) => {
        if (stage === 'ended' || ending !== null) return;
        const refusal = error ? explainPublishRefusal(error) : null;
        // Any other error comes from the library, which gives the message up because the connection ends.
        if (!error || refusal !== null) done(refusal);
      });
    },
    subscribe(subscriptions, done) {
      if (client === null || stage !== 'ready') return;
      subscribeAll(client, broker, subscriptions, how, (problem, refused) => {
        if (stage === 'ready' && problem === null) done(refused);
      });
    },
    unsubscribe(subscriptions, done) {
      if (client === null || stage !== 'ready') return done();
      client.unsubscribe(everyFilterOf(subscriptions), () => done());
    },
    end() {
      if (client === null) return;
      // Otherwise `end` would wait for acknowledgements that may never come.
      for (const id of Object.keys(client.outgoing)) client.removeOutgoingMessage(Number(id));
      client.end(false);
    },
    destroy(why) {
      isLeft = true;
      if (why === undefined) destroy();
      else fail({ problem: 'unreachable', message: why });
    },
  };
}

function readMessage(topic: string, payload: Buffer, packet: IPublishPacket): BusMessage {
  const { responseTopic, correlationData, messageExpiryInterval } = packet.properties ?? {};
  return {
    topic,
    payload: payload.toString('utf8'),
    retain: packet.retain,
    ...(packet.dup && { again: true as const }),
    properties: {
      ...(responseTopic !== undefined && { responseTopic }),
      ...(correlationData !== undefined && { correlationData }),
      ...(messageExpiryInterval !== undefined && { expiryS: messageExpiryInterval }),
    },
  };
}

function writeProperties(properties: RequestProperties): NonNullable<IPublishPacket['properties']> {
  const { responseTopic, correlationData, expiryS } = properties;
  return {
    ...(responseTopic !== undefined && { responseTopic }),
    ...(correlationData !== undefined && { correlationData: Buffer.from(correlationData) }),
    ...(expiryS !== undefined && { messageExpiryInterval: Math.max(1, Math.ceil(expiryS)) }),
  };
}
