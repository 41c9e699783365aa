/** Many shipped agents and two shipped backends in one virtual world. Lanes are silent: nothing captures sound. */
import { randomUUID } from 'node:crypto';
import { createMqttBus } from '../../../src/adapters/mqtt/bus.ts';
import { IssuerRunner } from '../../../src/backend/issuing/issuer-runner.ts';
import { openHearing } from '../../../src/backend/issuing/request-intake.ts';
import { createTokenCounts } from '../../../src/backend/issuing/token-counts.ts';
import { seededRandom } from '../../../src/core/random.ts';
import { Agent } from '../../../src/device/agent.ts';
import type { LaneStep } from '../../../src/device/lane/runner/lane-runner.ts';
import { openRequest } from '../../../src/device/lane/session/token-request.ts';
import { LANE_DEFAULTS } from '../../../src/device/lane/state/lane-options.ts';
import { isStreaming } from '../../../src/device/lane/state/session-state.ts';
import type { Log } from '../../../src/ports/log.ts';
import { type BackendConfigInput, backendConfigSchema } from '../../../src/protocol/backend-config.ts';
import { configSchema } from '../../../src/protocol/config.ts';
import { createEnergyDetector } from '../../../src/sound/energy-detector.ts';
import { createProcessClock, createSimClock } from '../../sim/sim-clock.ts';
import { TENANT } from '../devices.ts';
import { createVirtualBroker } from './broker.ts';
import { createVirtualService } from './service.ts';
import { createVirtualStore } from './store.ts';

const START_MS = 1000;
/**
 * A silent lane does hardly more than to send silence three times a second, and to ask for signs of life. Afterwards the agents of
 * this process do both more seldom. Requests, tries and rollovers do not depend on it while nobody speaks and no stream breaks.
 */
export function lightenAgents(): void {
  Object.assign(LANE_DEFAULTS, { chunkMs: 16 * LANE_DEFAULTS.chunkMs, pingMs: 10 * LANE_DEFAULTS.pingMs });
}
const QUIET: Log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };
const ADDRESS = { url: 'mqtts://broker.sim' };
const NO_ECHO = { played() {}, flushed() {}, late() {}, hear: () => null };

/** A lane's need for a session, from its first request to the grant. */
export interface Need {
  readonly since: number;
  /** Requests that were sent, repetitions included. */
  asked: number;
  denials: number;
  grantedAt: number | null;
}

