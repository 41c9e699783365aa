import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MENU_LANGUAGES, MENU_SOUNDS } from '../../src/device/menu/menu-sounds.ts';
import { PHRASE_CODES, PHRASE_LANGUAGES } from '../../src/installer/core/phrases.ts';
import { billOfMaterials, type Component, componentsOf, copyrightPage } from './components.ts';
import { type Entry, gzip, isBytes } from './file-tree.ts';
import { completion, type Help, manPage } from './manual.ts';
import {
  type Architecture,
  fetchRuntime,
  NODE_PACKAGED_AT,
  NODE_REVISION,
  NODE_VERSION,
} from './node-runtime.ts';

export interface Package {
  readonly name: string;
  readonly version: string;
  /** The time in the package, seconds since 1970. */
  readonly changedAt: number;
  readonly architecture: 'all' | Architecture;
  /** null: nothing. */
  readonly depends: string | null;
  readonly recommends?: string;
  readonly summary: string;
  /** Lines of at most 75 characters; an empty one starts a new paragraph. */
  readonly description: readonly string[];
  readonly files: readonly Entry[];
}

export interface Source {
  readonly root: string;
  /** Folder of the bundles. */
  readonly bundles: string;
  /** Folder of the spoken phrases, `LANGUAGE/CODE.wav`. */
  readonly phrases: string;
  readonly version: string;
  /** Seconds since 1970. */
  readonly changedAt: number;
  /** The help of a bundle's program and its verbs. */
  help(bundle: string): readonly Help[];
}

const LEAST_NODE = '20.12';
const NODE = `nodejs (>= ${LEAST_NODE}) | dragoman-node`;
/** A Node.js that includes SQLite: packages for all architectures cannot contain SQLite as a native module. */
const NODE_WITH_SQLITE = 'nodejs (>= 22.13) | dragoman-node';
const PROGRAMS = ['dragoman', 'dragoman-backend', 'dragoman-emulator'];
const PRIVATE_NODE = 'usr/lib/dragoman-node/bin/node';

/** A program of this project: its bundle, the files beside it, and the third-party packages in them. */
interface Program {
  readonly name: string;
  readonly bundle: string;
  readonly threads: readonly string[];
  readonly beside: Readonly<Record<string, string>>;
  /** Bundles for browsers. */
  readonly pages?: readonly string[];
}

/** The speech detector. Without this file, voices are detected by loudness alone. */
const SPEECH_DETECTOR = { 'fvad.wasm': '@echogarden/fvad-wasm' };

export function agentPackage(source: Source): Package {
  const { root } = source;
  const beside = {
    ...SPEECH_DETECTOR,
    'libsamplerate.cjs': '@alexanderolsen/libsamplerate-js',
  };
  const threads = ['echo-worker', 'audio-addon', 'updater'];
  const units = [
    'dragoman-clock.path',
    'dragoman-clock.service',
    'dragoman-reboot.path',
    'dragoman-reboot.service',
    'dragoman-update.path',
    'dragoman-update.service',
  ];
  const program: Program = { name: 'dragoman', bundle: 'dragoman', threads, beside, pages: ['screen'] };
  return {
    ...programPackage(source, program),
    depends: `${NODE}, alsa-utils, systemd`,
    summary: 'agent inside an interpreting kiosk',
    description: [
      'Someone speaks at a museum desk, a clinic counter or a hotel lobby, and',
      'seconds later the kiosk says it in another language.',
      '',
      'This is the service that runs on the device: it streams speech to a',
      'translation service, plays what comes back, and is commanded over MQTT.',
    ],
    files: [
      ...withChecksums(source, [
        ...programFiles(source, program),
        ...['visitor.wav', 'screen.js', 'screen.css', 'screen-demo.js'].map((name) => ({
          path: `usr/lib/dragoman/${name}`,
          content: readFileSync(join(source.bundles, name)),
        })),
      ]),
      ...launcherFiles(source),
      ...phraseFiles(source),
      ...unitFiles(root, 'dragoman'),
      ...units.map((unit) => ({
        path: `usr/lib/systemd/system/${unit}`,
        content: text(root, `systemd/${unit}`),
      })),
      ...['dragoman-provision', 'dragoman-boot-report'].map((unit) => ({
        path: `usr/lib/systemd/system/${unit}.service`,
        content: startedByPackage(text(root, `systemd/${unit}.service`), unit),
      })),
      { path: 'etc/dragoman/config.json', content: text(root, 'scripts/deb/etc/dragoman.jsonc') },
      { path: 'etc/dragoman/conf.d', content: { folder: true } },
      { path: 'etc/dragoman/secrets', content: { folder: true }, mode: 0o750 },
      ...example(root, 'dragoman', 'config.jsonc', 'config/example.jsonc'),
      // The doctor and other messages name these pages.
      ...readdirSync(join(root, 'docs'))
        .filter((name) => name.endsWith('.md'))
        .sort()
        .map((name) => ({
          path: `usr/share/doc/dragoman/docs/${name}`,
          content: text(root, `docs/${name}`),
        })),
      { path: 'usr/share/doc/dragoman/examples/schema.json', content: text(root, 'config/schema.json') },
    ],
  };
}

