import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makePhrases } from '../phrases/synthesis.ts';
import { type Steps, stepLines } from '../steps.ts';
import { fileNameOf, writePackage } from './control.ts';
import { type Options, readOptions, USAGE, UsageError } from './deb-options.ts';
import type { Help } from './manual.ts';
import { agentPackage, backendPackage, emulatorPackage, nodePackage, type Source } from './packages.ts';
import { screenPackage } from './screen-package.ts';
import { runTool } from './tools.ts';

const runFile = promisify(execFile);

/** @returns the exit code */
export async function runBuild(argv: readonly string[], root: string): Promise<number> {
  try {
    const options = readOptions(argv, root);
    if (options === null) process.stdout.write(USAGE);
    else await makePackages(options, root, (file) => void process.stdout.write(`${file}\n`));
    return 0;
  } catch (error) {
    process.stderr.write(`build-deb: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** @param made is called with the path of each package */
export async function makePackages(
  options: Options,
  root: string,
  made: (file: string) => void,
): Promise<void> {
  const { architectures, out, version, changedAt } = options;
  // Check this first, because the other steps take minutes.
  runTool('dpkg-deb', ['--version']);
  const drafts = mkdtempSync(join(tmpdir(), 'dragoman-deb-'));
  try {
    const bundles = options.bundles ?? join(drafts, 'bundles');
    const phrases = options.phrases ?? join(drafts, 'phrases');
    const { step } = progress();
    if (options.bundles !== null) await checkVersions(bundles, version);
    // Make the phrases before the bundles, because this step fails if a program is missing.
    if (options.phrases === null)
      await step('Phrases', async () => {
        await makePhrases(phrases);
        return 'spoken by espeak-ng';
      });
    if (options.bundles === null)
      await step('Programs', async () => {
        const words = ['--quiet', '--version', upstreamOf(version), '--out', bundles];
        await runFile(process.execPath, [join(root, 'scripts/build.mjs'), ...words]);
        return 'bundled';
      });
    let helps: Readonly<Record<string, Help[]>> = {};
    await step('Manual pages', async () => {
      helps = await helpOfAll(root);
      return 'from --help';
    });
    const source: Source = {
      root,
      bundles,
      phrases,
      version,
      changedAt,
      help: (bundle) => helps[bundle] ?? [],
    };
    const packages = [
      agentPackage(source),
      backendPackage(source),
      emulatorPackage(source),
      screenPackage(source),
      ...architectures.map((architecture) => nodePackage(source, architecture)),
    ];
    mkdirSync(out, { recursive: true });
    for (const one of packages) {
      const file = join(out, fileNameOf(one));
      await step(one.name, async () => {
        writePackage(one, root, file);
        return one.architecture;
      });
      made(file);
    }
  } finally {
    rmSync(drafts, { recursive: true });
  }
}

/** The version that the programs report: without the revision of the package. */
const upstreamOf = (version: string): string => version.slice(0, version.lastIndexOf('-'));

/** A roll-out would wait forever for a program that reports a version other than its package's. @throws UsageError */
async function checkVersions(bundles: string, version: string): Promise<void> {
  const needed = upstreamOf(version);
  for (const program of ['dragoman.mjs', 'backend.mjs', 'emulator.mjs']) {
    const { stdout } = await runFile(process.execPath, [join(bundles, program), '--version']);
    if (stdout.trim() !== needed)
      throw new UsageError(
        `--bundles: ${program} in ${bundles} is version ${stdout.trim()}, but the packages would be ${version}: make the bundles with "node scripts/build.mjs --version ${needed}", or leave out --bundles`,
      );
  }
}

/** A line for each step on a terminal; a program that reads the output sees only the names of the packages. */
function progress(): Pick<Steps, 'step'> {
  const { stderr } = process;
  const silent: Steps['step'] = async (_name, work) => void (await work());
  const write = (text: string): void => void stderr.write(text);
  return stderr.isTTY
    ? stepLines({ isTerminal: true, write, now: () => performance.now() })
    : { step: silent };
}

/** The `--help` texts of each bundle's program and its verbs. */
async function helpOfAll(root: string): Promise<Readonly<Record<string, Help[]>>> {
  const env = { PATH: process.env['PATH'] ?? '', COLUMNS: '80', NO_COLOR: '1' };
  const { stdout } = await runFile(process.execPath, [join(root, 'scripts/deb-help.mjs')], { env });
  return JSON.parse(stdout) as Record<string, Help[]>;
}
