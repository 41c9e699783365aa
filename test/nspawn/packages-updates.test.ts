import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { UpdateStatus } from '../../src/protocol/common/update.ts';
import { needs } from '../needs.ts';
import type { Machine } from './container.ts';
import { until } from './kiosk.ts';
import { BUILT, openPackageFixture, type PackageFixture } from './package-fixture.ts';
import { DEVICE_CONFIG, MICROPHONE } from './update-device.ts';
import { makeKey, type RepositoryKey, remakeRelease, signRepository } from './update-repository.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BASE = 'dragoman/v1/museum/kiosk-01';
const OUR_LIST = 'file:///mnt/ours/dists/stable/InRelease';
const FOREIGN_LIST = 'file:///mnt/foreign/dists/stable/InRelease';
/** The watch takes a minute, and a start that hangs 30 s. */
const FASTER = '[Service]\nEnvironment=DRAGOMAN_UPDATE_FASTER=10\n';
/** Says that all is well, and hears nothing. */
const DEAF = `import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
const note = { version: '1.6.0', status: 'ready', reasons: [], broker: true, connectedSince: null, problem: null, config: {} };
writeFileSync('/run/dragoman/agent-' + process.pid + '.json', JSON.stringify({ pid: process.pid, ...note }));
spawnSync('systemd-notify', ['--ready']);
setInterval(() => spawnSync('systemd-notify', ['WATCHDOG=1']), 5000);
`;
const CRASHES = 'process.exit(1);\n';
const HANGS = 'setInterval(() => {}, 1000);\n';

const debian = inject('debian');
const hasGpg = spawnSync('gpg', ['--version']).status === 0;
const needsNode = debian.suite === 'bookworm';
const noCompiler = spawnSync('gcc', ['--version']).status === 0 ? null : ', no gcc';

