/**
 * The environment as a layer. A key's variable is `DRAGOMAN_` and its path in capitals, with words and steps joined by `_`:
 * `mqtt.passwordFile` is DRAGOMAN_MQTT_PASSWORD_FILE, `lanes[0].capture.device` is DRAGOMAN_LANES_0_CAPTURE_DEVICE.
 * Lists of texts are written `es,fr` or as JSON. An empty variable is null, for keys that allow null.
 */

import { parseJson } from '../../protocol/common/json.ts';
import type { SchemaNode } from '../../protocol/config-schema.ts';
import type { Path } from './jsonc.ts';
import { ANY_INDEX, KNOWN_KEYS, type KnownKey, ROOT, suggest } from './known-keys.ts';
import type { Layer, Problem, Source } from './layer.ts';

const PREFIX = 'DRAGOMAN_';
/** Variables that do not configure the device: those of the other programs, and the one that asks for stack traces. */
const OTHERS = /^DRAGOMAN_(BACKEND_.*|EMULATOR_.*|DEBUG)$/;

const MOST_LANES = ROOT.properties?.['lanes']?.maxItems ?? 1;

export type Environment = Readonly<Record<string, string | undefined>>;

/** The layer from the `DRAGOMAN_` variables, or null when there are none. */
export function readEnvironment(env: Environment): { layer: Layer | null; problems: Problem[] } {
  const problems: Problem[] = [];
  const sources = new Map<string, Source>();
  const root: Branch = new Map();
  for (const [name, text] of Object.entries(env).sort()) {
    if (!name.startsWith(PREFIX) || text === undefined || OTHERS.test(name)) continue;
    const source: Source = { kind: 'environment', name };
    const target = findTarget(name);
    if (target === null) {
      problems.push({ source, path: '', message: unknownVariable(name) });
      continue;
    }
    plant(root, target.path, parseValue(text, target.key.node));
    sources.set(pathKey(target.path), source);
  }
  if (root.size === 0) return { layer: null, problems };
  const locate = (path: Path): Source => sources.get(pathKey(path)) ?? firstBelow(path, sources);
  return { layer: { value: grow(root), lanesBy: 'index', locate }, problems };
}

/** The variable of a key; `index` stands for each `[]`. */
export function variableName(pattern: readonly string[], index: string): string {
  const steps = pattern.map((step) => (step === ANY_INDEX ? index : snake(step)));
  return PREFIX + steps.join('_');
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

function findTarget(name: string): { key: KnownKey; path: Path } | null {
  for (const key of KNOWN_KEYS) {
    const match = new RegExp(`^${variableName(key.pattern, '(0|[1-9]\\d?)')}$`).exec(name);
    if (match === null) continue;
    const indexes = match.slice(1).map(Number);
    return { key, path: key.pattern.map((step) => (step === ANY_INDEX ? (indexes.shift() ?? 0) : step)) };
  }
  return null;
}

/** Converts a text to the type in the schema. A text that does not fit stays as it is; the schema then refuses it. */
function parseValue(text: string, node: SchemaNode): unknown {
  const types = (node.anyOf ?? [node]).map(({ type }) => type);
  if (text === '' && types.includes('null')) return null;
  if (types.includes('integer') || types.includes('number')) {
    return /^\s*-?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : text;
  }
  if (types.includes('boolean')) return text === 'true' ? true : text === 'false' ? false : text;
  if (types.includes('array')) return parseList(text);
  return text;
}

function parseList(text: string): unknown {
  if (!text.trimStart().startsWith('[')) return text.split(',').map((item) => item.trim());
  return parseJson(text) ?? text;
}

function unknownVariable(name: string): string {
  const what = 'no key of the configuration has this variable';
  const index = /_(\d+)_/.exec(name)?.[1] ?? '0';
  const near = suggest(
    name,
    KNOWN_KEYS.map(({ pattern }) => variableName(pattern, index)),
  );
  if (near === null) return what;
  const isOfLane = near.includes(`_${index}_`);
  if (isOfLane && !isLaneIndex(index)) return `${what}; lanes are counted from 0 to ${MOST_LANES - 1}`;
  return `${what}; did you mean ${near}?`;
}

function isLaneIndex(digits: string): boolean {
  return String(Number(digits)) === digits && Number(digits) < MOST_LANES;
}

/** A path as a map key; unlike the readable form it is unique. */
function pathKey(path: Path): string {
  return JSON.stringify(path);
}

/** A tree that can be built from paths in any order. */
type Branch = Map<string | number, Branch | { leaf: unknown }>;

function plant(root: Branch, path: Path, leaf: unknown): void {
  let branch = root;
  for (const step of path.slice(0, -1)) {
    const next = branch.get(step);
    const child: Branch = next instanceof Map ? next : new Map();
    branch.set(step, child);
    branch = child;
  }
  const last = path.at(-1);
  if (last !== undefined) branch.set(last, { leaf });
}

/** Converts numbered branches to lists; an index without a variable stays undefined. */
function grow(branch: Branch): unknown {
  const entries = [...branch].map(
    ([step, child]) => [step, child instanceof Map ? grow(child) : child.leaf] as const,
  );
  if (!entries.every(([step]) => typeof step === 'number')) return Object.fromEntries(entries);
  const list: unknown[] = [];
  for (const [index, value] of entries) list[Number(index)] = value;
  return Array.from(list);
}

/** The source of a branch: the first of its variables. */
function firstBelow(path: Path, sources: ReadonlyMap<string, Source>): Source {
  const prefix = path.length === 0 ? '[' : `${pathKey(path).slice(0, -1)},`;
  for (const [key, source] of sources) if (key.startsWith(prefix)) return source;
  return { kind: 'environment', name: 'environment' };
}
