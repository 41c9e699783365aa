/** The agent's configuration as it would be with the file's part, checked as the agent checks it at its start. */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { PROVISIONING_FILE, type ProvisioningProblem } from '../../core/provisioning/outcome.ts';
import { PLACES } from '../../core/provisioning/places.ts';
import type { JsoncResult, Path } from '../config/jsonc.ts';
import { formatSource, type Layer, type Problem, type Source } from '../config/layer.ts';
import { loadConfig } from '../config/load.ts';

type Locate = Extract<JsoncResult, { ok: true }>['locate'];

/**
 * @param value the file's part; null: it has none
 * @param root the system that it is for; null: one of which nothing is known
 */
export function checkConfigPart(
  value: Readonly<Record<string, unknown>> | null,
  locate: Locate,
  root: string | null,
): ProvisioningProblem[] {
  if (value === null) return [];
  const locateHere = (path: Path): Source => ({
    ...{ kind: 'conf.d', name: PROVISIONING_FILE },
    ...locate(['config', ...path]),
  });
  const layer: Layer = { value, lanesBy: 'id', locate: locateHere };
  const main = root === null ? null : join(root, PLACES.mainConfig);
  const loaded = loadConfig({
    file: main !== null && existsSync(main) ? main : null,
    env: {},
    addition: { name: basename(PLACES.config), layer },
  });
  return loaded.ok ? [] : loaded.problems.map((problem) => inWords(problem, root ?? '/'));
}

function inWords({ source, path, message }: Problem, root: string): ProvisioningProblem {
  const isOwn = source === null || source.name === PROVISIONING_FILE;
  const field = path === '' ? 'config' : `config.${path}`;
  if (isOwn) {
    const line = source?.line === undefined ? '' : ` (line ${source.line})`;
    return { field, message: `${message}${line}`, fix: '' };
  }
  const where = formatSource(source);
  const shown = root !== '/' && where.startsWith(root) ? where.slice(root.length) : where;
  // What the package brings is empty, and waits for this file.
  const fix =
    path === ''
      ? `Fix ${shown} on the device.`
      : `Write it in "config"; on the device it stands in ${shown}.`;
  return { field, message, fix };
}
