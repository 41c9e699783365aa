import { statSync } from 'node:fs';
import type { Config } from '../../../../protocol/config.ts';
import { fingerprints } from '../../../config/fingerprints.ts';
import type { AgentAround } from '../../running-agent/agent-around.ts';
import type { AgentLink } from './login-rules.ts';

/**
 * Whether the running agent's connection proves that the login works. A login that was changed later is not proven.
 */
export function linkOf({ mayAgentRun, note }: AgentAround, config: Config): AgentLink {
  if (!mayAgentRun) return 'absent';
  if (note === null || note.broker === null) return 'unknown';
  if (note.broker !== true) return { fails: note.broker };
  const { passwordFile, certFile, keyFile } = config.mqtt;
  const changedAt = Math.max(...[passwordFile, certFile, keyFile].map(changeOf));
  const isProven = changedAt < (note.connectedSince ?? Number.NEGATIVE_INFINITY);
  return isProven && note.config['mqtt'] === fingerprints(config)['mqtt'] ? 'connected' : 'unknown';
}

/** When a file changed (ms since 1970); a missing one is reported separately. */
function changeOf(file: string | null): number {
  try {
    return file === null ? Number.NEGATIVE_INFINITY : statSync(file).mtimeMs;
  } catch {
    return Number.NEGATIVE_INFINITY;
  }
}
