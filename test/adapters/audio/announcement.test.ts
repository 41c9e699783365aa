import { spawnSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { handOver, watchAnnouncements } from '../../../src/adapters/audio/announcement.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

const PCM = Uint8Array.from({ length: 96_000 }, (_, i) => i % 251);
let folder = '';
let heard: Uint8Array[] = [];
/** How often the agent was asked whether it has a loudspeaker. */
let asked = 0;
let isListening = false;
let stop = (): void => {};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-announce-'));
  heard = [];
  isListening = false;
});
afterEach(() => {
  stop();
  rmSync(folder, { recursive: true });
});
const listen = (canSpeak = () => true): void => {
  isListening = true;
  const noted = (): boolean => {
    asked += 1;
    return canSpeak();
  };
  stop = watchAnnouncements({ RUNTIME_DIRECTORY: folder }, noted, (pcm) => heard.push(pcm));
};
const file = (): string => join(folder, 'announcement.pcm');
const isGone = (): boolean => lstatSync(file(), { throwIfNoEntry: false }) === undefined;
/** Hands a sound over in virtual time, which begins when a listening agent has noticed the file. */
async function offer(pcm: Uint8Array, to = folder): Promise<boolean> {
  const clock = createVirtualClock();
  const began = clock.now();
  const before = asked;
  let isOver = false;
  const handing = handOver(to, pcm, clock).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    if (clock.armed > 0 && (!isListening || asked > before)) clock.advance(50);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(clock.now() - began).toBeLessThan(10_000);
  return handing;
}
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 150));

describe('an announcement', () => {
  it('is passed to a listening agent completely, and its file is removed', async () => {
    listen();
    expect(await offer(PCM)).toBe(true);
    expect(heard.map((pcm) => Buffer.from(pcm).equals(PCM))).toEqual([true]);
    expect(await offer(PCM.subarray(0, 10))).toBe(true);
    expect(heard[1]).toHaveLength(10);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is withdrawn within seconds when no agent accepts it', async () => {
    expect(await offer(PCM)).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is accepted by an agent only while it has a loudspeaker', async () => {
    let canSpeak = false;
    listen(() => canSpeak);
    expect(await offer(PCM)).toBe(false);
    expect(heard).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
    canSpeak = true;
    expect(await offer(PCM)).toBe(true);
    expect(heard).toHaveLength(1);
  });

  it('is not passed on when the folder does not exist', async () => {
    expect(await offer(PCM, join(folder, 'none'))).toBe(false);
  });

  it('does not follow prepared links', async () => {
    const target = join(folder, 'target');
    writeFileSync(target, 'untouched');
    symlinkSync(target, file());
    expect(await offer(PCM)).toBe(false);
    expect(readFileSync(target, 'utf8')).toBe('untouched');
  });

  it('is limited to a minute of sound', async () => {
    listen();
    writeFileSync(`${file()}.draft`, '');
    truncateSync(`${file()}.draft`, 2 ** 31);
    spawnSync('mv', [`${file()}.draft`, file()]);
    await expect.poll(isGone).toBe(true);
    expect(heard).toEqual([]);
  });

  it('is always a file: links, folders and pipes are removed unread', async () => {
    listen();
    symlinkSync('/etc/hostname', file());
    await settle();
    rmSync(file(), { force: true });
    mkdirSync(file());
    await expect.poll(isGone).toBe(true);
    spawnSync('mkfifo', [file()]);
    await expect.poll(isGone).toBe(true);
    writeFileSync(file(), new Uint8Array(3));
    await expect.poll(() => heard.map((pcm) => pcm.byteLength)).toEqual([2]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is not expected without a runtime directory, or in one that does not exist', () => {
    for (const env of [{}, { RUNTIME_DIRECTORY: 'relative' }, { RUNTIME_DIRECTORY: join(folder, 'none') }])
      expect(() =>
        watchAnnouncements(
          env,
          () => true,
          () => {},
        )(),
      ).not.toThrow();
  });
});
