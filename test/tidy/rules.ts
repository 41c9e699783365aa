import { ISOLATED } from '../setup/isolated.ts';
import { codeOf, importsOf, isCode, resolveImport, type SourceFile } from './source.ts';

/** Says what breaks it, one line each; nothing when the tree is tidy. */
export type Rule = (files: readonly SourceFile[]) => string[];

/**
 * Who may import whom: cli -> agent|backend|emulator -> adapters -> ports <- core -> protocol. The command line that
 * the programs share (`program`) is for what has one, so not for the agent. Adapters may use the
 * core's arithmetic and policies (sound, chance, waits), never the lane's machine, which decides what they do.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  ports: ['protocol'],
  core: ['ports', 'protocol'],
  adapters: ['core', 'ports', 'protocol'],
  agent: ['adapters', 'core', 'ports', 'protocol'],
  program: ['adapters', 'protocol'],
  backend: ['program', 'adapters', 'core', 'ports', 'protocol'],
  emulator: ['program', 'adapters', 'core', 'ports', 'protocol'],
  cli: ['agent', 'backend', 'emulator', 'program', 'adapters', 'core', 'ports', 'protocol'],
};

const HIDDEN_FROM_ADAPTERS = /^src\/core\/lane\//;

const layerOf = (path: string): string => /^src\/([^/]+)\//.exec(path)?.[1] ?? '';

export const importsPointOneWay: Rule = (files) =>
  sources(files).flatMap((file) => {
    const layer = layerOf(file.path);
    const allowed = MAY_IMPORT[layer];
    if (allowed === undefined) return [`${file.path}: there is no layer "${layer}"`];
    return importsOf(file).flatMap((specifier) => {
      const target = resolveImport(file, specifier);
      if (target === null) return [];
      const other = layerOf(target);
      const hidden = layer === 'adapters' && HIDDEN_FROM_ADAPTERS.test(target);
      return !hidden && (other === layer || allowed.includes(other))
        ? []
        : [`${file.path}: imports ${target}`];
    });
  });

const PURE = /^src\/(core|emulator\/core|backend\/core)\//;
/** What pure code may lean on beside itself: descriptions of data and of the world's edges. */
const PURE_MAY_IMPORT = /^src\/(core|ports|protocol)\//;
const PURE_PACKAGES = ['zod'];

export const pureCodeImportsPureCode: Rule = (files) =>
  sources(files)
    .filter(({ path }) => PURE.test(path))
    .flatMap((file) => {
      const own = PURE.exec(file.path)?.[0] ?? '';
      return importsOf(file).flatMap((specifier) => {
        const target = resolveImport(file, specifier);
        const isPure =
          target === null
            ? PURE_PACKAGES.includes(specifier)
            : target.startsWith(own) || PURE_MAY_IMPORT.test(target);
        return isPure ? [] : [`${file.path}: imports ${specifier}`];
      });
    });

