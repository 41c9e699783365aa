import { ISOLATED } from '../setup/isolated.ts';
import { impureWordsOf } from './acting-files.ts';
import { codeOf, importsOf, isCode, type Rule, resolveImport, type SourceFile } from './source.ts';

/**
 * Which layer may import which: cli -> device|backend|emulator|updater -> adapters -> machine, fleet, core -> sound -> ports ->
 * protocol. The device's features have no command line, so they may not import `program`. The backend checks a kiosk's file with the
 * installer, which may import neither device nor backend. Sound is arithmetic, which knows no lanes.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  ports: ['protocol'],
  sound: ['ports', 'protocol'],
  core: ['sound', 'ports', 'protocol'],
  machine: ['core', 'ports', 'protocol'],
  fleet: ['core', 'ports', 'protocol'],
  adapters: ['machine', 'core', 'sound', 'ports', 'protocol'],
  device: ['adapters', 'machine', 'fleet', 'core', 'sound', 'ports', 'protocol'],
  program: ['adapters', 'protocol'],
  installer: ['adapters', 'core', 'sound', 'ports', 'protocol'],
  backend: ['installer', 'program', 'adapters', 'machine', 'fleet', 'core', 'ports', 'protocol'],
  updater: ['adapters', 'core', 'ports', 'protocol'],
  emulator: ['program', 'adapters', 'core', 'sound', 'ports', 'protocol'],
  // Runs in a browser: words, arithmetic and types.
  page: ['device', 'core', 'protocol'],
  cli: [
    'device',
    'backend',
    'emulator',
    'installer',
    'program',
    'adapters',
    'machine',
    'fleet',
    'core',
    'sound',
    'ports',
    'protocol',
  ],
};

/** What a page takes from the device: the words and lines of the screen. */
const SEEN_BY_PAGES = /^src\/device\/screen\/(captions\/|wording\.ts$)/;

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
      const hidden = layer === 'page' && other === 'device' && !SEEN_BY_PAGES.test(target);
      return !hidden && (other === layer || allowed.includes(other))
        ? []
        : [`${file.path}: imports ${target}`];
    });
  });

const PURE = /^src\/(core|fleet|sound|(emulator|installer)\/core)\//;
/** Other code that pure code may import: data types and ports. */
const PURE_MAY_IMPORT = /^src\/(core|sound|ports|protocol)\//;
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

/** The protocol of the service belongs to one adapter, so that another service needs no change of the core. */
const NEUTRAL =
  /^src\/(device\/(lane|playout|screen|desk|say)|machine|fleet|core|sound|ports|installer\/core)\//;
const WIRE = /^src\/protocol\/service\//;
const WIRE_WORDS =
  /\b(?:message_type|(?:set|get|current|pause|tts)_task|(?:partial|validated)_(?:translated_)?transcription|translated_transcription|(?:in|out)put_audio_data)\b/g;

export const coreKnowsNoServiceProtocol: Rule = (files) =>
  sources(files)
    .filter(({ path }) => NEUTRAL.test(path))
    .flatMap((file) => [
      ...importsOf(file)
        .filter((specifier) => WIRE.test(resolveImport(file, specifier) ?? ''))
        .map((specifier) => `${file.path}: imports ${specifier}`),
      ...[...file.text.matchAll(WIRE_WORDS)].map(([word]) => `${file.path}: speaks of ${word}`),
    ]);

export const pureCodeHasNoClockNorChance: Rule = (files) =>
  sources(files)
    .filter(({ path }) => PURE.test(path))
    .flatMap((file) => impureWordsOf(file).map((word) => `${file.path}: uses ${word}`));

/** Only this file reads the machine's clocks, so that tests and the simulator can replace them. */
const CLOCK = 'src/adapters/clock.ts';
/** A page has no other clock. */
const RUNS_IN_BROWSER = /^src\/(page\/|emulator\/page-script\.ts$)/;
const READS_CLOCK = /\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\.now\b|\bprocess\.(?:uptime|hrtime)\b/g;

export const onlyTheClockReadsTheTime: Rule = (files) =>
  sources(files)
    .filter(({ path }) => path !== CLOCK && !RUNS_IN_BROWSER.test(path))
    .flatMap((file) => [...codeOf(file).matchAll(READS_CLOCK)].map(([word]) => `${file.path}: uses ${word}`));

/** Sets the seed of all property tests, so that each run draws the same. */
const PROPERTIES = 'test/properties.ts';

export const onlyOneFileImportsFastCheck: Rule = (files) =>
  files
    .filter((file) => isCode(file) && file.path !== PROPERTIES && importsOf(file).includes('fast-check'))
    .map(({ path }) => `${path}: imports fast-check, not ${PROPERTIES}`);

