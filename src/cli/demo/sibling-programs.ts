import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { Failure } from '../../program/problem.ts';
import { type ChildProgram, startProgram } from './child-program.ts';
import type { BackendSetting, ProgramStarters } from './environment.ts';

const listeningSchema = z.object({ listening: z.url() });
/** The backend's log record that reports ready. */
const readySchema = z.object({ msg: z.literal('listening for token requests') });

/** Starts service and backend as separate processes, from the bundles in the same folder. */
export function siblingPrograms(): ProgramStarters {
  return {
    async startService({ apiKey, wholePhrasePercent }) {
      const program = await startProgram(
        sibling('emulator.mjs'),
        ['run', '--api-key', apiKey, '--set', `wholePhrasePercent=${wholePhrasePercent}`],
        (line) => listeningSchema.safeParse(line).success,
      );
      return { url: listeningSchema.parse(program.greeting).listening, close: program.close };
    },
    async startBackend(setting) {
      const folder = await mkdtemp(join(tmpdir(), 'dragoman-demo-'));
      const forget = (): Promise<void> => rm(folder, { recursive: true, force: true });
      try {
        const config = await writeBackendConfig(folder, setting);
        const program: ChildProgram = await startProgram(
          sibling('backend.mjs'),
          ['run', '--config', config],
          (line) => readySchema.safeParse(line).success,
        );
        return {
          async close() {
            await program.close();
            await forget();
          },
        };
      } catch (error) {
        await forget();
        throw error;
      }
    },
  };
}

function sibling(name: string): string {
  const path = fileURLToPath(new URL(`./${name}`, import.meta.url));
  if (existsSync(path)) return path;
  throw new Failure(`${path} is missing: the three programs must be in one folder; run "npm run build"`);
}

async function writeBackendConfig(
  folder: string,
  { brokerUrl, serviceUrl, apiKey, signingKeyFile }: BackendSetting,
): Promise<string> {
  const apiKeyFile = join(folder, 'api-key');
  await writeFile(apiKeyFile, apiKey, { mode: 0o600 });
  await chmod(apiKeyFile, 0o600);
  const file = join(folder, 'backend.json');
  const streamHost = serviceUrl.replace(/^http/, 'ws');
  const config = {
    mqtt: { url: brokerUrl },
    service: {
      url: serviceUrl,
      streamUrl: `${streamHost}/streaming-api/{random_hash}/v1/speech-to-speech/stream`,
      apiKeyFile,
    },
    signingKeyFile,
    allow: ['demo/*'],
  };
  await writeFile(file, JSON.stringify(config));
  return file;
}
