import { build } from 'esbuild';

/** A program or a module of ours, written in TypeScript, in one file for Node; its bytes. */
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
