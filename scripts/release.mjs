/** Loads `scripts/repository`, which is TypeScript, and runs it: `scripts/release build`. */
import { importTypeScript, ROOT } from './import-typescript.mjs';

const { runRelease } = await importTypeScript('scripts/repository/main.ts');
process.exitCode = await runRelease(process.argv.slice(2), ROOT);