export function openVirtualFleet(size: number, maxSessionS: number) {
  const clock = createSimClock(START_MS);
  clock.setWall(Date.UTC(2026, 0, 15, 9));
  const random = seededRandom(1);
  const broker = createVirtualBroker(clock, random);
  const service = createVirtualService(clock, random);
  const store = createVirtualStore(
    clock,
    Array.from({ length: size }, (_, index) => `${TENANT}/${nameOf(index)}`),
  );
  /** Moments (ms) at which backends received requests. */
  const received: number[] = [];
  const needs: Need[] = [];
  const open = new Map<string, Need>();
  /** Lanes that stopped streaming, and for how long (ms). */
  const silentSince = new Map<string, number>();
  const gapsMs: number[] = [];
  const codes = new Map<string, number>();
  const defects: string[] = [];
  const agents: Agent[] = [];
  let hashes = 0;

  const follow = (device: string, { before, after, event, effects }: LaneStep): void => {
    const streams = isStreaming(after.session);
    if (streams !== isStreaming(before.session)) {
      const since = silentSince.get(device);
      if (streams && since !== undefined) gapsMs.push(clock.now() - since);
      if (!streams) silentSince.set(device, clock.now());
    }
    for (const effect of effects) {
      if (effect.type !== 'request_token') continue;
      const need = open.get(device) ?? { since: clock.now(), asked: 0, denials: 0, grantedAt: null };
      if (need.asked === 0) needs.push(need);
      need.asked += 1;
      open.set(device, need);
    }
    const need = open.get(device);
    if (need === undefined) return;
    if (event.type === 'denied') {
      need.denials += 1;
      codes.set(event.denial.code, (codes.get(event.denial.code) ?? 0) + 1);
    }
    if (event.type !== 'granted' || openRequest(before) === openRequest(after)) return;
    need.grantedAt = clock.now();
    open.delete(device);
  };

  const start = (index: number): void => {
    const id = nameOf(index);
    const lane = { id: 'main', source: 'en', targets: ['es'], standbyAfter: 0 };
    const file = (path: string) => ({ driver: 'file', path });
    const config = configSchema.parse({
      device: { id, tenant: TENANT },
      mqtt: ADDRESS,
      lanes: [{ ...lane, capture: { ...file('in.wav'), sampleRate: 16_000 }, playback: file('out.wav') }],
    });
    const agent = new Agent(config, {
      clock,
      log: {
        ...QUIET,
        error: (fields, sentence) => void defects.push(`${sentence} ${JSON.stringify(fields)}`),
      },
      version: '0.0.0',
      openBus: createMqttBus(
        { ...ADDRESS, clientId: `${TENANT}.${id}` },
        { clock, seed: Math.floor(random() * 2 ** 31), openLink: broker.openLink },
      ),
      openStream: service.openStream,
      createVoiceDetector: createEnergyDetector,
      openAudio: () => ({
        async openCapture() {
          clock.settle();
          return { close: async () => {} };
        },
        async openPlayback() {
          clock.settle();
          return {
            mixer: null,
            write: () => ({ from: clock.now(), until: clock.now() }),
            flush() {},
            close: async () => {},
          };
        },
        createEchoDetector: () => NO_ECHO,
      }),
      random,
      randomHash: () => {
        hashes += 1;
        return `hash-${hashes}-abcdefghijkl`;
      },
    });
    agents.push(agent);
    agent.watch((step) => follow(id, step));
    void agent.start();
    clock.settle();
  };

  const config = backendConfigSchema.parse({
    mqtt: ADDRESS,
    service: {
      url: 'https://service.sim',
      streamUrl: 'wss://service.sim/streaming-api/{random_hash}/v1/s2s',
    },
    allow: [`${TENANT}/*`],
    session: { maxSessionDurationSeconds: maxSessionS },
    // As in the other benchmark.
    limits: { createsPerSecond: 200, concurrency: 32, pendingSessions: 20_000 },
  } satisfies BackendConfigInput);
  /** @returns what kills it like SIGKILL */
  const startBackend = (name: string): (() => void) => {
    const own = createProcessClock({
      ...clock,
      at: (at, act) =>
        clock.at(at, () => {
          act();
          clock.settle();
        }),
    });
    let ends = (): void => {};
    // What a dead process has begun at the service or in the store goes on there; its continuation does not.
    const whileAlive = <T extends object>(port: T): T =>
      new Proxy(port, {
        get(target, key) {
          const value: unknown = Reflect.get(target, key);
          if (typeof value !== 'function') return value;
          return (...given: unknown[]) => {
            const result: unknown = own.alive ? Reflect.apply(value, target, given) : new Promise(() => {});
            if (!(result instanceof Promise)) return result;
            return new Promise((resolve, reject) => {
              result.then(
                (one) => own.alive && resolve(one),
                (error: unknown) => own.alive && reject(error),
              );
            });
          };
        },
      });
    const issuing = new IssuerRunner({
      config,
      store: whileAlive(store),
      service: whileAlive(service.client),
      signer: null,
      clock: own,
      random,
      counts: createTokenCounts(),
      // Its devices report no ended streams.
      reports: { repeat() {} },
      instance: randomUUID(),
      closeWithinMs: 4000,
      log: {
        ...QUIET,
        error: (fields, sentence) => void defects.push(`${sentence} ${JSON.stringify(fields)}`),
      },
    });
    const bus = openHearing({
      openBus: createMqttBus(
        { ...ADDRESS, clientId: name },
        {
          clock: own,
          seed: Math.floor(random() * 2 ** 31),
          openLink(target, given, sink) {
            const link = broker.openLink(target, given, {
              ...sink,
              message: (message) => own.alive && sink.message(message),
              ended: (why) => own.alive && sink.ended(why),
            });
            ends = () => link.destroy();
            return link;
          },
        },
      ),
      prefix: config.mqtt.prefix,
      shareGroup: config.mqtt.shareGroup,
      clock: own,
      log: QUIET,
      randomId: randomUUID,
      message(message) {
        if (message.topic.endsWith('/token/req')) received.push(clock.now());
        issuing.hear(message);
        clock.settle();
      },
      listening() {},
    });
    issuing.answerOn(bus);
    return () => {
      own.kill();
      ends();
    };
  };

  return {
    clock,
    broker,
    service,
    received,
    needs,
    gapsMs,
    codes,
    defects,
    startBackend,
    /** Needs without an answer. */
    waiting: () => open.size,
    live: () => agents.filter(({ lanes }) => lanes[0]?.phase === 'live').length,
    /** All devices start within this time. */
    wake(withinMs: number): void {
      for (let index = 0; index < size; index += 1)
        clock.at(clock.now() + random() * withinMs, () => start(index));
    },
  };
}

const nameOf = (index: number): string => `kiosk-${index}`;
