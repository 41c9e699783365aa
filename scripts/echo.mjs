/** Bundles the test of the echo canceller and runs it: `npm run echo -- [--seed S] [--only TEXT] [--short] [--json]`. */
import { runBundled } from './run-bundled.mjs';

await runBundled('test/echo');
