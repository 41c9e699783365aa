/** Loads `scripts/phrases`, which is TypeScript, and runs it: `scripts/build-phrases`. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const { outputFiles } = await build({
  absWorkingDir: fileURLToPath(new URL('..', import.meta.url)),
  entryPoints: ['scripts/phrases/main.ts'],
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  write: false,
  logLevel: 'warning',
});
const { runPhrases } = await import(
  `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`
);
process.exitCode = await runPhrases(process.argv.slice(2), fileURLToPath(new URL('..', import.meta.url)));
