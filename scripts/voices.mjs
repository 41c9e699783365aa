/** Bundles the test of voices and noises and runs it: `npm run voices -- [--draws N] [--seed S] [--list] [--json]`. */
import { runBundled } from './run-bundled.mjs';

// The detector looks for its compiled part beside the bundle.
await runBundled('test/voices', ['node_modules/@echogarden/fvad-wasm/fvad.wasm']);
