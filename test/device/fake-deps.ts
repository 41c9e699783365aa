import { Agent } from '../../src/device/agent.ts';
import type { AgentDeps } from '../../src/device/deps/deps.ts';
import type { AudioFault, CaptureSink, PlaybackSink } from '../../src/ports/audio.ts';
import type { BusListener, BusMessage, BusOptions, PublishOptions } from '../../src/ports/bus.ts';
import type { Log } from '../../src/ports/log.ts';
import type { ServiceEvent, StreamListener, StreamTarget } from '../../src/ports/stream.ts';
import { type Config, configSchema } from '../../src/protocol/config.ts';
import type { TokenRequest } from '../../src/protocol/mqtt/token.ts';
import { createEnergyDetector } from '../../src/sound/energy-detector.ts';
import { wrongWith } from '../published.ts';
import { ready } from '../service-events.ts';
import { createVirtualClock } from '../virtual-clock.ts';

export const BASE = 'dragoman/v1/museum/kiosk-01';
export const TOKEN = 'tok_SECRET-0123456789';

export interface Published {
  readonly topic: string;
  readonly body: Record<string, unknown>;
  readonly options: PublishOptions;
}

/** A stream as the agent used it; the test acts as the service. */
export interface FakeStream extends StreamTarget {
  readonly listener: StreamListener;
  readonly calls: string[];
  readonly audio: Uint8Array[];
}

export function testConfig(lane: Record<string, unknown> = {}, more: Record<string, unknown> = {}): Config {
  return configSchema.parse({
    device: { id: 'kiosk-01', tenant: 'museum' },
    mqtt: { url: 'mqtt://127.0.0.1:1' },
    lanes: [
      {
        id: 'main',
        capture: { driver: 'file', path: 'in.wav', sampleRate: 16_000 },
        playback: { driver: 'file', path: 'out.wav' },
        source: 'en',
        targets: ['es'],
        ...lane,
      },
    ],
    ...more,
  });
}

