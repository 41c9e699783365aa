import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Broker, startBroker } from '../../../src/cli/demo/broker.ts';

const SOURCE = fileURLToPath(new URL('../../../src/', import.meta.url));
const PASSWORD = 'open-sesame-4711';
const TOKEN = 'st_token-4711';

/** A separate program, because libraries read DEBUG when they are loaded. */
const PROGRAM = `
  import { createMqttBus } from '${SOURCE}adapters/mqtt/bus.ts';
  import { createSystemClock } from '${SOURCE}adapters/clock.ts';
  const connection = { url: process.argv[2], clientId: 'a.b', username: 'me', password: () => '${PASSWORD}' };
  const bus = createMqttBus(connection, { clock: createSystemClock(), seed: 1 })(
    { subscriptions: ['t'], will: null },
    {
      up: () => bus.publish('t', '{"token":"${TOKEN}"}'),
      down: (problem, message) => process.stderr.write(problem + message),
      message: () => void bus.close().then(() => process.stdout.write('done')),
    },
  );
`;

let folder: string;
let broker: Broker;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-bus-'));
  broker = await startBroker({ login: (_, password) => password === PASSWORD });
});
afterEach(async () => {
  await broker.close();
  rmSync(folder, { recursive: true, force: true });
});

it.each(['*', 'mqttjs*,mqtt-packet*'])('prints neither password nor payload with DEBUG=%s', async (debug) => {
  const outfile = join(folder, 'program.mjs');
  const banner =
    "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";
  await build({
    stdin: { contents: PROGRAM, resolveDir: SOURCE, loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: { js: banner },
  });
  const child = spawn(process.execPath, [outfile, broker.url], { env: { ...process.env, DEBUG: debug } });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (said += String(part)));
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect([code, said.includes('done')]).toEqual([0, true]);
  expect(said).not.toContain(PASSWORD);
  expect(said).not.toContain(TOKEN);
  expect(said).not.toContain(Buffer.from(TOKEN).toString('hex').replace(/../g, '$& ').trim());
});
