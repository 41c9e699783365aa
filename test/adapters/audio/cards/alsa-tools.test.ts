import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAlsaTools } from '../../../../src/adapters/audio/cards/alsa-tools.ts';
import { needs } from '../../../needs.ts';
import { BOARD_PARAMETERS } from './machines.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-alsa-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Puts shell scripts with these names first on the path. */
function programs(scripts: Record<string, string>): Record<string, string> {
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return { PATH: `${folder}:/usr/bin:/bin` };
}

describe('asking a device for its abilities', () => {
  it('opens the device without recording, and reads the answer', async () => {
    writeFileSync(join(folder, 'dump'), BOARD_PARAMETERS);
    const env = programs({ arecord: `echo "$LC_ALL $*" > ${folder}/words; cat ${folder}/dump >&2; exit 1` });
    const answer = await createAlsaTools({ env }).askAbility('capture', 'hw:CARD=Mic,DEV=0');
    expect(answer).toMatchObject({ ok: true, ability: { formats: ['S16_LE', 'S24_LE', 'S32_LE'] } });
    const { stdout } = spawnSync('cat', [join(folder, 'words')], { encoding: 'utf8' });
    expect(stdout).toMatch(/^C -D hw:CARD=Mic,DEV=0 --dump-hw-params .*\/dev\/null$/m);
  });

  it('does not wait for the program’s end once the answer is complete', async () => {
    writeFileSync(join(folder, 'dump'), BOARD_PARAMETERS);
    const env = programs({ aplay: `cat ${folder}/dump >&2; exec sleep 60` });
    const answer = await createAlsaTools({ env, limitMs: 50_000 }).askAbility('playback', 'hw:0');
    expect(answer.ok).toBe(true);
  });

  it('times out when a device does not answer', async () => {
    const env = programs({ arecord: 'exec sleep 60' });
    const answer = await createAlsaTools({ env, limitMs: 200 }).askAbility('capture', 'hw:0');
    expect(answer).toEqual({ ok: false, reason: 'no answer in 0.2 s' });
  });

  it('reports the reason in ALSA’s words', async () => {
    const env = programs({
      arecord:
        'echo "ALSA lib x.c:1:(y) z" >&2; echo "arecord: main:831: audio open error: Device or resource busy" >&2; exit 1',
      aplay: 'exit 1',
    });
    const tools = createAlsaTools({ env });
    expect(await tools.askAbility('capture', 'hw:0')).toEqual({
      ok: false,
      reason: 'Device or resource busy, ALSA: "z"',
    });
    expect(await tools.askAbility('playback', 'hw:0')).toEqual({ ok: false, reason: 'it gave no reason' });
  });

  it('reports that the programs are not installed', async () => {
    const tools = createAlsaTools({ env: { PATH: folder } });
    expect(await tools.askAbility('capture', 'hw:0')).toEqual({
      ok: false,
      reason: 'arecord is not installed',
    });
    expect(await tools.listSoftware('playback')).toBeNull();
  });
});

const hasAlsa = ['arecord', 'aplay'].every((name) => spawnSync(name, ['--version']).status === 0);

describe(
  'the real programs (skipped without arecord and aplay)',
  needs(!hasAlsa && 'needs alsa-utils'),
  () => {
    const configured = (): Record<string, string> => {
      const file = join(folder, 'asound.conf');
      writeFileSync(
        file,
        `</usr/share/alsa/alsa.conf>
pcm.booth { type null hint { show on description "The booth" } }
`,
      );
      return { PATH: process.env['PATH'] ?? '', ALSA_CONFIG_PATH: file };
    };

    it('list the devices of a configuration', async () => {
      const tools = createAlsaTools({ env: configured(), limitMs: 20_000 });
      const booth = { name: 'booth', description: 'The booth' };
      for (const direction of ['capture', 'playback'] as const) {
        const list = await tools.listSoftware(direction);
        expect(list?.trouble).toBeNull();
        expect(list?.devices).toContainEqual(booth);
      }
    });

    it('report the place and the file when a brace is missing in the configuration', async () => {
      const env = configured();
      writeFileSync(env['ALSA_CONFIG_PATH'] ?? '', '</usr/share/alsa/alsa.conf>\npcm.booth {\n  type null\n');
      const tools = createAlsaTools({ env, limitMs: 20_000 });
      const words = expect.stringMatching(/ALSA: "_toplevel_:\d+:\d+:[^"]+", "\S+asound.conf may be old/);
      expect(await tools.listSoftware('capture')).toEqual({ devices: [], trouble: words });
      expect(await tools.askAbility('playback', 'booth')).toEqual({ ok: false, reason: words });
    });

    it('report what a device can do, and that another one does not exist', async () => {
      const tools = createAlsaTools({ env: configured(), limitMs: 20_000 });
      for (const direction of ['capture', 'playback'] as const) {
        const answer = await tools.askAbility(direction, 'booth');
        expect(answer.ok && answer.ability.formats).toContain('S16_LE');
        // A machine may have many cards, but none of this name.
        const gone = await tools.askAbility(direction, 'hw:CARD=NotThere');
        expect(gone).toEqual({ ok: false, reason: expect.stringMatching(/No such|cannot/i) });
      }
    });
  },
);
