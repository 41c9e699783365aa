/** Says, as JSON, what the programs say to `--help`: for `scripts/build-deb`. */
import { runBundled } from './run-bundled.mjs';

await runBundled('scripts/deb/help');
