/** The agent's configuration with the file's part, checked as at the agent's start. */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { JsoncResult, Path } from '../adapters/config/jsonc.ts';
import { formatSource, type Layer, type Problem, type Source } from '../adapters/config/layer.ts';
import { loadConfig } from '../adapters/config/load.ts';
import type { Provenance } from '../adapters/config/provenance.ts';
import { isObject } from '../protocol/common/json.ts';
import { PROVISIONING_FILE, type ProvisioningProblem } from './core/outcome.ts';
import { PLACES } from './core/places.ts';
import { NOT_IN_EFFECT } from './standing-notes.ts';

type Locate = Extract<JsoncResult, { ok: true }>['locate'];

export interface ConfigCheck {
  readonly problems: readonly ProvisioningProblem[];
  /** Parts that have no effect, and why: a sentence each. */
  readonly notes: readonly string[];
}

/**
 * @param value the file's part; null: there is none
 * @param root the target system; null: unknown
 */
export function checkConfigPart(
  value: Readonly<Record<string, unknown>> | null,
  locate: Locate,
  root: string | null,
): ConfigCheck {
  if (value === null) return { problems: [], notes: [] };
  const locateHere = (path: Path): Source => ({
    kind: 'conf.d',
    name: PROVISIONING_FILE,
    ...locate(['config', ...path]),
  });
  const layer: Layer = { value, lanesBy: 'id', locate: locateHere };
  const main = root === null ? null : join(root, PLACES.mainConfig);
  const loaded = loadConfig({
    file: main !== null && existsSync(main) ? main : null,
    env: {},
    addition: { name: basename(PLACES.config), layer },
  });
  if (!loaded.ok)
    return { problems: loaded.problems.map((problem) => inWords(problem, root ?? '/')), notes: [] };
  return { problems: [], notes: overridden(value, loaded.provenance, root ?? '/') };
}

const MOST_OVERRIDDEN = 8;

/** Keys of the part that a later file overrides. */
function overridden(
  value: Readonly<Record<string, unknown>>,
  effective: readonly Provenance[],
  root: string,
): string[] {
  const found = effective.filter(
    ({ path, value: now, source: { kind, name } }) =>
      kind === 'conf.d' &&
      basename(name) > basename(PLACES.config) &&
      ![undefined, JSON.stringify(now)].includes(partAt(value, path)),
  );
  const more = found.length - MOST_OVERRIDDEN;
  return [
    ...found
      .slice(0, MOST_OVERRIDDEN)
      .map(
        ({ path, source }) =>
          `${NOT_IN_EFFECT}config.${path}, because ${within(root, formatSource(source))} is read later and overrides it.`,
      ),
    ...(more > 0 ? [`${NOT_IN_EFFECT}${more} more keys of "config", for the same reason.`] : []),
  ];
}

/** The part's own value at a path, as JSON; undefined when it has none. Lanes are not compared: their indexes may differ. */
function partAt(value: Readonly<Record<string, unknown>>, path: string): string | undefined {
  if (path.startsWith('lanes[')) return value['lanes'] === undefined ? undefined : 'a lane';
  const valueInFile = path
    .split('.')
    .reduce<unknown>(
      (holder, step) => (isObject(holder) && Object.hasOwn(holder, step) ? holder[step] : undefined),
      value,
    );
  return JSON.stringify(valueInFile);
}

const within = (root: string, path: string): string =>
  root !== '/' && path.startsWith(root) ? path.slice(root.length) : path;

function inWords({ source, path, message, holder }: Problem, root: string): ProvisioningProblem {
  const isOwn = source === null || source.name === PROVISIONING_FILE;
  // An unrecognisable key may be a secret in the wrong place.
  const place = holder ?? path;
  const what = holder === undefined ? message : message.replace(/^is /, 'holds a key that is ');
  const field = place === '' ? 'config' : `config.${place}`;
  if (isOwn) {
    const line = source?.line === undefined ? '' : ` (line ${source.line})`;
    return { field, message: `${what}${line}`, fix: '' };
  }
  const shown = within(root, formatSource(source));
  // The package's own file is empty, and meant to be replaced by this one.
  const fix =
    path === '' ? `Fix ${shown} on the device.` : `Write it in "config"; on the device it is in ${shown}.`;
  return { field, message: what, fix };
}
