import { onTestFinished } from 'vitest';
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/server.ts';
import { connect, streamUrl, type TestClient } from './client.ts';
import { task } from './core/harness.ts';

/** Starts an emulator that is closed after the test. */
export async function start(options: EmulatorOptions = {}): Promise<Emulator> {
  const emulator = await startEmulator({ setupMs: 0, ...options });
  onTestFinished(() => emulator.close());
  return emulator;
}

/** A stream with a running task. */
export async function open(emulator: Emulator, url = streamUrl(emulator)): Promise<TestClient> {
  const client = await connect(url);
  client.send('set_task', task());
  client.send('get_task');
  await client.next('current_task');
  return client;
}
