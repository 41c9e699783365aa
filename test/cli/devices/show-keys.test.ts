import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { listInputDevices } from '../../../src/adapters/keys/input-devices.ts';
import { createKeyDevices } from '../../../src/adapters/keys/key-device.ts';
import { showKeys } from '../../../src/cli/devices/show-keys.ts';
import { configSchema } from '../../../src/protocol/config.ts';
import { keyEvent } from '../../adapters/keys/evdev.ts';
import { gather } from '../../gathered.ts';

/** Pipes in evdev's format stand for input devices. */
describe('devices --keys', () => {
  let folder = '';
  const writers: FileHandle[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'dragoman-show-keys-'));
    mkdirSync(join(folder, 'by-id'));
    mkdirSync(join(folder, 'by-path'));
  });
  afterEach(async () => {
    for (const writer of writers.splice(0)) await writer.close();
    rmSync(folder, { recursive: true });
  });

  const plugIn = (event: string, ...links: string[]): void => {
    expect(spawnSync('mkfifo', [join(folder, event)]).status).toBe(0);
    for (const link of links) symlinkSync(`../${event}`, join(folder, link));
  };
  const press = async (event: string, code: number): Promise<void> => {
    const writer = await open(join(folder, event), 'w');
    writers.push(writer);
    await writer.write(Buffer.concat([keyEvent(24, code, 1), keyEvent(24, code, 2), keyEvent(24, code, 0)]));
  };
  const start = (isJson = false) => {
    const { said, print, complain } = gather();
    const clock = createSystemClock();
    let end = (): void => {};
    const asked = new Promise<void>((resolve) => {
      end = resolve;
    });
    const shown = showKeys(
      {
        clock,
        isJson,
        print,
        complain,
        openKeyDevice: createKeyDevices(clock, 24),
        listDevices: () => listInputDevices(folder),
      },
      asked,
    );
    return {
      said,
      end() {
        end();
        return shown;
      },
    };
  };

  it('prints an entry of the configuration for each press, by the most stable path', async () => {
    plugIn('event0', 'by-path/platform-pad-event', 'by-id/usb-Pad-event-kbd');
    plugIn('event1', 'by-path/platform-button@11-event');
    const { said, end } = start();
    await press('event0', 59);
    await press('event1', 2);
    await expect.poll(() => said.out.match(/\n/g)).toHaveLength(2);
    await end();
    const keys = JSON.parse(`[${said.out.trim().replace(/,$/, '')}]`) as { key: string; device: string }[];
    keys.sort((a, b) => b.key.localeCompare(a.key));
    expect(keys).toMatchObject([
      { device: join(folder, 'by-id/usb-Pad-event-kbd'), key: 'KEY_F1' },
      { device: join(folder, 'by-path/platform-button@11-event'), key: 'KEY_1' },
    ]);
    const config = {
      device: { id: 'kiosk-01', tenant: 'museum' },
      mqtt: { url: 'mqtts://broker.example' },
      lanes: [{ source: 'en', targets: ['es'], offer: ['es', 'fr'] }],
    };
    expect(configSchema.parse({ ...config, keys }).keys).toHaveLength(2);
  });

  it('reads a device that is plugged in later, and says when there is none', async () => {
    const { said, end } = start(true);
    await expect.poll(() => said.err).toContain('no input device');
    plugIn('event7');
    await press('event7', 0x2ff);
    await expect.poll(() => said.out).not.toBe('');
    await end();
    expect(JSON.parse(said.out)).toEqual({ device: join(folder, 'event7'), key: null, code: 0x2ff });
  });
});
