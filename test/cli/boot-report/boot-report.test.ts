import { EventEmitter } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { performBootReport } from '../../../src/cli/boot-report/perform-boot-report.ts';
import { runDeviceProgram } from '../../../src/cli/program.ts';
import { gather } from '../../gathered.ts';
import { watchStalls } from '../../stalls.ts';

const RESULT = {
  format: 1,
  at: null,
  outcome: 'applied',
  file: null as string | null,
  problems: [] as object[],
  notes: [],
  network: null,
  wifi: false,
};
const CONFIG = {
  device: { id: 'kiosk-01', tenant: 'museum' },
  mqtt: { url: 'mqtt://127.0.0.1:1' },
  lanes: [
    {
      source: 'it',
      targets: ['en'],
      playback: { device: 'loudspeaker' },
      capture: { driver: 'file', path: '/x.wav' },
    },
  ],
};
const READY = 'ready: main live, it to en; broker connected';

let folder = '';
const at = (name: string): string => join(folder, name);
const put = (name: string, value: unknown): void =>
  writeFileSync(at(name), typeof value === 'string' ? value : JSON.stringify(value));
/** Installs a program on the test machine, as a script. */
function program(name: string, script: string): void {
  put(`bin/${name}`, `#!/bin/sh\n${script}\n`);
  chmodSync(at(`bin/${name}`), 0o755);
}
const agentSays = (text: string): void =>
  program(
    'systemctl',
    `printf '%s\\n' LoadState=loaded ActiveState=active SubState=running 'StatusText=${text}'`,
  );