/** Adds release.json, and checksums by which the launcher and the updater see that the program's folder is complete. */
function withChecksums({ version, changedAt }: Source, files: readonly Entry[]): Entry[] {
  const folder = 'usr/lib/dragoman/';
  const release = {
    version,
    built_at: changedAt,
    node: { least: LEAST_NODE, private: `${NODE_VERSION}-${NODE_REVISION}` },
  };
  const all = [...files, { path: `${folder}release.json`, content: `${JSON.stringify(release)}\n` }];
  const sums = all.flatMap(({ path, content }) =>
    path.startsWith(folder) && isBytes(content)
      ? [`${createHash('sha256').update(content).digest('hex')}  ${path.slice(folder.length)}\n`]
      : [],
  );
  return [...all, { path: `${folder}SHA256SUMS`, content: sums.sort().join('') }];
}

function launcherFiles({ root, version }: Source): Entry[] {
  const own = (name: string) => text(root, `scripts/deb/launcher/${name}`).replaceAll('@VERSION@', version);
  return [
    { path: 'usr/bin/dragoman', content: own('dragoman'), mode: 0o755 },
    { path: 'usr/libexec/dragoman/update', content: own('update'), mode: 0o755 },
    { path: 'etc/dragoman/update', content: { folder: true } },
    { path: 'etc/needrestart/conf.d/dragoman.conf', content: text(root, 'scripts/deb/etc/needrestart.conf') },
  ];
}

export function backendPackage(source: Source): Package {
  const { root } = source;
  const program = {
    name: 'dragoman-backend',
    bundle: 'backend',
    threads: [],
    beside: {},
    pages: ['console'],
  };
  return {
    ...programPackage(source, program),
    depends: `${NODE_WITH_SQLITE}, systemd`,
    summary: 'token issuer for interpreting kiosks',
    description: [
      "The owner's side of Dragoman: it holds the account's API key and gives",
      'each kiosk short-lived session tokens over MQTT. It never runs on a kiosk.',
    ],
    files: [
      ...programFiles(source, program),
      ...unitFiles(root, 'dragoman-backend'),
      {
        path: 'etc/dragoman-backend/config.json',
        content: text(root, 'scripts/deb/etc/dragoman-backend.jsonc'),
      },
      { path: 'etc/dragoman-backend/secrets', content: { folder: true }, mode: 0o700 },
      ...example(root, 'dragoman-backend', 'backend.jsonc', 'config/backend.jsonc'),
      ...['alerts.yml', 'dashboard.json', 'prometheus.yml'].flatMap((file) =>
        example(root, 'dragoman-backend', file, `examples/monitoring/${file}`),
      ),
    ],
  };
}

