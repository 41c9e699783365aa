import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Report } from './virtual/report.ts';
import { obeyUsbRequests } from './virtual/usb-requests.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-usb-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** QEMU's recording after the kernel has doubled the rate: each sample, then an interpolated one, in two channels. */
const wavOf = (samples: readonly number[]): Buffer =>
  Buffer.concat([
    Buffer.alloc(44),
    ...samples.map((sample) => Buffer.from(Int16Array.of(sample, sample, sample + 1, sample + 1).buffer)),
  ]);

it('keeps the sound of a USB loudspeaker in pieces, and starts a new recording when it is plugged in again', async () => {
  const sound = join(folder, 'usb.wav');
  const reports: Report[] = [{ kind: 'began', scenario: 'usb-loudspeaker', atS: 1 }];
  const commands: string[] = [];
  const usb = obeyUsbRequests(
    () => reports,
    async (command) => {
      commands.push(command);
      return '';
    },
    sound,
  );
  try {
    const ask = async (...asked: ('plug' | 'pull' | 'keep')[]): Promise<void> => {
      const pieces = usb.pieces().length + asked.filter((one) => one !== 'plug').length;
      reports.push(...asked.map((one) => ({ kind: 'asked' as const, usb: one })));
      await expect.poll(() => usb.pieces().length).toBe(pieces);
    };
    writeFileSync(sound, wavOf([10, 20]));
    await ask('plug', 'keep');
    writeFileSync(sound, wavOf([10, 20, 30]));
    await ask('pull');
    writeFileSync(sound, wavOf([40]));
    await ask('plug', 'pull');
    expect(usb.pieces().map((piece) => [...piece])).toEqual([[10, 20], [30], [40]]);
    expect(commands.map((command) => command.split(',')[0])).toEqual([
      'device_add usb-audio',
      'device_del horn',
      'device_add usb-audio',
      'device_del horn',
    ]);
  } finally {
    usb.stop();
  }
});
