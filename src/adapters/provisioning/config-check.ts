/** The agent's configuration as it would be with the file's part, checked as the agent checks it at its start. */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { PROVISIONING_FILE, type ProvisioningProblem } from '../../core/provisioning/outcome.ts';
import { PLACES } from '../../core/provisioning/places.ts';
import { isObject } from '../../protocol/json.ts';
import type { JsoncResult, Path } from '../config/jsonc.ts';
import { formatSource, type Layer, type Problem, type Source } from '../config/layer.ts';
import { loadConfig } from '../config/load.ts';
import type { Provenance } from '../config/provenance.ts';
import { NOT_IN_EFFECT } from './standing-notes.ts';

type Locate = Extract<JsoncResult, { ok: true }>['locate'];

export interface ConfigCheck {
  readonly problems: readonly ProvisioningProblem[];
  /** What of the part does not count, and why: a sentence each. */
  readonly notes: readonly string[];
}

/**
 * @param value the file's part; null: it has none
 * @param root the system that it is for; null: one of which nothing is known
 */
export function checkConfigPart(
  value: Readonly<Record<string, unknown>> | null,
  locate: Locate,
  root: string | null,
): ConfigCheck {
  if (value === null) return { problems: [], notes: [] };
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
  if (!loaded.ok)
    return { problems: loaded.problems.map((problem) => inWords(problem, root ?? '/')), notes: [] };
  return { problems: [], notes: overridden(value, loaded.provenance, root ?? '/') };
}

const MOST_OVERRIDDEN = 8;

/** Of the part, what a file that is read later says otherwise. */
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
          `${NOT_IN_EFFECT}config.${path}, because ${within(root, formatSource(source))} is read later and says otherwise.`,
      ),
    ...(more > 0 ? [`${NOT_IN_EFFECT}${more} more keys of "config", for the same reason.`] : []),
  ];
}

/** What the part itself says at a path, as JSON; undefined where it says nothing. Lanes may stand at other indexes there. */
function partAt(value: Readonly<Record<string, unknown>>, path: string): string | undefined {
  if (path.startsWith('lanes[')) return value['lanes'] === undefined ? undefined : 'a lane';
  const found = path
    .split('.')
    .reduce<unknown>(
      (holder, step) => (isObject(holder) && Object.hasOwn(holder, step) ? holder[step] : undefined),
      value,
    );
  return JSON.stringify(found);
}

const within = (root: string, path: string): string =>
  root !== '/' && path.startsWith(root) ? path.slice(root.length) : path;

function inWords({ source, path, message, holder }: Problem, root: string): ProvisioningProblem {
  const isOwn = source === null || source.name === PROVISIONING_FILE;
  // A key that is like none may be a secret that somebody has put in its place.
  const place = holder ?? path;
  const what = holder === undefined ? message : message.replace(/^is /, 'holds a key that is ');
  const field = place === '' ? 'config' : `config.${place}`;
  if (isOwn) {
    const line = source?.line === undefined ? '' : ` (line ${source.line})`;
    return { field, message: `${what}${line}`, fix: '' };
  }
  const shown = within(root, formatSource(source));
  // What the package brings is empty, and waits for this file.
  const fix =
    path === ''
      ? `Fix ${shown} on the device.`
      : `Write it in "config"; on the device it stands in ${shown}.`;
  return { field, message: what, fix };
}
