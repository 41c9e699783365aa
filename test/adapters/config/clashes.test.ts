import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatProblem } from '../../../src/adapters/config/layer.ts';
import { loadConfig } from '../../../src/adapters/config/load.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-clash-'));
  writeFileSync(join(folder, 'in.wav'), 'visitor');
});
afterEach(() => rmSync(folder, { recursive: true }));

type Lane = { id?: string; capture?: object; playback?: object };
function problems(lanes: readonly Lane[], more: object = {}): string[] {
  const file = join(folder, 'config.json');
  const config = {
    device: { id: 'kiosk-01', tenant: 'museum' },
    mqtt: { url: 'mqtt://127.0.0.1' },
    lanes: lanes.map((lane) => ({ source: 'en', targets: ['es'], ...lane })),
    ...more,
  };
  writeFileSync(file, JSON.stringify(config, null, 1));
  const result = loadConfig({ file, env: {} });
  return result.ok
    ? []
    : result.problems.map((problem) => formatProblem(problem).replaceAll(`${folder}/`, ''));
}
const hears = (path: string) => ({ driver: 'file', path: join(folder, path) });
const card = (device: string) => ({ device });

function link(make: (target: string, path: string) => void, target: string, name: string): string {
  make(join(folder, target), join(folder, name));
  return name;
}

describe('a file that playback would overwrite', () => {
  it.each([
    ['by the same name', () => 'in.wav'],
    ['by a way around', () => './x/../in.wav'],
    ['through a symbolic link', () => link(symlinkSync, 'in.wav', 's')],
    ['through a hard link', () => link(linkSync, 'in.wav', 'h')],
    ['through a link of a folder', () => `${link(symlinkSync, '.', 'f')}/in.wav`],
  ])('is refused when it is the capture file: %s', (_what, make) => {
    const path = make();
    const [problem, ...others] = problems([{ capture: hears('in.wav'), playback: hears(path) }]);
    expect(others).toEqual([]);
    expect(problem).toMatch(
      /^config\.json:\d+:\d+: lanes\[0\]\.playback\.path: .* is the file of lanes\[0\]\.capture\.path, which would be overwritten/,
    );
  });

  it('is refused when another lane reads or writes it, even if it does not exist yet', () => {
    mkdirSync(join(folder, 'd'));
    symlinkSync(join(folder, 'd'), join(folder, 'e'));
    const found = problems([
      { id: 'a', capture: card('plughw:CARD=A'), playback: hears('d/out.wav') },
      { id: 'b', capture: hears('in.wav'), playback: hears('e/out.wav') },
      { id: 'c', capture: card('plughw:CARD=C'), playback: hears('in.wav') },
    ]);
    expect(found).toHaveLength(2);
    expect(found[0]).toMatch(/lanes\[1\]\.playback\.path: .* the file of lanes\[0\]\.playback\.path/);
    expect(found[1]).toMatch(/lanes\[2\]\.playback\.path: .* the file of lanes\[1\]\.capture\.path/);
  });

  it('is refused when it is the configuration or a secret', () => {
    expect(problems([{ playback: hears('config.json') }])[0]).toContain('is the configuration itself');
    const mqtt = { url: 'mqtt://127.0.0.1', username: 'x', passwordFile: join(folder, 'in.wav') };
    expect(problems([{ playback: hears('in.wav') }], { mqtt })[0]).toContain('the file of mqtt.passwordFile');
  });

  it('may be any other file, and several lanes may read one file', () => {
    expect(
      problems([
        { id: 'a', capture: hears('in.wav'), playback: hears('a.wav') },
        { id: 'b', capture: hears('in.wav'), playback: hears('b.wav') },
      ]),
    ).toEqual([]);
  });
});

describe('a sound device', () => {
  it.each([
    ['plughw:CARD=Mic', 'plughw:CARD=Mic'],
    ['plughw:CARD=Mic', 'hw:Mic,0'],
    ['hw:1', 'plughw:1,0'],
    ['default', 'default'],
  ])('is refused for two lanes: %s and %s', (one, other) => {
    const lanes = [
      { id: 'a', capture: card(one), playback: card('plughw:CARD=A') },
      { id: 'b', capture: card(other), playback: card('plughw:CARD=B') },
    ];
    expect(problems(lanes)).toEqual([
      expect.stringMatching(
        /lanes\[1\]\.capture\.device: .* is the device of lanes\[0\]\.capture\.device too/,
      ),
    ]);
  });

  it('may be both microphone and loudspeaker, or shared by ALSA or a sound server', () => {
    expect(
      problems([
        { id: 'a', capture: card('plughw:CARD=A'), playback: card('plughw:CARD=A') },
        { id: 'b', capture: card('plughw:CARD=B'), playback: card('plughw:CARD=A,DEV=1') },
        { id: 'c', capture: card('pulse'), playback: card('dmix:CARD=A') },
        { id: 'd', capture: card('pulse'), playback: card('dmix:CARD=A') },
      ]),
    ).toEqual([]);
  });
});

describe('a value that no system accepts', () => {
  it.each([
    ['a NUL in a file', [{ capture: { driver: 'file', path: 'a\0b' } }], {}, 'lanes[0].capture.path'],
    ['a NUL in a device', [{ capture: card('hw:1\0') }], {}, 'lanes[0].capture.device'],
    ['a NUL in a command', [{ capture: { driver: 'command', command: ['a\0'] } }], {}, 'command[0]'],
    ['a line break in an address', [{}], { mqtt: { url: 'mqtt://a\nb' } }, 'mqtt.url'],
    ['port 0', [{}], { mqtt: { url: 'mqtt://127.0.0.1:0' } }, 'mqtt.url'],
    ['a NUL in the prefix', [{}], { mqtt: { url: 'mqtts://a', prefix: 'a\0b' } }, 'mqtt.prefix'],
  ])('is refused: %s', (_what, lanes, more, key) => {
    expect(problems(lanes, more)).toEqual([expect.stringContaining(key)]);
  });

  it.each(['all', 'group', 'backend', 'claim'])('is refused: the device id %s', (id) => {
    expect(problems([{}], { device: { id, tenant: 'museum' } })).toEqual([
      expect.stringMatching(/device\.id: .*reserved/),
    ]);
  });
});
