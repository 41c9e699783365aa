/** Bundles the benchmark of a fleet and runs it: `npm run bench:fleet -- [--quick] [--json]`; `--help` says more. */
import { runBundled } from './run-bundled.mjs';

await runBundled('test/fleet');
