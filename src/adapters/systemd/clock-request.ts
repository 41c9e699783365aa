import { rename, writeFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';

/** Read by dragoman-clock.path: seconds since 1970, in digits. */
const FILE = 'clock';

/**
 * Asks dragoman-clock.path, which watches the agent's runtime directory, to set the machine's clock; the agent itself may not.
 * @returns null when there is no such directory
 */
export function createClockRequest(
  env: Readonly<Record<string, string | undefined>>,
): ((wallMs: number) => Promise<void>) | null {
  const [directory = ''] = (env['RUNTIME_DIRECTORY'] ?? '').split(':');
  if (!isAbsolute(directory)) return null;
  return async (wallMs) => {
    const path = join(directory, FILE);
    await writeFile(`${path}.draft`, String(Math.round(wallMs / 1000)));
    await rename(`${path}.draft`, path);
  };
}
