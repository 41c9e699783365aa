import { spawnSync } from 'node:child_process';

/** Programs that packages and a release need, and the packages of Debian that have them. */
const PACKAGES = {
  'apt-ftparchive': 'apt-utils',
  'dpkg-deb': 'dpkg',
  dpkg: 'dpkg',
  xz: 'xz-utils',
  gpg: 'gpg',
  tar: 'tar',
};
export type Tool = keyof typeof PACKAGES;

export class ToolMissing extends Error {}

const LARGEST_OUTPUT = 256 * 2 ** 20;

/** Runs a program of Debian. @returns its output */
export function runTool(
  tool: Tool,
  words: readonly string[],
  { cwd, input, env }: { cwd?: string; input?: Buffer; env?: Readonly<Record<string, string>> } = {},
): Buffer {
  const { error, status, stdout, stderr } = spawnSync(tool, words, {
    ...(cwd === undefined ? {} : { cwd }),
    ...(input === undefined ? {} : { input }),
    env: { ...process.env, LC_ALL: 'C', ...env },
    maxBuffer: LARGEST_OUTPUT,
  });
  if (error !== undefined && 'code' in error && error.code === 'ENOENT')
    throw new ToolMissing(`${tool} is missing: install the package ${PACKAGES[tool]}`);
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${tool} failed: ${stderr.toString().trim()}`);
  return stdout;
}
