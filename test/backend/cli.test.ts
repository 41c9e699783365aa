import { EventEmitter } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runBackendProgram } from '../../src/backend/cli.ts';
import { createServiceClient } from '../../src/backend/service/service-client.ts';
import { startBroker } from '../../src/cli/demo/broker.ts';
import { type Emulator, startEmulator } from '../../src/emulator/server.ts';
import { createTestBuses } from '../adapters/mqtt/test-buses.ts';
import { gather } from '../gathered.ts';
import { until } from '../until.ts';
import { MPEG, mp3Of, OGG, PAGE, spokenWav, WEBM, wavOf } from '../voice-recordings.ts';

let folder: string;
let emulator: Emulator;
let configFile: string;
let requests: string[];
const KEY = 'cli-api-key-0815';
const JWT = 'cli.jwt.0815';

function write(name: string, content: string | Buffer): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  chmodSync(file, 0o600);
  return file;
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-backend-'));
  requests = [];
  const onRequest = ({ path }: { path: string | null }): void => void requests.push(String(path));
  emulator = await startEmulator({ apiKeys: [KEY], jwts: [JWT], voiceProcessingMs: 30, onRequest });
  configFile = writeConfig();
});
afterEach(async () => {
  await emulator.close();
  rmSync(folder, { recursive: true, force: true });
});

function writeConfig(mqttUrl = 'mqtt://127.0.0.1:1'): string {
  const service = {
    url: emulator.url,
    streamUrl: `${emulator.wsUrl}/streaming-api/{random_hash}/v1/speech-to-speech/stream`,
    apiKeyFile: write('key', KEY),
    jwtFile: write('jwt', JWT),
  };
  return write('c.json', JSON.stringify({ mqtt: { url: mqttUrl }, service, allow: ['museum/*'] }));
}

function begin(args: readonly string[]) {
  const { said, print, complain } = gather();
  const output = Object.assign(new PassThrough(), { fd: 1, isTTY: false });
  output.on('data', (part) => {
    said.out += String(part);
  });
  const signals = new EventEmitter();
  const ended = runBackendProgram(args, {
    env: {},
    output,
    signals,
    print,
    complain,
  });
  return { said, signals, ended };
}

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const { said, ended } = begin(args);
  const code = await ended;
  expect(said.out + said.err).not.toContain(KEY);
  expect(said.out + said.err).not.toContain(JWT);
  return { code, ...said };
}

const withConfig = (...args: string[]) => run(...args, '--config', configFile);

async function createSessions(...references: string[]) {
  const client = createServiceClient({ url: emulator.url, timeoutMs: 5000, apiKey: () => KEY });
  const made = [];
  for (const client_reference_id of references) {
    made.push(await client.createSession({ intent: 's2s', client_reference_id }));
  }
  client.close();
  return made;
}

