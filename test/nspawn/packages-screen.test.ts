import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { needs } from '../needs.ts';
import type { Machine } from './container.ts';
import { until } from './kiosk.ts';
import { openPackageFixture, type PackageFixture } from './package-fixture.ts';

const [AGENT, SCREEN] = ['dragoman.service', 'dragoman-screen.service'];
/** In the containers there is no apt, no display and no console: these packages are empty but for a program. */
const STUBS = ['cage', 'chromium', 'xwayland', 'libpam-systemd'];
const MAKE_STUBS = `
for name in "$@"; do
  mkdir -p "/tmp/stubs/$name/DEBIAN"
  printf 'Package: %s\\nVersion: 999\\nArchitecture: all\\nMaintainer: Tests <tests@localhost>\\nDescription: stub\\n' "$name" >"/tmp/stubs/$name/DEBIAN/control"
done
mkdir -p /tmp/stubs/cage/usr/bin
cat >/tmp/stubs/cage/usr/bin/cage
chmod 755 /tmp/stubs/cage/usr/bin/cage
for name in "$@"; do
  dpkg-query -W -f '\${db:Status-Status}' "$name" 2>/dev/null | grep -qx installed || dpkg-deb --root-owner-group -Zgzip --build "/tmp/stubs/$name" "/tmp/stubs/$name.deb"
done
dpkg -i /tmp/stubs/*.deb`;
/** Says what it may do, in a file that is whole when it appears, and stays. */
const CAGE = `#!/bin/sh
{
  echo "words $*"
  echo "user $(id -un) $(id -Gn)"
  for place in /etc /home /var/lib/dragoman /usr "$XDG_RUNTIME_DIR"; do
    if (: >"$place/probe") 2>/dev/null; then echo "writes $place"; rm "$place/probe"; fi
  done
  [ -r /etc/dragoman/secrets/mqtt-password ] && echo 'reads the secret'
  grep -E '^(NoNewPrivs|CapEff)' /proc/self/status
} >"$XDG_RUNTIME_DIR/writing" 2>&1
mv "$XDG_RUNTIME_DIR/writing" "$XDG_RUNTIME_DIR/told"
exec sleep infinity
`;
const CONFIG = JSON.stringify({
  device: { id: 'kiosk-01', tenant: 'museum' },
  mqtt: { url: 'mqtt://127.0.0.1:1883' },
  screen: { enabled: true },
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
/** The unit without a console: what a container cannot have. The rest of it is as shipped. */
const NO_CONSOLE = `[Unit]
ConditionPathExists=
[Service]
PAMName=
TTYPath=
TTYReset=no
TTYVHangup=no
TTYVTDisallocate=no
StandardInput=null
UtmpIdentifier=
`;

const debian = inject('debian');
/** Debian 12 has no Node.js that is new enough. */
const needsNode = debian.suite === 'bookworm';

/** Cage and chromium themselves are tested by hand, because the containers have no network (docs/screen.md has the figures). */
describe(`the package dragoman-screen, Debian ${debian.suite}`, needs(debian.missing), () => {
  let fixture: PackageFixture;
  let machine: Machine;
  beforeAll(async () => {
    if (debian.missing !== null) return;
    fixture = await openPackageFixture(debian);
    machine = fixture.machine;
    await machine.must(['sh', '-euc', MAKE_STUBS, 'sh', ...STUBS], CAGE);
  });
  afterAll(() => fixture?.close());

  const show = async (property: string, unit = SCREEN): Promise<string> =>
    (await machine.must(['systemctl', 'show', '--value', '-p', property, unit])).trim();

  it('is installed, and its unit waits for a display that is not there', async () => {
    const node = needsNode ? [fixture.file('dragoman-node_')] : [];
    await machine.must(['dpkg', '-i', ...node, fixture.file('dragoman_')]);
    await machine.write('/etc/dragoman/config.json', CONFIG);
    await machine.must(['systemctl', 'restart', AGENT]);
    await machine.must(['dpkg', '-i', fixture.file('dragoman-screen_')]);
    expect((await machine.run(['systemctl', 'is-enabled', SCREEN])).stdout.trim()).toBe('enabled');
    expect([await show('ActiveState'), await show('ConditionResult')]).toEqual(['inactive', 'no']);
    expect(await machine.must(['dpkg', '--verify', 'dragoman-screen'])).toBe('');
    expect(await machine.must(['id', 'dragoman-screen'])).toMatch(
      /\(video\).*\(render\)|\(render\).*\(video\)/,
    );
  });

  it('has a unit that passes systemd-analyze', async () => {
    const { stdout, stderr } = await machine.run(['systemd-analyze', 'verify', '--man=no', SCREEN]);
    expect(`${stdout}${stderr}`).toBe('');
  });

  it("starts the browser as its own user when the agent's page is served, with few rights", async () => {
    await machine.write(`/etc/systemd/system/${SCREEN}.d/no-console.conf`, NO_CONSOLE);
    await machine.must(['systemctl', 'daemon-reload']);
    await machine.must(['systemctl', 'start', SCREEN]);
    await until('the browser is started', async () => (await told()) !== '');
    const lines = await told();
    expect(lines).toMatch(/^words -- chromium --kiosk .* http:\/\/127\.0\.0\.1:8484\/?$/m);
    expect(lines).toMatch(/^user dragoman-screen .*$/m);
    expect(lines).not.toMatch(/^user .*\b(audio|dragoman|sudo)\b(?!-)/m);
    expect(lines.match(/^writes .*/gm)).toEqual(['writes /run/dragoman-screen']);
    expect(lines).not.toContain('reads the secret');
    expect(lines).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(lines).toMatch(/^CapEff:\s+0+$/m);
  });

  it('starts again when the browser ends, and leaves the agent alone', async ({ annotate }) => {
    const agent = await show('MainPID', AGENT);
    const before = await show('MainPID');
    await machine.must(['sh', '-c', 'kill $(grep -lx sleep /proc/[0-9]*/comm | cut -d/ -f3)']);
    const ms = await until('another one', async () => {
      const now = await show('MainPID');
      return now !== before && now !== '0' && (await told()) !== '';
    });
    await annotate(`${ms.toFixed(0)} ms`);
    expect(await show('MainPID', AGENT)).toBe(agent);
    expect(Number(await show('NRestarts'))).toBe(1);
  });

  it('is removed with its user’s files, and the agent runs on', async () => {
    await machine.must(['dpkg', '-P', 'dragoman-screen']);
    expect((await machine.run(['systemctl', 'is-active', AGENT])).stdout.trim()).toBe('active');
    expect((await machine.run(['ls', '/run/dragoman-screen'])).code).not.toBe(0);
    expect((await machine.run(['systemctl', 'is-enabled', SCREEN])).stdout).not.toContain('enabled');
  });

  const told = async (): Promise<string> => (await machine.run(['cat', '/run/dragoman-screen/told'])).stdout;
});
