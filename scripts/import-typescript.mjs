/** Lets a script use what is written in TypeScript, without a bundle on the disk. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** @param path of the module, from the project's root */
export async function importTypeScript(path) {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [path],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    write: false,
    logLevel: 'warning',
  });
  const code = Buffer.from(outputFiles[0].contents).toString('base64');
  return import(`data:text/javascript;base64,${code}`);
}
