import { EventEmitter } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { openEnvironment } from '../../../src/cli/demo/environment.ts';
import { asAgent, performDoctor } from '../../../src/cli/doctor/perform-doctor.ts';
import { CHECKS } from '../../../src/protocol/mqtt/diagnose.ts';
import { inProcessPrograms } from '../../e2e/in-process.ts';
import { consult, createConsultation } from './consultation.ts';

const fixture = createConsultation();
afterAll(() => fixture.close());

const within80 = (text: string): boolean => text.split('\n').every((line) => line.length <= 80);

describe('dragoman doctor', () => {
  it('finds no problem when broker, backend and service work', async () => {
    const programs = inProcessPrograms();
    const environment = await openEnvironment(programs);
    try {
      const service = { hosts: [new URL(environment.serviceUrl).host] };
      const mqtt = { url: environment.brokerUrl };
      const file = fixture.config('well', { mqtt, service });
      const { exitCode, printed, complained } = await consult(['--config', file]);
      expect(complained).toBe('');
      expect(exitCode, printed).toBe(0);
      expect(printed).toMatch(/^ok {7}configuration {2}\S*well\.json\s+is\s+valid:\s+1\s+lane$/m);
      expect(printed).toMatch(/^ok {7}broker {9}127\.0\.0\.1:\d+ reached in \d+ ms; logged in/m);
      expect(printed).toMatch(/^ok {7}backend {8}a token was issued in \d+ ms and returned; no session/m);
      expect(printed).toMatch(/^ok {7}stream {9}127\.0\.0\.1:\d+ reached/m);
      expect(printed).toMatch(/^ok {7}capture/m);
      expect(printed).toMatch(/^skipped {2}playback/m);
      expect(printed.trimEnd()).toMatch(/no problem.*, \d+ ok, \d+ skipped$/);
      // It leaves neither a session nor a recording.
      const sessions = programs.emulator().service.sessions.list(['temporary']);
      expect(sessions).not.toEqual([]);
      expect(sessions.every(({ revoked }) => revoked)).toBe(true);
      expect(existsSync(join(fixture.folder, 'out.wav'))).toBe(false);
      // Output and log contain no token and no key.
      const tokens = sessions.map(({ token }) => token);
      for (const token of tokens) expect(printed + programs.log()).not.toContain(token);
    } finally {
      await environment.close();
    }
  });

  it('prints the same as JSON, one document on one line', async () => {
    const environment = await openEnvironment(inProcessPrograms());
    try {
      const file = fixture.config('json', { mqtt: { url: environment.brokerUrl } });
      const { exitCode, diagnosis, of, printed } = await fixture.examine(file, ['--no-sound']);
      expect(exitCode, printed).toBe(0);
      expect(printed.trim().split('\n')).toHaveLength(1);
      expect(diagnosis.checks.map(({ check }) => check)).toEqual([...CHECKS]);
      expect(of('backend').data).toMatchObject({ answer: 'probed' });
      expect(of('stream').data).toMatchObject({ host: '127.0.0.1', http_status: expect.any(Number) });
      expect(of('clock')).toMatchObject({ verdict: 'ok', data: { offset_s: expect.any(Number) } });
      expect(of('capture')).toMatchObject({ verdict: 'skipped', finding: 'left out by --no-sound' });
    } finally {
      await environment.close();
    }
  });

  it('prints problems with their fixes within 80 columns, and exits with 3', async () => {
    const file = fixture.config('lonely');
    const { exitCode, printed } = await consult(['--config', file, '--no-sound']);
    expect(exitCode).toBe(3);
    expect(printed).toMatch(
      /^problem {2}broker {9}the broker 127\.0\.0\.1:1: nothing listens there\n {24}-> /m,
    );
    expect(printed).toMatch(/^skipped {2}backend {8}there is no connection to the broker$/m);
    expect(printed.trimEnd()).toMatch(/1 problem, .*skipped$/);
    expect(within80(printed.replaceAll(fixture.folder, '/etc/dragoman'))).toBe(true);
  });

  it('runs only the requested check', async () => {
    const file = fixture.config('only');
    const { exitCode, diagnosis } = await fixture.examine(file, ['--only', 'memory', '--only', 'disk']);
    expect(exitCode).toBe(0);
    expect(diagnosis.checks.map(({ check }) => check)).toEqual(['disk', 'memory']);
  });

  it('reports an invalid configuration as a finding, and runs the other checks', async () => {
    const file = join(fixture.folder, 'broken.json');
    writeFileSync(file, '{"device": {"id": "kiosk 1", "tenant": "museum"}, "mqtt": {"uri": "mqtt://b"}}');
    const { exitCode, of } = await fixture.examine(file);
    expect(exitCode).toBe(3);
    expect(of('configuration')).toMatchObject({
      verdict: 'problem',
      fix: expect.stringContaining('check-config'),
    });
    expect(of('broker').verdict).toBe('skipped');
    expect(of('memory').verdict).not.toBe('skipped');
  });

  it.each(['broker', 'isolation', 'backend', 'stream', 'capture', 'playback', 'memory'])(
    'reports an invalid configuration also when only "%s" is asked for',
    async (check) => {
      const file = join(fixture.folder, 'broken.json');
      writeFileSync(file, '{"device": {"id": "kiosk 1"}}');
      const { exitCode, of } = await fixture.examine(file, ['--only', check]);
      expect([exitCode, of('configuration').verdict]).toEqual([3, 'problem']);
    },
  );

  it.each<[string, string[], RegExp]>([
    [
      'a missing file',
      ['--config', '/nowhere/dragoman.json'],
      /the file \/nowhere\/dragoman\.json does not exist/,
    ],
    ['no file', [], /--config/],
    [
      'a check that does not exist',
      ['--config', 'x.json', '--only', 'brokr'],
      /It must be one of configuration, agent, broker/,
    ],
    ['an option that does not exist', ['--config', 'x.json', '--fast'], /--fast/],
  ])('rejects %s with exit code 2', async (_, argv, words) => {
    const { exitCode, printed, complained } = await consult(argv);
    expect(exitCode).toBe(2);
    expect(printed).toBe('');
    expect(complained).toMatch(words);
  });

  it("takes the running agent's settings and credentials, and nothing else of its environment", () => {
    const file = fixture.config('as-agent');
    const proc = join(fixture.folder, 'proc');
    mkdirSync(join(proc, '4711'), { recursive: true });
    writeFileSync(join(proc, '4711/cmdline'), `dragoman\0run\0--config\0${file}\0`);
    writeFileSync(
      join(proc, '4711/environ'),
      'DRAGOMAN_LOG_LEVEL=debug\0CREDENTIALS_DIRECTORY=/run/c\0PATH=/agent\0',
    );
    const taken = { DRAGOMAN_LOG_LEVEL: 'debug', CREDENTIALS_DIRECTORY: '/run/c' };
    expect(asAgent({ PATH: '/own' }, file, proc)).toEqual({ PATH: '/own', ...taken });
    expect(asAgent({ PATH: '/own' }, '/other.json', proc)).toEqual({ PATH: '/own' });
  });

  it('prints its help within 80 columns', async () => {
    const { exitCode, printed } = await consult(['--help']);
    expect(exitCode).toBe(0);
    expect(within80(printed)).toBe(true);
  });

  it('ends at Ctrl-C with the findings so far', async () => {
    const signals = new EventEmitter();
    let printed = '';
    const shell = {
      env: { PATH: process.env['PATH'] },
      print: (text: string) => {
        printed += text;
        // The check of the microphone would take two more seconds.
        if (text.includes('clock')) signals.emit('SIGINT');
      },
      complain: () => {},
      finish: () => {},
    };
    const options = { config: fixture.config('interrupted'), only: [], sound: true };
    await expect(performDoctor(options, shell, createSystemClock(), signals)).rejects.toThrow(
      /stopped before all checks/,
    );
    expect(printed).toMatch(/^problem {2}broker/m);
    expect(printed).not.toMatch(/capture/);
    expect(signals.listenerCount('SIGINT') + signals.listenerCount('SIGTERM')).toBe(0);
  });

  it('never prints a password, wherever it is configured', async () => {
    const passwordFile = fixture.secret('password', 'S3cret-of-the-museum');
    const open = fixture.secret('open', 'S3cret-of-the-museum', 0o644);
    for (const [name, file] of Object.entries({ passwordFile, open })) {
      const config = fixture.config(`secret-${name}`, {
        mqtt: { url: 'mqtt://127.0.0.1:1', username: 'kiosk-01', passwordFile: file },
      });
      const text = await consult(['--config', config, '--no-sound']);
      const json = await consult(['--config', config, '--no-sound', '--json']);
      expect(JSON.stringify([text, json])).not.toContain('S3cret');
    }
    expect(statSync(open).mode & 0o777).toBe(0o644);
    expect(readFileSync(open, 'utf8')).toBe('S3cret-of-the-museum');
  });

  it('reports secrets that are world-readable or missing', async () => {
    const config = fixture.config('exposed', {
      mqtt: {
        url: 'mqtt://127.0.0.1:1',
        username: 'kiosk-01',
        passwordFile: fixture.secret('exposed', 'x', 0o644),
        caFile: join(fixture.folder, 'no-such.pem'),
      },
    });
    const { exitCode, of } = await fixture.examine(config, ['--only', 'configuration']);
    expect(exitCode).toBe(3);
    expect(of('configuration')).toMatchObject({
      verdict: 'problem',
      finding: expect.stringMatching(
        /mqtt\.passwordFile: .*readable by everyone.*mqtt\.caFile: .*does not exist/,
      ),
    });
  });
});
