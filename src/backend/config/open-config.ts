import { EXIT, Failure } from '../../program/problem.ts';
import type { Shell } from '../../program/program.ts';
import type { BackendConfig } from '../../protocol/backend-config.ts';
import { textLine } from '../../protocol/common/plain-text.ts';
import { createServiceClient, type ServiceClient } from '../service/service-client.ts';
import { ServiceFailure } from '../service/service-failure.ts';
import type { TroubleKind } from '../service/service-trouble.ts';
import {
  ConfigProblems,
  loadBackendConfig,
  readBackendSecrets,
  readStorePassword,
  withPlacesOfKeys,
} from './load-config.ts';
import type { BackendSecrets } from './secrets.ts';

export interface Opened {
  readonly config: BackendConfig;
  readonly secrets: BackendSecrets & { jwt?: () => string };
}

export const CONFIG_OPTION = [
  '-c, --config <file>',
  'configuration file (or the variables DRAGOMAN_BACKEND_...)',
] as const;

/**
 * Reads the configuration and the files that it names. Throws a `Failure` that lists every problem.
 * @param needs the secret that the verb needs; null: only the broker's secrets
 */
export function openConfig(
  shell: Shell,
  file: string | undefined,
  needs: 'apiKeyFile' | 'jwtFile' | null,
  warn = (sentence: string): void => void shell.complain(textLine(`warning: ${sentence}`)),
): Opened {
  return orFailure(file, () => {
    const config = loadBackendConfig(file ?? null, shell.env);
    const { warnings, ...secrets } = located(shell, file, () => {
      if (needs !== null && config.service[needs] === null)
        throw new ConfigProblems([`service.${needs} is not set: name a file or a systemd credential`]);
      return readBackendSecrets(config, shell.env);
    });
    for (const sentence of warnings) warn(sentence);
    return { config, secrets };
  });
}

export interface OpenedStore {
  readonly config: BackendConfig;
  readonly storePassword?: () => string;
}

/** Reads the configuration for a verb that uses only the store. The other files need not exist. Throws a `Failure`. */
export function openStoreConfig(shell: Shell, file: string | undefined): OpenedStore {
  return orFailure(file, () => {
    const config = loadBackendConfig(file ?? null, shell.env);
    const storePassword = located(shell, file, () => readStorePassword(config, shell.env));
    return { config, ...(storePassword && { storePassword }) };
  });
}

/** The configuration cannot be used. */
export class ConfigFailure extends Failure {
  readonly problems: readonly string[];
  constructor(problems: readonly string[], hint: string) {
    super(`the configuration cannot be used${hint}:\n  ${problems.join('\n  ')}`, EXIT.usage);
    this.problems = problems;
  }
}

/** Adds the places of the keys to the problems of the files that the configuration names. */
function located<T>(shell: Shell, file: string | undefined, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigProblems)) throw error;
    throw withPlacesOfKeys(error.problems, file ?? null, shell.env);
  }
}

function orFailure<T>(file: string | undefined, open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof ConfigProblems)) throw error;
    throw new ConfigFailure(error.problems, file === undefined ? '; name its file with --config' : '');
  }
}

const HINTS: Readonly<Partial<Record<TroubleKind, string>>> = {
  unreachable: 'check service.url and the network',
  timeout: 'try again, or raise service.timeout',
  unauthorized: 'check service.apiKeyFile or service.jwtFile',
  rate_limited: 'wait a little and try again',
  unavailable: 'try again later',
};

/** Runs an operation with the service, and turns its failure into a message for people. */
export async function withService<T>(
  { config, secrets }: Opened,
  use: (service: ServiceClient) => Promise<T>,
): Promise<T> {
  const service = createServiceClient({
    url: config.service.url,
    timeoutMs: config.service.timeout * 1000,
    apiKey: secrets.apiKey,
    ...(secrets.jwt && { jwt: secrets.jwt }),
    ...(secrets.serviceCa && { ca: secrets.serviceCa }),
  });
  try {
    return await use(service);
  } catch (error) {
    if (!(error instanceof ServiceFailure)) throw error;
    const hint = HINTS[error.trouble.kind];
    const exit = error.trouble.kind === 'timeout' ? EXIT.noAnswer : EXIT.failed;
    throw new Failure(`${error.message}${hint === undefined ? '' : `; ${hint}`}.`, exit);
  } finally {
    service.close();
  }
}
