/** Imports a TypeScript module into a script, without a bundle on the disk. */
import { fileURLToPath } from 'node:url';
import { bundleProgram } from './bundle-program.mjs';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** @param path of the module, from the project's root */
export async function importTypeScript(path) {
  const code = Buffer.from(await bundleProgram(path, { absWorkingDir: ROOT })).toString('base64');
  return import(`data:text/javascript;base64,${code}`);
}