export function emulatorPackage(source: Source): Package {
  const program = { name: 'dragoman-emulator', bundle: 'emulator', threads: [], beside: SPEECH_DETECTOR };
  return {
    ...programPackage(source, program),
    depends: NODE,
    summary: 'emulator of the speech translation service of Dragoman',
    description: [
      'For development and tests: it answers speech in another voice at the right',
      'times, with texts from a phrase book, and injects faults on request.',
    ],
    files: programFiles(source, program),
  };
}

/** Node.js for one architecture, for systems whose own Node.js is too old. */
export function nodePackage(source: Source, architecture: Architecture): Package {
  const [name, version] = ['dragoman-node', `${NODE_VERSION}-${NODE_REVISION}`];
  const { program, license } = fetchRuntime(architecture);
  const node = { name: 'node', version: NODE_VERSION, license: 'MIT', licenseText: license, integrity: null };
  const overrides = [
    'unstripped-binary-or-object',
    'embedded-library',
    'copyright-file-contains-full-apache-2-license',
    'copyright-not-using-common-license-for-gpl',
  ];
  return {
    name,
    version,
    changedAt: NODE_PACKAGED_AT,
    architecture,
    depends: 'libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 6)',
    summary: `private Node.js ${NODE_VERSION.split('.')[0]} for Dragoman`,
    description: [
      'The programs of Dragoman take it where it is installed, instead of the',
      "system's Node.js, which it leaves alone. It is the ready-made program of",
      "the Node.js project, as npm's registry has it.",
    ],
    files: [
      { path: PRIVATE_NODE, content: program, mode: 0o755 },
      ...papers({ ...source, version, changedAt: NODE_PACKAGED_AT }, name, [node]),
      {
        path: `usr/share/lintian/overrides/${name}`,
        content: `# The upstream project's own build and licence text, byte for byte.\n${overrides.map((tag) => `${name}: ${tag} *\n`).join('')}`,
      },
    ],
  };
}

function phraseFiles({ phrases }: Source): Entry[] {
  const files = [
    ...PHRASE_LANGUAGES.flatMap((language) => PHRASE_CODES.map((code) => `${language}/${code}.wav`)),
    ...MENU_LANGUAGES.flatMap((language) => MENU_SOUNDS.map((sound) => `menu/${language}/${sound}.wav`)),
  ];
  return files.map((file) => ({
    path: `usr/share/dragoman/phrases/${file}`,
    content: readFileSync(join(phrases, file)),
  }));
}

const programPackage = ({ version, changedAt }: Source, { name }: Program) => ({
  name,
  version,
  changedAt,
  architecture: 'all' as const,
});

/** Bundle, start command, manual page, completion and documents of a program. */
function programFiles(source: Source, { name, bundle, threads, beside, pages = [] }: Program): Entry[] {
  const { root, bundles, changedAt, version } = source;
  const components = componentsOf(root, bundles, [bundle, ...threads, ...pages], Object.values(beside));
  const helps = source.help(bundle);
  const seeAlso = PROGRAMS.filter((one) => one !== name);
  const parts = readdirSync(bundles).filter((file) => file.startsWith(`${bundle}.`) && file.endsWith('.mjs'));
  const files = [...parts, ...threads.map((one) => `${one}.mjs`), ...Object.keys(beside)];
  return [
    ...files.map((file) => ({
      path: `usr/lib/${name}/${file}`,
      content: asLibrary(readFileSync(join(bundles, file))),
    })),
    ...starterFiles(name, bundle),
    {
      path: `usr/share/man/man1/${name}.1.gz`,
      content: gzip(manPage(helps, { program: name, version, changedAt, seeAlso })),
    },
    { path: `usr/share/bash-completion/completions/${name}`, content: completion(name, helps) },
    ...papers(source, name, components, name === 'dragoman' ? PHRASES_NOTE : ''),
    { path: `usr/share/doc/${name}/changelog.gz`, content: gzip(text(root, 'CHANGELOG.md')) },
  ];
}

