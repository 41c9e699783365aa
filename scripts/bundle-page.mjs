import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Bundles the kiosk's page into `screen.js` and `screen.css`. @returns the sources, and the bytes of the script */
export async function bundlePage(outFolder) {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    preserveSymlinks: true,
    entryPoints: { screen: 'src/page/main.tsx' },
    outdir: outFolder,
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    // Older than the browsers of Debian 12 and 13, which get new versions.
    target: 'chrome120',
    // Texts in many scripts are half as large unescaped.
    charset: 'utf8',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  await writeFile(join(outFolder, 'screen.meta.json'), JSON.stringify(metafile));
  const { size } = await stat(join(outFolder, 'screen.js'));
  return { inputs: Object.keys(metafile.inputs), bytes: size };
}
