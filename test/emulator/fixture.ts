import { afterEach } from 'vitest';
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/server.ts';
import { connect, streamUrl, type TestClient } from './client.ts';
import { task } from './core/harness.ts';

let running: Emulator[] = [];

/** Starts an emulator that is closed after the test. */
export async function start(options: EmulatorOptions = {}): Promise<Emulator> {
  const emulator = await startEmulator({ setupMs: 0, ...options });
  running.push(emulator);
  return emulator;
}

afterEach(async () => {
  await Promise.all(running.map((emulator) => emulator.close()));
  running = [];
});

/** A stream whose task runs. */
export async function open(emulator: Emulator, url = streamUrl(emulator)): Promise<TestClient> {
  const client = await connect(url);
  client.send('set_task', task());
  client.send('get_task');
  await client.next('current_task');
  return client;
}
