/** A password file that disappears while the device runs: a broker with logins, the daemon, its files and SIGHUP. */
import { EventEmitter } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/adapters/config/load.ts';
import { createLogger } from '../../src/adapters/log.ts';
import { type Broker, startBroker } from '../../src/cli/demo/broker.ts';
import { runDaemon } from '../../src/device/daemon.ts';
import { createTestBuses, type OpenedBus } from '../adapters/mqtt/test-buses.ts';
import { createFakeInitSystem } from '../device/process/fake-init-system.ts';
import { until } from '../until.ts';

const PASSWORD = 'open-sesame-4711';
const NEW_PASSWORD = 'open-sesame-4712';
/** The device's client id; only this client is disconnected, so that the witness misses nothing. */
const KIOSK = 'museum.kiosk-01';

describe('a device whose password file disappears', () => {
  let folder: string;
  let broker: Broker;
  let accepted: string;
  const logins: (string | undefined)[] = [];
  const lines: string[] = [];
  const signals = new EventEmitter();
  let ended: Promise<void>;
  const buses = createTestBuses();
  let witness: OpenedBus;
  const events = (kind: string): string[] =>
    witness.messages.filter(({ topic }) => topic.endsWith(`/event/${kind}`)).map(({ payload }) => payload);
  const passwordFile = (): string => join(folder, 'password');
  const keep = (password: string): void => writeFileSync(passwordFile(), password, { mode: 0o600 });
  const said = (words: RegExp): string[] => lines.filter((line) => words.test(line));

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'dragoman-password-'));
    accepted = PASSWORD;
    broker = await startBroker({
      login(_, password) {
        logins.push(password);
        return password === accepted;
      },
    });
    keep(PASSWORD);
    witness = buses.open(
      { url: broker.url, clientId: 'witness', username: 'owner', password: () => accepted },
      { subscriptions: ['dragoman/v1/museum/kiosk-01/event/+'] },
    );
    await until(() => witness.ups.length > 0, 'the witness');
    const device = {
      device: { id: 'kiosk-01', tenant: 'museum' },
      mqtt: { url: broker.url, username: 'kiosk', passwordFile: passwordFile() },
      lanes: [
        {
          source: 'en',
          targets: ['es'],
          start: 'command',
          capture: { driver: 'file', path: join(folder, 'in.wav') },
          playback: { driver: 'file', path: join(folder, 'out.wav') },
        },
      ],
    };
    writeFileSync(join(folder, 'config.json'), JSON.stringify(device));
    const reload = () => loadConfig({ file: join(folder, 'config.json'), env: {} });
    const loaded = reload();
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    const sink = { write: (line: string) => lines.push(line) };
    const logger = createLogger({ level: 'info', format: 'json', sink });
    const { initSystem } = createFakeInitSystem(null);
    const env = { STATE_DIRECTORY: folder };
    ended = runDaemon({ config: loaded.config, reload, logger, signals, initSystem, env });
    await until(() => said(/connected to the broker/).length === 1, 'the connection');
  });
  afterEach(async () => {
    signals.emit('SIGTERM');
    await ended;
    await buses.closeAll();
    await broker.close();
    rmSync(folder, { recursive: true, force: true });
    logins.length = 0;
    lines.length = 0;
  });

  it('connects with the last read password, reports it once, and refuses a reload', async () => {
    rmSync(passwordFile());
    broker.kick(KIOSK);
    await until(() => said(/connected to the broker/).length === 2, 'the next connection');
    broker.kick(KIOSK);
    await until(() => said(/connected to the broker/).length === 3, 'the one after it');
    expect(new Set(logins)).toEqual(new Set([PASSWORD]));
    expect(said(/the contents read before are used/)).toHaveLength(1);
    expect(said(/the contents read before are used/)[0]).toContain(
      `mqtt.passwordFile: the secret file ${passwordFile()} does not exist`,
    );
    signals.emit('SIGHUP');
    expect(said(/the old one stays in force/)[0]).toContain('mqtt.passwordFile: ');
    const unreadable = `mqtt.passwordFile: the secret file ${passwordFile()} does not exist`;
    await until(() => events('config_problem').length === 2, 'both events');
    for (const event of events('config_problem'))
      expect(JSON.parse(event)).toMatchObject({ problems: [unreadable] });
    keep(PASSWORD);
    signals.emit('SIGHUP');
    await until(() => events('config_problem_over').length === 1, 'the end event');
    expect(lines.join('') + JSON.stringify(witness.messages)).not.toContain(PASSWORD);
  });

  it('reports the problem of a configuration, without the name of an unknown key', async () => {
    const file = join(folder, 'config.json');
    const good = readFileSync(file, 'utf8');
    writeFileSync(file, good.replace('"start":', '"echo":"of","hunter2-4711":1,"start":'));
    signals.emit('SIGHUP');
    await until(() => events('config_problem').length === 1, 'the event');
    const [event = ''] = events('config_problem');
    expect(event).toMatch(/config\.json:\d+:\d+: lanes\[0\]\.echo: .*did you mean .*off/);
    expect(event).toMatch(/config\.json:\d+:\d+: lanes\[0\]: is not a known key/);
    expect(JSON.stringify(witness.messages)).not.toContain('hunter2');
    writeFileSync(file, good);
    signals.emit('SIGHUP');
    await until(() => events('config_problem_over').length === 1, 'the end event');
  });

  it('tries a new password at once when the configuration is reloaded', async () => {
    accepted = NEW_PASSWORD;
    chmodSync(passwordFile(), 0o604);
    broker.kick(KIOSK);
    // After a refusal the device normally waits at least half a minute.
    await until(() => said(/refused the connection/).length === 1, 'the refusal');
    keep(NEW_PASSWORD);
    chmodSync(passwordFile(), 0o600);
    signals.emit('SIGHUP');
    await until(() => said(/connected to the broker/).length === 2, 'the new connection', 25_000);
    expect(logins.at(-1)).toBe(NEW_PASSWORD);
    expect(lines.join('')).not.toMatch(/open-sesame/);
  });
});
