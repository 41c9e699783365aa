import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { FILES, type Kiosk, SERVICE } from './kiosk.ts';
import { type KioskTest, underSystemd } from './under-systemd.ts';

const UNIT = 'dragoman-provision.service';
const FILE = '/boot/dragoman.json';
const STATUS = '/boot/dragoman-status.txt';
const PASSWORD = 'kiosk-password';
const DOCUMENT = {
  format: 1,
  config: {
    device: { id: 'kiosk-01', tenant: 'museum' },
    mqtt: { url: 'mqtt://127.0.0.1:1883', username: 'kiosk' },
    service: { hosts: ['127.0.0.1:8080'] },
    lanes: [{ ...FILES, source: 'en', targets: ['es'], echo: 'off' }],
  },
  secrets: { 'mqtt-password': PASSWORD },
};
/** The configuration of the package, not filled in. */
const EMPTY = '{ "device": { "id": "", "tenant": "" }, "mqtt": { "url": "" } }';
const CONFIG = '/etc/dragoman/config.json';

/** A folder on this machine's disk: the container's disk is memory, where the agent does not store secrets. */
const lasting = mkdtempSync(join(tmpdir(), 'dragoman-lasting-'));
chmodSync(lasting, 0o755);
const shared = [{ from: lasting, to: '/etc/dragoman', writable: true }];

const tests = (test: KioskTest): void => {
  const read = (kiosk: Kiosk, path: string) => kiosk.machine.must(['cat', path]);
  const write = (kiosk: Kiosk, content: unknown) =>
    kiosk.machine.write(FILE, typeof content === 'string' ? content : JSON.stringify(content));
  const start = (kiosk: Kiosk) => kiosk.machine.run(['systemctl', 'start', UNIT]);
  /** Checksums and permissions of all files that the unit could change. */
  const etc = (kiosk: Kiosk) =>
    kiosk.machine.must([
      'sh',
      '-c',
      "find /etc -type f -exec sha256sum {} + ; find /etc -printf '%p %m %u %l\\n'",
    ]);
  const clean = async (kiosk: Kiosk) => {
    await kiosk.machine.must([
      'sh',
      '-c',
      `rm -rf /etc/dragoman/conf.d /etc/dragoman/secrets /boot/dragoman*`,
    ]);
    await kiosk.machine.write(CONFIG, EMPTY);
  };

  test('does not start without a file', async (kiosk) => {
    await clean(kiosk);
    expect(await start(kiosk)).toMatchObject({ code: 0 });
    expect(await kiosk.show('ConditionResult', UNIT)).toBe('no');
    const before = (await kiosk.show('Before', UNIT)).split(' ');
    expect(before).toEqual(expect.arrayContaining(['network-pre.target', SERVICE]));
  });

  test('sets up a kiosk, which then interprets, and changes nothing the second time', async (kiosk) => {
    await clean(kiosk);
    await write(kiosk, DOCUMENT);
    expect(await start(kiosk)).toMatchObject({ code: 0 });
    expect(await read(kiosk, STATUS)).toContain('Result: applied.');
    expect(await read(kiosk, FILE)).not.toContain(PASSWORD);
    const rights = await kiosk.machine.must([
      'stat',
      '-c',
      '%a %U:%G',
      '/etc/dragoman/secrets/mqtt-password',
    ]);
    expect(rights.trim()).toBe('600 dragoman:dragoman');
    await kiosk.systemctl('start', SERVICE);
    await kiosk.live();
    const before = await etc(kiosk);
    const pid = await kiosk.mainPid();
    expect(await start(kiosk)).toMatchObject({ code: 0 });
    const told = JSON.parse(await read(kiosk, '/run/dragoman/provisioning.json'));
    expect(told).toMatchObject({ outcome: 'unchanged', problems: [] });
    expect([await etc(kiosk), await kiosk.mainPid()]).toEqual([before, pid]);
    // The result stays in the agent's folder when the agent restarts.
    await kiosk.systemctl('restart', SERVICE);
    expect(await read(kiosk, '/run/dragoman/provisioning.json')).toContain('unchanged');
  });

  test('makes the agent use new settings without a reboot', async (kiosk) => {
    await clean(kiosk);
    await write(kiosk, DOCUMENT);
    await start(kiosk);
    await kiosk.systemctl('start', SERVICE);
    await kiosk.live();
    const pid = await kiosk.mainPid();
    await write(kiosk, { ...DOCUMENT, config: { ...DOCUMENT.config, log: { level: 'debug' } } });
    expect(await start(kiosk)).toMatchObject({ code: 0 });
    await kiosk.live();
    await expect.poll(() => kiosk.mainPid()).not.toBe(pid);
  });

  const bad: [name: string, content: unknown, outcome: string][] = [
    ['no JSON', '{ "format": 1, ', 'file_invalid'],
    ['a misspelt key', { ...DOCUMENT, konfig: {} }, 'file_invalid'],
    [
      'a lane without a language',
      { ...DOCUMENT, config: { ...DOCUMENT.config, lanes: [{}] } },
      'file_invalid',
    ],
    ['a key that does not fit', { ...DOCUMENT, certPem: 'x', keyPem: 'y' }, 'key_unreadable'],
    ['Wi-Fi without a Wi-Fi device', { ...DOCUMENT, wifi: { ssid: 'Museum' } }, 'wifi_unsupported'],
  ];
  for (const [name, content, outcome] of bad)
    test(`changes nothing when the file is bad: ${name}`, async (kiosk) => {
      await clean(kiosk);
      await write(kiosk, content);
      const before = [await etc(kiosk), await read(kiosk, FILE)];
      expect(await start(kiosk)).toMatchObject({ code: 1 });
      expect(await kiosk.show('ExecMainStatus', UNIT)).toBe('2');
      expect([await etc(kiosk), await read(kiosk, FILE)]).toEqual(before);
      expect(await read(kiosk, STATUS)).toContain(`Result: ${outcome}.`);
      expect(await read(kiosk, '/run/dragoman/provisioning.json')).toContain(outcome);
      expect(await read(kiosk, STATUS)).not.toContain(PASSWORD);
    });
};

underSystemd('provisioning by a file on the boot partition', tests, { shared });
afterAll(() => rmSync(lasting, { recursive: true }));
