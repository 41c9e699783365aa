import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { needs } from '../needs.ts';
import { until } from './kiosk.ts';
import { BUILT, openPackageFixture, type PackageFixture } from './package-fixture.ts';

const [OLD, NEW, CHANGED] = [BUILT, '1.1.0-1', '1.2.0-1'];
const SERVICE = 'dragoman.service';
const CONFIG = '/etc/dragoman/config.json';
const LIBRARY = '/usr/lib/dragoman';
/** A configuration that the owner has written; its broker does not exist. */
const OWN = JSON.stringify({
  device: { id: 'kiosk-01', tenant: 'museum' },
  mqtt: { url: 'mqtt://127.0.0.1:1883' },
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
/** Moments at which dpkg is killed: at the first unpacked file, and after these seconds. */
const KILLED = ['unpacking', '0.03', '0.1', '0.2', '0.4', '0.8', '1.6'];
const KILL = `
dpkg -i "$1" >/dev/null 2>&1 & pid=$!
if [ "$2" = unpacking ]; then
  until ls ${LIBRARY}/*.dpkg-new >/dev/null 2>&1 || ! kill -0 "$pid"; do :; done
else sleep "$2"; fi
kill -9 "$pid" 2>/dev/null; wait; exit 0
`;

/** Turns the library's folder into a disk with room for one and a half copies. */
const FILL = `
used=$(du -sk "$1" | cut -f1); mkdir /run/small
mount -t tmpfs -o size=$((used * 3 / 2))k none /run/small; cp -a "$1"/. /run/small; mount --bind /run/small "$1"
`;
/** Output of `dpkg --verify` when only the configuration has changed. */
const OWN_CONFIGURATION = `??5?????? c ${CONFIG}\n`;
const STATE = `dpkg-query -W -f '\${db:Status-Status} \${Version}' dragoman 2>/dev/null | grep -v not-installed`;
const BREAK_OFF = `sed -i '/^Package: dragoman$/,/^$/ s/^Status: .*/Status: install reinstreq half-installed/' /var/lib/dpkg/status`;

const debian = inject('debian');
/** Debian 12 has no Node.js that is new enough. */
const needsNode = debian.suite === 'bookworm';

/** Failures during installations. The tests build on each other. */
describe(`packages in trouble, Debian ${debian.suite}`, needs(debian.missing), () => {
  let fixture: PackageFixture;

  beforeAll(async () => {
    if (debian.missing !== null) return;
    fixture = await openPackageFixture(debian);
    fixture.remake(`dragoman_${OLD}`, NEW);
    fixture.remake(`dragoman_${NEW}`, CHANGED, '// A key that is new in this version.\n');
    const { machine } = fixture;
    await machine.must(['dpkg', '-i', ...node(), deb(OLD)]);
    await machine.write(CONFIG, OWN);
    await runs();
  });
  afterAll(() => fixture?.close());

  const deb = (version: string): string => fixture.file(`dragoman_${version}`);
  const node = (): string[] => (needsNode ? [fixture.file('dragoman-node_')] : []);
  const install = (...words: string[]) => fixture.machine.run(['/srv/install', ...words]);
  const show = async (property: string) =>
    (await fixture.machine.must(['systemctl', 'show', '--value', '-p', property, SERVICE])).trim();
  /** State such as "installed 1.0.0-1"; empty if the package was never installed. */
  const state = async () => (await fixture.machine.run(['sh', '-c', STATE])).stdout.trim();
  /** Waits until the agent runs with the owner's configuration. */
  const runs = () => until('it runs', async () => /broker/.test(await show('StatusText')), 120_000);
  const restart = async () => {
    await fixture.machine.must(['systemctl', 'restart', SERVICE]);
    await runs();
  };
  const configuration = () => fixture.machine.must(['cat', CONFIG]);

  it('keeps an edited configuration, without a question, and puts the new one beside it', async () => {
    const { machine } = fixture;
    // Without an answer, dpkg leaves the old agent running, and the installed program is complete.
    const before = await show('MainPID');
    expect((await machine.run(['dpkg', '-i', deb(CHANGED)])).code).not.toBe(0);
    expect([await state(), await show('MainPID')]).toEqual([`unpacked ${CHANGED}`, before]);
    await restart();
    expect(await install(deb(CHANGED))).toMatchObject({ code: 0 });
    expect([await state(), await configuration()]).toEqual([`installed ${CHANGED}`, OWN]);
    expect(await machine.must(['cat', `${CONFIG}.dpkg-dist`])).toContain('A key that is new');
    await runs();
    expect(await install(deb(OLD))).toMatchObject({ code: 0 });
  });

  it('refuses two versions of a package, because each run would install the other one', async () => {
    const before = await show('MainPID');
    expect(await install(deb(OLD), deb(NEW))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${deb(NEW)} is a second package of dragoman`),
    });
    expect([await state(), await show('MainPID')]).toEqual([`installed ${OLD}`, before]);
  });

  it('keeps the old version running, and able to start, when the disk becomes full', async () => {
    const { machine } = fixture;
    const before = await show('MainPID');
    // Room for the installed version and half of the new one.
    await machine.must(['sh', '-euc', FILL, 'sh', LIBRARY]);
    try {
      const { code, stdout, stderr } = await install(deb(NEW));
      expect([code, stdout + stderr]).toEqual([100, expect.stringContaining('No space left on device')]);
      expect([await state(), await show('MainPID')]).toEqual([`installed ${OLD}`, before]);
      expect(await machine.must(['dpkg', '--verify', 'dragoman'])).toBe(OWN_CONFIGURATION);
      await restart();
    } finally {
      await machine.must(['systemctl', 'stop', SERVICE]);
      await machine.must(['umount', LIBRARY]);
      await machine.must(['systemctl', 'start', SERVICE]);
    }
    expect(await install(deb(NEW))).toMatchObject({ code: 0 });
    expect(await state()).toBe(`installed ${NEW}`);
    await runs();
  });

  it('still starts, and is repaired by the next installation, when dpkg is killed at seven moments', async ({
    annotate,
  }) => {
    const { machine } = fixture;
    const found: string[] = [];
    let version = OLD;
    for (const moment of KILLED) {
      await machine.must(['sh', '-c', KILL, 'sh', deb(version), moment]);
      found.push(await state());
      await restart();
      const { code, stdout, stderr } = await install(deb(version));
      expect({ code, state: await state() }, `${stdout}${stderr}`).toEqual({
        code: 0,
        state: `installed ${version}`,
      });
      expect(await machine.must(['dpkg', '--audit'])).toBe('');
      expect(await machine.must(['systemctl', 'is-enabled', SERVICE])).toBe('enabled\n');
      expect(await configuration()).toBe(OWN);
      await runs();
      version = version === OLD ? NEW : OLD;
    }
    await annotate(found.join(', '));
    expect(found.filter((one) => !one.startsWith('installed'))).not.toEqual([]);
  }, 900_000);

  it.each([
    ['--uninstall', 'config-files'],
    ['--purge', ''],
  ])('uninstalls an interrupted installation: %s', async (option, left) => {
    const { machine } = fixture;
    // The state after dpkg was killed during unpacking.
    await machine.must(['sh', '-euc', BREAK_OFF]);
    expect(await state()).toMatch(/^half-installed/);
    const words = option === '--purge' ? ['--uninstall', '--purge'] : ['--uninstall'];
    const { code, stdout, stderr } = await install(...words);
    expect({ code, said: /nothing to do/.test(stdout) }, `${stdout}${stderr}`).toEqual({
      code: 0,
      said: false,
    });
    expect((await state()).replace(/ .*/, '')).toBe(left);
    expect((await machine.run(['test', '-e', LIBRARY])).code).toBe(1);
    expect(await show('ActiveState')).toBe('inactive');
    expect(await install(deb(OLD), ...node())).toMatchObject({ code: 0 });
    if (option === '--purge') await machine.write(CONFIG, OWN);
    expect(await configuration()).toBe(OWN);
    await runs();
  });

  it('removes everything when a purge is killed and repeated while the service runs', async () => {
    const { machine } = fixture;
    await machine.must(['sh', '-c', KILL.replace('-i', '-P'), 'sh', 'dragoman', '0.3']);
    await machine.run(['systemctl', 'start', SERVICE]);
    const { code, stdout, stderr } = await install('--uninstall', '--purge');
    expect(code, `${stdout}${stderr}`).toBe(0);
    expect(await state()).toBe('');
    const left = ['find', '/etc', '/usr', '/var/lib', '-xdev', '-name', '*dragoman*'];
    expect(await machine.must([...left, '-not', '-path', '*/sysusers.d/*'])).toBe('');
  });

  it('runs and reads its secrets when its user name is that of a person', async () => {
    const { machine } = fixture;
    await machine.must(['sh', '-c', 'userdel dragoman; useradd -m -g users dragoman']);
    expect(await install(deb(NEW), ...node())).toMatchObject({ code: 0 });
    const secret = '/etc/dragoman/secrets/mqtt-password';
    await machine.must(
      ['sh', '-c', 'cat | install -g dragoman -m 0640 /dev/stdin "$1"', 'sh', secret],
      'secret',
    );
    const config = JSON.parse(OWN);
    config.mqtt = { ...config.mqtt, username: 'kiosk', passwordFile: secret };
    await machine.write(CONFIG, JSON.stringify(config));
    await runs();
    expect(await machine.must(['id', 'dragoman'])).toContain('(audio)');
    const check = ['runuser', '-u', 'dragoman', '--', 'dragoman', 'check-config', '--config', CONFIG];
    const { code, stdout, stderr } = await machine.run(check);
    expect(code, `${stdout}${stderr}`).toBe(0);
  });
});
