import { dirname } from 'node:path';
import { CANNOT_LOAD } from '../child/cannot-load.ts';
import { VERSIONS } from './wire.ts';

/** Why a package cannot be loaded. */
export type LoadFailure =
  | { readonly kind: 'absent' }
  /** The addon is installed, but its native part is not built. */
  | { readonly kind: 'not_built' }
  /** The native part was built for another version of Node. */
  | { readonly kind: 'other_node'; readonly built: string; readonly needed: string }
  | { readonly kind: 'other'; readonly reason: string };

const ABSENT = /^Cannot find module '([^']+)'/;
const OTHER_NODE = /NODE_MODULE_VERSION (\d+)[\s\S]*NODE_MODULE_VERSION (\d+)/;
/** From the package "bindings". */
const NO_BINDINGS = /Could not locate the bindings file/;

/** Reads the error that Node throws when it loads a package. */
export function readLoadFailure(error: unknown, name: string): LoadFailure {
  const message = error instanceof Error ? error.message : String(error);
  const absent = ABSENT.exec(message)?.[1];
  if (absent === name) return { kind: 'absent' };
  if (absent?.includes('build/') || NO_BINDINGS.test(message)) return { kind: 'not_built' };
  const [, built, needed] = OTHER_NODE.exec(message) ?? [];
  if (built !== undefined && needed !== undefined) return { kind: 'other_node', built, needed };
  return { kind: 'other', reason: message.split('\n')[0] ?? '' };
}

/** The program that loads the package. */
interface Loader {
  /** Folder of the program. */
  readonly folder: string;
  /** Path and major version of the program's Node. */
  readonly node: string;
  readonly major: number;
}

/** Folders in a shell's default PATH. */
const USUAL = ['/usr/bin', '/usr/local/bin'];
/** From this version on, Node's headers need C++20, but `alsa-capture` requests an older standard. */
const FIRST_CPP20 = 24;

/** A line for the operator: what happened, and how to fix it. */
export function explainLoadFailure(failure: LoadFailure, name: string, loader: Loader): string {
  const say = (what: string, fix: string) =>
    `${CANNOT_LOAD}"${name}": ${what}; use the driver "alsa", or ${fix}`;
  const build = `build it with this program's Node: "${npm('rebuild', name, loader)}"`;
  switch (failure.kind) {
    case 'absent':
      return say(
        'it is not installed',
        `install it: "${npm('install', `${name}@${VERSIONS[name] ?? 'latest'}`, loader)}"`,
      );
    case 'not_built':
      return say('its native part is not built', build);
    case 'other_node':
      return say(
        `it was built for another Node (NODE_MODULE_VERSION ${failure.built}, not ${failure.needed})`,
        build,
      );
    case 'other':
      return say(failure.reason, 'install it again');
  }
}

/** A shell command. It puts a private Node first in PATH, because the shell would use another one. */
function npm(verb: 'install' | 'rebuild', packageName: string, { folder, node, major }: Loader): string {
  const path = USUAL.includes(dirname(node)) ? '' : `PATH=${dirname(node)}:$PATH `;
  const flags = major < FIRST_CPP20 ? '' : 'CXXFLAGS=-std=gnu++20 ';
  return `${path}${flags}npm ${verb} --prefix ${folder} ${packageName}`;
}
