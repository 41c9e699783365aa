/** A console that cannot be opened, in virtual time. */
import { expect, it } from 'vitest';
import { fileOf } from '../../../src/adapters/console/console-files.ts';
import { createLogger } from '../../../src/adapters/log.ts';
import { startConsole } from '../../../src/backend/console/console.ts';
import type { OpenBus } from '../../../src/ports/bus.ts';
import type { ConsoleStore } from '../../../src/ports/console-store.ts';
import { backendConfigSchema } from '../../../src/protocol/backend-config.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

it('leaves nothing open when its certificate cannot be read', async () => {
  const clock = createVirtualClock();
  const opened: string[] = [];
  const openBus: OpenBus = () => {
    opened.push('bus');
    return {
      connected: false,
      outbox: { depth: 0, dropped: 0 },
      publish() {},
      urgent() {},
      reconnect() {},
      close: async () => {},
    };
  };
  const starting = startConsole({
    config: backendConfigSchema.parse({
      mqtt: { url: 'mqtts://broker.example' },
      service: { url: 'https://api.example', streamUrl: 'wss://stream.example/{random_hash}/stream' },
      allow: ['museum/*'],
    }),
    listen: '127.0.0.1:0',
    readTls() {
      throw new Error('console.tls.keyFile: it is gone');
    },
    store: { open: async () => void opened.push('store') } as unknown as ConsoleStore,
    ledger: { sums: async () => [] },
    signer: null,
    openBus,
    openOwnBus: openBus,
    log: createLogger({ level: 'error', format: 'json', sink: { write() {} } }),
    clock,
    files: new Map([['console.js', fileOf('"page";', 'text/javascript')]]),
  });
  await expect(starting).rejects.toThrow('console.tls.keyFile: it is gone');
  expect([opened, clock.armed]).toEqual([[], 0]);
});
