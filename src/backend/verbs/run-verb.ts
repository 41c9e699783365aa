import { join } from 'node:path';
import type { Command } from 'commander';
import { createSystemClock } from '../../adapters/clock.ts';
import { chooseLogFormat, createLogger, loadFormat } from '../../adapters/log.ts';
import { ignoredProxy } from '../../adapters/network/ignored-proxy.ts';
import { type OpenedStateFile, openStateFile, stateDirectory } from '../../adapters/state-file.ts';
import { listenTrouble } from '../../adapters/system-error.ts';
import { StoreRefused } from '../../ports/store.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import { examples, type Shell } from '../../program/program.ts';
import { type EndSignals, untilAskedToEnd } from '../../program/signals.ts';
import { backendWarnings } from '../config/config-warnings.ts';
import { CONFIG_OPTION, openConfig } from '../config/open-config.ts';
import { ConsoleUnavailable } from '../console/console.ts';
import { startBackend } from '../daemon/backend.ts';
import { releasesWarning } from '../releases/release-files.ts';

/** The parts of the process that the issuer needs. */
export interface RunHost {
  /** Stream for the log. */
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly fd: number };
  readonly signals: EndSignals;
}

export function addRunVerb(program: Command, shell: Shell, host: RunHost): void {
  program
    .command('run')
    .description('issue session tokens to devices until SIGTERM; logs one JSON line per record')
    .option(...CONFIG_OPTION)
    .addHelpText(...examples('dragoman-backend run --config /etc/dragoman-backend/config.json'))
    .action((options: { config?: string }) => run(shell, host, options.config));
}

async function run(shell: Shell, { output, signals }: RunHost, file: string | undefined): Promise<void> {
  const warnings: string[] = [];
  const { config, secrets } = openConfig(shell, file, 'apiKeyFile', (sentence) => warnings.push(sentence));
  const format = await loadFormat(chooseLogFormat(output, shell.env));
  const log = createLogger({ level: config.log.level, format, sink: output });
  const asked = untilAskedToEnd(signals);
  const versionFile = stateOfService(shell.env);
  await versionFile?.opened;
  const backend = await startBackend({ config, secrets, log, versionFile }).catch((error: unknown) => {
    if (error instanceof StoreRefused || error instanceof ConsoleUnavailable)
      throw new Failure(error.message, EXIT.usage);
    const { syscall, port } = error as NodeJS.ErrnoException & { readonly port?: number };
    if (syscall !== 'listen') throw error;
    const { metrics, releases } = config;
    const key = releases.listen?.endsWith(`:${port}`) ? 'releases.listen' : 'metrics.listen';
    const address = key === 'metrics.listen' ? metrics.listen : releases.listen;
    throw new Failure(`${key}: ${address} ${listenTrouble(error)}`, EXIT.usage);
  });
  if (backend.consoleAt !== null) log.info({ console: backend.consoleAt }, 'the console is open');
  const signed_with = secrets.signingKey?.kid ?? null;
  log.info(
    { broker: config.mqtt.url, service: config.service.url, allow: config.allow, signed_with },
    'started: waiting for the broker and the store',
  );
  void backend.untilIssuing().then((isIssuing) => {
    if (isIssuing) log.info({}, 'issuing tokens');
  });
  const proxy = ignoredProxy(shell.env);
  if (proxy !== null)
    log.warn({}, `${proxy} is set, but is not used: allow direct connections to the service and the broker`);
  const releases = releasesWarning(config.releases.path) ?? [];
  for (const sentence of [...backendWarnings(config), ...warnings].concat(releases)) log.warn({}, sentence);
  await asked;
  log.info({}, 'stop requested');
  await backend.close();
}

/** Only a service has a folder of its own for what it keeps beside the store. */
function stateOfService(env: Shell['env']): OpenedStateFile | null {
  const folder = env['STATE_DIRECTORY'] === undefined ? null : stateDirectory(env);
  return folder === null ? null : openStateFile(join(folder, 'broker-versions.json'), createSystemClock());
}
