import { readFile, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Settings of both pages, which are code for browsers. */
const COMMON = {
  absWorkingDir: ROOT,
  preserveSymlinks: true,
  bundle: true,
  minify: true,
  platform: 'browser',
  format: 'esm',
  // Texts in many scripts are half as large unescaped.
  charset: 'utf8',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
};

/**
 * The page's words in each language as one text: their keys, once in the page in place of once in each language, would be 2 KB of it.
 * Between the words is a line break, which no word contains.
 */
const wordLists = {
  name: 'word-lists',
  setup(build) {
    const keys = [];
    build.onLoad({ filter: /\/screen\/words\/\w+\.json$/ }, async ({ path }) => {
      const words = JSON.parse(await readFile(path, 'utf8'));
      if (keys.length === 0) keys.push(...Object.keys(words));
      const list = JSON.stringify(keys.map((key) => words[key]).join('\n'));
      return {
        loader: 'js',
        contents: `import { wordsOf } from 'word-keys'; export default wordsOf(${list});`,
      };
    });
    build.onResolve({ filter: /^word-keys$/ }, ({ path }) => ({ path, namespace: 'word-keys' }));
    build.onLoad({ filter: /.*/, namespace: 'word-keys' }, () => ({
      contents: `const keys = ${JSON.stringify(keys.join(' '))}.split(' ');
        export const wordsOf = (list) => Object.fromEntries(list.split('\\n').map((word, at) => [keys[at], word]));`,
    }));
  },
};

/** Bundles the kiosk's page into `screen.js` and `screen.css`, and what the demo adds to it into `screen-demo.js`. @returns the sources, and the bytes of the page's script */
export async function bundlePage(outFolder) {
  const { metafile } = await build({
    ...COMMON,
    entryPoints: { screen: 'src/page/kiosk/main.tsx' },
    outdir: outFolder,
    plugins: [wordLists],
    // Older than the browsers of Debian 12 and 13, which get new versions.
    target: 'chrome120',
  });
  await writeFile(join(outFolder, 'screen.meta.json'), JSON.stringify(metafile));
  const demo = await build({
    ...COMMON,
    entryPoints: { 'screen-demo': 'src/page/demo/reads-back.ts' },
    outdir: outFolder,
    target: 'chrome120',
    // The demo appends it to the page's script, whose names it must not touch.
    format: 'iife',
  });
  const { size } = await stat(join(outFolder, 'screen.js'));
  return { inputs: [metafile, demo.metafile].flatMap(({ inputs }) => Object.keys(inputs)), bytes: size };
}

/**
 * Bundles the owner's console. The plots and each further language are parts that a browser loads when it needs them.
 * @returns esbuild's metadata, and each file's text by its name: `console.js`, `console.css`, and parts
 */
export async function bundleConsole() {
  const { metafile, outputFiles } = await build({
    ...COMMON,
    entryPoints: { console: 'src/page/console/main.tsx' },
    outdir: 'dist',
    write: false,
    splitting: true,
    chunkNames: 'console-[name]-[hash]',
    // Owners' browsers of 2024 and later.
    target: ['chrome123', 'firefox121', 'safari17.5'],
  });
  return {
    metafile,
    files: Object.fromEntries(outputFiles.map(({ path, text }) => [basename(path), text])),
  };
}
