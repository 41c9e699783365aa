import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isObject } from '../../protocol/common/json.ts';
import { type Config, configSchema } from '../../protocol/config.ts';
import { systemCode, systemReason } from '../system-error.ts';
import { checkMerged } from './check.ts';
import { findClashes } from './clashes.ts';
import { type Environment, readEnvironment } from './environment.ts';
import { withPlaces } from './file-places.ts';
import { type Path, parseJsonc } from './jsonc.ts';
import type { Layer, LayerKind, Problem, Source } from './layer.ts';
import { mergeLayers } from './merge.ts';
import { type Provenance, traceValues } from './provenance.ts';
import { readConfigText, UnreadableFile } from './read-file.ts';

/** Maximum number of files that are read from `conf.d`. */
const MOST_ADDITIONS = 64;

export interface LoadOptions {
  /** The `--config` file; null when only the environment is used. */
  readonly file: string | null;
  readonly env: Environment;
  /** Replaces the file of this name in `conf.d`, which need not exist. */
  readonly addition?: { readonly name: string; readonly layer: Layer };
}

export type LoadResult =
  | { ok: true; config: Config; provenance: readonly Provenance[] }
  | { ok: false; problems: readonly Problem[] };

/** Reads all layers; later ones take precedence. Never throws; reports all problems that it finds. */
export function loadConfig(options: LoadOptions): LoadResult {
  const problems: Problem[] = [];
  const { layers, names } = readLayers(options, problems);
  const merged = mergeLayers(layers);
  problems.push(...merged.problems);
  // If a file is unreadable, all its keys would be reported as missing.
  const isWhole = !problems.some(({ path, source }) => path === '' && source?.kind !== 'environment');
  const checked = isWhole ? checkMerged(merged) : null;
  if (checked?.ok === false) problems.push(...checked.problems);
  if (checked?.ok === true) problems.push(...findClashes(checked.config, merged.sources, names));
  if (problems.length > 0 || checked?.ok !== true) return { ok: false, problems };
  const config = withPlaces(checked.config, options.file, options.env);
  return { ok: true, config, provenance: traceValues(checked.config, merged.sources) };
}

/**
 * Reads the device's identity and its broker from a configuration that is otherwise unusable, so that the owner can be informed.
 * Ignore the lanes of the result. Null when that part is unusable too. Never throws.
 */
export function loadBrokerPart(options: LoadOptions): Config | null {
  const merged = mergeLayers(readLayers(options, []).layers).value;
  if (!isObject(merged)) return null;
  const { device, mqtt } = merged;
  const file = { driver: 'file', path: 'none.wav' };
  const lane = { capture: { ...file, sampleRate: 16_000 }, playback: file, source: 'en', targets: ['es'] };
  const parsed = configSchema.safeParse({ device, mqtt, lanes: [lane] });
  return parsed.success ? withPlaces(parsed.data, options.file, options.env) : null;
}

function readLayers(options: LoadOptions, problems: Problem[]): { layers: Layer[]; names: string[] } {
  const layers: Layer[] = [];
  const { addition } = options;
  const files = configFiles(options.file, problems, addition?.name);
  for (const { kind, file } of files) {
    const isAddition = kind === 'conf.d' && addition !== undefined && basename(file) === addition.name;
    const read = isAddition ? addition : readLayer(kind, file);
    if ('problem' in read) problems.push(read.problem);
    else layers.push(read.layer);
  }
  const environment = readEnvironment(options.env);
  problems.push(...environment.problems);
  if (environment.layer !== null) layers.push(environment.layer);
  return { layers, names: files.map(({ file }) => file) };
}

/** The `--config` file and the files of `conf.d` beside it, in name order. */
function configFiles(
  file: string | null,
  problems: Problem[],
  addition?: string,
): { kind: LayerKind; file: string }[] {
  if (file === null) return addition === undefined ? [] : [{ kind: 'conf.d', file: addition }];
  const folder = join(dirname(file), 'conf.d');
  let names: string[] = [];
  try {
    names = readdirSync(folder).filter(isAdditionName);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') problems.push(unreadable('conf.d', folder, error));
  }
  if (names.length > MOST_ADDITIONS) {
    const message = `holds ${names.length} files; at most ${MOST_ADDITIONS} are read`;
    problems.push({ source: { kind: 'conf.d', name: folder }, path: '', message });
    names = [];
  }
  if (addition !== undefined && !names.includes(addition)) names.push(addition);
  const additions = names.sort().map((name) => ({ kind: 'conf.d' as const, file: join(folder, name) }));
  return [{ kind: 'file', file }, ...additions];
}

/** A leading dot marks a hidden file, an editor's lock (`.#a.json`), or a companion file from macOS (`._a.json`). */
function isAdditionName(name: string): boolean {
  return name.endsWith('.json') && !name.startsWith('.');
}

function readLayer(kind: LayerKind, file: string): { layer: Layer } | { problem: Problem } {
  let text: string;
  try {
    text = readConfigText(file);
  } catch (error) {
    return { problem: unreadable(kind, file, error) };
  }
  const parsed = parseJsonc(text);
  if (!parsed.ok) {
    return {
      problem: { source: { kind, name: file, ...parsed.position }, path: '', message: parsed.message },
    };
  }
  const locate = (path: Path): Source => ({ kind, name: file, ...parsed.locate(path) });
  return { layer: { value: parsed.value, lanesBy: 'id', locate } };
}

function unreadable(kind: LayerKind, file: string, error: unknown): Problem {
  const reason = error instanceof UnreadableFile ? error.message : systemReason(error);
  return { source: { kind, name: file }, path: '', message: `cannot be read: ${reason}` };
}