/** An agent on a virtual clock; the test acts as broker, service, microphone and loudspeaker. */
export function createFakeDeps(
  config: Config = testConfig(),
  more: Partial<AgentDeps> = {},
  spoil = (deps: AgentDeps): AgentDeps => deps,
) {
  const clock = createVirtualClock();
  const published: Published[] = [];
  const streams: FakeStream[] = [];
  const played: Uint8Array[] = [];
  const logged: unknown[][] = [];
  const microphones: CaptureSink[] = [];
  const loudspeakers: PlaybackSink[] = [];
  let speakerDelayMs = 20;
  let speakerFreeAt = 0;
  let openMicrophones = 0;
  let flushes = 0;
  let hashes = 0;
  let bus: { options: BusOptions; listener: BusListener; disputes?: (isDisputed: boolean) => void } | null =
    null;
  let finale: unknown = null;
  let isConnected = false;
  let urgent = false;
  let reconnects = 0;
  const attempts: { finale: object; done: (problem: string | null) => void }[] = [];
  const outbox = { depth: 0, dropped: 0 };
  let captureError: Error | null = null;
  let mayThrow = false;
  let acknowledges = true;
  const unacknowledged: ((isDelivered: boolean) => void)[] = [];
  const note =
    (level: string) =>
    (fields: object, sentence: string): void => {
      logged.push([level, sentence, fields]);
      // The agent keeps running after a defect; a test fails unless it expected the defect.
      if (level !== 'error' || !sentence.startsWith('a defect')) return;
      queueMicrotask(() => {
        if (mayThrow) return;
        throw 'err' in fields && fields.err instanceof Error ? fields.err : new Error(sentence);
      });
    };
  const log: Log = {
    trace: note('trace'),
    debug: note('debug'),
    info: note('info'),
    warn: note('warn'),
    error: note('error'),
  };
  const deps: AgentDeps = {
    clock,
    log,
    version: '9.9.9',
    openBus: (options, listener) => {
      const up: BusListener['up'] = (...given) => {
        isConnected = true;
        listener.up(...given);
      };
      const down: BusListener['down'] = (...given) => {
        isConnected = false;
        listener.down(...given);
      };
      bus = { options, listener: { ...listener, up, down } };
      return {
        get connected() {
          return isConnected;
        },
        outbox,
        publish: (topic, payload, publishOptions = {}) => {
          // An empty payload deletes the retained message.
          const body = payload === '' ? null : JSON.parse(payload);
          published.push({ topic, body, options: publishOptions });
          const { ended } = publishOptions;
          if (ended !== undefined && acknowledges) queueMicrotask(() => ended(true));
          else if (ended !== undefined) unacknowledged.push(ended);
          const wrong = wrongWith(topic, body);
          // Does not throw here: the agent would treat that as a defect of the bus, and continue.
          if (wrong !== null) queueMicrotask(() => Promise.reject(new Error(wrong)));
        },
        urgent: (isUrgent) => {
          urgent = isUrgent;
        },
        reconnect: () => {
          reconnects += 1;
        },
        attempt: (last, done) => void attempts.push({ finale: last, done }),
        disputed: (isDisputed) => bus?.disputes?.(isDisputed),
        close: async (last) => {
          finale = last;
        },
      };
    },
    openStream: (target, listener) => {
      const stream: FakeStream = { ...target, listener, calls: [], audio: [] };
      streams.push(stream);
      const call = (name: string) => () => void stream.calls.push(name);
      return {
        runTask: (task) => void stream.calls.push(`runTask ${JSON.stringify(task)}`),
        askForTask: call('askForTask'),
        sendAudio: (pcm) => void stream.audio.push(pcm),
        say: (...speech) => void stream.calls.push(`say ${JSON.stringify(speech)}`),
        end: call('end'),
        ping: call('ping'),
        close: call('close'),
        terminate: call('terminate'),
        bufferedBytes: 0,
      };
    },
    createVoiceDetector: createEnergyDetector,
    openAudio: () => ({
      openCapture: async (sink) => {
        if (captureError !== null) throw captureError;
        microphones.push(sink);
        openMicrophones += 1;
        return {
          close: async () => {
            openMicrophones -= 1;
          },
        };
      },
      openPlayback: async (sink) => {
        loudspeakers.push(sink);
        return {
          mixer: null,
          write: (pcm) => {
            played.push(pcm);
            const heardAt = Math.max(clock.now() + speakerDelayMs, speakerFreeAt);
            speakerFreeAt = heardAt + pcm.byteLength / 48;
            return { from: heardAt, until: speakerFreeAt };
          },
          flush: () => {
            flushes += 1;
            speakerFreeAt = 0;
          },
          close: async () => {},
        };
      },
    }),
    random: () => 0.5,
    randomHash: () => `hash${hashes++}-abcdefgh`,
    ...more,
  };
  const agent = new Agent(config, spoil(deps));

  const connection = (): {
    options: BusOptions;
    listener: BusListener;
    disputes?: (isDisputed: boolean) => void;
  } => {
    if (bus === null) throw new Error('the agent has not opened its bus');
    return bus;
  };
  const deliver = (topic: string, body: unknown, more: Partial<BusMessage> = {}): void => {
    const payload = typeof body === 'string' ? body : JSON.stringify(body);
    connection().listener.message({ topic, payload, retain: false, properties: {}, ...more });
  };
  const sent = (topic: string): Published[] =>
    published.filter((message) => message.topic === `${BASE}/${topic}`);
  const lastStream = (): FakeStream => {
    const stream = streams.at(-1);
    if (stream === undefined) throw new Error('no stream has been opened');
    return stream;
  };

  const session = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
    id: 'session-id-that-is-long',
    token: TOKEN,
    intent: 's2s',
    connection_type: 'ws',
    single_use: true,
    status: 'pending',
    created_at: '2026-01-15T09:00:00.000Z',
    connect_by: '2026-01-15T09:01:00.000Z',
    ...more,
  });

  return {
    agent,
    deps,
    clock,
    config,
    published,
    streams,
    played,
    logged,
    session,
    sent,
    deliver,
    lastStream,
    /** The queue counts of the bus. */
    outbox,
    get openMicrophones() {
      return openMicrophones;
    },
    get flushes() {
      return flushes;
    },
    get finale() {
      return finale;
    },
    /**
     * The broker acknowledges nothing from here on; the returned function reports the end of the published messages.
     */
    withholdAcknowledgements(): (isDelivered: boolean) => void {
      acknowledges = false;
      return (isDelivered) => {
        for (const ended of unacknowledged.splice(0)) ended(isDelivered);
      };
    },
    /** Something in this test throws on purpose. */
    expectDefects() {
      mayThrow = true;
    },
    /** Parts that threw, according to the log. */
    get defects() {
      return logged.flatMap(([level, sentence, fields]) =>
        level === 'error' && String(sentence).startsWith('a defect')
          ? [(fields as { where: string }).where]
          : [],
      );
    },
    /** Attempts at the other broker; the test acts as that broker. */
    attempts,
    /** How often the agent requested a new connection. */
    get reconnects() {
      return reconnects;
    },
    /** Whether the agent needs its connection to the owner at once. */
    get urgent() {
      return urgent;
    },
    get bus() {
      return connection();
    },
    /** Delay (ms) between a write and its sound. */
    delayLoudspeaker(ms: number) {
      speakerDelayMs = ms;
    },
    get loudspeaker(): PlaybackSink {
      const sink = loudspeakers.at(-1);
      if (sink === undefined) throw new Error('no loudspeaker was opened');
      return sink;
    },
    failCapture(error: Error) {
      captureError = error;
    },
    oversized: (topic: string, bytes: number) => connection().listener.oversized?.(topic, bytes),
    brokerUp: (number = 1) => connection().listener.up(number, 5),
    lastRequest(): TokenRequest {
      const request = sent('token/req').at(-1);
      if (request === undefined) throw new Error('no token was asked for');
      return request.body as unknown as TokenRequest;
    },
    /** Answers the last token request with a grant. */
    grant(
      more: Record<string, unknown> = {},
      stream_url = 'wss://service.example/streaming-api/{random_hash}/v1',
    ) {
      deliver(`${BASE}/token/res`, {
        id: this.lastRequest().id,
        ok: true,
        session: session(more),
        stream_url,
      });
    },
    service: (said: ServiceEvent) => lastStream().listener.said(said),
    /** From a cold start to a live lane. */
    async goLive() {
      await agent.start();
      // Its microphone opens in a promise, which does not settle while a test advances time in one step.
      await clock.elapse(0);
      this.brokerUp();
      this.grant();
      lastStream().listener.opened();
      clock.advance(2800);
      this.service(ready());
    },
    /** One chunk of a steady tone at the microphone, captured now. */
    speak(amplitude = 8000, afterMs = 320) {
      clock.advance(afterMs);
      const pcm = new Uint8Array(5120 * 2);
      const view = new DataView(pcm.buffer);
      for (let i = 0; i < 5120; i++) view.setInt16(i * 2, i % 2 === 0 ? amplitude : -amplitude, true);
      microphones.at(-1)?.frames(pcm, clock.now());
    },
    microphoneFault: (fault: AudioFault) => microphones.at(-1)?.fault(fault),
    microphoneEnds: () => microphones.at(-1)?.ended(),
    command(name: string, body: unknown, more: Partial<BusMessage> = {}) {
      deliver(`${BASE}/cmd/${name}`, body, more);
    },
    answers: (name: string) => sent(`cmd/${name}/res`).map(({ body }) => body),
  };
}
export type FakeDeps = ReturnType<typeof createFakeDeps>;