/** Clocks, chance, timers, waiting, and the machine itself: all of it is handed to the core as data. */
const IMPURE =
  /\bDate\.now\b|\bnew Date\(\s*\)|\bDate\(\s*\)|\bMath\.random\b|\b(?:set|clear)(?:Timeout|Interval|Immediate)\b|\bqueueMicrotask\b|\bperformance\b|\bPromise\b|\basync\b|\bawait\b|\bprocess\b|\bglobalThis\b|\bcrypto\b|\bfetch\s*\(|\bBuffer\b/g;

export const pureCodeHasNoClockNorChance: Rule = (files) =>
  sources(files)
    .filter(({ path }) => PURE.test(path))
    .flatMap((file) => [...codeOf(file).matchAll(IMPURE)].map(([word]) => `${file.path}: uses ${word}`));

/** The machine's clocks are read in one place, so that tests and simulators can put others there. */
const CLOCK = 'src/adapters/clock.ts';
const READS_CLOCK = /\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\.now\b|\bprocess\.(?:uptime|hrtime)\b/g;

export const onlyTheClockReadsTheTime: Rule = (files) =>
  sources(files)
    .filter(({ path }) => path !== CLOCK && path !== 'src/emulator/page-script.ts')
    .flatMap((file) => [...codeOf(file).matchAll(READS_CLOCK)].map(([word]) => `${file.path}: uses ${word}`));

/** Draws that are the same in each run come from one place. */
const PROPERTIES = 'test/properties.ts';

export const drawsComeFromOnePlace: Rule = (files) =>
  files
    .filter((file) => isCode(file) && file.path !== PROPERTIES && importsOf(file).includes('fast-check'))
    .map(({ path }) => `${path}: imports fast-check, not ${PROPERTIES}`);

export const LONGEST_FILE_LINES = 350;

export const filesAreShort: Rule = (files) =>
  files.filter(isCode).flatMap(({ path, text }) => {
    const lines = text.trimEnd().split('\n').length;
    return lines > LONGEST_FILE_LINES ? [`${path}: ${lines} lines`] : [];
  });

/** Programs speak through their command line; everything else has a log or returns what it has to say. */
const MAY_WRITE = /^src\/(cli\/|program\/run-main\.ts$|[^/]+\/(main|cli)\.ts$)/;

export const onlyCommandLinesWrite: Rule = (files) =>
  sources(files).flatMap((file) => {
    const banned = MAY_WRITE.test(file.path) ? /\bconsole\b/g : /\bconsole\b|\bprocess\.std(?:out|err)\b/g;
    return [...codeOf(file).matchAll(banned)].map(([word]) => `${file.path}: uses ${word}`);
  });

/** What people read passes `runProgram`, which lets no text steer the terminal, or the rows of a live picture, which do the same. */
const PRINTS = /^src\/program\//;

export const onlyOnePlacePrints: Rule = (files) =>
  sources(files)
    .filter(({ path }) => !PRINTS.test(path))
    .flatMap((file) =>
      [...codeOf(file).matchAll(/\b(?:process\.)?std(?:out|err)\.write\b/g)].map(
        ([word]) => `${file.path}: uses ${word}`,
      ),
    );

const LOWER_CASE_KEBAB = /^\.?[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*$/;
/** Names that tools and readers look for. */
const CUSTOMARY = /^([a-z-]+\/)*(README|CHANGELOG|CONTRIBUTING|SECURITY|LICENSE)(\.md)?$/;

export const fileNamesAreLowerCaseKebab: Rule = (files) =>
  files
    .filter(({ path }) => !CUSTOMARY.test(path))
    .filter(({ path }) => !path.split('/').every((step) => LOWER_CASE_KEBAB.test(step)))
    .map(({ path }) => `${path}: is not lower-case and hyphenated`);

/** Put together here, so that this file does not break its own rule. */
const folder = (...steps: string[]): string => `(?<![\\w.])/${steps.join('/')}`;
const host = (...labels: string[]): string => labels.join('\\.');
const FOREIGN = new RegExp(
  [
    host('registry', 'npmjs', 'org'),
    host('registry', 'yarnpkg', 'com'),
    host('registry', 'npmmirror', 'com'),
    ['arti', 'factory'].join(''),
    `"${['resol', 'ved'].join('')}":`,
    folder('(home|Users)', '[A-Za-z]'),
    folder('root', ''),
    folder('work', ''),
    '[A-Z]:\\\\Users',
  ].join('|'),
  'g',
);

export const nothingNamesAMachine: Rule = (files) =>
  files.flatMap(({ path, text }) => [...text.matchAll(FOREIGN)].map(([found]) => `${path}: names ${found}`));

interface LockedPackage {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** npm leaves out of the lock what its registry did not have, and then refuses to install from it. */
export const lockNamesEveryPlatform: Rule = (files) =>
  files
    .filter(({ path }) => path === 'package-lock.json')
    .flatMap(({ path, text }) => {
      const { packages } = JSON.parse(text) as { packages: Readonly<Record<string, LockedPackage>> };
      const locked = Object.keys(packages);
      return Object.entries(packages).flatMap(([by, { optionalDependencies }]) =>
        Object.keys(optionalDependencies ?? {})
          .filter((name) => !locked.some((place) => place.endsWith(`node_modules/${name}`)))
          .map((name) => `${path}: ${name}, which ${by} may need, is not locked`),
      );
    });

const HOOK = /^(?:before|after)(?:All|Each)\b/gm;

/**
 * What tests share is loaded once for many files, where they are not isolated: a hook beside its functions is the first
 * file's alone, and clears away what the next one still needs.
 */
export const hooksBelongToTests: Rule = (files) =>
  files
    .filter((file) => file.path.startsWith('test/') && isCode(file) && !file.path.endsWith('.test.ts'))
    .flatMap((file) => [...codeOf(file).matchAll(HOOK)].map(([hook]) => `${file.path}: ${hook} at its top`));

const CHANGES_THE_PROCESS =
  /\bvi\.(?:mock|doMock|useFakeTimers|stubEnv|stubGlobal)\(|\bprocess\.env(?:\[[^\]]*\]|\.\w+) = |\bprocess\.(?:umask|chdir)\(/;

/** Each file of these has a process of its own. */
const IN_REAL_TIME = /^test\/(?:e2e|card)\//;

/** Files that share what was loaded once share their process, too: who replaces or changes any of it must be listed as isolated. */
export const whatChangesTheProcessIsIsolated: Rule = (files) =>
  files
    .filter(({ path }) => path.startsWith('test/') && path.endsWith('.test.ts') && !IN_REAL_TIME.test(path))
    .filter((file) => CHANGES_THE_PROCESS.test(codeOf(file)) && !ISOLATED.includes(file.path))
    .map(({ path }) => `${path} changes its process, and is not in test/setup/isolated.ts`);

const LONG_TEST = /\.long\.test\.ts$/;

/** Most people run `npm test` alone, which leaves the long ones out: it holds of each at least the main claim. */
export const longTestsHaveAQuickOne: Rule = (files) => {
  const paths = new Set(files.map(({ path }) => path));
  return [...paths]
    .filter((path) => LONG_TEST.test(path) && !paths.has(path.replace(LONG_TEST, '.test.ts')))
    .map((path) => `${path} has no quick one beside it`);
};

const RELATIVE_TO_SOURCE = /^src\//;

function sources(files: readonly SourceFile[]): SourceFile[] {
  return files.filter((file) => RELATIVE_TO_SOURCE.test(file.path) && isCode(file));
}
