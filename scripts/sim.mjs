/** Bundles the simulator and runs it: `npm run sim -- --seeds N --hours H [--seed S] [--json] [--day]`. */
import { runBundled } from './run-bundled.mjs';

await runBundled('test/sim');
