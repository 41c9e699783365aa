/**
 * Builds the three programs as self-contained ESM bundles. A program is a small file that checks Node, `dragoman.mjs`, and
 * its parts beside it, `dragoman.*.mjs`. Verbs that the daemon never needs are parts of their own, which it does not load.
 * Usage: node scripts/build.mjs [--out FOLDER] [--version TEXT] [--quiet]. Without --version: that of package.json.
 */
import { copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { bundleConsole, bundlePage } from './bundle-page.mjs';
import { starter } from './node-check.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Program by bundle. Each is built separately and shares no parts, so that no code of one program is in another. */
const ENTRIES = {
  dragoman: 'src/cli/main.ts',
  backend: 'src/backend/main.ts',
  emulator: 'src/emulator/main.ts',
};
/** Program names as messages show them. */
const NAMES = { dragoman: 'dragoman', backend: 'dragoman-backend', emulator: 'dragoman-emulator' };
/** Threads of the programs, and the updater: bundles that are not run by hand. */
const THREADS = {
  updater: 'src/updater/main.ts',
  'echo-worker': 'src/adapters/echo/echo-worker.ts',
};

/** Child programs, beside their program. They contain no code of other packages. */
const CHILDREN = { 'audio-addon': 'src/adapters/audio/addon/addon-process.ts' };

/** Files that the programs read at run time from the folder of their bundle. */
const BESIDE = ['node_modules/@echogarden/fvad-wasm/fvad.wasm', 'src/cli/demo/visitor.wav'];

/** CommonJS dependencies expect these names, which ESM does not have. */
const BANNER = `import { createRequire as bundleCreateRequire } from 'node:module';
import { dirname as bundleDirname } from 'node:path';
import { fileURLToPath as bundleFileURLToPath } from 'node:url';
const require = bundleCreateRequire(import.meta.url);
const __filename = bundleFileURLToPath(import.meta.url);
const __dirname = bundleDirname(__filename);`;
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
/**
 * SQLite for a Node without built-in SQLite (before 22.13): a package in its own folder, because it finds its native part
 * from its path. Only for the platforms that a backend runs on.
 */
const SQLITE = {
  package: '@photostructure/sqlite',
  entry: 'node_modules/@photostructure/sqlite/dist/index.cjs',
  file: 'sqlite/lib/index.cjs',
  native: ['linux-x64', 'linux-arm64'].map(
    (machine) => `prebuilds/${machine}/@photostructure+sqlite.glibc.node`,
  ),
};

const keepApart = {
  name: 'keep-apart',
  setup({ onResolve }) {
    for (const part of [...APART, SQLITE]) {
      const filter = new RegExp(`^${part.package}$`);
      onResolve({ filter }, () => ({ path: `./${part.file}`, external: true }));
    }
  },
};

/**
 * Parts of packages that the packages load at their start although no program of this project uses them, such as MQTT.js's
 * SOCKS proxy and its timers for browsers. Its copy of Node's streams is replaced by Node's own.
 */
const UNUSED = [
  { importer: /\/mqtt\//, name: /^\.\/socks$/ },
  { importer: /\/mqtt\//, name: /^worker-timers$/ },
  { importer: /\/pino\//, name: /^thread-stream$/ },
];
const leaveOut = {
  name: 'leave-out',
  setup({ onResolve, onLoad }) {
    for (const { importer, name } of UNUSED) {
      onResolve({ filter: name }, (found) =>
        importer.test(found.importer) ? { path: found.path, namespace: 'unused' } : null,
      );
    }
    onLoad({ filter: /./, namespace: 'unused' }, () => ({ contents: 'module.exports = {};' }));
    onResolve({ filter: /^readable-stream$/ }, () => ({ path: 'node:stream', external: true }));
  },
};

/** Maximum length of a line of a bundle. */
const LINE_LIMIT = 160;

/** @param pages text by file name: pages that the program contains */
async function bundle(name, outFolder, { version, engines }, pages) {
  const isProgram = name in ENTRIES;
  const entry = isProgram ? `${name}.main` : name;
  for (const file of await readdir(outFolder)) {
    if (file.startsWith(`${name}.`)) await rm(join(outFolder, file));
  }
  const { metafile, outputFiles } = await build({
    absWorkingDir: ROOT,
    // Gives the same bytes even if node_modules is a link, and leaves out paths of this machine.
    preserveSymlinks: true,
    entryPoints: { [entry]: { ...ENTRIES, ...THREADS, ...CHILDREN }[name] },
    // The same for every output folder, because the names of the parts depend on it.
    outdir: 'dist',
    write: false,
    outExtension: { '.js': '.mjs' },
    chunkNames: `${name}.[name]-[hash]`,
    bundle: true,
    splitting: name === 'dragoman',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'linked',
    sourcesContent: false,
    // A process keeps the text of its program in memory: comments and indentation are a third of it.
    minifyWhitespace: true,
    // Stack traces give line numbers, so the bundle needs several lines.
    lineLimit: LINE_LIMIT,
    legalComments: 'none',
    metafile: true,
    banner: { js: BANNER },
    define: {
      DRAGOMAN_VERSION: JSON.stringify(version),
      ...(pages && { DRAGOMAN_CONSOLE: JSON.stringify(pages) }),
    },
    // An optional part of `pg`, which is loaded only on request.
    external: ['pg-native'],
    plugins: [onlyEnglish, keepApart, leaveOut],
    logLevel: 'warning',
  });
  const files = outputFiles.map(({ path }) => join(outFolder, basename(path)));
  for (const { path, text } of outputFiles) {
    await writeFile(join(outFolder, basename(path)), path.endsWith('.mjs') ? inAscii(text) : text);
  }
  if (isProgram) {
    const start = starter(`./${entry}.mjs`, { program: NAMES[name], needed: engines.node });
    await writeFile(join(outFolder, `${name}.mjs`), start, { mode: 0o755 });
  }
  await writeFile(join(outFolder, `${name}.meta.json`), JSON.stringify(metafile));
  return { files, inputs: Object.keys(metafile.inputs) };
}

/**
 * Escapes characters beyond Latin-1 that esbuild leaves in regular expressions and comments. With one such character Node
 * stores the whole source with two bytes per character: 2.4 MB of the agent's memory.
 */
function inAscii(text) {
  const code = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return text.replaceAll(/[\u0080-\uffff]/g, code);
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

async function placeSqlite(outFolder) {
  await build({
    absWorkingDir: ROOT,
    preserveSymlinks: true,
    entryPoints: [SQLITE.entry],
    outfile: join(outFolder, SQLITE.file),
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node18',
    legalComments: 'none',
    logLevel: 'warning',
  });
  for (const path of SQLITE.native) {
    const file = join(outFolder, 'sqlite', path);
    await mkdir(dirname(file), { recursive: true });
    // A running backend has mapped the file: it would crash if the file were overwritten.
    await rm(file, { force: true });
    await copyFile(join(ROOT, 'node_modules', SQLITE.package, path), file);
  }
}

async function main() {
  const { values } = parseArgs({
    options: { out: { type: 'string' }, version: { type: 'string' }, quiet: { type: 'boolean' } },
  });
  const outFolder = values.out ?? join(ROOT, 'dist');
  const report = (line) => values.quiet || process.stderr.write(`${line}\n`);
  const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  manifest.version = values.version ?? manifest.version;
  await mkdir(outFolder, { recursive: true });

  const owners = await bundleConsole();
  await writeFile(join(outFolder, 'console.meta.json'), JSON.stringify(owners.metafile));
  const inputs = new Set(Object.keys(owners.metafile.inputs));
  for (const name of Object.keys({ ...ENTRIES, ...THREADS, ...CHILDREN })) {
    const built = await bundle(name, outFolder, manifest, name === 'backend' ? owners.files : undefined);
    for (const input of built.inputs) inputs.add(input);
    for (const file of built.files.filter((path) => path.endsWith('.mjs'))) {
      const { size } = await stat(file);
      report(`${basename(file).padEnd(40)} ${(size / 1024).toFixed(0).padStart(6)} KiB`);
    }
  }
  const page = await bundlePage(outFolder);
  for (const input of page.inputs) inputs.add(input);
  report(`${'screen.js'.padEnd(40)} ${(page.bytes / 1024).toFixed(0).padStart(6)} KiB`);
  for (const path of BESIDE) await copyFile(join(ROOT, path), join(outFolder, basename(path)));
  for (const part of APART) await copyFile(join(ROOT, part.path), join(outFolder, part.file));
  await placeSqlite(outFolder);
  const apart = [...APART.map(({ path }) => path), SQLITE.entry, 'node_modules/node-gyp-build/index.js'];
  await writeLicenses(outFolder, [...inputs, ...apart]);
}

await main();
