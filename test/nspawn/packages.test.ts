import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { needs } from '../needs.ts';
import type { Machine } from './container.ts';
import { until } from './kiosk.ts';
import { BUILT, openPackageFixture, type PackageFixture } from './package-fixture.ts';

const [OLD, NEW] = [BUILT, '1.1.0-1'];
const OURS = ['dragoman', 'dragoman-backend', 'dragoman-emulator'];
const PRIVATE_NODE = '/usr/lib/dragoman-node/bin/node';
const SERVICE = 'dragoman.service';
const DROP_IN = '/etc/systemd/system/dragoman-backend.service.d/node.conf';
const STATE = 'dragoman/v1/museum/kiosk-01/state';

const CONFIG = JSON.stringify({
  device: { id: 'kiosk-01', tenant: 'museum' },
  mqtt: {
    url: 'mqtt://127.0.0.1:1883',
    username: 'kiosk',
    passwordFile: '/etc/dragoman/secrets/mqtt-password',
  },
  lanes: [
    {
      capture: { driver: 'file', path: '/usr/lib/dragoman/visitor.wav', loop: true },
      playback: { driver: 'file', path: '/var/lib/dragoman/spoken.wav' },
      source: 'en',
      targets: ['es'],
      echo: 'off',
    },
  ],
});
const BACKEND_CONFIG = JSON.stringify({
  mqtt: { url: 'mqtt://127.0.0.1:1883' },
  service: {
    url: 'http://127.0.0.1:8080',
    streamUrl: 'ws://127.0.0.1:8080/streaming-api/{random_hash}/v1/speech-to-speech/stream',
    apiKeyFile: 'api-key',
  },
  allow: ['museum/*'],
});
/** The equivalent of `sudo -u dragoman`. */
const AS_AGENT = ['setpriv', '--reuid=dragoman', '--regid=dragoman', '--init-groups'];
const EMULATOR_UNIT =
  '[Service]\nExecStart=/usr/bin/dragoman-emulator run --port 8080 --api-key of-the-tests --setup-ms 200\n';
const BROKER_CONFIG = 'listener 1883 127.0.0.1\nallow_anonymous true\n';

const debian = inject('debian');
/** Debian 12's Node.js is too old for the agent. The backend's store needs a newer one than that of Debian 13, too. */
const needsNode = debian.suite === 'bookworm';

