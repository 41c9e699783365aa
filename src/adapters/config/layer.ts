import type { Path } from './jsonc.ts';

/** Where a value can come from, in the order in which later ones win (docs/operate.md). */
export type LayerKind = 'default' | 'file' | 'conf.d' | 'environment' | 'desired';

/** Where one value came from. */
export interface Source {
  readonly kind: LayerKind;
  /** The file's path, the variable's name, or the MQTT topic's last levels. */
  readonly name: string;
  readonly line?: number;
  readonly column?: number;
}

/** One layer before it is checked. */
export interface Layer {
  readonly value: unknown;
  /** Lanes of the environment have no other name than their index. */
  readonly lanesBy: 'id' | 'index';
  locate(path: Path): Source;
}

/** Something that keeps a configuration from being used. The message never holds a secret's value. */
export interface Problem {
  readonly source: Source | null;
  /** Readable, such as `lanes[0].capture.device`; empty when it is about a whole layer. */
  readonly path: string;
  readonly message: string;
  /** Where `path` ends in a key that is like no known one, which could be anything: what holds it. */
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

/** One line: where, which key, what is wrong. */
export function formatProblem(problem: Problem): string {
  const where = problem.source === null ? [] : [formatSource(problem.source)];
  const key = problem.path === '' ? [] : [problem.path];
  return [...where, ...key, problem.message].join(': ');
}

/** The sources of a merged configuration, value by value: a tree, so that its size and its cost follow the configuration's. */
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

  /** The source of a path or, when it has none because nothing is there, of what should have held it. */
  nearest(path: Path): Source | null {
    let node: SourceNode | undefined = this.root;
    let nearest = node.source;
    for (const step of path) {
      node = node?.parts.get(step);
      nearest = node?.source ?? nearest;
    }
    return nearest;
  }

  /** Forgets a path and all below it: its value has been replaced. */
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
