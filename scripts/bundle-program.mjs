import { build } from 'esbuild';

/** Bundles a TypeScript program or module of this project into one file for Node. @returns its bytes */
export async function bundleProgram(source, options = {}) {
  const { outputFiles } = await build({
    entryPoints: [source],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    write: false,
    logLevel: 'warning',
    ...options,
  });
  return outputFiles[0].contents;
}
