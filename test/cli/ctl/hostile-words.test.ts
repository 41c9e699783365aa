/** A device with a stolen login may send any text: none of it may control the operator's terminal or forge a line. */
import { afterEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { createMqttBus, type MqttBus } from '../../../src/adapters/mqtt/bus.ts';
import type { CtlDeps } from '../../../src/cli/ctl/deps.ts';
import { followLogs } from '../../../src/cli/ctl/logs-task.ts';
import { type WatchHost, watchFleet } from '../../../src/cli/ctl/watch-task.ts';
import { deviceTopics, operatorTopics } from '../../../src/protocol/mqtt/topics.ts';
import { gather } from '../../gathered.ts';
import { until } from '../../until.ts';
import { ctlOfEachTest } from './ctl-on-loopback.ts';

const ctl = ctlOfEachTest();
const TOPICS = deviceTopics({ prefix: 'dragoman/v1', tenant: 'museum', device: 'kiosk-01' });

/** The clipboard, the screen, both kinds of C1, DEL, bidi and tag characters, and a line that seems to be of another device. */
const EVIL =
  'a\u001b]52;c;cHduZWQ=\u0007\u001b[2J\u009b31m\u007f\u0085\u202eb\u2066\u{e0041}\u2028c\r\nkiosk-02: ok\n\u0000d';
// Characters that output for people must not contain, except newlines.
const STEERING = /[^\P{Cc}\n]|[\p{Zl}\p{Zp}]|\p{Cf}/u;
const FORGED = /^kiosk-02/m;

const LANE = {
  id: EVIL,
  phase: EVIL,
  source: EVIL,
  targets: [EVIL, EVIL],
  muted: false,
  volume: 80,
  capture: EVIL,
  playback: EVIL,
  capture_findings: [EVIL],
  echo: { mode: EVIL },
  session: EVIL,
  stream_host: EVIL,
  next_try_at: EVIL,
  speech_lost_ms: 0,
  last_error: { code: EVIL, message: EVIL },
  last_warning: { code: EVIL, message: EVIL },
  refused_task: { source: EVIL, targets: [EVIL], voice: EVIL, message: EVIL },
};
const STATUS = { ts: EVIL, status: EVIL, boot_id: EVIL, conn_seq: 1, version: EVIL, reasons: [EVIL, EVIL] };
const STATE = { ts: EVIL, boot_id: EVIL, groups: ['lobby', EVIL], outbox: {}, lanes: [LANE] };
const REPORTED = {
  ts: EVIL,
  version: { device: 1, [EVIL]: 1 },
  hash: EVIL,
  effective: { lanes: [{ id: 'main', echo: EVIL, [EVIL]: EVIL }], log: { level: EVIL } },
  errors: ['', EVIL].map((key) => ({ from: 'device', key, message: EVIL })),
};
const DESIRED = { version: 1, lanes: [{ id: 'main', echo: EVIL, [EVIL]: EVIL }], log: { level: `${EVIL}!` } };
const FINDING = { check: 'broker', verdict: 'problem', lane: EVIL, finding: EVIL, fix: EVIL, data: {} };
const ANSWERS: Readonly<Record<string, object>> = {
  status: {
    status: 'ok',
    data: { status: EVIL, reasons: [EVIL], version: EVIL, uptime_s: 1, lanes: [LANE] },
  },
  mute: { status: 'ok', data: { lanes: [{ ...LANE, echo: EVIL }], note: EVIL } },
  unmute: { status: 'error', error: { code: EVIL, message: EVIL } },
  volume: { status: 'ok', data: { [EVIL]: EVIL } },
  diagnose: { status: 'ok', data: { version: EVIL, verdict: 'problem', checks: [FINDING] } },
  log_stream: { status: 'error', error: { code: EVIL, message: EVIL } },
};

const buses: MqttBus[] = [];
afterEach(() => Promise.all(buses.splice(0).map((bus) => bus.close())));

/** A device that sends only such texts. */
async function hostileDevice(answers = ANSWERS): Promise<MqttBus> {
  await ctl.device('kiosk-01', { groups: ['lobby'], answer: (name) => answers[name] ?? null });
  const clock = createSystemClock();
  let isUp = false;
  const bus = createMqttBus({ url: ctl.brokerUrl, clientId: 'thief' }, { clock, seed: 3 })(
    { subscriptions: [], will: null },
    { up: () => (isUp = true), down() {}, message() {} },
  );
  buses.push(bus);
  await until(() => isUp);
  const kept = [
    [TOPICS.status, STATUS],
    [TOPICS.state, STATE],
    [TOPICS.configReported, REPORTED],
    [TOPICS.configDesired, DESIRED],
    [TOPICS.event('refused'), { ts: EVIL, lane: EVIL, cause: EVIL, message: EVIL }],
  ] as const;
  for (const [topic, body] of kept) bus.publish(topic, JSON.stringify(body), { qos: 1, retain: true });
  await until(() => bus.outbox.depth === 0);
  return bus;
}

const COMMANDS = [
  ['--all', 'status'],
  ['kiosk-01', 'status'],
  ['kiosk-01', 'mute'],
  ['kiosk-01', 'unmute'],
  ['kiosk-01', 'volume', '5'],
  ['kiosk-01', 'doctor'],
  ['--all', 'doctor'],
  ['kiosk-01', 'logs'],
  ['kiosk-01', 'config', 'get'],
  ['kiosk-01', 'config', 'diff'],
  ['kiosk-01', 'config', 'set', 'main.echo=off'],
  // There is no answer, so the last status is printed.
  ['kiosk-01', 'echo', 'off'],
].map((words) => ({ words, said: words.join(' ') }));

describe('output for people', () => {
  it.each(COMMANDS)('contains no control characters or forged lines: $said', async ({ words }) => {
    await hostileDevice();
    const { printed, complained } = await ctl.run('--timeout', '3', ...words);
    expect(printed + complained).toContain('kiosk-01');
    for (const text of [printed, complained]) {
      expect(text).not.toMatch(STEERING);
      expect(text).not.toMatch(FORGED);
    }
  });
});

/** All texts and keys within a value. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return [...(Array.isArray(value) ? [] : Object.keys(value)), ...Object.values(value).flatMap(textsOf)];
}

describe('output for programs', () => {
  it.each(COMMANDS.filter(({ words }) => !words.includes('logs')))(
    'is escaped without loss: --json $said',
    async ({ words }) => {
      await hostileDevice();
      const { printed } = await ctl.run('--json', '--timeout', '3', ...words);
      expect(printed).not.toMatch(STEERING);
      const read = printed
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(textsOf(read).some((text) => text.includes(EVIL) || words.includes('echo'))).toBe(true);
    },
  );
});

/** Output of a task that runs until it is ended. */
function open(isTTY: boolean, json: boolean, target: object) {
  const { said, print, complain } = gather();
  const drawn: string[] = [];
  const enders: (() => void)[] = [];
  const signals = { once: (_: string, end: () => void) => enders.push(end), off: () => {} };
  const host: WatchHost = {
    output: { columns: 200, rows: 20, isTTY, write: (text) => drawn.push(text), on() {}, off() {} },
    ...signals,
  };
  const deps = {
    shell: { env: { TERM: 'xterm' }, print, complain, finish() {} },
    access: { connection: { url: ctl.brokerUrl, clientId: 'ctl-test' }, signingKey: null },
    topics: operatorTopics('dragoman/v1', 'museum'),
    clock: createSystemClock(),
    target,
    options: json ? { json } : {},
    timeoutS: 5,
    newId: () => 'x',
  } as unknown as CtlDeps;
  return {
    deps,
    host,
    signals,
    said,
    drawn: () => drawn.join(''),
    end(): void {
      for (const end of enders) end();
    },
  };
}

describe('dragoman ctl watch', () => {
  it('draws only text and its own escape sequences on a terminal', async () => {
    await hostileDevice();
    const table = open(true, false, { kind: 'all' });
    const done = watchFleet(table.deps, table.host);
    await until(() => table.drawn().includes('1 device,'));
    table.end();
    await done;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: its own marks
    const own = /\u001b\[(?:\?(?:25|7|2026)[hl]|\d+[AB]|[JKH])|\r\n|\r/g;
    expect(table.drawn().replaceAll(own, '\n')).not.toMatch(STEERING);
    expect(table.drawn().replaceAll(own, '\n')).not.toMatch(FORGED);
    expect(table.drawn()).toContain('kiosk-01');
  });

  it.each([false, true])('prints only text into a pipe, JSON: %s', async (json) => {
    await hostileDevice();
    const lines = open(false, json, { kind: 'all' });
    const done = watchFleet(lines.deps, lines.host);
    await until(() => /52;c;/.test(lines.said.out));
    lines.end();
    await done;
    expect(lines.said.out).not.toMatch(STEERING);
    expect(lines.said.out).not.toMatch(FORGED);
    if (json) expect(textsOf(JSON.parse(lines.said.out.split('\n').at(-2) ?? ''))).toContain(EVIL);
  });
});

describe('dragoman ctl logs', () => {
  it.each([false, true])('shows lines of the log as text, JSON: %s', async (json) => {
    const thief = await hostileDevice({ log_stream: { status: 'ok' } });
    const log = open(false, json, { kind: 'device', device: 'kiosk-01' });
    const done = followLogs({ minutes: 60 }, log.deps, log.signals);
    const lines = [JSON.stringify({ time: EVIL, level: EVIL, msg: EVIL, [EVIL]: EVIL }), EVIL];
    const say = (): void =>
      thief.publish(TOPICS.log, JSON.stringify({ ts: null, lines, dropped: 0 }), { qos: 1 });
    await until(() => {
      say();
      return log.said.out !== '';
    });
    expect(log.said.out).not.toMatch(STEERING);
    expect(log.said.out).not.toMatch(FORGED);
    log.end();
    await done;
  });
});

it('ignores a message that is nested too deeply', async () => {
  const thief = await hostileDevice({});
  const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
  for (const topic of [TOPICS.status, TOPICS.state, TOPICS.configReported, TOPICS.configDesired])
    thief.publish(topic, `{"status":"ready","version":1,"lanes":${deep}}`, { qos: 1, retain: true });
  await until(() => thief.outbox.depth === 0);
  for (const words of [
    ['--all', 'status'],
    ['kiosk-01', 'config', 'get'],
    ['kiosk-01', 'config', 'diff'],
  ]) {
    const ran = await ctl.run('--json', '--timeout', '1', ...words);
    expect(ran.complained).not.toContain('unexpected');
    expect(ran.printed).not.toContain('[[[');
  }
});