/** Blocks of a silent sound: only its length matters here. */
function phrase(language: string, code: string, blocks: number): void {
  mkdirSync(at(`phrases/${language}`), { recursive: true });
  const file = Buffer.alloc(48 + 8 + blocks * 256);
  file.write('RIFF\0\0\0\0WAVEfmt ', 0, 'latin1');
  file.writeUInt32LE(20, 16);
  file.writeUInt16LE(0x11, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(16_000, 24);
  file.writeUInt16LE(256, 32);
  file.write('data', 40, 'latin1');
  file.writeUInt32LE(blocks * 256, 44);
  writeFileSync(at(`phrases/${language}/${code}.wav`), file);
}
const BLOCK_BYTES = 505 * 2;

async function report(...more: string[]) {
  const { said, print, complain } = gather();
  const env = { PATH: at('bin') };
  const words = [
    '--config',
    at('config.json'),
    '--result',
    at('run/provisioning.json'),
    '--boot',
    at('boot'),
  ];
  const code = await runDeviceProgram(
    ['boot-report', ...words, '--phrases', at('phrases'), '--grace', '0', '--longest', '0', ...more],
    {
      env,
      print,
      complain,
      output: process.stdout as never,
      signals: process,
      onCrash() {},
      onClosed() {},
    },
  );
  return { code, printed: said.out, complained: said.err };
}
const status = (): string => readFileSync(at('boot/dragoman-status.txt'), 'utf8');
const played = (): number => statSync(at('played'), { throwIfNoEntry: false })?.size ?? 0;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-boot-report-'));
  for (const name of ['bin', 'boot', 'run']) mkdirSync(at(name));
  put('config.json', CONFIG);
  // No program can leave a sound here, as when there is no agent: the loudspeaker is used at once.
  mkdirSync(at('run/announcement.pcm'));
  program('aplay', `echo "$@" >>${at('words')}; /bin/cat >>${at('played')}`);
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('dragoman boot-report', () => {
  it('announces "ready" in the kiosk’s language on the configured loudspeaker', async () => {
    put('run/provisioning.json', RESULT);
    agentSays(READY);
    phrase('it', 'applied', 3);
    phrase('it', 'ready', 2);
    const { code, printed, complained } = await report();
    expect([code, complained]).toEqual([0, '']);
    expect(played()).toBe(5 * BLOCK_BYTES);
    expect(readFileSync(at('words'), 'utf8')).toContain('-D loudspeaker -t raw -f S16_LE -r 16000 -c 1');
    expect(printed).toMatch(/Announced on loudspeaker\.\n/);
    expect(status()).toMatch(
      /State: {2}ready\. The kiosk is ready\.\r\n {8}Il chiosco è pronto\.\r\n\r\nAnnounced on loudspeaker\.\r\n$/,
    );
  });

  it('announces in English when a phrase is missing in the language, and no agent accepts the sound', async () => {
    rmSync(at('run/announcement.pcm'), { recursive: true });
    put('run/provisioning.json', { ...RESULT, outcome: 'unchanged' });
    agentSays(READY);
    phrase('en', 'ready', 4);
    expect((await report()).code).toBe(0);
    expect(played()).toBe(4 * BLOCK_BYTES);
  });

  it('announces a problem of the settings and writes its place to the card', async () => {
    const problems = [{ field: 'wifi.passphrase', message: 'must have 8 characters', fix: 'Give it more.' }];
    put('run/provisioning.json', { ...RESULT, outcome: 'file_invalid', problems });
    put('config.json', '{');
    phrase('en', 'file_invalid', 1);
    const { code, printed } = await report();
    expect(code).toBe(3);
    expect(printed).toContain('The file dragoman.json has a mistake.');
    expect(status()).toContain('Found: wifi.passphrase must have 8 characters. Give it more.\r\n');
  });

  it('continues without phrases, without aplay and without a writable boot partition', async () => {
    put('run/provisioning.json', RESULT);
    agentSays(READY);
    rmSync(at('boot'), { recursive: true });
    const bare = await report();
    expect(bare.code).toBe(0);
    expect(bare.printed).toContain(
      `The recorded phrases are missing in ${at('phrases')}: reinstall the package dragoman.\n`,
    );
    expect(bare.printed).toContain('cannot write dragoman-status.txt');
    rmSync(at('bin/aplay'));
    phrase('en', 'ready', 1);
    expect((await report()).printed).toContain('Not announced on loudspeaker: ');
  });

  it.each([
    ['is garbage', '\u0000\u0001{{{'],
    ['is hostile', { ...RESULT, outcome: 'constructor', file: '/etc/shadow' }],
  ])('announces the state of the kiosk when the provisioning result %s', async (_, value) => {
    put('run/provisioning.json', value);
    agentSays(READY);
    phrase('en', 'ready', 1);
    const { code, printed } = await report();
    expect([code, printed]).toEqual([0, expect.stringContaining('The kiosk is ready.')]);
  });

  it.each([
    ['there was no file', { ...RESULT, outcome: 'no_file' }],
    ['nothing was read', null],
  ])('announces nothing on a kiosk that was set up by hand: %s', async (_, value) => {
    if (value !== null) put('run/provisioning.json', value);
    expect(await report()).toEqual({
      code: 0,
      complained: '',
      printed: 'There is no dragoman.json, and the kiosk is set up: nothing to announce.\n',
    });
    expect(played()).toBe(0);
  });

  it.each([
    ['there was no file', { ...RESULT, outcome: 'no_file' }],
    ['nothing was read', null],
  ])('announces the missing file when there is no configuration either: %s', async (_, value) => {
    if (value !== null) put('run/provisioning.json', value);
    agentSays('degraded (config): device.id: must be given');
    put('config.json', '{}');
    expect((await report()).code).toBe(3);
    expect(status()).toContain('State:  no_file.');
  });

  it('prints no secret and no control character of texts from outside', async () => {
    put('run/provisioning.json', RESULT);
    agentSays('degraded (no_broker): x; no broker: mqtts://kiosk:s3cret@broker.example refused \\033[2J');
    const { printed } = await report();
    expect(printed + status()).not.toContain('s3cret');
    expect(printed + status()).not.toContain('\u001b');
  });

  it.each([
    ['--grace', '-1'],
    ['--longest', 'forever'],
    ['--grace', '1e9'],
  ])('refuses %s %s', async (...words) => {
    expect(await report(...words)).toMatchObject({
      code: 2,
      complained: expect.stringContaining('whole number of seconds'),
    });
  });

  it('ends within a second of SIGTERM, also during an announcement', async () => {
    put('run/provisioning.json', RESULT);
    agentSays(READY);
    phrase('it', 'applied', 3);
    program('aplay', `echo $$ >${at('pid')}; exec /bin/sleep 60`);
    const signals = new EventEmitter();
    const shell = { env: { PATH: at('bin') }, print() {}, complain() {}, finish() {} };
    const options = {
      config: at('config.json'),
      result: at('run/provisioning.json'),
      boot: at('boot'),
      phrases: at('phrases'),
    };
    const reporting = performBootReport({ ...options, grace: 90, longest: 1800 }, shell, signals);
    while (statSync(at('pid'), { throwIfNoEntry: false }) === undefined)
      await new Promise((resolve) => setTimeout(resolve, 20));
    const stalls = watchStalls();
    const began = performance.now();
    signals.emit('SIGTERM');
    await reporting;
    expect(performance.now() - began).toBeLessThan(1000 + 2 * stalls.ms());
    expect(signals.listenerCount('SIGTERM')).toBe(0);
  });
});
