import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { devicesVerb } from '../../../src/cli/devices/devices-verb.ts';
import { runProgram } from '../../../src/program/program.ts';
import { devicesReportSchema } from '../../../src/protocol/devices-report.ts';
import { gather } from '../../gathered.ts';
import { wrongIn } from '../../snake-case.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-devices-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function run(words: readonly string[], env: Record<string, string | undefined> = process.env) {
  const { said, print, complain } = gather();
  const code = await runProgram({
    name: 'dragoman',
    summary: 'A test.',
    verbs: [devicesVerb],
    argv: ['devices', ...words],
    env,
    print,
    complain,
  });
  return { code, ...said };
}

/** These tests run on any machine, with or without sound cards. */
describe('devices', () => {
  it('lists devices as text and as JSON, and fails only without any device', async () => {
    const text = await run([]);
    const json = await run(['--json']);
    const report = JSON.parse(json.out);
    expect(wrongIn(devicesReportSchema, report)).toBeNull();
    const isDeaf = report.cards.length === 0 && report.software.length === 0;
    expect([text.code, json.code]).toEqual(isDeaf ? [1, 1] : [0, 0]);
    expect([text.err, json.err]).toEqual(['', '']);
    if (report.cards.length === 0) expect(text.out).toMatch(/no sound/);
    for (const { id } of report.cards) expect(text.out).toContain(`(${id}, card`);
  });

  it('names the package when the programs of ALSA are missing', async () => {
    const { out } = await run([], { PATH: folder });
    expect(out).toContain('sudo apt install alsa-utils');
    const report = JSON.parse((await run(['--json'], { PATH: folder })).out);
    expect(report).toMatchObject({ alsa_tools: false, software: [] });
  });

  it('checks the devices of a configuration, or prints its problems', async () => {
    const file = join(folder, 'config.json');
    const device = 'plughw:CARD=NobodyHasThis';
    const config = {
      device: { id: 'a', tenant: 'b' },
      mqtt: { url: 'mqtt://localhost' },
      lanes: [{ source: 'en', targets: ['es'], capture: { device }, playback: { device } }],
    };
    writeFileSync(file, JSON.stringify(config));
    const { out, err } = await run(['--config', file]);
    expect(err).toBe('');
    expect(out).toContain(`  lane main, capture: "${device}"\n    not present`);
    expect(JSON.parse((await run(['--config', file, '--json'])).out).configured).toMatchObject([
      { lane: 'main', direction: 'capture', device, there: false },
      { lane: 'main', direction: 'playback', device, there: false },
    ]);
    writeFileSync(file, JSON.stringify({ ...config, lanes: [] }));
    const refused = await run(['--config', file]);
    expect(refused).toMatchObject({ code: 2, out: '' });
    expect(refused.err).toMatch(/lanes: is an empty\s+list;\s+must\s+contain/);
  });

  it.each([
    [['--seconds', '0', '--meter'], /must be a number of seconds/],
    [['--seconds', '3'], /--seconds needs --meter or --keys/],
    [['--keys', '--meter'], /--keys and --meter exclude each other/],
    [['--metre'], /Did you mean --meter/],
  ])('rejects the command line %j', async (words, message) => {
    const { code, out, err } = await run(words);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(message);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
  });
});
