import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MENU_LANGUAGES, MENU_SOUNDS } from '../../src/device/menu/menu-sounds.ts';
import { PHRASE_CODES, PHRASE_LANGUAGES } from '../../src/installer/core/phrases.ts';
import { copySources } from './copied-sources.ts';
import { unpack } from './unpack.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NAMES = ['dragoman', 'dragoman-backend', 'dragoman-emulator'] as const;
const SCREEN = 'dragoman-screen';
const VERSION = '1.2.3-1';

let folder: string;
/** Contents of the first packages, as tar lists them. */
const listings = new Map<string, string>();

interface Making {
  readonly env: Record<string, string>;
  readonly root?: string;
  readonly umask?: string;
  /** Folder of existing bundles; default: makes them. */
  readonly bundles?: string;
}

/** Makes the packages in their own folder below `folder`. */
async function make(out: string, { env, root = ROOT, umask = '022', bundles }: Making): Promise<void> {
  const phrases = join(folder, 'phrases');
  const words = ['--no-node', '--version', VERSION, '--phrases', phrases, '--out', join(folder, out)];
  if (bundles !== undefined) words.push('--bundles', bundles);
  const masked = ['-c', `umask ${umask}; exec "$@"`, 'sh', 'scripts/build-deb', ...words];
  const child = spawn('sh', masked, {
    cwd: root,
    env: { PATH: process.env['PATH'], HOME: folder, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (text: Buffer) => {
    said += text.toString();
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(said);
}

const fileOf = (out: string, name: string): string => join(folder, out, `${name}_${VERSION}_all.deb`);
const textOf = (name: string, path: string): string => readFileSync(join(folder, name, 'data', path), 'utf8');
const isThere = (name: string, path: string): boolean =>
  statSync(join(folder, name, 'data', path), { throwIfNoEntry: false }) !== undefined;

/** Writes placeholders for phrases, because not every machine can make them. `test/build/phrases.test.ts` tests real ones. */
function writePhrases(): void {
  for (const language of PHRASE_LANGUAGES) {
    const place = join(folder, 'phrases', language);
    mkdirSync(place, { recursive: true });
    for (const code of PHRASE_CODES) writeFileSync(join(place, `${code}.wav`), `${language} ${code}`);
  }
  for (const language of MENU_LANGUAGES) {
    const place = join(folder, 'phrases/menu', language);
    mkdirSync(place, { recursive: true });
    for (const sound of MENU_SOUNDS) writeFileSync(join(place, `${sound}.wav`), `${language} ${sound}`);
  }
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-deb-'));
  writePhrases();
  const bundles = join(folder, 'bundles');
  const built = [join(ROOT, 'scripts/build.mjs'), '--quiet', '--version', '1.2.3', '--out', bundles];
  const { status, stderr } = spawnSync(process.execPath, built, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  const SOURCE_DATE_EPOCH = '1700000000';
  await Promise.all([
    make('first', { env: { TZ: 'UTC', LC_ALL: 'C', SOURCE_DATE_EPOCH }, bundles }),
    make('second', {
      env: { TZ: 'Asia/Tokyo', COLUMNS: '40', SOURCE_DATE_EPOCH },
      root: copySources(ROOT, join(folder, 'another place')),
      umask: '077',
    }),
  ]);
  for (const name of [...NAMES, SCREEN])
    listings.set(name, unpack(fileOf('first', name), join(folder, name)));
}, 400_000);
afterAll(() => rmSync(folder, { recursive: true }));

it('refuses finished bundles of another version', () => {
  const words = ['--no-node', '--version', '1.2.4-1', '--phrases', join(folder, 'phrases')];
  const places = ['--bundles', join(folder, 'bundles'), '--out', join(folder, 'refused')];
  const ran = spawnSync('scripts/build-deb', [...words, ...places], { cwd: ROOT, encoding: 'utf8' });
  expect(ran.status).toBe(2);
  expect(ran.stderr).toContain(`dragoman.mjs in ${join(folder, 'bundles')} is version 1.2.3`);
  expect(ran.stderr).toContain('scripts/build.mjs --version 1.2.4');
});

describe.each(NAMES)('the package %s', (name) => {
  it('has a program that reports the version of the package', () => {
    const bundle = name.replace(/^dragoman-/, '');
    for (const out of ['first', 'second']) {
      const place = join(folder, `${out}-${name}`);
      unpack(fileOf(out, name), place);
      const program = join(place, 'data/usr/lib', name, `${bundle}.mjs`);
      const said = spawnSync(process.execPath, [program, '--version'], { encoding: 'utf8' });
      expect(said.stdout).toBe('1.2.3\n');
    }
  });

  it('is reproducible in another place and by another user', () => {
    expect(readFileSync(fileOf('first', name)).equals(readFileSync(fileOf('second', name)))).toBe(true);
  });

  it('contains no names of the build machine', () => {
    const lines = (listings.get(name) ?? '').trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.filter((line) => !/^\S+ root\/root +\d+ 2023-11-14 22:13 /.test(line))).toEqual([]);
    const found = spawnSync('grep', ['-rlF', '-e', ROOT, '-e', folder, join(folder, name)], {
      encoding: 'utf8',
    });
    expect(found.stdout).toBe('');
  });

  it('declares its dependencies, and runs on every architecture', () => {
    const control = readFileSync(join(folder, name, 'control/control'), 'utf8');
    expect(control).toContain(`Package: ${name}\nVersion: ${VERSION}\nArchitecture: all\n`);
    // The backend's store is the SQLite of Node.js.
    const least = name === 'dragoman-backend' ? '22.13' : '20.12';
    expect(control).toContain(`\nDepends: nodejs (>= ${least}) | dragoman-node`);
    expect(control.match(/^Depends: .*alsa-utils/m) !== null).toBe(name === 'dragoman');
    expect(Number(/^Installed-Size: (\d+)$/m.exec(control)?.[1])).toBeGreaterThan(500);
    const files = spawnSync('find', [join(folder, name, 'data'), '-name', '*.node', '-o', '-name', '*.so*']);
    expect(files.stdout.toString()).toBe('');
  });

  it('has correct checksums of all its files', () => {
    const { stdout, status } = spawnSync('md5sum', ['-c', '--quiet', join(folder, name, 'control/md5sums')], {
      cwd: join(folder, name, 'data'),
      encoding: 'utf8',
    });
    expect({ stdout, status }).toEqual({ stdout: '', status: 0 });
    const sums = readFileSync(join(folder, name, 'control/md5sums'), 'utf8')
      .trimEnd()
      .split('\n');
    const files = spawnSync('find', [join(folder, name, 'data'), '-type', 'f'], { encoding: 'utf8' });
    expect(sums).toHaveLength(files.stdout.trimEnd().split('\n').length);
  });

  it('contains a program, its manual and its completion, with every verb', () => {
    const starter = join(folder, name, 'data/usr/bin', name);
    expect(statSync(starter).mode & 0o777).toBe(0o755);
    expect(spawnSync('sh', ['-n', starter]).status).toBe(0);
    const started = /exec "\$node" (\S+)/.exec(readFileSync(starter, 'utf8'))?.[1] ?? 'none';
    // Without an update, the base is empty.
    const bundle = started.replaceAll('"', '').replace('$base', '');
    const help = spawnSync(process.execPath, [join(folder, name, `data${bundle}`), '--help'], {
      encoding: 'utf8',
    });
    expect(help.status).toBe(0);
    const verbs = [...(help.stdout.split('Commands:')[1] ?? '').matchAll(/^ {2}([a-z][a-z-]*)/gm)];
    expect(verbs.length).toBeGreaterThan(1);
    const page = spawnSync('gzip', ['-dc', join(folder, name, `data/usr/share/man/man1/${name}.1.gz`)]);
    // Debian requires the strongest compression here.
    for (const paper of [`man/man1/${name}.1.gz`, `doc/${name}/changelog.gz`])
      expect(readFileSync(join(folder, name, 'data/usr/share', paper))[8]).toBe(2);
    const manual = page.stdout.toString().replaceAll('\\-', '-');
    for (const [, verb] of verbs) expect(manual).toContain(`\n.SS ${name} ${verb}\n`);
    expect(completed(name, [name, '']).sort()).toEqual(verbs.map(([, verb]) => verb).sort());
    expect(completed(name, [name, 'run', '--hel'])).toEqual(['--help']);
  });

  it('contains the licences of all its code, and a bill of materials that lists the same', () => {
    const papers = `usr/share/doc/${name}`;
    const bill = JSON.parse(textOf(name, `${papers}/sbom.cdx.json`)) as {
      bomFormat: string;
      metadata: { component: object; timestamp: string };
      components: { name: string; version: string; purl: string; licenses: object[]; hashes: object[] }[];
    };
    expect(bill).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.5', version: 1 });
    expect(bill.metadata).toMatchObject({
      component: { name, version: VERSION },
      timestamp: '2023-11-14T22:13:20.000Z',
    });
    const copyright = textOf(name, `${papers}/copyright`);
    expect(copyright).toContain('MIT License');
    expect(bill.components.map((one) => one.name)).toContain(name === 'dragoman' ? 'mqtt' : 'zod');
    for (const { name: part, version, licenses, hashes } of bill.components) {
      const manifest = JSON.parse(readFileSync(join(ROOT, 'node_modules', part, 'package.json'), 'utf8'));
      expect(copyright).toContain(`\n${part} ${version} (${manifest.license})\n`);
      expect(JSON.stringify(licenses)).toContain(manifest.license);
      expect(hashes).toEqual([{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }]);
    }
  });

  it('has scripts with valid shell syntax', () => {
    const scripts = readdirSync(join(folder, name, 'control')).filter((file) => /^(pre|post)/.test(file));
    expect(scripts.sort()).toEqual(name === 'dragoman-emulator' ? [] : ['postinst', 'postrm', 'prerm']);
    for (const script of scripts) {
      const file = join(folder, name, 'control', script);
      expect(statSync(file).mode & 0o777).toBe(0o755);
      expect(spawnSync('sh', ['-n', file]).status).toBe(0);
    }
  });
});

/** Completions of bash for the last of these words. */
function completed(name: string, words: readonly string[]): string[] {
  const script = join(folder, name, `data/usr/share/bash-completion/completions/${name}`);
  const run = `. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _${name.replaceAll('-', '_')}; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', run, 'bash', script, ...words], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.trimEnd().split('\n');
}

describe('the agent and the backend as services', () => {
  it.each(['dragoman', 'dragoman-backend'] as const)(
    '%s is the unit of the project with the start command of the package',
    (name) => {
      const installed = textOf(name, `usr/lib/systemd/system/${name}.service`);
      const ours = readFileSync(join(ROOT, `systemd/${name}.service`), 'utf8');
      const settings = (text: string): string[] =>
        text.split('\n').filter((line) => /^[^#]/.test(line) && !line.startsWith('ExecStart='));
      expect(settings(installed)).toEqual(settings(ours));
      expect(installed).toContain(`\nExecStart=/usr/bin/${name} run --config /etc/${name}/config.json\n`);
      expect(installed).not.toContain('/opt/');
    },
  );

  it('each have a configuration file of the owner and a private folder for secrets', () => {
    for (const name of ['dragoman', 'dragoman-backend']) {
      const conffiles = readFileSync(join(folder, name, 'control/conffiles'), 'utf8');
      const needrestart = name === 'dragoman' ? '/etc/needrestart/conf.d/dragoman.conf\n' : '';
      expect(conffiles).toBe(`${needrestart}/etc/${name}/config.json\n`);
      expect(statSync(join(folder, name, 'data/etc', name, 'secrets')).mode & 0o007).toBe(0);
    }
  });

  it('name only the values to fill in as problems of the shipped configuration', () => {
    const run = (name: string, bundle: string, verb: string) => {
      const data = join(folder, name, 'data');
      const words = [
        join(data, 'usr/lib', name, bundle),
        verb,
        '--config',
        join(data, `etc/${name}/config.json`),
      ];
      const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
      return [...`${stdout}${stderr}`.matchAll(/config\.json\S*\s+([a-zA-Z0-9.[\]]+): /g)].map(
        ([, key]) => key,
      );
    };
    expect(run('dragoman', 'dragoman.mjs', 'check-config')).toEqual([
      'device.id',
      'device.tenant',
      'mqtt.url',
      'lanes[0].source',
      'lanes[0].targets',
    ]);
    expect(run('dragoman-backend', 'backend.mjs', 'run')).toEqual([
      'mqtt.url',
      'service.url',
      'service.streamUrl',
      'allow',
    ]);
  });

  it('has the pages that messages of the device name', () => {
    const named = spawnSync('grep', ['-rhoE', 'docs/[a-z-]+\\.md', join(folder, 'dragoman/data/usr/lib')]);
    const pages = [...new Set(named.stdout.toString().trimEnd().split('\n'))];
    expect(pages).toContain('docs/operate.md');
    for (const page of pages)
      expect(textOf('dragoman', `usr/share/doc/dragoman/${page}`)).toBe(
        readFileSync(join(ROOT, page), 'utf8'),
      );
  });

  it('contain the boot phrases in six languages and the sounds of the menu, and name their synthesizer', () => {
    const { stdout } = spawnSync('find', ['.', '-name', '*.wav'], {
      cwd: join(folder, 'dragoman/data/usr/share/dragoman/phrases'),
      encoding: 'utf8',
    });
    const files = stdout.trimEnd().split('\n').sort();
    const menu = MENU_LANGUAGES.flatMap((language) =>
      MENU_SOUNDS.map((sound) => `./menu/${language}/${sound}.wav`),
    );
    const boot = PHRASE_LANGUAGES.flatMap((language) =>
      PHRASE_CODES.map((code) => `./${language}/${code}.wav`),
    );
    expect(files).toEqual([...boot, ...menu].sort());
    expect(textOf('dragoman', 'usr/share/dragoman/phrases/menu/vi/louder.wav')).toBe('vi louder');
    expect(textOf('dragoman', 'usr/share/dragoman/phrases/es/applied.wav')).toBe('es applied');
    const copyright = textOf('dragoman', 'usr/share/doc/dragoman/copyright');
    expect(copyright).toMatch(/spoken by eSpeak NG .*GNU General Public License/s);
    // lintian requires the path of the licence text in Debian.
    expect(copyright).toContain('/usr/share/common-licenses/GPL-3');
    for (const name of ['dragoman-backend', 'dragoman-emulator'] as const)
      expect(textOf(name, `usr/share/doc/${name}/copyright`)).not.toContain('eSpeak');
  });

  it.each(['dragoman', 'dragoman-emulator'] as const)(
    '%s contains the voice detector, and names its licence',
    (name) => {
      expect(isThere(name, `usr/lib/${name}/fvad.wasm`)).toBe(true);
      expect(textOf(name, `usr/share/doc/${name}/copyright`)).toContain('fvad');
    },
  );

  it('are separate: no account code in the device’s package, and no device code in the backend’s', () => {
    expect(isThere('dragoman', 'usr/lib/dragoman/backend.mjs')).toBe(false);
    expect(isThere('dragoman-backend', 'usr/lib/dragoman')).toBe(false);
  });
});

describe('the package dragoman-screen', () => {
  it('is reproducible, and contains a unit, its user and papers only', () => {
    expect(readFileSync(fileOf('first', SCREEN)).equals(readFileSync(fileOf('second', SCREEN)))).toBe(true);
    const files = [...(listings.get(SCREEN) ?? '').matchAll(/^-.* \.\/(.*)$/gm)].map(([, path]) => path);
    expect(files.sort()).toEqual([
      'usr/lib/systemd/system/dragoman-screen.service',
      'usr/lib/sysusers.d/dragoman-screen.conf',
      'usr/share/doc/dragoman-screen/changelog.Debian.gz',
      'usr/share/doc/dragoman-screen/copyright',
      'usr/share/doc/dragoman-screen/sbom.cdx.json',
      'usr/share/man/man8/dragoman-screen.8.gz',
    ]);
  });

  it('needs the agent of its version, a compositor and a browser, and recommends fonts', () => {
    const control = readFileSync(join(folder, SCREEN, 'control/control'), 'utf8');
    const depends = /^Depends: (.*)$/m.exec(control)?.[1]?.split(', ') ?? [];
    expect(depends).toContain(`dragoman (>= ${VERSION})`);
    for (const needed of ['cage', 'chromium', 'xwayland', 'libpam-systemd'])
      expect(depends).toContain(needed);
    expect(control).toMatch(/^Recommends: fonts-noto-core, fonts-noto-cjk$/m);
    // A kiosk without a screen needs none of it.
    const agent = readFileSync(join(folder, 'dragoman/control/control'), 'utf8');
    expect(agent).not.toMatch(/cage|chromium|Recommends/);
  });

  it('starts the installed program with the settings of the project’s unit', () => {
    const installed = textOf(SCREEN, `usr/lib/systemd/system/${SCREEN}.service`);
    const ours = readFileSync(join(ROOT, `systemd/${SCREEN}.service`), 'utf8');
    const settings = (text: string): string[] => text.split('\n').filter((line) => /^[^#]/.test(line));
    expect(settings(installed)).toEqual(
      settings(ours).map((line) =>
        line.startsWith('ExecStart=') ? 'ExecStart=/usr/bin/dragoman screen' : line,
      ),
    );
    expect(installed).not.toContain('/opt/');
    const help = spawnSync(process.execPath, [
      join(folder, 'dragoman/data/usr/lib/dragoman/dragoman.mjs'),
      'screen',
      '--help',
    ]);
    expect(help.stdout.toString()).toContain('cage');
  });

  it('has scripts with valid shell syntax, and a manual without errors', () => {
    for (const script of ['postinst', 'postrm', 'prerm']) {
      const file = join(folder, SCREEN, 'control', script);
      expect(statSync(file).mode & 0o777).toBe(0o755);
      expect(spawnSync('sh', ['-n', file]).status).toBe(0);
    }
    const page = spawnSync('gzip', ['-dc', join(folder, SCREEN, `data/usr/share/man/man8/${SCREEN}.8.gz`)]);
    expect(page.stdout.toString()).toMatch(/^\.TH DRAGOMAN\\-SCREEN 8 "2023-11-14" "Dragoman 1\.2\.3-1" /);
  });
});
