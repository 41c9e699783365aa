import { EventEmitter } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadBrokerPart } from '../../../src/adapters/config/load.ts';
import { createLogger } from '../../../src/adapters/log.ts';
import { isService } from '../../../src/adapters/systemd/invocation.ts';
import { runService } from '../../../src/cli/run/run-service.ts';
import { makeFolder } from '../../adapters/audio/wav-files.ts';
import { createFakeInitSystem } from '../../device/process/fake-init-system.ts';
import { DESK_MISTAKES, withMistake } from './desk-mistakes.ts';

const within = { timeout: 60_000, interval: 20 };

function config(folder: string, echo: string, more: object = {}): object {
  return {
    device: { id: 'kiosk-01', tenant: 'museum' },
    // No server listens there.
    mqtt: { url: 'mqtt://127.0.0.1:9' },
    lanes: [
      {
        capture: { driver: 'file', path: join(folder, 'in.wav'), sampleRate: 16_000 },
        playback: { driver: 'file', path: join(folder, 'out.wav') },
        source: 'en',
        targets: ['es'],
        echo,
        start: 'command',
      },
    ],
    ...more,
  };
}

describe('run under systemd', () => {
  it('survives a bad configuration, starts when it is repaired, and ends at a signal', async () => {
    const folder = makeFolder();
    const file = join(folder, 'config.json');
    const write = (content: object): void => writeFileSync(file, JSON.stringify(content));
    write(config(folder, 'of'));
    const service = createFakeInitSystem();
    const signals = new EventEmitter();
    const lines: string[] = [];
    const logger = createLogger({
      level: 'info',
      format: 'json',
      sink: { write: (line) => lines.push(line) },
    });
    const env = { STATE_DIRECTORY: folder };
    const ended = runService({ file, env, logger, signals, initSystem: service.initSystem });

    await expect.poll(() => service.statuses, within).toHaveLength(1);
    expect(service.statuses[0]).toMatch(/^degraded \(config\): .*lanes\[0\]\.echo: .*did you mean "off"/);
    // The same with a file that the configuration names.
    write(config(folder, 'off', { service: { caFile: join(folder, 'ca.pem') } }));
    signals.emit('SIGHUP');
    expect(service.statuses.at(-1)).toMatch(/^degraded \(config\): service\.caFile: .*ca\.pem/);
    writeFileSync(join(folder, 'ca.pem'), 'x');
    write(config(folder, 'off'));
    signals.emit('SIGHUP');
    await expect
      .poll(() => service.statuses.at(-1), within)
      .toMatch(/^idle \(stopped\): main idle, en to es; no broker: .*127\.0\.0\.1:9/);
    // A reload keeps what runs, and says in which line the file is wrong.
    writeFileSync(file, '{\n  "device": ,\n}');
    signals.emit('SIGHUP');
    await expect
      .poll(() => service.statuses.at(-1), within)
      .toMatch(/^degraded \(stopped, config_problem:config\.json:2\): main idle/);
    signals.emit('SIGTERM');
    await ended;
    expect(service.told.some(({ stopping }) => stopping)).toBe(true);
    expect(lines.join('')).toMatch(/"level":"error".*the configuration is unusable/);
    expect(readFileSync(file, 'utf8')).toBe('{\n  "device": ,\n}');
  });

  it('keeps what runs when a reload finds a mistake of the desk, and says which', async () => {
    const folder = makeFolder();
    const file = join(folder, 'config.json');
    const write = (content: object): void => writeFileSync(file, JSON.stringify(content, null, 2));
    const good = config(folder, 'half-duplex');
    write(good);
    const service = createFakeInitSystem();
    const signals = new EventEmitter();
    const lines: string[] = [];
    const logger = createLogger({
      level: 'info',
      format: 'json',
      sink: { write: (line) => lines.push(line) },
    });
    const env = { STATE_DIRECTORY: folder };
    const ended = runService({ file, env, logger, signals, initSystem: service.initSystem });
    const status = () => service.statuses.at(-1);
    await expect.poll(status, within).toMatch(/^idle \(stopped\): main idle, en to es/);
    for (const mistake of DESK_MISTAKES) {
      const microphone = { driver: 'file', path: join(folder, 'in.wav'), sampleRate: 16_000 };
      write({ ...good, ...withMistake(mistake, { capture: microphone, start: 'command' }) });
      signals.emit('SIGHUP');
      await expect
        .poll(status, within)
        .toMatch(/^degraded \(stopped, config_problem:[^)]+\): main idle, en to es/);
      const told = lines.findLast((line) => line.includes('the old one stays in force')) ?? '{}';
      expect((JSON.parse(told) as { problems: string[] }).problems.join()).toMatch(mistake.says);
      write(good);
      signals.emit('SIGHUP');
      await expect.poll(status, within).toMatch(/^idle \(stopped\): main idle/);
    }
    signals.emit('SIGTERM');
    await ended;
  });

  it('is recognised only when systemd has started the program', () => {
    expect(isService({ NOTIFY_SOCKET: '/run/systemd/notify' })).toBe(true);
    expect(isService({ SYSTEMD_EXEC_PID: String(process.pid) })).toBe(true);
    // A terminal in a graphical session.
    expect(isService({ SYSTEMD_EXEC_PID: String(process.ppid), INVOCATION_ID: 'x' })).toBe(false);
    expect(isService({})).toBe(false);
  });
});

describe('the part about the broker', () => {
  it('is read from a configuration that is invalid only in other parts', () => {
    const folder = makeFolder();
    const file = join(folder, 'config.json');
    const found = (content: string) => {
      writeFileSync(file, content);
      return loadBrokerPart({ file, env: {} })?.mqtt.url;
    };
    const wrong = config(folder, 'of');
    expect(found(JSON.stringify(wrong))).toBe('mqtt://127.0.0.1:9');
    expect(found(JSON.stringify({ ...wrong, lanes: 'none', colour: 'red' }))).toBe('mqtt://127.0.0.1:9');
    expect(found(JSON.stringify({ ...wrong, mqtt: { url: 'http://127.0.0.1' } }))).toBeUndefined();
    expect(found(JSON.stringify({ ...wrong, device: {} }))).toBeUndefined();
    expect(found('{"device": ')).toBeUndefined();
  });
});
