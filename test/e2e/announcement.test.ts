/** Announcements from another program: a running agent takes them only if it has a working loudspeaker. */
import { EventEmitter } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { handOver } from '../../src/adapters/audio/announcement.ts';
import { createSystemClock } from '../../src/adapters/clock.ts';
import { loadConfig } from '../../src/adapters/config/load.ts';
import { createLogger } from '../../src/adapters/log.ts';
import { runDaemon } from '../../src/device/daemon.ts';
import { createFakeInitSystem } from '../device/process/fake-init-system.ts';
import { freePort } from '../free-port.ts';
import { until } from '../until.ts';

/** A second of unique sound. */
const PCM = Buffer.from(new Int16Array(24_000).fill(1234).buffer);

let folder: string;
let logged: string;
let stop: () => Promise<void>;
const at = (name: string): string => join(folder, name);
const clock = createSystemClock();

/** A lane whose loudspeaker is a program that fails until a file exists, and then records its input. */
const laneWith = (id: string) => ({
  id,
  source: 'en',
  targets: ['es'],
  earcons: false,
  capture: { driver: 'file', path: at('in.wav') },
  playback: {
    driver: 'command',
    command: ['sh', '-c', 'test -e "$0.plugged" && exec cat >>"$0.raw"', at(id)],
  },
});
const plug = (id: string): void => writeFileSync(at(`${id}.plugged`), '');
const lost = (): number => logged.split('"part":"playback"').length - 1;
const played = (id: string): Buffer => {
  try {
    return readFileSync(at(`${id}.raw`));
  } catch {
    return Buffer.alloc(0);
  }
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-announced-'));
  mkdirSync(at('run'));
  const settings = {
    device: { id: 'kiosk-01', tenant: 'museum' },
    mqtt: { url: `mqtt://127.0.0.1:${await freePort()}` },
    lanes: [laneWith('main'), laneWith('side')],
  };
  writeFileSync(at('config.json'), JSON.stringify(settings));
  const reload = () => loadConfig({ file: at('config.json'), env: {} });
  const loaded = reload();
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const sink = new PassThrough();
  logged = '';
  sink.on('data', (text: Buffer) => {
    logged += text.toString();
  });
  const signals = new EventEmitter();
  const ended = runDaemon({
    config: loaded.config,
    reload,
    signals,
    logger: createLogger({ level: 'info', format: 'json', sink }),
    initSystem: createFakeInitSystem(null).initSystem,
    env: { STATE_DIRECTORY: at('state'), RUNTIME_DIRECTORY: at('run') },
  });
  stop = () => {
    signals.emit('SIGTERM');
    return ended;
  };
});
afterEach(async () => {
  await stop();
  rmSync(folder, { recursive: true, force: true });
});

it('waits while every loudspeaker is lost, and is played when one works', async () => {
  await until(() => lost() >= 2, 'both loudspeakers to be lost');
  expect(await handOver(at('run'), PCM, clock)).toBe(false);
  plug('side');
  await until(() => logged.includes('works again'), 'the loudspeaker');
  await expect.poll(() => handOver(at('run'), PCM, clock)).toBe(true);
  await until(() => played('side').includes(PCM), 'the sound');
  expect(played('main')).toHaveLength(0);
});
