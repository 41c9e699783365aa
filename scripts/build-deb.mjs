/** Loads `scripts/deb`, which is TypeScript, and runs it: `scripts/build-deb`. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const { outputFiles } = await build({
  absWorkingDir: fileURLToPath(new URL('..', import.meta.url)),
  entryPoints: ['scripts/deb/main.ts'],
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  write: false,
  logLevel: 'warning',
});
const { runBuild } = await import(
  `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`
);
process.exitCode = await runBuild(process.argv.slice(2), fileURLToPath(new URL('..', import.meta.url)));
