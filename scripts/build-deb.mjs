/** Loads `scripts/deb`, which is TypeScript, and runs it: `scripts/build-deb`. */
import { importTypeScript, ROOT } from './import-typescript.mjs';

const { runBuild } = await importTypeScript('scripts/deb/main.ts');
process.exitCode = await runBuild(process.argv.slice(2), ROOT);