/** The life of the packages from installation to purge. The tests build on each other. */
describe(`packages, Debian ${debian.suite}`, needs(debian.missing), () => {
  let fixture: PackageFixture;
  let machine: Machine;

  beforeAll(async () => {
    if (debian.missing !== null) return;
    fixture = await openPackageFixture(debian);
    for (const name of OURS) fixture.remake(`${name}_${OLD}`, NEW);
    machine = fixture.machine;
    await machine.write('/etc/mosquitto/conf.d/kiosk.conf', BROKER_CONFIG);
    await machine.write('/etc/systemd/system/emulator.service', EMULATOR_UNIT);
  });
  afterAll(() => fixture?.close());

  const file = (start: string): string => fixture.file(start);
  const node = (): string => file('dragoman-node_');
  const dpkg = (...words: string[]) => machine.must(['dpkg', ...words]);
  const install = (version: string, ...names: string[]) =>
    dpkg('-i', ...names.map((name) => file(`${name}_${version}`)));
  const show = async (property: string, unit = SERVICE) =>
    (await machine.must(['systemctl', 'show', '--value', '-p', property, unit])).trim();
  const pid = () => show('MainPID');
  const program = async () => (await machine.must(['readlink', `/proc/${await pid()}/exe`])).trim();
  const isEnabled = async (unit: string) =>
    (await machine.run(['systemctl', 'is-enabled', unit])).stdout.trim();
  const stat = async (path: string) => (await machine.run(['stat', '-c', '%a %U:%G', path])).stdout.trim();
  const live = () =>
    until('it interprets', async () => {
      const words = ['mosquitto_sub', '-h', '127.0.0.1', '-t', STATE, '-C', '1', '-W', '10'];
      return (await machine.run(words)).stdout.includes('"phase":"live"');
    });
  /** Deletes the retained state of an earlier agent. */
  const forget = () => machine.must(['mosquitto_pub', '-h', '127.0.0.1', '-t', STATE, '-r', '-n']);

  it('install, and the agent runs and reports what to fill in', async () => {
    await dpkg('-i', node(), ...OURS.map((name) => file(`${name}_${OLD}`)));
    expect([await show('ActiveState'), await isEnabled(SERVICE)]).toEqual(['active', 'enabled']);
    for (const unit of ['dragoman-provision.service', 'dragoman-boot-report.service'])
      expect([unit, await isEnabled(unit)]).toEqual([unit, 'enabled']);
    await until('the status names the key', async () => /device\.id/.test(await show('StatusText')));
    expect(await program()).toBe(PRIVATE_NODE);
    expect(await machine.must(['id', 'dragoman'])).toContain('(audio)');
    expect(await stat('/etc/dragoman/secrets')).toBe('750 root:dragoman');
    expect(await stat('/etc/dragoman-backend/secrets')).toBe('700 root:root');
    // These units are optional.
    for (const unit of ['dragoman-clock.path', 'dragoman-reboot.path', 'dragoman-backend.service'])
      expect([unit, await isEnabled(unit)]).toEqual([unit, 'disabled']);
    expect(await machine.must(['dpkg', '--verify', ...OURS])).toBe('');
  });

  it('contain units that pass systemd-analyze', async () => {
    const units =
      (await machine.must(['dpkg', '-L', ...OURS])).match(/^\/usr\/lib\/systemd\/system\/.+$/gm) ?? [];
    expect(units).toHaveLength(10);
    const { stdout, stderr } = await machine.run(['systemd-analyze', 'verify', '--man=no', ...units]);
    expect(`${stdout}${stderr}`).toBe('');
  });

  it('interpret when the configuration is filled in', async ({ annotate }) => {
    await machine.write('/etc/dragoman-backend/config.json', BACKEND_CONFIG);
    await machine.write('/etc/dragoman-backend/secrets/api-key', 'of-the-tests', '0600');
    await machine.must(['systemctl', 'restart', 'mosquitto', 'emulator']);
    await machine.must(['systemctl', 'enable', '--now', 'dragoman-backend']);
    // As in docs/install.md.
    const place = '/etc/dragoman/secrets/mqtt-password';
    await machine.must(
      ['sh', '-c', 'cat | install -g dragoman -m 0640 /dev/stdin "$1"', 'sh', place],
      'secret\n',
    );
    await machine.write('/etc/dragoman/config.json', CONFIG);
    await annotate(`live ${(await live()).toFixed(0)} ms after that`);
    expect(
      await machine.must([...AS_AGENT, 'dragoman', 'check-config', '--config', '/etc/dragoman/config.json']),
    ).toContain('museum');
  });

  it('set up a new device from the file on its boot partition without questions', async ({ annotate }) => {
    await dpkg('-P', 'dragoman');
    await forget();
    const { passwordFile: _, ...mqtt } = JSON.parse(CONFIG).mqtt;
    const config = { ...JSON.parse(CONFIG), mqtt };
    const document = { format: 1, config, secrets: { 'mqtt-password': 'secret' } };
    await machine.write('/boot/dragoman.json', JSON.stringify(document));
    await install(OLD, 'dragoman');
    await annotate(`live ${(await live()).toFixed(0)} ms after the installation`);
    const status = await machine.must(['cat', '/boot/dragoman-status.txt']);
    // The container's disk is memory, so a secret that is removed from the file would be lost.
    expect(status).toMatch(/Result: applied\..*lost at the next boot/s);
    expect(await stat('/etc/dragoman/secrets/mqtt-password')).toBe('600 dragoman:dragoman');
    expect(await stat('/etc/dragoman/secrets')).toBe('750 root:dragoman');
    expect(await machine.must(['dpkg', '--verify', 'dragoman'])).toBe('');
    // Restores the state that the next tests expect.
    const place = '/etc/dragoman/conf.d/zz-provisioned.json';
    await machine.must(['sh', '-c', `rm /boot/dragoman* ${place}`]);
    await machine.write('/etc/dragoman/config.json', CONFIG);
    await forget();
    await machine.must(['systemctl', 'restart', SERVICE]);
    await live();
  });

  it.each([
    ['upgrade', NEW],
    ['downgrade', OLD],
  ])('%s: the new version interprets, and the owner’s settings stay', async (_, version) => {
    await machine.must([
      'sh',
      '-c',
      'echo kept >/var/lib/dragoman/kept; echo kept >/etc/dragoman/secrets/kept',
    ]);
    await machine.must(['systemctl', 'enable', 'dragoman-clock.path']);
    const before = await pid();
    await forget();
    await install(version, ...OURS);
    expect(await pid()).not.toBe(before);
    await live();
    expect(await show('NRestarts')).toBe('0');
    for (const unit of [SERVICE, 'dragoman-backend.service', 'dragoman-clock.path'])
      expect([unit, await isEnabled(unit)]).toEqual([unit, 'enabled']);
    expect(await machine.must(['cat', '/etc/dragoman/config.json'])).toBe(CONFIG);
    expect(await machine.must(['cat', '/var/lib/dragoman/kept', '/etc/dragoman/secrets/kept'])).toBe(
      'kept\nkept\n',
    );
    expect(await machine.must(['dpkg', '-s', 'dragoman'])).toContain(`\nVersion: ${version}\n`);
  });

  it('do not change a service that is stopped and disabled', async () => {
    await machine.must(['systemctl', 'disable', '--now', SERVICE]);
    await install(NEW, 'dragoman');
    expect([await show('ActiveState'), await isEnabled(SERVICE)]).toEqual(['inactive', 'disabled']);
    await forget();
    await machine.must(['systemctl', 'enable', '--now', SERVICE]);
    await live();
  });

  it('refuse to lose the private Node.js while a program needs it', async () => {
    const { code, stderr } = await machine.run(['dpkg', '-r', 'dragoman-node']);
    expect(code).toBe(1);
    expect(stderr).toContain('dragoman-backend depends on');
    expect(stderr.includes('dragoman depends on')).toBe(needsNode);
    const exe = await machine.must(['readlink', `/proc/${await show('MainPID', 'dragoman-backend')}/exe`]);
    expect(exe.trim()).toBe(PRIVATE_NODE);
  });

  it(
    'use the system’s Node.js when there is no private one',
    needs(needsNode && 'needs a newer Node.js than that of Debian 12'),
    async () => {
      const copy = '/usr/local/bin/node-of-the-backend';
      const start = '/usr/lib/dragoman-backend/backend.mjs run --config /etc/dragoman-backend/config.json';
      await machine.must(['cp', PRIVATE_NODE, copy]);
      await machine.write(DROP_IN, `[Service]\nExecStart=\nExecStart=${copy} ${start}\n`);
      await machine.must(['systemctl', 'daemon-reload']);
      await forget();
      await dpkg('-r', '--force-depends', 'dragoman-node');
      await live();
      expect(await program()).toBe('/usr/bin/node');
      await machine.must(['rm', copy, DROP_IN]);
      await machine.must(['systemctl', 'daemon-reload']);
      await forget();
      await dpkg('-i', node());
      await live();
      expect(await program()).toBe(PRIVATE_NODE);
    },
  );

  it('leave no process and keep the owner’s settings when removed', async () => {
    await dpkg('-r', ...OURS);
    expect(await machine.run(['pgrep', '-f', 'dragoman.*mjs']).then(({ stdout }) => stdout)).toBe('');
    expect(await stat('/usr/lib/dragoman')).toBe('');
    expect(await machine.must(['cat', '/etc/dragoman/config.json'])).toBe(CONFIG);
    await forget();
    await install(NEW, ...OURS);
    await live();
    expect(await machine.must(['cat', '/var/lib/dragoman/kept'])).toBe('kept\n');
  });

  it('leave only their users and the backend’s ledger when purged', async () => {
    expect(await dpkg('-P', ...OURS, 'dragoman-node')).toContain(
      'The ledger stays in /var/lib/dragoman-backend',
    );
    const places = ['/etc', '/usr', '/var/lib', '/run', '/var/cache'];
    const found = await machine.must([
      'find',
      ...places,
      '-xdev',
      '-name',
      '*dragoman*',
      '-not',
      '-path',
      '/run/systemd/*',
    ]);
    expect(found).toBe('/var/lib/dragoman-backend\n');
    expect(await machine.must(['id', 'dragoman'])).toContain('dragoman');
    const { stdout } = await machine.run(['systemctl', 'list-unit-files', '--no-legend', 'dragoman*']);
    expect(stdout).toBe('');
  });

  it('are installed, updated and removed by scripts/install, which repeats no step', async () => {
    const script = (...words: string[]) => machine.run(['/srv/install', ...words]);
    const packages = (version: string) => [file(`dragoman_${version}`), ...(needsNode ? [node()] : [])];
    if (needsNode)
      expect(await script(file(`dragoman_${OLD}`))).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('install the package dragoman-node as well'),
      });
    const trial = await script('--dry-run', ...packages(OLD));
    expect([trial.code, trial.stdout]).toEqual([0, expect.stringContaining(`dragoman_${OLD}`)]);
    expect(await stat('/usr/lib/dragoman')).toBe('');

    expect(await script(...packages(OLD))).toMatchObject({ code: 0 });
    expect([await show('ActiveState'), await isEnabled(SERVICE)]).toEqual(['active', 'enabled']);
    const first = await pid();
    const again = await script(...packages(OLD));
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('nothing to do')]);
    expect(await pid()).toBe(first);

    await machine.write('/etc/dragoman/config.json', CONFIG);
    expect(await script(...packages(NEW))).toMatchObject({ code: 0 });
    expect(await pid()).not.toBe(first);
    expect(await machine.must(['cat', '/etc/dragoman/config.json'])).toBe(CONFIG);

    expect((await script('--dry-run', '--uninstall')).stdout).toMatch(/would run: dpkg --remove dragoman/);
    expect(await show('ActiveState')).toBe('active');
    expect(await script('--uninstall')).toMatchObject({ code: 0 });
    expect(await machine.must(['cat', '/etc/dragoman/config.json'])).toBe(CONFIG);
    expect(await script('--uninstall', '--purge')).toMatchObject({ code: 0 });
    expect(await stat('/etc/dragoman')).toBe('');
    const last = await script('--uninstall', '--purge');
    expect([last.code, last.stdout]).toEqual([0, expect.stringContaining('nothing to do')]);
  });
});
