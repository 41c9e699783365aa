import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { examineConfiguration } from '../../../../../src/device/doctor/checks/configuration/configuration-check.ts';
import { lookThroughSandbox } from '../../../../../src/device/doctor/checks/configuration/sandbox-facts.ts';
import { testConfig } from '../../../fake-deps.ts';

let folder: string;
const path = (name: string): string => join(folder, name);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-sandbox-'));
  mkdirSync(path('etc'));
  for (const name of ['config.json', 'etc/password', 'etc/ca.pem']) writeFileSync(path(name), 'x');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** @param forbidden the file that the user of the unit may not read */
const look = (unit: readonly string[], mqtt: object, forbidden: string | null = null, isRoot = true) => {
  const run = async (program: string, words: readonly string[]) => {
    if (program === 'systemctl') return { ok: true, text: ['LoadState=loaded', ...unit].join('\n') } as const;
    const isDenied = !isRoot || (words.includes('test') && words.at(-1) === forbidden);
    return isDenied ? ({ ok: false, missing: false, text: '' } as const) : ({ ok: true, text: '' } as const);
  };
  return lookThroughSandbox(
    { run } as never,
    path('config.json'),
    testConfig({}, { mqtt: { url: 'mqtt://127.0.0.1:1', username: 'kiosk', ...mqtt } }),
  );
};
const starts = () => `ExecStart={ argv[]=dragoman run --config ${path('config.json')} ; }`;

describe('the files of the configuration, as the service sees them', () => {
  it('are a problem when the sandbox hides them', async () => {
    const unit = [starts(), `InaccessiblePaths=${path('etc')}`];
    const mqtt = { caFile: path('etc/ca.pem'), passwordFile: 'mqtt-password' };
    const found = await look(unit, mqtt);
    expect(found.map(({ finding }) => finding)).toEqual([
      expect.stringMatching(/^mqtt\.caFile: .*InaccessiblePaths/),
    ]);
    symlinkSync(path('etc'), path('link'));
    expect(await look(unit, { caFile: path('link/ca.pem') })).toHaveLength(1);
  });

  it('are a problem when the user of the unit may not read them', async () => {
    const unit = [starts(), 'User=dragoman', 'Group=dragoman'];
    const mqtt = { passwordFile: path('etc/password'), caFile: path('etc/ca.pem') };
    const found = await look(unit, mqtt, path('etc/password'));
    expect(found.map(({ finding }) => finding)).toEqual([
      expect.stringMatching(/^mqtt\.passwordFile: .*user dragoman/),
    ]);
    // Without the right to ask as that user nothing is known.
    expect(await look(unit, mqtt, path('etc/password'), false)).toEqual([]);
  });

  it('count in the check of the configuration', async () => {
    const text = ['LoadState=loaded', starts(), `InaccessiblePaths=${folder}`].join('\n');
    const machine = { env: {}, run: async () => ({ ok: true, text }) } as never;
    expect(await examineConfiguration(path('config.json'), testConfig(), null, machine)).toMatchObject({
      verdict: 'problem',
      finding: expect.stringMatching(/^the configuration: .*InaccessiblePaths/),
    });
  });

  it('do not matter when the unit starts another configuration, or a file is missing', async () => {
    const hides = `InaccessiblePaths=${folder}`;
    expect(
      await look(['ExecStart=dragoman run --config /other', hides], { caFile: path('etc/ca.pem') }),
    ).toEqual([]);
    const outside = await look([starts(), `InaccessiblePaths=${path('etc')}`], {
      caFile: path('etc/none.pem'),
    });
    expect(outside).toEqual([]);
  });
});
