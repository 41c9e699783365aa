import { bundleProgram } from '../../scripts/bundle-program.mjs';

/** A program of ours in one file, for the Node of an emulated machine. What is CommonJS in it asks for Node's own modules. */
export const bundleForGuest = (source: string): Promise<Uint8Array> =>
  bundleProgram(source, {
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