/** The tests build on each other. */
describe(`the updater, Debian ${debian.suite}`, needs(debian.missing ?? (!hasGpg && 'needs gpg')), () => {
  let fixture: PackageFixture;
  let machine: Machine;
  const keys: RepositoryKey[] = [];

  beforeAll(async () => {
    if (debian.missing !== null) return;
    fixture = await openPackageFixture(debian);
    machine = fixture.machine;
    const deb = join(fixture.folder, `dragoman_${BUILT}_all.deb`);
    const [ours, foreign] = [join(fixture.folder, 'ours'), join(fixture.folder, 'foreign')];
    for (const [version, start] of [
      ['1.3.0-1', undefined],
      ['1.4.0-1', CRASHES],
      ['1.5.0-1', HANGS],
      ['1.6.0-1', DEAF],
      ['1.8.0-1', undefined],
    ] as const)
      remakeRelease(deb, version, join(ours, 'pool'), start);
    remakeRelease(deb, '1.7.0-1', join(foreign, 'pool'));
    keys.push(makeKey('ours'), makeKey('foreign'));
    const [own, other] = keys;
    if (own === undefined || other === undefined) throw new Error('there are no keys');
    signRepository(ours, own);
    signRepository(foreign, other);
    // After the list was signed.
    const damaged = join(ours, 'pool/dragoman_1.8.0-1_all.deb');
    const content = readFileSync(damaged);
    writeFileSync(damaged, Buffer.concat([content.subarray(0, -100), Buffer.alloc(100)]));
    writeFileSync(join(fixture.folder, 'key.gpg'), own.publicKey);

    await machine.write('/usr/local/lib/microphone.cjs', MICROPHONE);
    await machine.must([
      'install',
      '-D',
      '-m',
      '0644',
      '/mnt/key.gpg',
      '/usr/share/keyrings/dragoman-archive-keyring.gpg',
    ]);
    await machine.write(
      '/etc/mosquitto/conf.d/kiosk.conf',
      'listener 1883 127.0.0.1\nallow_anonymous true\n',
    );
    await machine.write('/etc/systemd/system/dragoman-update.service.d/test.conf', FASTER);
    await machine.must(['systemctl', 'restart', 'mosquitto']);
    const node = needsNode ? [fixture.file('dragoman-node_')] : [];
    await machine.must(['dpkg', '-i', ...node, fixture.file(`dragoman_${BUILT}`)]);
    await machine.write('/etc/dragoman/config.json', JSON.stringify(DEVICE_CONFIG));
    await machine.must(['systemctl', 'restart', 'dragoman']);
  });
  afterAll(async () => {
    for (const key of keys) key.close();
    await fixture?.close();
  });

  const status = async (): Promise<UpdateStatus> =>
    JSON.parse(await machine.must(['cat', '/run/dragoman-update/status.json'])) as UpdateStatus;
  const reached = async (...states: UpdateStatus['state'][]): Promise<UpdateStatus> => {
    await until(
      `the update is ${states.join(' or ')}`,
      async () => states.includes((await status()).state),
      400_000,
    );
    return status();
  };
  const show = async (property: string): Promise<string> =>
    (await machine.must(['systemctl', 'show', '--value', '-p', property, 'dragoman'])).trim();
  /** The folder of the program that runs; empty between the end of one and the start of the next. */
  const program = async (): Promise<string> => {
    const { stdout } = await machine.run(['cat', `/proc/${await show('MainPID')}/cmdline`]);
    const [, file] = stdout.split('\0');
    if (file === undefined) return '';
    return file.replace(/\/usr\/lib\/dragoman\/dragoman\.mjs$/, '') || '/usr/lib/dragoman';
  };
  /** Waits for a version: the state changes a moment before the agent is restarted. */
  const runs = (folder: string) => until(`${folder} runs`, async () => (await program()) === folder);
  const isReady = () => until('the agent is ready', async () => (await show('ActiveState')) === 'active');
  const order = (version: string, from = OUR_LIST) =>
    machine.must(['dragoman', 'versions', '--order', version, '--from', from]);
  const versions = () => machine.must(['dragoman', 'versions']);
  /** @param answers how many it has: long ones are accepted first */
  const command = async (name: string, args: object, answers = 2): Promise<string> => {
    const id = `t-${Math.random().toString(36).slice(2)}`;
    const topic = `${BASE}/cmd/${name}`;
    // Subscribes before the command, so that the broker queues both answers.
    const session = ['-h', '127.0.0.1', '-i', id, '-q', '1', '-t', `${topic}/res`, '-c'];
    await machine.must(['mosquitto_sub', ...session, '-E']);
    const message = JSON.stringify({ id, args });
    await machine.must(['mosquitto_pub', '-h', '127.0.0.1', '-q', '1', '-t', topic, '-s'], message);
    return machine.must(['mosquitto_sub', ...session, '-C', String(answers), '-W', '60']);
  };

  it('waits for an order', async () => {
    await isReady();
    expect(await reached('idle')).toMatchObject({ current: '1.0.0', installed: '1.0.0', previous: null });
    expect(await program()).toBe('/usr/lib/dragoman');
    expect(await versions()).toContain('No update has been ordered yet.');
  });

  it('switches to a version ordered over MQTT, and keeps it after a restart by command', async ({
    annotate,
  }) => {
    const startedAt = performance.now();
    expect(await command('update', { version: '1.3.0', manifest_url: OUR_LIST })).toContain('"status":"ok"');
    await reached('confirming');
    await annotate(
      `new version started ${((performance.now() - startedAt) / 1000).toFixed(1)} s after the order`,
    );
    await isReady();
    expect(await command('restart', {}, 1)).toContain('"status":"ok"');
    expect(await reached('done', 'rolled_back', 'failed')).toMatchObject({
      state: 'done',
      from: '1.0.0',
      to: '1.3.0',
    });
    expect(await program()).toBe('/var/lib/dragoman-update/versions/1.3.0-1');
    expect(await versions()).toMatch(/^1\.3\.0 +runs$/m);
    const state = await machine.must([
      'mosquitto_sub',
      '-h',
      '127.0.0.1',
      '-t',
      `${BASE}/state`,
      '-C',
      '1',
      '-W',
      '30',
    ]);
    expect((JSON.parse(state) as { update: object }).update).toMatchObject({ to: '1.3.0' });
    expect(await machine.must(['stat', '-c', '%U %a', '/var/lib/dragoman-update/versions'])).toBe(
      'root 755\n',
    );
  });

  it.each([
    ['crashes at its start', '1.4.0', 'it ended 3 times'],
    ['hangs at its start', '1.5.0', 'it was not ready within'],
    ['is deaf and claims to hear', '1.6.0', 'from the microphones'],
  ])('returns to the version before when the new one %s', async (_, version, reason) => {
    await isReady();
    await order(version);
    // Its watch may be over before the first look, and the state before was the end of another update.
    await until(`the update to ${version} is known`, async () => (await status()).to === version, 400_000);
    const found = await reached('rolled_back', 'done', 'failed');
    expect(found).toMatchObject({ state: 'rolled_back', from: '1.3.0', to: version, current: '1.3.0' });
    expect(found.reason).toContain(reason);
    await runs('/var/lib/dragoman-update/versions/1.3.0-1');
    await isReady();
    expect(await machine.must(['journalctl', '-o', 'cat', '-u', 'dragoman-update'])).toContain(found.reason);
  });

  it('uses the package when a file of the version is damaged, and the version again when it is repaired', async () => {
    const file = '/var/lib/dragoman-update/versions/1.3.0-1/usr/lib/dragoman/dragoman.mjs';
    await machine.must([
      'sh',
      '-ec',
      'cp "$1" /tmp/kept; echo >>"$1"; systemctl restart dragoman',
      'sh',
      file,
    ]);
    await runs('/usr/lib/dragoman');
    await isReady();
    await machine.must(['sh', '-ec', 'cp /tmp/kept "$1"; systemctl restart dragoman', 'sh', file]);
    await runs('/var/lib/dragoman-update/versions/1.3.0-1');
    await isReady();
  });

  it('returns to the version before by order, without the repository', async ({ annotate }) => {
    const startedAt = performance.now();
    expect(await command('rollback', {})).toContain('"status":"ok"');
    // The state is "rolled_back" already, because of the version before.
    await until('it is done', async () => {
      const { state, reason } = await status();
      return state === 'rolled_back' && (reason ?? '').includes('an operator ordered it');
    });
    const found = await status();
    await runs('/usr/lib/dragoman');
    await isReady();
    await annotate(`back after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    expect(found.to).not.toBeNull();
    expect((await machine.run(['dragoman', 'versions', '--rollback'])).code).toBe(0);
  });

  it('refuses a repository that is signed with a foreign key', async () => {
    await order('1.7.0', FOREIGN_LIST);
    await until(
      'it has failed',
      async () => (await status()).to === '1.7.0' && (await status()).state === 'failed',
    );
    expect((await status()).reason).toContain('not signed with a key that this device trusts');
    expect(await program()).toBe('/usr/lib/dragoman');
  });

  it(
    `waits and says why while the clock says 1970, and goes on when it is set${noCompiler ?? ''}`,
    needs(noCompiler),
    async () => {
      const library = join(fixture.folder, 'fake-clock.so');
      const source = fileURLToPath(new URL('fake-clock.c', import.meta.url));
      execFileSync('gcc', ['-O2', '-fPIC', '-shared', '-o', library, source]);
      const setClock = (offset: number) => writeFileSync(join(fixture.folder, 'offset'), `${offset}\n`);
      setClock(1000 - Math.round(Date.now() / 1000));
      const dropIn = '/etc/systemd/system/dragoman-update.service.d/clock.conf';
      await machine.write(
        dropIn,
        '[Service]\nEnvironment=LD_PRELOAD=/mnt/fake-clock.so FAKE_CLOCK=/mnt/offset\n',
      );
      await machine.must(['systemctl', 'daemon-reload']);
      // It may not have ended yet, and has no such clock.
      await machine.must(['systemctl', 'stop', 'dragoman-update.service']);
      const before = await show('MainPID');
      await order('1.9.0');
      await until('it says why', async () =>
        ((await status()).reason ?? '').startsWith('the clock of this device is not set'),
      );
      expect(await status()).toMatchObject({ state: 'downloading', to: '1.9.0', current: '1.0.0' });
      expect(await versions()).toMatch(/connect it to a\s+time server/);
      expect(await show('MainPID')).toBe(before);
      setClock(0);
      await until('apt was asked', async () =>
        ((await status()).reason ?? '').includes('the repository has no version 1.9.0'),
      );
      await machine.must(['rm', dropIn]);
      await machine.must(['systemctl', 'daemon-reload']);
    },
  );

  it('does not unpack a package that differs from the signed list', async () => {
    await order('1.8.0');
    await until('it says so', async () => ((await status()).reason ?? '').includes('differs'));
    await machine.must(['dragoman', 'versions', '--rollback']);
    await reached('failed');
    expect(await machine.must(['ls', '/var/lib/dragoman-update/versions'])).not.toContain('1.8.0');
  });

  it.each([
    ['full', 'size=8m,mode=0755', 'the disk is too full'],
    ['read-only', 'ro,mode=0755', 'the disk is read-only'],
  ])('leaves the old version alone when the disk is %s', async (_, options, reason) => {
    await machine.must(['systemctl', 'stop', 'dragoman-update.service', 'dragoman-update.path']);
    await machine.must(['mount', '-t', 'tmpfs', '-o', options, 'tmpfs', '/var/lib/dragoman-update']);
    try {
      const before = await show('MainPID');
      await machine.must(['systemctl', 'start', 'dragoman-update.path', 'dragoman-update.service']);
      await order('1.3.0');
      await until('it has failed', async () => ((await status()).reason ?? '').includes(reason));
      expect(await status()).toMatchObject({ state: 'failed', current: '1.0.0' });
      expect(await show('MainPID')).toBe(before);
    } finally {
      await machine.must(['systemctl', 'stop', 'dragoman-update.service', 'dragoman-update.path']);
      await machine.must(['umount', '/var/lib/dragoman-update']);
      await machine.must(['systemctl', 'reset-failed']);
      await machine.must(['systemctl', 'start', 'dragoman-update.path', 'dragoman-update.service']);
    }
  });

  it('returns to the package by the line of the page', async () => {
    await order('1.3.0');
    await reached('confirming');
    await runs('/var/lib/dragoman-update/versions/1.3.0-1');
    await isReady();
    const page = readFileSync(join(ROOT, 'docs/updates.md'), 'utf8');
    const line = /^sudo (rm .*)$/m.exec(page)?.[1] ?? '';
    await machine.must(['sh', '-ec', line.replaceAll('sudo ', '')]);
    await runs('/usr/lib/dragoman');
    await isReady();
  });

  it('lets the agent’s user change neither versions nor link', async () => {
    const script =
      'ln -sfn versions/1.3.0-1 /var/lib/dragoman-update/current || touch /var/lib/dragoman-update/versions/x';
    const words = ['setpriv', '--reuid=dragoman', '--regid=dragoman', '--init-groups', 'sh', '-c', script];
    expect((await machine.run(words)).code).not.toBe(0);
  });
});