/** Turns a bundle into a library file: without a shebang, because the starter chooses the Node, and without source map. */
function asLibrary(content: Buffer): Buffer {
  const shebang = /^#![^\n]*/.exec(content.toString('latin1', 0, 80))?.[0] ?? '';
  const map = content.lastIndexOf('\n//# sourceMappingURL=');
  const body = content.subarray(shebang.length, map < 0 ? content.length : map + 1);
  // Keeps the number of lines, so that stack traces still match the source map.
  return shebang === '' ? body : Buffer.concat([Buffer.from('//'), body]);
}

/** The start command, for units and people, so that both use the same Node. The agent's own launcher also chooses the version. */
function starterFiles(name: string, bundle: string): Entry[] {
  if (name === 'dragoman') return [];
  return [{ path: `usr/bin/${name}`, content: starter(name, `/usr/lib/${name}/${bundle}.mjs`), mode: 0o755 }];
}

function starter(name: string, bundle: string): string {
  return `#!/bin/sh
# Prefers the private Node.js of the package dragoman-node to the system's.
for node in /${PRIVATE_NODE} /usr/bin/node; do
  [ ! -x "$node" ] || exec "$node" ${bundle} "$@"
done
echo '${name}: there is no Node.js here: install the package nodejs or dragoman-node' >&2
exit 127
`;
}

/** The synthesizer is under the GPL, which does not cover these sounds. */
const PHRASES_NOTE = `The phrases in /usr/share/dragoman/phrases were spoken by eSpeak NG (https://github.com/espeak-ng/espeak-ng), a
program under the GNU General Public License, version 3 or later (on Debian: /usr/share/common-licenses/GPL-3). That
licence covers what a program makes only where the content of it is a covered work (its section 2), which these
recordings of speech are not: they are under the licence above, as are their words and chimes. Neither code nor data
files of eSpeak NG are a part of this package.
`;

/** Licences, bill of materials, and Debian's own kind of change log. */
export function papers(
  source: Pick<Source, 'root' | 'version' | 'changedAt'>,
  name: string,
  components: readonly Component[],
  note = '',
): Entry[] {
  const { root, version, changedAt } = source;
  const folder = `usr/share/doc/${name}`;
  const date = new Date(changedAt * 1000).toUTCString().replace('GMT', '+0000');
  const change = `${name} (${version}) unstable; urgency=medium\n\n  * Built from this version of the sources.\n\n -- ${MAINTAINER}  ${date}\n`;
  return [
    { path: `${folder}/copyright`, content: copyrightPage(text(root, 'LICENSE'), components, note) },
    { path: `${folder}/sbom.cdx.json`, content: billOfMaterials({ name, version, changedAt }, components) },
    { path: `${folder}/changelog.Debian.gz`, content: gzip(change) },
  ];
}

export const MAINTAINER = 'Dragoman contributors <dragoman@dragoman.invalid>';

/** The unit of an installed program, and the definition of its user. */
export function unitFiles(root: string, name: string): Entry[] {
  const unit = startedByPackage(text(root, `systemd/${name}.service`), name);
  return [
    { path: `usr/lib/systemd/system/${name}.service`, content: unit },
    { path: `usr/lib/sysusers.d/${name}.conf`, content: text(root, `systemd/${name}.sysusers.conf`) },
  ];
}

/** Adapts a unit of the project, which starts a bundle in /opt, to the installed program. */
function startedByPackage(unit: string, name: string): string {
  const program = name === 'dragoman-backend' ? name : 'dragoman';
  return replaceOne(
    replaceOne(unit, /^ExecStart=\/usr\/bin\/node \S+ /m, () => `ExecStart=/usr/bin/${program} `),
    /^(# [^.;\n]+)[.;][\s\S]*?\n\n/,
    (_, title) => `${title}. "systemctl edit ${name}" changes it.\n\n`,
  );
}

function replaceOne(text: string, what: RegExp, by: (...found: string[]) => string): string {
  if (!what.test(text)) throw new Error(`a unit has nothing that looks like ${what.source}`);
  return text.replace(what, by);
}

const example = (root: string, name: string, file: string, from: string): Entry[] => [
  { path: `usr/share/doc/${name}/examples/${file}`, content: text(root, from) },
];

const text = (root: string, path: string): string => readFileSync(join(root, path), 'utf8');