describe('dragoman-backend', () => {
  it.each([
    [['--help'], /sessions .*list or revoke/],
    [['run', '--help'], /--config/],
    [['sessions', 'list', '--help'], /--json/],
    [['sessions', 'revoke', '--help'], /--device/],
    [['voice', 'clone', '--help'], /--denoise/],
    [['voice', 'status', '--help'], /--wait/],
    [['--version'], /\d/],
  ])('prints help for %j', async (args, words) => {
    expect(await run(...args)).toMatchObject({ code: 0, out: expect.stringMatching(words), err: '' });
  });

  it.each([
    [[], /no command given\. See "dragoman-backend --help"/],
    [['rnu'], /unknown command 'rnu'.*Did you mean run\?.*See/],
    [['sessions'], /no command given\. See "dragoman-backend sessions --help"/],
    [['sessions', 'list', '--jsn'], /unknown option '--jsn'.*--json/],
    [
      ['run', '--config', '/nowhere.json'],
      /cannot be used:\n {2}\/nowhere\.json: cannot be read: there is no such file or folder/,
    ],
    [['run'], /mqtt: is missing/],
    [['voice', 'clone', '--name', 'x', '--file', '/nowhere.wav'], /name: /],
    [
      ['voice', 'clone', '--name', 'Anna', '--file', '/nowhere.wav'],
      /nowhere\.wav cannot be read: there is no such file or folder/,
    ],
    [['voice', 'clone', '--name', 'Anna', '--file', '/tmp'], /\/tmp cannot be read: it is a folder/],
    [['voice', 'clone', '--name', 'Anna', '--file', '/dev/zero'], /it is not a regular file/],
    [['voice', 'clone', '--name', 'Anna', '--file', 'a.wav', '--type', 'audio/ogg'], /mime_type: /],
    [['voice', 'status', 'x', '--wait', 'long'], /--wait takes seconds/],
  ])('explains a usage error in one sentence and exits with 2: %j', async (args, words) => {
    const { code, out, err } = await run(...args);
    expect(code).toBe(2);
    expect(err).toMatch(words);
    expect(err).not.toMatch(/\n {4}at /);
    expect(out).toBe('');
  });

  it('lists sessions, never their tokens', async () => {
    expect(await withConfig('sessions', 'list')).toMatchObject({ code: 0, out: 'no sessions\n' });
    const made = await createSessions('museum/kiosk/main', 'museum/other/main', 'zoo/kiosk/main');
    const all = await withConfig('sessions', 'list');
    expect(all.out.trim().split('\n')).toHaveLength(3);
    expect((await withConfig('sessions', 'list', '--device', 'kiosk')).out.trim().split('\n')).toHaveLength(
      2,
    );
    const mine = await withConfig('sessions', 'list', '--reference', 'museum/kiosk/main', '--json');
    expect(JSON.parse(mine.out)).toMatchObject({ sessions: [{ id: made[0]?.id, status: 'pending' }] });
    for (const { token, id } of made) {
      expect(all.out + mine.out).not.toContain(token);
      expect(all.out).not.toContain(id);
    }
  });

  it('revokes by id, by part of an id, and by device', async () => {
    const made = await createSessions('museum/a/main', 'museum/b/main', 'museum/c/main', 'museum/c/desk');
    const [first, second] = made;
    const byId = await withConfig(
      'sessions',
      'revoke',
      first?.id ?? '',
      `${second?.id.slice(0, 8)}...`,
      '--json',
    );
    expect(JSON.parse(byId.out).revoked).toHaveLength(2);
    const byDevice = await withConfig('sessions', 'revoke', '--device', 'museum/c');
    expect(byDevice.out.trim().split('\n')).toHaveLength(2);
    const left = await withConfig('sessions', 'list', '--json');
    const statuses = JSON.parse(left.out).sessions.map((session: { status: string }) => session.status);
    expect(statuses).toEqual(['revoked', 'revoked', 'revoked', 'revoked']);
    expect(await withConfig('sessions', 'revoke', '--device', 'museum/c')).toMatchObject({
      code: 0,
      out: 'nothing to revoke\n',
    });
  });

  it('names the nearest device when the given one has no sessions', async () => {
    await createSessions('museum/kiosk-01/main');
    const typo = await withConfig('sessions', 'revoke', '--device', 'museum/kiosk-1');
    expect(typo).toMatchObject({ code: 1, out: '' });
    expect(typo.err).toContain('there is no session of "museum/kiosk-1"; did you mean "museum/kiosk-01"?');
    const short = await withConfig('sessions', 'revoke', '--device', 'kisk-01');
    expect(short.err).toContain('did you mean "kiosk-01"?');
    expect(await withConfig('sessions', 'list', '--device', 'kiosk-1')).toMatchObject({
      code: 0,
      out: 'no sessions; did you mean "kiosk-01"?\n',
    });
    // Another device may have none.
    const other = await withConfig('sessions', 'revoke', '--device', 'museum/kiosk-02');
    expect(other).toMatchObject({ code: 0, out: 'nothing to revoke\n' });
    const left = JSON.parse((await withConfig('sessions', 'list', '--json')).out).sessions;
    expect(left).toMatchObject([{ status: 'pending' }]);
  });

  it('names the option when the configuration is missing', async () => {
    const { code, err } = await run('sessions', 'list');
    expect(code).toBe(2);
    expect(err).toContain('the configuration cannot be used; name its file with --config:');
  });

  it('refuses to revoke when the sessions are not clear', async () => {
    await createSessions('museum/a/main');
    expect(await withConfig('sessions', 'revoke')).toMatchObject({ code: 2 });
    expect(await withConfig('sessions', 'revoke', 'abc', '--device', 'a')).toMatchObject({ code: 2 });
    const unknown = await withConfig('sessions', 'revoke', 'a');
    expect(unknown).toMatchObject({ code: 1, err: expect.stringMatching(/there is no session a/) });
    expect((await withConfig('sessions', 'list', '--json')).out).toContain('"status":"pending"');
  });

  it('clones a voice and waits until it is ready', async () => {
    const recording = write('Anna (demo).wav', spokenWav(32));
    const cloned = await withConfig(
      'voice',
      'clone',
      '--name',
      'Anna',
      '--file',
      recording,
      '--denoise',
      '--language',
      'en',
      '--label',
      'gender=female',
      '--label',
      'mood=calm',
      '--wait',
      '20',
      '--json',
    );
    expect(cloned).toMatchObject({ code: 0, err: '' });
    const { voice } = JSON.parse(cloned.out);
    expect(voice).toMatchObject({
      name: 'Anna',
      processing_status: 'ready',
      labels: { gender: 'female', mood: 'calm' },
    });
    expect(voice).not.toHaveProperty('samples');
    const status = await withConfig('voice', 'status', voice.voice_id);
    expect(status).toMatchObject({ code: 0, out: `${voice.voice_id}  Anna  ready\n` });
  });

  it.each([
    ['a web page', 'a.wav', PAGE, /a\.wav is a web page, not a recording/],
    ['Ogg as MP3', 'a.mp3', OGG, /a\.mp3 is not a recording of a known kind \(opus/],
    ['one second', 'a.wav', spokenWav(1), /is only 1\.0 s long: record at least 10 s/],
    ['silence', 'a.wav', wavOf(Buffer.alloc(48_000 * 31)), /holds digital silence: check the microphone/],
    ['no promised sound', 'a.wav', wavOf(spokenWav(31).subarray(44), 0), /a header that promises no sound/],
    ['more than 10 MB', 'a.wav', Buffer.alloc(10_000_001), /it is larger than 10 MB/],
  ])('sends nothing of a recording that is %s', async (_, name, bytes, words) => {
    const refused = await withConfig('voice', 'clone', '--name', 'Anna', '--file', write(name, bytes));
    expect(refused).toMatchObject({ code: 2, out: '', err: expect.stringMatching(words) });
    expect(requests).toEqual([]);
  });

  it.each([
    ['MP3 as WAV', 'a.wav', mp3Of(31), 'a.mp3'],
    ['WAV as MP3', 'a.MP3', spokenWav(31), 'a.wav'],
    ['WAV without an ending', 'recording', spokenWav(31), 'recording.wav'],
    ['a video', 'a.mpg', MPEG, 'a.mpg'],
    ['a video as MPEG', 'a.mpeg', WEBM, 'a.webm'],
  ])(
    'sends type and ending of its content for %s: the service compares them',
    async (_, name, bytes, sent) => {
      const recording = write(name, bytes);
      const made = await withConfig('voice', 'clone', '--name', 'Anna', '--file', recording);
      expect(made.code).toBe(0);
      const [id = ''] = made.out.split(' ');
      // Not with --wait: the program asks the service rarely.
      const isSettled = async () => (await withConfig('voice', 'status', id)).out;
      await expect.poll(isSettled).toMatch(/Anna {2}(ready|failed)/);
      expect(await isSettled()).toMatch(/Anna {2}ready/);
      if (sent === name) expect(made.err).toBe('');
      else expect(made.err).toContain(`it is sent as "${sent}"`);
    },
  );

  it('warns about a recording that gives a poor voice, and refuses a --type that is not its own', async () => {
    const recording = write('a.wav', spokenWav(16));
    const named = ['voice', 'clone', '--name', 'Anna', '--file', recording];
    const short = await withConfig(...named);
    expect(short.code).toBe(0);
    expect(short.err).toMatch(/warning: the recording .*a\.wav is 16\.0 s long: voices are better from 30 s/);
    const wrong = await withConfig(...named, '--type', 'audio/mpeg');
    expect(wrong).toMatchObject({ code: 2, err: expect.stringMatching(/is WAV, not audio\/mpeg/) });
  });

  it('exits with 1 for a failed or unknown voice, and with 4 for one that is not ready in time', async () => {
    const recording = write('a.wav', spokenWav(32));
    emulator.fault({ kind: 'voice_failed' });
    const failed = await withConfig('voice', 'clone', '--name', 'Anna', '--file', recording, '--wait', '20');
    expect(failed.code).toBe(1);
    expect(failed.out).toMatch(/Anna {2}failed/);
    await emulator.close();
    emulator = await startEmulator({ apiKeys: [KEY], jwts: [JWT], voiceProcessingMs: 60_000 });
    configFile = writeConfig();
    const late = await withConfig('voice', 'clone', '--name', 'Anna', '--file', recording, '--wait', '0');
    expect(late.code).toBe(4);
    const unknown = await withConfig('voice', 'status', '11111111-1111-4111-8111-111111111111');
    expect(unknown).toMatchObject({ code: 1, err: expect.stringMatching(/there is no voice/) });
  });

  it('names what to check when the service refuses or does not answer', async () => {
    write('key', 'some-other-key');
    const refused = await withConfig('sessions', 'list');
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringMatching(/HTTP 401.*check service\.apiKeyFile/s),
    });
    expect(refused.err).not.toContain('some-other-key');
    write('key', KEY);
    await emulator.close();
    const gone = await withConfig('sessions', 'list');
    expect(gone).toMatchObject({
      code: 1,
      err: expect.stringMatching(/: nothing listens there; check service\.url/),
    });
    emulator = await startEmulator();
  });

  it('names file, line and column of a key whose file cannot be used', async () => {
    const service = {
      url: emulator.url,
      streamUrl: 'ws://127.0.0.1:1/s',
      apiKeyFile: 'nokey',
      jwtFile: 'nojwt',
    };
    const mqtt = { url: 'mqtt://127.0.0.1:1', caFile: 'noca' };
    const store = { url: 'postgres://db.example/d', passwordFile: 'nopassword' };
    const file = write(
      'lines.json',
      JSON.stringify({ mqtt, service, store, allow: ['museum/*'] }, undefined, 2),
    );
    const { code, err } = await run('sessions', 'list', '--config', file);
    expect(code).toBe(2);
    expect(err).toMatch(/lines\.json:4:\d+: mqtt\.caFile: the file noca cannot be read/);
    expect(err).toMatch(/lines\.json:9:\d+: service\.apiKeyFile: the secret file nokey does not exist/);
    expect(err).toMatch(/lines\.json:10:\d+: service\.jwtFile: the secret file nojwt does not exist/);
    const people = await run('people', 'list', '--config', file);
    expect(people.err).toMatch(/lines\.json:14:\d+: store\.passwordFile: .*nopassword does not exist/);
    const unset = write(
      'unset.json',
      JSON.stringify({ mqtt, service: { ...service, apiKeyFile: null }, allow: ['museum/*'] }),
    );
    expect((await run('sessions', 'list', '--config', unset)).err).toMatch(
      /unset\.json:1:\d+: service\.apiKeyFile is not set/,
    );
  });

  it('logs that it issues tokens when both broker and store can be used', async () => {
    const broker = await startBroker();
    const service = { url: emulator.url, streamUrl: 'ws://127.0.0.1:1/s', apiKeyFile: write('key', KEY) };
    const config = { mqtt: { url: broker.url }, service, allow: ['museum/*'] };
    const withoutStore = { ...config, store: { url: 'postgres://user@127.0.0.1:1/none' } };
    const down = begin(['run', '--config', write('down.json', JSON.stringify(withoutStore))]);
    await until(() => down.said.out.includes('listening for token requests'), 'the broker');
    down.signals.emit('SIGTERM');
    expect(await down.ended).toBe(0);
    expect(down.said.out).toContain('started: waiting for the broker and the store');
    expect(down.said.out).toContain('cannot be used: nothing listens there');
    expect(down.said.out).not.toContain('issuing tokens');
    const up = begin(['run', '--config', write('up.json', JSON.stringify(config))]);
    await until(() => up.said.out.includes('issuing tokens'), 'the start');
    up.signals.emit('SIGTERM');
    expect(await up.ended).toBe(0);
    await broker.close();
  });

  it('issues tokens until SIGTERM, and logs one JSON line per record', async () => {
    const broker = await startBroker();
    configFile = writeConfig(broker.url);
    const buses = createTestBuses();
    const device = buses.open({ url: broker.url }, { subscriptions: ['dragoman/v1/museum/kiosk/token/res'] });
    const program = begin(['run', '--config', configFile]);
    await until(
      () => program.said.out.includes('listening for token requests') && device.bus.connected,
      'start',
    );
    const request = {
      id: 'r1',
      lane: 'main',
      intent: 's2s',
      connection_type: 'ws',
      reason: 'start',
      attempt: 1,
    };
    device.bus.publish('dragoman/v1/museum/kiosk/token/req', JSON.stringify(request));
    await until(() => device.messages.length === 1, 'the answer');
    program.signals.emit('SIGTERM');
    expect(await program.ended).toBe(0);
    for (const line of program.said.out.trim().split('\n')) {
      expect(JSON.parse(line)).toMatchObject({ level: expect.any(String), msg: expect.any(String) });
    }
    expect(program.said.out).toContain('session granted');
    expect(program.said.out).not.toContain(KEY);
    expect(program.said.err).toBe('');
    await buses.closeAll();
    await broker.close();
  });
});
