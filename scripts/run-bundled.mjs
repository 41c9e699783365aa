/** Bundles a test program, runs it with this process's arguments, and ends with its exit code. */
import { spawn } from 'node:child_process';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * @param folder folder of its `main.ts`, from the project's root
 * @param beside files that it needs beside the bundle, from the project's root
 */
export async function runBundled(folder, beside = []) {
  const name = basename(folder);
  const place = await mkdtemp(join(tmpdir(), `dragoman-${name}-`));
  const bundle = join(place, `${name}.mjs`);
  await build({
    absWorkingDir: ROOT,
    entryPoints: [join(folder, 'main.ts')],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'inline',
    sourcesContent: false,
    // The bundle is in another folder, and looks for recordings beside its source.
    define: { 'import.meta.dirname': JSON.stringify(join(ROOT, folder)) },
    // Unused parts of the agent contain packages that are not ES modules.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  });
  for (const file of beside) await copyFile(join(ROOT, file), join(place, basename(file)));
  const child = spawn(process.execPath, ['--enable-source-maps', bundle, ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  child.on('exit', (code) => {
    process.exitCode = code ?? 1;
    void rm(place, { recursive: true, force: true });
  });
}
