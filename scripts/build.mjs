/**
 * Builds the three programs as self-contained ESM bundles.
 * Usage: node scripts/build.mjs [--out FOLDER] [--quiet]
 */
import { chmod, copyFile, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { checkNodeFirst } from './node-check.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Program by bundle. Each is built separately, without shared chunks, so that no code of one program is in another. */
const ENTRIES = {
  dragoman: 'src/cli/main.ts',
  backend: 'src/backend/main.ts',
  emulator: 'src/emulator/main.ts',
};
/** Names of the programs in their messages. */
const NAMES = { dragoman: 'dragoman', backend: 'dragoman-backend', emulator: 'dragoman-emulator' };
/** Threads of the programs: bundles that are not run by hand. */
const THREADS = {
  'echo-worker': 'src/adapters/echo/echo-worker.ts',
  'emulator-worker': 'src/emulator/threads/emulator-worker.ts',
};

/** Child programs, beside their program. They contain no code of other packages. */
const CHILDREN = { 'audio-addon': 'src/adapters/audio/addon/addon-process.ts' };

/** Files that the programs read at run time from the folder of their bundle. */
const BESIDE = ['node_modules/@echogarden/fvad-wasm/fvad.wasm', 'src/cli/demo/visitor.wav'];

/** CommonJS dependencies expect these names, which ESM does not have. */
const BANNER = `#!/usr/bin/env node
import { createRequire as bundleCreateRequire } from 'node:module';
import { dirname as bundleDirname } from 'node:path';
import { fileURLToPath as bundleFileURLToPath } from 'node:url';
const require = bundleCreateRequire(import.meta.url);
const __filename = bundleFileURLToPath(import.meta.url);
const __dirname = bundleDirname(__filename);`;
/** Placeholder for the check of Node's version. */
const CHECK_HERE = '/* check of Node */';

/** Zod has messages in fifty languages; only English is used. */
const onlyEnglish = {
  name: 'only-english',
  setup({ onLoad }) {
    onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

/**
 * WebAssembly compiled to JavaScript stays in separate files. The resampler has 2 MB that would slow every start, and is
 * rarely loaded. The echo canceller needs sloppy-mode JavaScript, which a bundle is not.
 */
const APART = [
  {
    package: '@alexanderolsen/libsamplerate-js',
    path: 'node_modules/@alexanderolsen/libsamplerate-js/dist/libsamplerate.js',
    file: 'libsamplerate.cjs',
  },
];
const keepApart = {
  name: 'keep-apart',
  setup({ onResolve }) {
    for (const part of APART) {
      const filter = new RegExp(`^${part.package}$`);
      onResolve({ filter }, () => ({ path: `./${part.file}`, external: true }));
    }
  },
};

async function bundle(name, outFolder, { version, engines }) {
  const outfile = join(outFolder, `${name}.mjs`);
  const { metafile } = await build({
    absWorkingDir: ROOT,
    // Gives the same bytes if node_modules is a link, without paths of this machine.
    preserveSymlinks: true,
    entryPoints: [{ ...ENTRIES, ...THREADS, ...CHILDREN }[name]],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    // Older than the programs need: an old Node must be able to parse the file to print the version message.
    target: 'node18',
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    metafile: true,
    banner: { js: name in ENTRIES ? `${BANNER}\n${CHECK_HERE}` : BANNER },
    define: { DRAGOMAN_VERSION: JSON.stringify(version) },
    plugins: [onlyEnglish, keepApart],
    logLevel: 'warning',
  });
  await keepToAscii(outfile);
  if (name in ENTRIES) await finishProgram(outfile, NAMES[name], engines.node);
  await writeFile(join(outFolder, `${name}.meta.json`), JSON.stringify(metafile));
  return { outfile, inputs: Object.keys(metafile.inputs) };
}

async function finishProgram(file, program, needed) {
  const text = await readFile(file, 'utf8');
  await writeFile(file, checkNodeFirst(text, { program, needed, marker: CHECK_HERE }));
  await chmod(file, 0o755);
}

/**
 * Escapes characters beyond Latin-1 that esbuild leaves in regular expressions and comments. With one such character Node
 * stores the whole source with two bytes per character: 2.4 MB of the agent's memory.
 */
async function keepToAscii(file) {
  const text = await readFile(file, 'utf8');
  const code = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  await writeFile(file, text.replaceAll(/[\u0080-\uffff]/g, code));
}

/** The folders of the packages that went into the bundles: `node_modules/mqtt`, `node_modules/@hono/node-server`. */
function packageFolders(inputs) {
  const folders = new Set();
  for (const input of inputs) {
    const match = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (match) folders.add(match[1]);
  }
  return [...folders].sort();
}

/** Writes the licences of the bundled packages. */
async function writeLicenses(outFolder, inputs) {
  const parts = [];
  for (const folder of packageFolders(inputs)) {
    const manifest = JSON.parse(await readFile(join(ROOT, folder, 'package.json'), 'utf8'));
    const files = await readdir(join(ROOT, folder));
    const file = files.find((entry) => /^licen[cs]e/i.test(entry));
    const text = file ? await readFile(join(ROOT, folder, file), 'utf8') : `Licence: ${manifest.license}\n`;
    parts.push(`${manifest.name} ${manifest.version}\n\n${text.trim()}\n`);
  }
  await writeFile(join(outFolder, 'LICENSES.txt'), parts.join(`\n${'-'.repeat(78)}\n\n`));
}

async function main() {
  const { values } = parseArgs({ options: { out: { type: 'string' }, quiet: { type: 'boolean' } } });
  const outFolder = values.out ?? join(ROOT, 'dist');
  const report = (line) => values.quiet || process.stderr.write(`${line}\n`);
  const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  await mkdir(outFolder, { recursive: true });

  const inputs = new Set();
  for (const name of Object.keys({ ...ENTRIES, ...THREADS, ...CHILDREN })) {
    const built = await bundle(name, outFolder, manifest);
    for (const input of built.inputs) inputs.add(input);
    const { size } = await stat(built.outfile);
    report(`${basename(built.outfile).padEnd(16)} ${(size / 1024).toFixed(0).padStart(6)} KiB`);
  }
  for (const path of BESIDE) await copyFile(join(ROOT, path), join(outFolder, basename(path)));
  for (const part of APART) await copyFile(join(ROOT, part.path), join(outFolder, part.file));
  await writeLicenses(outFolder, [...inputs, ...APART.map(({ path }) => path)]);
}

await main();
