/** Loads `scripts/image`, which is TypeScript, and runs it: `scripts/build-image`. */
import { importTypeScript, ROOT } from './import-typescript.mjs';

const { runImage } = await importTypeScript('scripts/image/main.ts');
process.exitCode = await runImage(process.argv.slice(2), ROOT);
