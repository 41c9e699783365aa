import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createKeyPair } from '../../../src/adapters/signing/signing-keys.ts';
import { checkConfigVerb } from '../../../src/cli/check-config/check-config.ts';
import { runProgram } from '../../../src/program/program.ts';
import { gather } from '../../gathered.ts';
import { DESK_MISTAKES, withMistake } from '../run/desk-mistakes.ts';

async function run(argv: readonly string[], env: Record<string, string> = {}) {
  const { said, print, complain } = gather();
  const code = await runProgram({
    name: 'dragoman',
    summary: 'A test.',
    verbs: [checkConfigVerb],
    argv,
    env,
    print,
    complain,
  });
  return { code, ...said };
}

describe('check-config', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'dragoman-check-'));
    file = join(folder, 'config.json');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const url = `mqtts://${'long.'.repeat(30)}example:8883`;
  const valid = {
    device: { id: 'kiosk-01', tenant: 'museum' },
    mqtt: { url },
    lanes: [{ id: 'a'.repeat(64), source: 'en', targets: ['es'] }],
  };

  it('prints every value with its source, within 80 columns', async () => {
    writeFileSync(file, JSON.stringify(valid, null, 2));
    const env = { DRAGOMAN_LANES_0_CAPTURE_SAMPLE_RATE: '16000' };
    const { code, out, err } = await run(['check-config', '--config', file], env);
    expect(code).toBe(0);
    expect(longest(err)).toBeLessThanOrEqual(80);
    const lines = out.split('\n').slice(2);
    expect(longest(lines.join('\n'))).toBeLessThanOrEqual(80);
    expect(lines.find((line) => line.startsWith('device.id '))).toMatch(
      /^device\.id +"kiosk-01" +config\.json:3:5$/,
    );
    expect(lines.find((line) => line.startsWith('log.level '))).toMatch(/"info" +default$/);
    expect(out).toMatch(/lanes\[0\]\.capture\.sampleRate +16000\n +DRAGOMAN_LANES_0_CAPTURE_SAMPLE_RATE\n/);
    expect(out.replace(/\n +/g, '')).toContain(url);
  });

  it('warns about a password that ends with a blank, and refuses one in UTF-16', async () => {
    const passwordFile = join(folder, 'password');
    writeFileSync(passwordFile, '\ufeffswordfish \n', { mode: 0o600 });
    writeFileSync(file, JSON.stringify({ ...valid, mqtt: { url, username: 'kiosk-01', passwordFile } }));
    const { code, out, err } = await run(['check-config', '--config', file]);
    expect(code).toBe(0);
    expect(err.replace(/\n +/g, ' ')).toContain('the secret in it ends with a blank, which is sent with it');
    expect(out + err).not.toContain('swordfish');
    writeFileSync(passwordFile, Buffer.from('\ufeffswordfish', 'utf16le'));
    const refused = await run(['check-config', '--config', file]);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('it is UTF-16')]);
  });

  it('prints the same as JSON', async () => {
    writeFileSync(file, JSON.stringify(valid));
    const { code, out } = await run(['check-config', '--config', file, '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      ok: true,
      config: { device: valid.device, log: { level: 'info' } },
      provenance: expect.arrayContaining([
        { path: 'log.level', value: 'info', source: { kind: 'default', name: 'default' } },
      ]),
    });
  });

  it('warns when streams may go to any host, and when the broker has no TLS', async () => {
    const service = { hosts: ['stream.example'] };
    const clear = { url: 'mqtt://broker.example', allowInsecure: true };
    const ownerFile = join(folder, 'owner.pem');
    writeFileSync(ownerFile, createKeyPair().publicPem);
    const owner = { publicKeyFiles: [ownerFile] };
    const warned = async (more: object): Promise<string[]> => {
      writeFileSync(file, JSON.stringify({ ...valid, ...more }));
      const { code, out } = await run(['check-config', '--config', file, '--json']);
      const { ok, warnings } = JSON.parse(out) as { ok: boolean; warnings: { key: string }[] };
      expect({ code, ok }).toEqual({ code: 0, ok: true });
      return warnings.map(({ key }) => key);
    };
    expect(await warned({})).toEqual(['owner.publicKeyFiles', 'service.hosts']);
    expect(await warned({ owner })).toEqual(['service.hosts']);
    expect(await warned({ owner, service })).toEqual([]);
    expect(await warned({ owner, service, mqtt: clear })).toEqual(['mqtt.url']);
    // On this machine there is no other publisher.
    expect(await warned({ service, mqtt: { url: 'mqtt://127.0.0.1' } })).toEqual([]);
    expect(await warned({ owner, service, mqtt: clear })).toEqual(['mqtt.url']);
    const { err } = await run(['check-config', '--config', file]);
    expect(err).toContain('warning: mqtt.url leaves this machine unencrypted');
  });

  it('reports named files that are missing, world-readable, of two lines, or no certificate', async () => {
    const put = (name: string, text: string, mode = 0o600): string => {
      writeFileSync(join(folder, name), text);
      chmodSync(join(folder, name), mode);
      return join(folder, name);
    };
    const service = { hosts: ['stream.example'] };
    const owner = { publicKeyFiles: [put('owner.pem', createKeyPair().publicPem)] };
    const check = async (mqtt: object, lane: object = {}) => {
      const lanes = [{ ...valid.lanes[0], ...lane }];
      writeFileSync(
        file,
        JSON.stringify({ ...valid, owner, service, lanes, mqtt: { url, username: 'x', ...mqtt } }, null, 1),
      );
      const { code, err } = await run(['check-config', '--config', file]);
      return { code, err: err.replace(/\n +/g, ' ').replaceAll(`${folder}/`, '') };
    };
    const good = { passwordFile: put('good', 'swordfish\n') };
    const heard = { capture: { driver: 'file', path: put('in.wav', 'x') } };
    expect(await check(good, heard)).toEqual({ code: 0, err: '' });

    put('owner.pem', createKeyPair().privatePem);
    const mixedUp = await check(good, heard);
    expect(mixedUp.code).toBe(2);
    expect(mixedUp.err).toContain('owner.publicKeyFiles: the file owner.pem holds a private key');
    put('owner.pem', createKeyPair().publicPem);

    const missing = await check({ passwordFile: join(folder, 'none') });
    expect(missing.code).toBe(2);
    expect(missing.err).toMatch(/config\.json:\d+:\d+: mqtt\.passwordFile: .*none does not exist/);
    const open = await check({ passwordFile: put('open', 'swordfish', 0o644) });
    expect(open.err).toMatch(/mqtt\.passwordFile: .*readable by everyone: chmod o-rwx/);
    expect((await check({ passwordFile: put('two', 'sword\nfish') })).err).toMatch(/more than one line/);
    expect((await check({ caFile: put('ca', 'not PEM') })).err).toMatch(
      /mqtt\.caFile: .*no certificate in PEM/,
    );
    const lane = {
      capture: { driver: 'file', path: join(folder, 'none.wav') },
      playback: { driver: 'file', path: join(folder, 'none', 'out.wav') },
    };
    const { err } = await check(good, lane);
    expect(err).toMatch(/lanes\[0\]\.capture\.path: .*none\.wav/);
    expect(err).toMatch(/lanes\[0\]\.playback\.path: .*out\.wav/);
    expect(err).not.toContain('fish');
  });

  it('lists every problem on standard error, within 80 columns, and exits with 2', async () => {
    writeFileSync(
      file,
      JSON.stringify({ ...valid, mqtt: { url: 'http://x' }, lanes: [{ echo: 'half' }], logs: {} }),
    );
    const { code, out, err } = await run(['check-config', '--config', file]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/has\s+5\s+problems\.\n/);
    expect(err).not.toContain('started');
    const [, ...lines] = err.split('\n');
    for (const key of ['mqtt.url', 'lanes[0].echo', 'lanes[0].source', 'lanes[0].targets', 'logs']) {
      expect(err.replaceAll(/\s+/g, ' ')).toContain(`${key}: `);
    }
    expect(lines.filter((line) => line.startsWith('- '))).toHaveLength(5);
    const withoutPath = lines.join('\n').replaceAll(folder, '');
    expect(longest(withoutPath)).toBeLessThanOrEqual(80);
  });

  it('lists every problem as JSON on standard output with --json', async () => {
    const { code, out, err } = await run(['check-config', '--config', file, '--json']);
    expect({ code, err }).toEqual({ code: 2, err: '' });
    expect(JSON.parse(out)).toMatchObject({
      ok: false,
      problems: [{ source: { kind: 'file', name: file } }],
    });
  });

  it.each(DESK_MISTAKES.map((mistake) => [mistake.name, mistake] as const))(
    'says what is wrong with %s',
    async (_name, mistake) => {
      writeFileSync(file, JSON.stringify({ ...valid, ...withMistake(mistake, {}) }));
      const { code, err } = await run(['check-config', '--config', file]);
      expect(code).toBe(2);
      expect(err.replaceAll(/\s+/g, ' ')).toMatch(mistake.says);
      expect(err).toMatch(/has\s+one\s+problem\.\n/);
    },
  );

  it('warns of languages that are not known', async () => {
    const lanes = [{ source: 'qq', targets: ['es', 'xx', 'pt-br', 'zh-Hans', 'yue'] }];
    writeFileSync(file, JSON.stringify({ ...valid, lanes }));
    const { code, out, err } = await run(['check-config', '--config', file]);
    expect([code, out]).toEqual([0, expect.stringContaining('is valid')]);
    expect(err).toMatch(/warning: lanes\[0\]\.source names "qq", which is not a known\s+language/);
    expect(err).toMatch(/warning: lanes\[0\]\.targets names "xx"/);
    expect(err.match(/is not a known\s+language/g)).toHaveLength(2);
  });
});

function longest(text: string): number {
  return Math.max(...text.split('\n').map((line) => line.length));
}
