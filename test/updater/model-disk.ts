import type { UpdateFiles } from '../../src/ports/update.ts';
import { UpdateTrouble } from '../../src/ports/update.ts';

/** What a name in a folder stands for. */
type Node =
  | { readonly kind: 'file'; text: string }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'folder'; readonly names: Map<string, Node> };
type Folder = Extract<Node, { kind: 'folder' }>;
type File = Extract<Node, { kind: 'file' }>;

/** A change that a power cut may lose, each independently of the others: POSIX promises no order. */
type Pending =
  | { readonly kind: 'names'; readonly folder: Folder; readonly set: ReadonlyMap<string, Node | null> }
  | { readonly kind: 'content'; readonly file: File; readonly text: string };

const folderNode = (): Folder => ({ kind: 'folder', names: new Map() });

/** How much of a lost content is on the disk: the whole, the beginning, or nothing. */
const CONTENTS = [1, 0.5, 0];

export class PowerCut extends Error {}

/** A disk that loses what was not synced, in every way that is legal. */
export interface ModelDisk extends UpdateFiles {
  /** Operations that change it, so far. */
  readonly operations: number;
  /** Each later operation throws. */
  cutAfter(operations: number): void;
  /** Every state in which a power cut now may leave it. */
  remains(): ModelDisk[];
  /** The same as `write` and `makeFolder` together, as an unpacking program does it: nothing is synced. */
  put(path: string, text: string): Promise<void>;
  /** What each operation does, for a failed test. */
  readonly history: readonly string[];
  /** The next operations fail with this sentence; null: they work. */
  fail(message: string | null): void;
  freeBytes: number;
}

export function createModelDisk(durable: Folder = folderNode()): ModelDisk {
  const root = clone(durable, new Map()) as Folder;
  /** What each node of the running system is on the disk. */
  const twins = new Map<Node, Node>();
  pair(root, durable, twins);
  let pending: Pending[] = [];
  let operations = 0;
  let limit = Number.POSITIVE_INFINITY;
  let failure: string | null = null;
  const history: string[] = [];

  const at = (path: string): Node | undefined => {
    let node: Node | undefined = root;
    for (const step of path.split('/').filter(Boolean))
      node = node?.kind === 'folder' ? node.names.get(step) : undefined;
    return node;
  };
  const place = (path: string): { folder: Folder; name: string } => {
    const steps = path.split('/');
    const name = steps.pop() ?? '';
    const folder = at(steps.join('/'));
    if (folder?.kind !== 'folder') throw new Error(`there is no folder for ${path}`);
    return { folder, name };
  };
  const operate = (what: string): void => {
    if (operations >= limit) throw new PowerCut(what);
    if (failure !== null) throw new UpdateTrouble(failure);
    operations += 1;
    history.push(what);
  };
  const setNames = (folder: Folder, ...changes: [string, Node | null][]): void => {
    for (const [name, node] of changes) {
      if (node === null) folder.names.delete(name);
      else folder.names.set(name, node);
    }
    pending.push({ kind: 'names', folder, set: new Map(changes) });
  };
  const setText = (path: string, text: string): void => {
    const { folder, name } = place(path);
    const old = folder.names.get(name);
    const file: File = old?.kind === 'file' ? old : { kind: 'file', text: '' };
    if (old !== file) setNames(folder, [name, file]);
    file.text = text;
    pending.push({ kind: 'content', file, text });
  };
  const commit = (isCovered: (change: Pending) => boolean): void => {
    for (const change of pending.filter(isCovered)) apply(change, twins, 1);
    pending = pending.filter((change) => !isCovered(change));
  };
  const below = (node: Node): Node[] =>
    node.kind === 'folder' ? [node, ...[...node.names.values()].flatMap(below)] : [node];

  const disk: ModelDisk = {
    get operations() {
      return operations;
    },
    history,
    freeBytes: 1e9,
    cutAfter(count) {
      limit = count;
    },
    fail(message) {
      failure = message;
    },
    remains() {
      const states = new Map<string, ModelDisk>();
      for (const choice of choices(pending)) {
        const copies = new Map<Node, Node>();
        const copy = clone(durable, copies) as Folder;
        const lost = new Map<Node, Node>([...twins].map(([node, twin]) => [node, clone(twin, copies)]));
        for (const [change, share] of choice) apply(change, lost, share);
        states.set(picture(copy), createModelDisk(copy));
      }
      return [...states.values()];
    },
    async read(path) {
      const node = at(path);
      return node?.kind === 'file' ? node.text : null;
    },
    async list(path) {
      const node = at(path);
      return node?.kind === 'folder' ? [...node.names.keys()] : [];
    },
    async readLink(path) {
      const node = at(path);
      return node?.kind === 'link' ? node.target : null;
    },
    async makeFolder(path) {
      operate(`makeFolder ${path}`);
      const { folder, name } = place(path);
      if (!folder.names.has(name)) setNames(folder, [name, folderNode()]);
    },
    async write(path, text) {
      operate(`write ${path}`);
      setText(path, text);
    },
    async put(path, text) {
      operate(`put ${path}`);
      const steps = path.split('/').slice(0, -1);
      for (let depth = 1; depth <= steps.length; depth++) {
        const { folder, name } = place(steps.slice(0, depth).join('/'));
        if (!folder.names.has(name)) setNames(folder, [name, folderNode()]);
      }
      setText(path, text);
    },
    async link(target, path) {
      operate(`link ${path}`);
      const { folder, name } = place(path);
      setNames(folder, [name, { kind: 'link', target }]);
    },
    async rename(from, to) {
      operate(`rename ${from} ${to}`);
      const [old, next] = [place(from), place(to)];
      if (old.folder !== next.folder) throw new Error('the model renames within one folder only');
      const node = old.folder.names.get(old.name);
      if (node === undefined) throw new Error(`${from} is not there`);
      setNames(old.folder, [old.name, null], [next.name, node]);
    },
    async remove(path) {
      const node = at(path);
      if (node === undefined) return;
      operate(`remove ${path}`);
      const { folder, name } = place(path);
      setNames(folder, [name, null]);
    },
    async sync(path) {
      operate(`sync ${path}`);
      const node = at(path);
      commit((change) => (change.kind === 'names' ? change.folder : change.file) === node);
    },
    async syncAll(path) {
      operate(`syncAll ${path}`);
      const node = at(path);
      const covered = new Set(node === undefined ? [] : below(node));
      commit((change) => covered.has(change.kind === 'names' ? change.folder : change.file));
    },
    free: async () => disk.freeBytes,
  };
  return disk;
}

