import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { Failure } from '../../program/problem.ts';
import { type ChildProgram, startProgram } from './child-program.ts';
import type { BackendSetting, ConsoleLogin, ProgramStarters } from './environment.ts';
import { findPrograms } from './find-programs.ts';

const listeningSchema = z.object({ listening: z.url() });
/** The backend's log record that reports ready. */
const readySchema = z.object({ msg: z.literal('listening for token requests') });
/** The backend's log record that names the console's address. */
const consoleSchema = z.object({ msg: z.literal('the console is open'), console: z.url() });

/**
 * Starts service and backend as separate processes.
 * @throws Failure when they are not installed
 */
export function siblingPrograms(): ProgramStarters {
  const programs = findPrograms();
  return {
    async startService({ apiKey, wholePhrasePercent }) {
      const program = await startProgram(
        programs.emulator,
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
        if (setting.console !== null) await addPerson(programs.backend, config, setting.console);
        let isReady = false;
        let consoleAt: string | null = null;
        const program: ChildProgram = await startProgram(
          programs.backend,
          ['run', '--config', config],
          (line) => {
            isReady ||= readySchema.safeParse(line).success;
            consoleAt ??= consoleSchema.safeParse(line).data?.console ?? null;
            return isReady && (consoleAt !== null || setting.console === null);
          },
        );
        return {
          consoleAt,
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

/** @throws Failure */
async function addPerson(backend: string, config: string, { name, password }: ConsoleLogin): Promise<void> {
  const passwordFile = `${config}.password`;
  await writeFile(passwordFile, password, { mode: 0o600 });
  const words = ['people', 'add', name, '--role', 'administrator', '--config', config];
  const added = spawnSync(process.execPath, [backend, ...words, '--password-file', passwordFile], {
    encoding: 'utf8',
  });
  await rm(passwordFile);
  if (added.status !== 0) throw new Failure(`the demo could not add a person: ${added.stderr.trim()}`);
}

async function writeBackendConfig(
  folder: string,
  { brokerUrl, serviceUrl, apiKey, signingKeyFile, console: login }: BackendSetting,
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
    ...(login !== null && {
      console: { listen: '127.0.0.1:0' },
      store: { path: join(folder, 'store.db') },
      devices: {
        'demo/kiosk-01': { site: 'Entrance' },
        'demo/kiosk-02': { site: 'Ticket office' },
        'demo/kiosk-03': { site: 'Upper floor' },
      },
    }),
  };
  await writeFile(file, JSON.stringify(config));
  return file;
}