/** A bundle takes from a namespace only what is used, and of the object `z` everything: twice the code at each start. */
const WHOLE_ZOD = /^import (?:z\b|\{)[^;]*from 'zod';/gm;

export const zodIsImportedAsNamespace: Rule = (files) =>
  sources(files).flatMap(({ path, text }) =>
    [...text.matchAll(WHOLE_ZOD)].map(([statement]) => `${path}: ${statement}`),
  );

/** Only command lines write to the terminal; all other code logs or returns its messages. */
const MAY_WRITE = /^src\/(cli\/|program\/run-main\.ts$|[^/]+\/(main|cli)\.ts$)/;

export const onlyCommandLinesWrite: Rule = (files) =>
  sources(files).flatMap((file) => {
    // The owner's console is a key of the backend's configuration.
    const banned = MAY_WRITE.test(file.path)
      ? /(?<!\.)\bconsole\.\w+\(/g
      : /(?<!\.)\bconsole\.\w+\(|\bprocess\.std(?:out|err)\b/g;
    return [...codeOf(file).matchAll(banned)].map(([word]) => `${file.path}: uses ${word}`);
  });

/** Prints for people: it removes control characters, which could steer the terminal. */
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
/** Customary names in upper case. */
const CUSTOMARY = /^([a-z-]+\/)*(README|CHANGELOG|CONTRIBUTING|SECURITY|LICENSE)(\.md)?$/;

export const fileNamesAreLowerCaseKebab: Rule = (files) =>
  files
    .filter(({ path }) => !CUSTOMARY.test(path))
    .filter(({ path }) => !path.split('/').every((step) => LOWER_CASE_KEBAB.test(step)))
    .map(({ path }) => `${path}: is not lower-case and hyphenated`);

/** Builds the patterns from parts, so that this file does not break its own rule. */
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

/** npm leaves a package that its registry does not have out of the lock file, and then refuses to install from it. */
export const lockNamesEveryPlatform: Rule = (files) =>
  files
    .filter(({ path }) => path === 'package-lock.json')
    .flatMap(({ path, text }) => {
      const { packages } = JSON.parse(text) as { packages: Readonly<Record<string, LockedPackage>> };
      const locked = Object.keys(packages);
      return Object.entries(packages).flatMap(([by, { optionalDependencies }]) =>
        Object.keys(optionalDependencies ?? {})
          .filter((name) => !locked.some((place) => place.endsWith(`node_modules/${name}`)))
          .map((name) => `${path}: lacks ${name}, an optional dependency of ${by}`),
      );
    });

const HOOK = /^(?:before|after)(?:All|Each)\b/gm;

/**
 * Test files that are not isolated share loaded modules. A hook at the top of a shared module would run for the first file
 * only, and remove things that the next file needs.
 */
export const hooksBelongToTests: Rule = (files) =>
  files
    .filter((file) => file.path.startsWith('test/') && isCode(file) && !file.path.endsWith('.test.ts'))
    .flatMap((file) => [...codeOf(file).matchAll(HOOK)].map(([hook]) => `${file.path}: ${hook} at its top`));

const CHANGES_THE_PROCESS =
  /\bvi\.(?:mock|doMock|useFakeTimers|stubEnv|stubGlobal)\(|\bprocess\.env(?:\[[^\]]*\]|\.\w+) = |\bprocess\.(?:umask|chdir)\(/;

/** Each of these files has its own process. */
const IN_REAL_TIME = /^test\/(?:e2e|card)\//;

/** Files that share loaded modules also share a process: a test that changes either must be listed as isolated. */
export const testsThatChangeTheProcessAreIsolated: Rule = (files) =>
  files
    .filter(({ path }) => path.startsWith('test/') && path.endsWith('.test.ts') && !IN_REAL_TIME.test(path))
    .filter((file) => CHANGES_THE_PROCESS.test(codeOf(file)) && !ISOLATED.includes(file.path))
    .map(({ path }) => `${path}: changes its process; list it in test/setup/isolated.ts`);

const LONG_TEST = /\.long\.test\.ts$/;

/** `npm test` leaves the long tests out, so the file beside each one checks the main claim. */
export const longTestsHaveAQuickOne: Rule = (files) => {
  const paths = new Set(files.map(({ path }) => path));
  return [...paths]
    .filter((path) => LONG_TEST.test(path) && !paths.has(path.replace(LONG_TEST, '.test.ts')))
    .map((path) => `${path}: has no quick test beside it`);
};

const RELATIVE_TO_SOURCE = /^src\//;

function sources(files: readonly SourceFile[]): SourceFile[] {
  return files.filter((file) => RELATIVE_TO_SOURCE.test(file.path) && isCode(file));
}
