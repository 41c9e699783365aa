import { bundleProgram } from '../../scripts/bundle-program.mjs';

/** Bundles a program into one file for the Node of an emulated machine, with `require` for its CommonJS packages. */
export const bundleForGuest = (source: string): Promise<Uint8Array> =>
  bundleProgram(source, {
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
