import type { Rule } from './source.ts';
import { codeOf, importsOf, isCode, resolveImport, type SourceFile } from './source.ts';

/** Clocks, chance, timers, waiting and the machine itself: the core gets all of these as data. */
const IMPURE =
  /\bDate\.now\b|\bnew Date\(\s*\)|\bDate\(\s*\)|\bMath\.random\b|\b(?:set|clear)(?:Timeout|Interval|Immediate)\b|\bqueueMicrotask\b|\bperformance\b|\bPromise\b|\basync\b|\bawait\b|\bprocess\b|\bglobalThis\b|\bcrypto\b|\bfetch\s*\(|\bBuffer\b/g;

export const impureWordsOf = (file: SourceFile): string[] =>
  [...codeOf(file).matchAll(IMPURE)].map(([word]) => word);

/** In these layers each feature is a folder, in which files that decide and files that act stand side by side. */
const FEATURES = /^src\/(device|backend)\//;
/** Code that every decision may import: of `src/machine`, only the form of a machine. */
const PURE = /^src\/((core|sound|protocol|fleet)\/|machine\/machine\.ts$)/;
/** Ports with which a file acts. The others give data, too. */
const ACTING_PORTS = /^src\/ports\/(clock|log|state-file|host|init-system|vitals|updates)\.ts$/;

/**
 * The files of features that act, each with what makes it act: a package, an adapter, an engine of `src/machine`, a port with which one
 * acts, a clock, a promise, or a file that acts itself.
 */
function actingFiles(files: readonly SourceFile[]): ReadonlyMap<string, string> {
  const features = new Map(
    files.filter((file) => isCode(file) && FEATURES.test(file.path)).map((file) => [file.path, file]),
  );
  const acting = new Map<string, string>();
  const seen = new Set<string>();
  const actsBy = (file: SourceFile, specifier: string): boolean => {
    const target = resolveImport(file, specifier);
    if (target === null) return specifier !== 'zod';
    const feature = features.get(target);
    if (feature !== undefined) return visit(feature);
    if (target.endsWith('.json') || PURE.test(target) || FEATURES.test(target)) return false;
    return !target.startsWith('src/ports/') || ACTING_PORTS.test(target);
  };
  // Imports have no circles.
  const visit = (file: SourceFile): boolean => {
    if (seen.has(file.path)) return acting.has(file.path);
    seen.add(file.path);
    const by = importsOf(file).find((specifier) => actsBy(file, specifier)) ?? impureWordsOf(file)[0];
    if (by !== undefined) acting.set(file.path, by);
    return by !== undefined;
  };
  for (const file of features.values()) visit(file);
  return acting;
}

/** Folders and files that decide only, beside all `*-rules.ts` and `*-machine.ts`: a lane, what is played when, who pays. */
const DECIDES = [
  'src/device/lane/',
  'src/device/playout/',
  'src/device/screen/captions/',
  'src/device/screen/beat-watch.ts',
  'src/device/screen/screen-status.ts',
  'src/device/screen/wording.ts',
  'src/device/desk/conversation.ts',
  'src/device/desk/notice.ts',
  'src/device/desk/restoration.ts',
  'src/device/desk/typing.ts',
  'src/device/desk/visitor-language.ts',
  'src/device/limits/admission.ts',
  'src/device/limits/budget.ts',
  'src/device/limits/local-time.ts',
  'src/device/limits/schedule.ts',
  'src/device/commands/command-ledger.ts',
  'src/device/say/text-pieces.ts',
  'src/device/tokens/stream-address.ts',
  'src/device/update/good-moment.ts',
  'src/device/doctor/checks/playback/test-tone.ts',
  'src/backend/bill/',
  'src/backend/broker/access.ts',
  'src/backend/broker/card-settings.ts',
  'src/backend/broker/render.ts',
  'src/backend/broker/setup.ts',
  'src/backend/console/login-limits.ts',
  'src/backend/fleet/fleet-filter.ts',
  'src/backend/fleet/fleet-view.ts',
  'src/backend/fleet/health-ring.ts',
  'src/backend/issuing/issuer.ts',
  'src/backend/issuing/mint/',
  'src/backend/jobs/job-state.ts',
  'src/backend/rollout/step.ts',
];
/** The part of these folders that acts. */
const ACTS = ['src/device/lane/runner/'];

const isIn = (path: string, places: readonly string[]): boolean =>
  places.some((place) => path.startsWith(place));

export const decisionsDoNotAct: Rule = (files) =>
  [...actingFiles(files)]
    .filter(([path]) => (/-(rules|machine)\.ts$/.test(path) || isIn(path, DECIDES)) && !isIn(path, ACTS))
    .map(([path, by]) => `${path}: decides, and yet uses ${by}`);