/** Every subset of the changes; of a content also its beginning, and nothing of it. */
function* choices(pending: readonly Pending[]): Generator<[Pending, number][]> {
  const [first, ...rest] = pending;
  if (first === undefined) return yield [];
  for (const others of choices(rest)) {
    yield others;
    const shares = first.kind === 'content' ? CONTENTS : [1];
    for (const share of shares) yield [[first, share], ...others];
  }
}

function apply(change: Pending, twins: Map<Node, Node>, share: number): void {
  if (change.kind === 'content') {
    const file = twinOf(change.file, twins) as File;
    file.text = change.text.slice(0, Math.floor(change.text.length * share));
    return;
  }
  const folder = twinOf(change.folder, twins) as Folder;
  for (const [name, node] of change.set) {
    if (node === null) folder.names.delete(name);
    else folder.names.set(name, twinOf(node, twins));
  }
}

/** The same node on the disk, where it is empty until its content is synced. */
function twinOf(node: Node, twins: Map<Node, Node>): Node {
  const known = twins.get(node);
  if (known !== undefined) return known;
  const twin: Node =
    node.kind === 'file' ? { kind: 'file', text: '' } : node.kind === 'folder' ? folderNode() : node;
  twins.set(node, twin);
  return twin;
}

function clone(node: Node, copies: Map<Node, Node>): Node {
  const known = copies.get(node);
  if (known !== undefined) return known;
  const copy: Node = node.kind === 'folder' ? folderNode() : { ...node };
  copies.set(node, copy);
  if (node.kind === 'folder' && copy.kind === 'folder')
    for (const [name, child] of node.names) copy.names.set(name, clone(child, copies));
  return copy;
}

function pair(node: Node, twin: Node, twins: Map<Node, Node>): void {
  twins.set(node, twin);
  if (node.kind !== 'folder' || twin.kind !== 'folder') return;
  for (const [name, child] of node.names) {
    const other = twin.names.get(name);
    if (other !== undefined) pair(child, other, twins);
  }
}

const picture = (node: Node): string =>
  node.kind === 'folder'
    ? `{${[...node.names]
        .map(([name, child]) => `${name}:${picture(child)}`)
        .sort()
        .join()}}`
    : JSON.stringify(node);
