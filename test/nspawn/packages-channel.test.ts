import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { noRelease, openReleaseFixture, type ReleaseFixture } from '../deb/repository-fixture.ts';
import { needs } from '../needs.ts';
import { commandsOf } from '../tidy/page-commands.ts';
import { type AptDevice, OVER_HTTP, openAptDevice } from './apt-device.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PAGE = 'docs/releasing.md';
const linesOf = (heading: string): string[] =>
  commandsOf(PAGE, readFileSync(join(ROOT, PAGE), 'utf8'))
    .filter((one) => one.heading === heading && !/^rsync /.test(one.line))
    .map(({ line }) => line);
const STICK = '/media/stick';
const POOL = 'repository/pool/main/d/dragoman';

const debian = inject('debian');
const missing = debian.missing ?? noRelease();

/** The lines of docs/releasing.md, from the key to the installed agent. They build on each other. */
describe(
  `the lines of ${PAGE}, Debian ${debian.suite}${missing === null ? '' : `: skipped, ${missing}`}`,
  needs(missing),
  () => {
    let fixture: ReleaseFixture;
    let device: AptDevice;
    let env: Record<string, string | undefined>;
    let version = '1.0.0-1';
    /** Options that spare the later versions a minute: the phrases of the first one. */
    let sparing = '';

    beforeAll(async () => {
      if (debian.missing !== null) return;
      fixture = openReleaseFixture();
      const at = (path: string): string => join(fixture.folder, path);
      for (const folder of ['stick', 'gpg']) mkdirSync(at(folder), { mode: 0o700 });
      symlinkSync(join(ROOT, 'scripts'), at('scripts'));
      // In place of the question for a passphrase.
      writeFileSync(at('passphrase'), 'of the tests\n');
      writeFileSync(
        at('gpg/gpg.conf'),
        `batch\npinentry-mode loopback\npassphrase-file ${at('passphrase')}\n`,
      );
      env = { ...process.env, GNUPGHOME: at('gpg') };
      device = await openAptDevice(debian, fixture);
    });
    afterAll(async () => {
      await device?.close();
      if (fixture !== undefined) spawnSync('gpgconf', ['--kill', 'all'], { env });
      fixture?.close();
    });

    /** Types a line on the machine that builds and signs. Its packages are of this version, for this processor only. */
    async function type(line: string): Promise<string> {
      const arch = process.arch === 'x64' ? 'amd64' : process.arch;
      const words = line
        .replaceAll(STICK, join(fixture.folder, 'stick'))
        .replace('https://updates.example/dragoman', OVER_HTTP);
      const building = ` --arch ${arch} --version ${version}${sparing}`;
      const typed = line.startsWith('scripts/release build') ? `${words}${building}` : words;
      const options = { cwd: fixture.folder, env };
      const { stdout } = await promisify(execFile)('sh', ['-c', typed], options);
      return stdout;
    }
    async function typeOnDevice(line: string): Promise<string> {
      const { code, stdout, stderr } = await device.machine.run([
        'sh',
        '-c',
        // As whoever types them answers, and is root already.
        `cd /mnt/stick; export DEBIAN_FRONTEND=noninteractive; ${line.replaceAll('sudo ', '').replace('apt install', 'apt install -y').replace(STICK, '/mnt/stick')}`,
      ]);
      expect(code, `${line}\n${stdout}${stderr}`).toBe(0);
      return `${stdout}${stderr}`;
    }
    const installed = async (name: string): Promise<string> =>
      (await device.machine.run(['dpkg-query', '--show', name])).stdout.trim().split('\t')[1] ?? 'none';

    it('make a key, and publish and sign a version', async () => {
      for (const line of linesOf('The key, once')) await type(line);
      const said: string[] = [];
      for (const line of linesOf('Publish a version')) said.push(await type(line));
      const checksums = said.flatMap((text) => /^of Release (\S+)$/m.exec(text)?.[1] ?? []);
      expect(checksums).toHaveLength(2);
      expect(checksums[0]).toBe(checksums[1]);
      const [first, to] = [`${POOL}/dragoman_${version}_all.deb`, join(fixture.folder, 'unpacked')];
      execFileSync('dpkg-deb', ['--extract', join(fixture.folder, first), to]);
      sparing = ` --phrases ${to}/usr/share/dragoman/phrases`;
      device.serve('repository');
    });

    it('install the agent on a Debian from a web server', async () => {
      execFileSync('sh', ['-c', `cp ${POOL}/dragoman-archive-keyring_*.deb stick/`], {
        cwd: fixture.folder,
      });
      for (const line of linesOf('On plain Debian').slice(0, 4)) await typeOnDevice(line);
      expect(await installed('dragoman')).toBe('1.0.0-1');
      expect((await installed('dragoman-node')) !== 'none').toBe(debian.suite === 'bookworm');
      expect(await device.machine.must(['dragoman', 'version'])).toContain('dragoman');
      expect(await device.machine.must(['systemctl', 'is-active', 'dragoman'])).toBe('active\n');
    });

    it('bring the next key with a version that both keys have signed', async () => {
      version = '1.1.0-1';
      const [make, ...rest] = linesOf('The key, once');
      for (const line of [make ?? '', ...rest]) await type(line.replaceAll('2026', '2027'));
      for (const line of linesOf('Change the key')) await type(line);
      device.serve('repository');
      await typeOnDevice('apt update && apt upgrade -y');
      expect(await installed('dragoman')).toBe('1.1.0-1');
      // From now on, the new key alone is enough.
      version = '1.2.0-1';
      const [build = '', sign = ''] = linesOf('Change the key');
      await type(build.replace('--keys archive-2026.asc ', ''));
      await type(sign.replace('--user "Dragoman archive 2026" ', ''));
      device.serve('repository');
    });

    it('upgrade from a stick that only the new key has signed', async () => {
      cpSync(join(fixture.folder, 'repository'), join(fixture.folder, 'stick/repository'), {
        recursive: true,
      });
      await device.disconnect();
      const lines = linesOf('On plain Debian').slice(4);
      expect(lines).toHaveLength(4);
      for (const line of lines) await typeOnDevice(line);
      expect(await installed('dragoman')).toBe('1.2.0-1');
    });
  },
);
