/** Prints the `--help` texts of the programs as JSON, for `scripts/build-deb`. */
import { runBundled } from './run-bundled.mjs';

await runBundled('scripts/deb/help');
