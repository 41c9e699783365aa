import { readFileSync } from 'node:fs';
import { createLogger } from '../../src/adapters/log.ts';
import { parsePrivateKey } from '../../src/adapters/signing/signing-keys.ts';
import { startBackend } from '../../src/backend/daemon/backend.ts';
import type { ProgramStarters } from '../../src/cli/demo/environment.ts';
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/server.ts';
import { backendConfigSchema } from '../../src/protocol/backend-config.ts';

/** Backend and service in the process of the test, so that it can inspect them. */
export function inProcessPrograms(
  options: EmulatorOptions = {},
  maxSessionDurationSeconds: number | null = null,
): ProgramStarters & {
  emulator(): Emulator;
  /** The backend's log. */
  log(): string;
} {
  let emulator: Emulator | null = null;
  let logged = '';
  return {
    emulator() {
      if (emulator === null) throw new Error('the emulator has not been started');
      return emulator;
    },
    log: () => logged,
    async startService({ apiKey, wholePhrasePercent }) {
      emulator = await startEmulator({ wholePhrasePercent, ...options, apiKeys: [apiKey] });
      return emulator;
    },
    async startBackend({ brokerUrl, serviceUrl, apiKey, signingKeyFile }) {
      const backend = await startBackend({
        config: backendConfigSchema.parse({
          mqtt: { url: brokerUrl },
          service: {
            url: serviceUrl,
            streamUrl: `${serviceUrl.replace(/^http/, 'ws')}/streaming-api/{random_hash}/v1/speech-to-speech/stream`,
          },
          session: { maxSessionDurationSeconds },
          allow: ['*/*'],
        }),
        secrets: {
          apiKey: () => apiKey,
          signingKey: parsePrivateKey(readFileSync(signingKeyFile, 'utf8'), signingKeyFile),
        },
        log: createLogger({
          level: 'debug',
          format: 'json',
          sink: {
            write: (text) => {
              logged += text;
            },
          },
        }),
      });
      await backend.ready;
      return backend;
    },
  };
}
