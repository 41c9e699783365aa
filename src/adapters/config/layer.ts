import { basename } from 'node:path';
import type { Path } from './jsonc.ts';

/** Origins of a value; later ones take precedence (docs/operate.md). */
export type LayerKind = 'default' | 'file' | 'conf.d' | 'environment' | 'desired';

/** The origin of one value. */
export interface Source {
  readonly kind: LayerKind;
  /** The file's path, the variable's name, or the MQTT topic's last levels. */
  readonly name: string;
  readonly line?: number;
  readonly column?: number;
}

/** One layer before validation. */
export interface Layer {
  readonly value: unknown;
  /** Lanes from the environment are known only by their index. */
  readonly lanesBy: 'id' | 'index';
  locate(path: Path): Source;
}

/** A reason why a configuration cannot be used. The message never holds a secret's value. */
export interface Problem {
  readonly source: Source | null;
  /** Readable, such as `lanes[0].capture.device`; empty for a whole layer. */
  readonly path: string;
  readonly message: string;
  /** For a `path` that ends in an unrecognisable key: the object that holds it. */
  readonly holder?: string;
}

/** `['lanes', 0, 'echo']` as `lanes[0].echo`. */
export function formatPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else text += text === '' ? String(step) : `.${String(step)}`;
  }
  return text;
}

/** `/etc/dragoman/config.json:4:3`, `DRAGOMAN_MQTT_URL`. */
export function formatSource(source: Source): string {
  return source.line === undefined ? source.name : `${source.name}:${source.line}:${source.column ?? 1}`;
}

/** The key of a problem, or `config.json:3` for one that concerns a whole file; empty when there is neither. */
export function problemPlace({ path, source }: Pick<Problem, 'path' | 'source'>): string {
  if (path !== '' || source === null || source.kind === 'environment') return path;
  const file = basename(source.name);
  return source.line === undefined ? file : `${file}:${source.line}`;
}

/** One line: where, which key, what is wrong. */
export function formatProblem(problem: Problem): string {
  const where = problem.source === null ? [] : [formatSource(problem.source)];
  const key = problem.path === '' ? [] : [problem.path];
  return [...where, ...key, problem.message].join(': ');
}

/** The source of each value of a merged configuration. A tree, so that its size grows only with the configuration's. */
export class SourceMap {
  private root: SourceNode = { source: null, parts: new Map() };

  set(path: Path, source: Source): void {
    let node = this.root;
    for (const step of path) {
      const next = node.parts.get(step) ?? { source: null, parts: new Map() };
      node.parts.set(step, next);
      node = next;
    }
    node.source = source;
  }

  get(path: Path): Source | null {
    let node: SourceNode | undefined = this.root;
    for (const step of path) node = node?.parts.get(step);
    return node?.source ?? null;
  }

  /** The source of a path; for a missing value, that of its nearest parent. */
  nearest(path: Path): Source | null {
    let node: SourceNode | undefined = this.root;
    let nearest = node.source;
    for (const step of path) {
      node = node?.parts.get(step);
      nearest = node?.source ?? nearest;
    }
    return nearest;
  }

  /** Removes a path and all below it: its value was replaced. */
  forget(path: Path): void {
    const last = path.at(-1);
    if (last === undefined) {
      this.root = { source: null, parts: new Map() };
      return;
    }
    let node: SourceNode | undefined = this.root;
    for (const step of path.slice(0, -1)) node = node?.parts.get(step);
    node?.parts.delete(last);
  }
}

interface SourceNode {
  source: Source | null;
  readonly parts: Map<string | number, SourceNode>;
}
