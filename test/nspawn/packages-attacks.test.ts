import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { noRelease, openReleaseFixture, type ReleaseFixture } from '../deb/repository-fixture.ts';
import { needs } from '../needs.ts';
import { type AptDevice, ON_STICK, openAptDevice } from './apt-device.ts';
import { makeRepositories, NEW, OLD, ON_INDEX, ON_PACKAGE, type Repositories } from './attacks.ts';

const debian = inject('debian');
const missing = debian.missing ?? noRelease();
const noCompiler = spawnSync('gcc', ['--version']).status === 0 ? null : 'no gcc';

describe(
  `attacks on a repository, apt of Debian ${debian.suite}${missing === null ? '' : `: skipped, ${missing}`}`,
  needs(missing),
  () => {
    let fixture: ReleaseFixture;
    let repositories: Repositories;
    let device: AptDevice;

    beforeAll(async () => {
      if (debian.missing !== null) return;
      fixture = openReleaseFixture();
      repositories = makeRepositories(fixture);
      device = await openAptDevice(debian, fixture);
    });
    afterAll(async () => {
      await device?.close();
      fixture?.close();
    });

    const ours = () => [repositories.keys.ours.binary];
    /** A device that trusts our key and knows this state of the repository; null: none yet. */
    async function known(folder: string | null): Promise<void> {
      await device.reset(ours());
      if (folder === null) return;
      device.serve(folder);
      expect(await device.update()).toMatchObject({ code: 0, stderr: '' });
    }
    let copies = 0;
    const copy = (change: Parameters<Repositories['copy']>[1]): string =>
      repositories.copy(`copy-${++copies}`, change);

    it('accept a new version and download it', async ({ annotate }) => {
      await known('old');
      expect(await device.candidate()).toBe(OLD);
      device.serve('new');
      await device.steer({});
      expect(await device.update()).toMatchObject({ code: 0, stderr: '' });
      await annotate(`${await device.bytes()} bytes for a new index`);
      expect(await device.candidate()).toBe(NEW);
      expect(await device.download('dragoman')).toMatchObject({ code: 0 });
      expect(await device.downloaded()).toEqual([`dragoman_${NEW}_all.deb`]);
      expect(await device.download(`dragoman=${OLD}`)).toMatchObject({ code: 0 });
      await device.steer({});
      expect(await device.update()).toMatchObject({ code: 0, stderr: '' });
      await annotate(`${await device.bytes()} bytes when nothing is new`);
    });

    it.each(ON_INDEX)('refuse $name', async ({ prepare, steering = {}, says }) => {
      const folder = prepare === undefined ? 'new' : copy(prepare);
      for (const before of ['old', null]) {
        await known(before);
        const state = await device.state();
        device.serve(folder);
        await device.steer(steering);
        const { code, stderr } = await device.update();
        expect([code, stderr]).toEqual([100, expect.stringMatching(says)]);
        expect(await device.state()).toBe(state);
        expect(await device.candidate()).toBe(before === null ? 'none' : OLD);
      }
    });

    it.each(ON_PACKAGE)('refuse $name', async ({ prepare, steering = {}, says }) => {
      await known(prepare === undefined ? 'new' : copy(prepare));
      await device.steer(steering);
      const { code, stderr } = await device.download('dragoman');
      expect([code, stderr]).toEqual([100, expect.stringMatching(says)]);
      // The exit code counts: a file may be left, cut short and under its own name.
      const whole = await device.machine.run(['sh', '-c', 'dpkg-deb --info /srv/apt/downloads/*.deb']);
      expect(whole.code).not.toBe(0);
    });

    it('ignore an older index that is still valid (rollback)', async () => {
      await known('new');
      const state = await device.state();
      device.serve('old');
      expect(await device.update()).toMatchObject({ code: 0, stderr: '' });
      expect(await device.state()).toBe(state);
      expect(await device.candidate()).toBe(NEW);
    });

    it('take the lists by their plain names when by-hash is missing', async () => {
      await known('old');
      device.serve('new');
      await device.steer({ missing: 'by-hash' });
      expect(await device.update()).toMatchObject({ code: 0, stderr: '' });
      expect(await device.candidate()).toBe(NEW);
    });

    it('take the last signed index while a newer one waits for its signature', async () => {
      const folder = copy(({ old, at }) => {
        execFileSync('cp', [old('dists/stable/InRelease'), at('dists/stable/InRelease')]);
      });
      await known(folder);
      expect(await device.candidate()).toBe(OLD);
    });

    it('accept two signatures when the device knows one of the keys', async () => {
      const { next, foreign } = repositories.keys;
      const folder = copy(({ sign, keys }) => sign([keys.ours, keys.next], 0));
      for (const trusted of [ours(), [next.binary], [foreign.binary, next.binary]]) {
        await device.reset(trusted);
        device.serve(folder);
        expect(await device.update()).toMatchObject({ code: 0, stderr: '' });
        expect(await device.candidate()).toBe(NEW);
      }
    });

    it('take a stick with our repository, and refuse one with a foreign one', async () => {
      await device.reset(ours(), ON_STICK);
      device.serve(copy(({ sign, keys }) => sign([keys.foreign], 0)));
      const { code, stderr } = await device.update();
      expect([code, stderr]).toEqual([100, expect.stringMatching(/NO_PUBKEY|Missing key/)]);
      device.serve('new');
      expect(await device.update()).toMatchObject({ code: 0, stderr: '' });
      expect(await device.download('dragoman')).toMatchObject({ code: 0 });
      expect(await device.downloaded()).toEqual([`dragoman_${NEW}_all.deb`]);
    });

    it(`refuse all while the clock says 1970${noCompiler ?? ''}`, needs(noCompiler), async () => {
      const library = join(fixture.folder, 'fake-clock.so');
      const source = fileURLToPath(new URL('fake-clock.c', import.meta.url));
      execFileSync('gcc', ['-O2', '-fPIC', '-shared', '-o', library, source]);
      writeFileSync(join(fixture.folder, 'offset'), `${1000 - Math.round(Date.now() / 1000)}\n`);
      await known('old');
      const state = await device.state();
      device.serve('new');
      const { code, stderr } = await device.update({
        LD_PRELOAD: '/mnt/fake-clock.so',
        FAKE_CLOCK: '/mnt/offset',
      });
      expect([code, stderr]).toEqual([100, expect.stringMatching(/is not valid yet|Not live until/)]);
      expect(await device.state()).toBe(state);
      expect(await device.update()).toMatchObject({ code: 0, stderr: '' });
    });
  },
);
