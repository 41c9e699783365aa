/** A program that writes ledger lines until it is killed, and prints the number of each one that the store has confirmed. */
import { openStore } from '../../../src/backend/store/open-store.ts';

const [config = '{}', name = '', password = ''] = process.argv.slice(2);
const { path = ':memory:', url = null } = JSON.parse(config) as { path?: string; url?: string | null };
const store = openStore({ path, url, passwordFile: null }, () => password);
for (let line = 1; ; line += 1) {
  const session = `${name}-${line}`;
  const common = { device: `museum/${name}`, lane: 'main', session };
  await store.append({ id: `given/${session}`, ...common, source: 'backend', ms: 5000 });
  await store.append({ id: `device/${session}`, ...common, source: 'device', ms: 1000 });
  process.stdout.write(`${line}\n`);
}
