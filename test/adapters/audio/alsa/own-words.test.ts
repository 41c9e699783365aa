import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createAlsaPlayback } from '../../../../src/adapters/audio/alsa/aplay.ts';
import { createAlsaCapture } from '../../../../src/adapters/audio/alsa/arecord.ts';
import { createCommandCapture } from '../../../../src/adapters/audio/drivers/command-driver.ts';
import { needs } from '../../../needs.ts';
import { createListener, makeFailing, RATE_HZ } from '../child/fake-programs.ts';

const hasAlsa = ['arecord', 'aplay'].every((name) => spawnSync(name, ['--version']).status === 0);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-asound-'));
});
afterEach(() => {
  delete process.env['ALSA_CONFIG_PATH'];
  rmSync(folder, { recursive: true, force: true });
});

/** Makes ALSA read this configuration after its own. */
function configure(text: string): string {
  const file = join(folder, 'asound.conf');
  writeFileSync(file, `</usr/share/alsa/alsa.conf>\n${text}\n`);
  process.env['ALSA_CONFIG_PATH'] = file;
  return file;
}

async function faultsOf(device: string) {
  const { heard, captureSink, playbackSink, deps } = createListener();
  const options = { device, rateHz: RATE_HZ, seed: 1, deps };
  const capture = await createAlsaCapture(options)(captureSink);
  onTestFinished(() => capture.close());
  const playback = await createAlsaPlayback(options)(playbackSink);
  onTestFinished(() => playback.close());
  await expect.poll(() => heard.faults.length, { timeout: 60_000 }).toBeGreaterThan(1);
  return heard.faults.slice(0, 2);
}

describe(
  'a device of ALSA (skipped without arecord and aplay)',
  needs(!hasAlsa && 'needs alsa-utils'),
  () => {
    it('fails with the place and the file when a brace is missing in the configuration', async () => {
      const file = configure('pcm.mic {\n  type plug\n  slave { pcm "null"\n}');
      for (const { code, message } of await faultsOf('mic')) {
        expect(code).toBe('failed');
        expect(message).toMatch(
          /^the \w+ device "mic" cannot be opened: ALSA does not read its configuration \(ALSA: "_toplevel_:\d+:\d+:[^"]+", /,
        );
        expect(message).toContain(`"${file} may be old or corrupted`);
        expect(message).toMatch(/; repair the file that it names, or \/etc\/asound\.conf$/);
      }
    });

    it('fails with the name of the plugin when that is missing', async () => {
      configure('pcm.mic { type nosuch }');
      for (const { code, message } of await faultsOf('mic')) {
        expect(code).toBe('failed');
        expect(message).toMatch(
          /^the \w+ device "mic" cannot be opened: a plugin of ALSA is missing \(ALSA: "[^"]*libasound_module_pcm_nosuch\.so/,
        );
      }
    });

    it('fails with the words of ALSA alone when its definition is wrong', async () => {
      configure('pcm.mic { type plug slave.pcm "null" nonsense 3 }');
      for (const { code, message } of await faultsOf('mic')) {
        expect([code, message]).toEqual([
          'failed',
          expect.stringMatching(/^the \w+ device "mic" cannot be opened \(ALSA: "Unknown field nonsense"\)$/),
        ]);
      }
    });

    it('fails with the words of ALSA beside the advice when there is none', async () => {
      configure('');
      for (const { code, message } of await faultsOf('plughw:CARD=NotThere')) {
        expect(code).toBe('not_found');
        expect(message).toMatch(
          /^there is no \w+ device "plughw:CARD=NotThere" \(ALSA: "[^"]*NotThere[^"]*"[^)]*\); plug it in/,
        );
      }
    });
  },
);

it('fails with the last words of a command, without login and control characters', async () => {
  const { heard, captureSink, deps } = createListener();
  for (const words of [
    'rtsp://anna:pa@ss@cam.example/1: Connection refused',
    '\u001b[31mrtsp://anna:pa@ss@cam.example/1 is not a camera',
  ]) {
    const open = createCommandCapture({ command: [makeFailing(words)], rateHz: RATE_HZ, seed: 1, deps });
    const capture = await open(captureSink);
    onTestFinished(() => capture.close());
  }
  await expect.poll(() => heard.faults.length, { timeout: 60_000 }).toBe(2);
  const messages = heard.faults.map(({ message }) => message).toSorted();
  expect(messages).toEqual([
    expect.stringContaining('after saying "[31mrtsp://[redacted]@cam.example/1 is not a camera"'),
    expect.stringMatching(
      /\(\S+: "rtsp:\/\/\[redacted\]@cam\.example\/1: Connection refused"\); is it running\?$/,
    ),
  ]);
});
