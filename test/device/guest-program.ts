import { build } from 'esbuild';

/** A program of ours in one file, for the Node of an emulated machine. */
export async function bundleForGuest(source: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [source],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    write: false,
    logLevel: 'warning',
    // What is CommonJS in it asks for Node's own modules.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  return outputFiles[0]?.contents ?? new Uint8Array();
}
