/** Loads `scripts/phrases`, which is TypeScript, and runs it: `scripts/build-phrases`. */
import { importTypeScript, ROOT } from './import-typescript.mjs';

const { runPhrases } = await importTypeScript('scripts/phrases/main.ts');
process.exitCode = await runPhrases(process.argv.slice(2), ROOT);
