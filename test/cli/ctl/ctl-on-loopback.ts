/** A broker, devices with scripted answers, and the command line of `dragoman ctl`. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { createMqttBus, type MqttBus } from '../../../src/adapters/mqtt/bus.ts';
import { createCtlVerb } from '../../../src/cli/ctl/ctl-verb.ts';
import { type Broker, type BrokerOptions, startBroker } from '../../../src/cli/demo/broker.ts';
import type { BusMessage } from '../../../src/ports/bus.ts';
import { runProgram } from '../../../src/program/program.ts';
import { deviceTopics } from '../../../src/protocol/mqtt/topics.ts';
import { gather } from '../../gathered.ts';
import { createLoopbackTime, type LoopbackTime } from '../../loopback-time.ts';
import { until } from '../../until.ts';

export interface Ran {
  readonly exitCode: number;
  readonly printed: string;
  readonly complained: string;
}

/** A simulated device on the broker. */
export interface FakeDevice {
  readonly name: string;
  readonly received: {
    readonly name: string;
    readonly body: { readonly id: string; readonly args: Record<string, unknown> };
  }[];
  status(status: string, reasons?: readonly string[]): void;
  health(): void;
  /** Answers the latest command. */
  answer(command: string, body: object): void;
}

export interface Ctl {
  readonly brokerUrl: string;
  readonly home: string;
  writeProfiles(content: unknown): void;
  /** Runs a command line in virtual time. */
  run(...argv: string[]): Promise<Ran>;
  /** Acts when the next command line has run for this time (ms). */
  after(ms: number, act: () => Promise<unknown>): void;
  /** @param answer to each command, without id and ts; null: none */
  device(
    name: string,
    given?: {
      answer?: (name: string) => object | object[] | null;
      groups?: readonly string[];
      status?: string;
    },
  ): Promise<FakeDevice>;
  broker(): Broker;
}

export const LANE = {
  id: 'main',
  phase: 'live',
  source: 'en',
  targets: ['es'],
  muted: false,
  volume: 80,
  capture: 'plughw:CARD=Mic',
  playback: 'plughw:CARD=Speaker',
  capture_findings: [],
  echo: {
    wanted: 'half-duplex',
    mode: 'half-duplex',
    fallback: null,
    tail_ms: 200,
    delay_ms: null,
    gain_db: null,
  },
  session: 'abc...',
  stream_host: 'stream.example',
  speech_lost_ms: 0,
  next_try_at: null,
  last_error: null,
  last_warning: null,
};
export const LANES = [
  { id: 'main', phase: 'live', muted: false, volume: 80, echo: 'half-duplex', source: 'en', targets: ['es'] },
];

/** A fresh broker and home for each test of the file. */
export function ctlOfEachTest(options: BrokerOptions = {}): Ctl {
  let broker: Broker;
  let home = '';
  let time: LoopbackTime;
  const buses: MqttBus[] = [];
  beforeEach(async () => {
    time = createLoopbackTime(Date.now());
    broker = await startBroker(options);
    home = mkdtempSync(join(tmpdir(), 'dragoman-ctl-'));
    ctl.writeProfiles({ profiles: { museum: { url: broker.url, tenant: 'museum' } } });
  });
  afterEach(async () => {
    await Promise.all(buses.splice(0).map((bus) => bus.close()));
    await broker.close();
    time.close();
    rmSync(home, { recursive: true, force: true });
  });
  const ctl: Ctl = {
    get brokerUrl() {
      return broker.url;
    },
    get home() {
      return home;
    },
    broker: () => broker,
    writeProfiles(content) {
      mkdirSync(join(home, 'dragoman'), { recursive: true });
      writeFileSync(
        join(home, 'dragoman', 'ctl.json'),
        typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content),
      );
    },
    async run(...argv) {
      const { said, print, complain } = gather();
      const running = runProgram({
        name: 'dragoman',
        summary: '',
        argv: ['ctl', ...argv],
        verbs: [createCtlVerb(time.clock)],
        env: { XDG_CONFIG_HOME: home },
        print,
        complain,
      });
      const exitCode = await time.pass(running);
      return { exitCode, printed: said.out, complained: said.err };
    },
    after: (ms, act) => time.after(ms, act),
    async device(
      name,
      { answer = () => ({ status: 'ok', data: { lanes: LANES } }), groups = [], status = 'ready' } = {},
    ) {
      const topics = deviceTopics({ prefix: 'dragoman/v1', tenant: 'museum', device: name });
      const received: FakeDevice['received'] = [];
      let isUp = false;
      const take = ({ topic, payload }: BusMessage): void => {
        const command = topic.split('/').at(-1) ?? '';
        const body = JSON.parse(payload);
        received.push({ name: command, body });
        const answers = [answer(command)].flat();
        for (const one of answers) {
          if (one === null) continue;
          bus.publish(topics.commandResponse(command), JSON.stringify({ ts: null, id: body.id, ...one }), {
            qos: 1,
          });
        }
      };
      const bus = createMqttBus(
        { url: broker.url, clientId: `museum.${name}` },
        { clock: createSystemClock(), seed: 1 },
      )(
        {
          subscriptions: [topics.commands, topics.fleetCommands, ...groups.map(topics.groupCommands)],
          will: null,
        },
        {
          up: () => {
            isUp = true;
          },
          down() {},
          message: take,
        },
      );
      buses.push(bus);
      await until(() => isUp);
      const tell = (now: string, reasons: readonly string[] = []): void =>
        bus.publish(
          topics.status,
          JSON.stringify({ ts: null, status: now, boot_id: 'b', conn_seq: 1, version: '0.1.0', reasons }),
          { qos: 1, retain: true },
        );
      const outbox = { depth: 0, dropped: 0 };
      bus.publish(
        topics.state,
        JSON.stringify({ ts: null, boot_id: 'b', groups, outbox, lanes: [{ ...LANE }] }),
        {
          qos: 1,
          retain: true,
        },
      );
      tell(status);
      await until(() => bus.outbox.depth === 0);
      const health = (): void => bus.publish(topics.health, JSON.stringify({ boot_id: 'b' }), { qos: 0 });
      const reply = (command: string, body: object): void => {
        const id = received.at(-1)?.body.id;
        bus.publish(topics.commandResponse(command), JSON.stringify({ ts: null, id, ...body }));
      };
      return { name, received, status: tell, health, answer: reply };
    },
  };
  return ctl;
}
