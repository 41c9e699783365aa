/** Generates `config/schema.json` and parts of the pages in `docs/` from the sources. Usage: node scripts/generate.mjs */
import { readFile, writeFile } from 'node:fs/promises';
import { importTypeScript } from './import-typescript.mjs';

const { configSchemaFile } = await importTypeScript('src/protocol/config-schema.ts');
await writeFile(new URL('../config/schema.json', import.meta.url), configSchemaFile());

const { GENERATED_PARTS, refreshPage } = await importTypeScript('scripts/docs/parts.ts');
for (const path of Object.keys(GENERATED_PARTS)) {
  const page = new URL(`../${path}`, import.meta.url);
  await writeFile(page, refreshPage(path, await readFile(page, 'utf8')));
}
