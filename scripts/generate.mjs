/** Writes what is generated from the sources: `config/schema.json` and parts of the pages in `docs/`. Usage: node scripts/generate.mjs */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** A TypeScript module of the sources, loaded. */
async function load(path) {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [path],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    write: false,
    logLevel: 'warning',
  });
  const code = Buffer.from(outputFiles[0].contents).toString('base64');
  return import(`data:text/javascript;base64,${code}`);
}

const { configSchemaFile } = await load('src/protocol/config-schema.ts');
await writeFile(new URL('../config/schema.json', import.meta.url), configSchemaFile());

const { GENERATED_PARTS, refreshPage } = await load('scripts/docs/parts.ts');
for (const path of Object.keys(GENERATED_PARTS)) {
  const page = new URL(`../${path}`, import.meta.url);
  await writeFile(page, refreshPage(path, await readFile(page, 'utf8')));
}
