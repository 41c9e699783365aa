import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** The program's name as it is installed, and as it is run from its bundle. */
const PROGRAM = /^dragoman(\.mjs)?$/;
const RUNTIME = /^(node|nodejs|bun)$/;

/**
 * The process of an agent that runs on this machine: null when none does, undefined where that can't be told. The
 * process itself and those that this user may not see do not count.
 */
export function findRunningAgent(proc: string, self: number): number | null | undefined {
  let names: string[];
  try {
    names = readdirSync(proc).filter((name) => /^\d+$/.test(name));
  } catch {
    return undefined;
  }
  if (names.length === 0) return undefined;
  const found = names.map(Number).find((pid) => pid !== self && isAgent(proc, pid));
  return found ?? null;
}

function isAgent(proc: string, pid: number): boolean {
  try {
    const words = readFileSync(join(proc, String(pid), 'cmdline'), 'utf8').split('\0');
    const at = words.findIndex((word) => PROGRAM.test(basename(word)));
    // The program itself or the script of a runtime; "grep dragoman run" is neither.
    const [first = '', ...flags] = words.slice(0, at);
    const isScript = RUNTIME.test(basename(first)) && flags.every((word) => word.startsWith('-'));
    return (at === 0 || isScript) && words[at + 1] === 'run';
  } catch {
    return false;
  }
}
