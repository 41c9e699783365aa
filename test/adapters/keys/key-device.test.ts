/** A pipe in evdev's format stands for the device; with /dev/uinput the kernel's own device is used too. */
import { spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { createKeyDevices } from '../../../src/adapters/keys/key-device.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { keyEvent, report } from './evdev.ts';

let folder = '';
let pipe = '';
const closing: (() => void)[] = [];
const makePipe = (): void => {
  expect(spawnSync('mkfifo', [pipe]).status).toBe(0);
};

/** Processes that `cat` this file. */
const readersOf = (path: string): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8') === `cat\0${path}\0`;
    } catch {
      return false;
    }
  });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-keys-'));
  pipe = join(folder, 'event-kbd');
});
afterEach(() => {
  for (const close of closing.splice(0)) close();
  rmSync(folder, { recursive: true });
});

function reading(path: string, clock: Clock = createSystemClock()) {
  const heard: string[] = [];
  const device = createKeyDevices(clock, 24)(path, {
    changed: ({ code, isDown }) => heard.push(`${code} ${isDown ? 'down' : 'up'}`),
    opened: () => heard.push('opened'),
    lost: (problem) => heard.at(-1) !== problem && heard.push(problem),
  });
  closing.push(device.close);
  return { heard, close: device.close, keys: () => heard.filter((one) => /down$|up$/.test(one)) };
}
const press = async (writer: FileHandle, code: number): Promise<void> => {
  await writer.write(Buffer.concat([keyEvent(24, code, 1), report(24)]));
};

describe('an input device', () => {
  it('is read, is unplugged with a key held, and works again when it is back', async () => {
    const { heard, keys } = reading(pipe);
    await expect.poll(() => heard).toEqual([expect.stringContaining('not there')]);
    makePipe();
    const first = await open(pipe, 'w');
    await press(first, 59);
    await expect.poll(keys).toEqual(['59 down']);
    await expect.poll(() => heard).toContain('opened');
    await first.close();
    rmSync(pipe);
    await expect.poll(() => heard.at(-1)).toContain('not there');
    expect(keys()).toEqual(['59 down', '59 up']);
    makePipe();
    const second = await open(pipe, 'w');
    await press(second, 60);
    await expect.poll(keys).toEqual(['59 down', '59 up', '60 down']);
    await second.close();
  });

  it('leaves no process when it is closed', async () => {
    makePipe();
    const { close, keys } = reading(pipe);
    const writer = await open(pipe, 'w');
    await press(writer, 59);
    await expect.poll(keys).toEqual(['59 down']);
    expect(readersOf(pipe)).toHaveLength(1);
    close();
    await expect.poll(() => readersOf(pipe)).toEqual([]);
    await writer.close();
  });

  it('that was closed with a key held is neither missed nor opened again', async () => {
    makePipe();
    const clock = createVirtualClock();
    const { heard, keys, close } = reading(pipe, clock);
    const writer = await open(pipe, 'w');
    await press(writer, 59);
    await expect.poll(keys).toEqual(['59 down']);
    close();
    await expect.poll(keys).toEqual(['59 down', '59 up']);
    expect([heard, clock.armed]).toEqual([['59 down', '59 up'], 0]);
    await writer.close();
  });

  it('that cannot be read does not count as opened, and is tried again a second later', async () => {
    const clock = createVirtualClock();
    // Nothing reads a folder.
    const { heard } = reading(folder, clock);
    await expect.poll(() => heard).toEqual([expect.stringContaining('it cannot be read')]);
    clock.advance(999);
    expect([heard.length, clock.armed]).toEqual([1, 1]);
    clock.advance(1);
    // The attempt has begun.
    await expect.poll(() => clock.armed).toBeGreaterThan(0);
  });

  it('is reported when it may not be read', async ({ skip }) => {
    if (process.getuid?.() === 0) skip('root may read every file');
    writeFileSync(pipe, '', { mode: 0 });
    const { heard } = reading(pipe);
    await expect.poll(() => heard).toEqual([expect.stringContaining('group "input"')]);
  });

  it("is the kernel's own, made by uinput", async ({ skip }) => {
    const uinput = '/dev/uinput';
    try {
      accessSync(uinput, constants.W_OK);
    } catch {
      skip(
        `${uinput} is ${existsSync(uinput) ? 'not writable' : 'not there'}: no key of the kernel was pressed`,
      );
    }
    const { makeKeyboard } = await import('./uinput.ts');
    const keyboard = await makeKeyboard([59]);
    closing.push(keyboard.close);
    const { keys } = reading(keyboard.path);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    keyboard.press(59);
    await expect.poll(keys).toEqual(['59 down', '59 up']);
  });
});
