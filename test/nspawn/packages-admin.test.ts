/** What an administrator types on a fresh Debian: docs/install.md, then the login of docs/fleet.md. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { needs } from '../needs.ts';
import { commandsOf } from '../tidy/page-commands.ts';
import { until } from './kiosk.ts';
import { openPackageFixture, type PackageFixture } from './package-fixture.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const linesOf = (page: string, heading: string): string[] =>
  commandsOf(page, readFileSync(join(ROOT, page), 'utf8'))
    .filter((one) => one.heading === heading)
    .map(({ line }) => line);

/** Home of the administrator, where the copied files are. */
const HOME = '/opt/ada';
const BROKER = '/etc/mosquitto/dragoman';
const DOCTOR = 'sudo -u dragoman dragoman doctor --config /etc/dragoman/config.json';
const CONFIG = JSON.stringify({
  service: { hosts: ['127.0.0.1:8080'] },
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

const debian = inject('debian');

describe(`an administrator on a fresh Debian ${debian.suite}`, needs(debian.missing), () => {
  let fixture: PackageFixture;
  let made: string;

  beforeAll(async () => {
    if (debian.missing !== null) return;
    const { bundles } = debian;
    fixture = await openPackageFixture(debian);
    const { machine, folder } = fixture;
    // The owner's machine.
    made = mkdtempSync(join(tmpdir(), 'dragoman-owner-'));
    const backend = (...words: string[]) =>
      execFileSync(process.execPath, [join(bundles, 'backend.mjs'), ...words], { cwd: made, stdio: 'pipe' });
    const at = ['--host', '127.0.0.1', '--listen', '127.0.0.1', '--installed-at', BROKER];
    backend('broker', 'init', 'museum', '--tenant', 'museum', ...at);
    backend('devices', 'add', 'kiosk-01', '--broker', 'museum');
    execFileSync('cp', ['-r', join(made, 'museum/broker'), join(made, 'museum/logins'), folder]);
    makeRepository(join(folder, 'repository'));
    const set = `
      useradd --create-home --home-dir ${HOME} --groups sudo ada
      echo 'ada ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/ada
      cp -r /srv/install /mnt/dragoman_*.deb /mnt/dragoman-node_*.deb /mnt/logins/museum.kiosk-01 ${HOME}
      rm -f ${HOME}/dragoman-node_*_${process.arch === 'x64' ? 'arm64' : 'amd64'}.deb
      chown -R ada: ${HOME}
      cp -r /mnt/broker ${BROKER}
      chown -R mosquitto: ${BROKER}
      cp ${BROKER}/mosquitto.conf /etc/mosquitto/mosquitto.conf
      systemctl restart mosquitto
      # A fresh machine: neither sound programs nor apt's lists.
      dpkg --purge --force-depends alsa-utils
      rm -rf /var/lib/apt/lists/* /etc/apt/sources.list.d/*
      echo 'deb [trusted=yes] file:/mnt/repository ./' >/etc/apt/sources.list`;
    await machine.must(['sh', '-ec', set]);
  });
  afterAll(async () => {
    await fixture?.close();
    if (made !== undefined) rmSync(made, { recursive: true });
  });

  /** Types a line as the administrator. @param input what follows it at the keyboard @returns what it prints */
  async function type(line: string, input = '', codes = [0]): Promise<string> {
    const words = ['runuser', '-l', 'ada', '-c', `cd ${HOME} && ${line}`];
    const { code, stdout, stderr } = await fixture.machine.run(words, input);
    expect(codes, `${line}: ${code}\n${stdout}${stderr}`).toContain(code);
    return stdout;
  }

  it('installs the packages where apt has no lists yet, and what they need', async () => {
    const [install = ''] = linesOf('docs/install.md', 'From a Debian to an interpreting kiosk').filter(
      (line) => line.startsWith('sudo ./install '),
    );
    expect(await type(install)).toContain('apt-get update');
    expect(await fixture.machine.must(['dpkg-query', '-W', 'alsa-utils'])).toBe('alsa-utils\t2.0\n');
  });

  it('gives the kiosk its login by three lines, and the agent connects with it', async () => {
    for (const line of linesOf('docs/fleet.md', 'The login of a kiosk')) await type(line);
    await type('sudo tee /etc/dragoman/config.json', CONFIG);
    const broker = `${DOCTOR} --json --only broker`;
    await until('the agent is logged in', async () =>
      (await type(broker, '', [0, 3])).includes('"login_as":"agent"'),
    );
    const lines = linesOf('docs/install.md', 'From a Debian to an interpreting kiosk');
    const check = lines.find((line) => line.includes('check-config')) ?? '';
    expect(await type(check)).toMatch(/mqtt\.passwordFile +"mqtt-password" +conf\.d\/broker\.json/);
  });

  it('gets what the running agent finds out from the doctor, at a broker with one client for each login', async () => {
    const only = ['broker', 'isolation', 'backend', 'stream'].map((name) => `--only ${name}`).join(' ');
    const doctor = `${DOCTOR} --json ${only}`;
    const { doctor: beside } = JSON.parse(await type(doctor, '', [3]));
    expect(beside.checks).toMatchObject([
      { check: 'broker', verdict: 'ok', data: { login_as: 'agent' } },
      { check: 'isolation', verdict: 'skipped', finding: expect.stringContaining('systemctl stop dragoman') },
      { check: 'backend', verdict: 'problem', finding: expect.stringMatching(/no backend/) },
      { check: 'stream', verdict: 'skipped' },
    ]);
    await type('sudo systemctl stop dragoman');
    const { doctor: alone } = JSON.parse(await type(doctor, '', [3]));
    expect(alone.checks).toMatchObject([
      { check: 'broker', verdict: 'ok', data: { login_as: 'device' } },
      { check: 'isolation', verdict: 'ok' },
      { check: 'backend', verdict: 'problem' },
      { check: 'stream', verdict: 'skipped' },
    ]);
  });
});

/** A repository with an empty package alsa-utils: whether apt finds it is the question, not what is in it. */
function makeRepository(folder: string): void {
  const place = join(folder, 'alsa-utils');
  mkdirSync(join(place, 'DEBIAN'), { recursive: true });
  const control = `Package: alsa-utils\nVersion: 2.0\nArchitecture: all\nMaintainer: Tests <t@example.org>\nDescription: stands for the real one\n`;
  writeFileSync(join(place, 'DEBIAN/control'), control);
  execFileSync('dpkg-deb', ['--root-owner-group', '--build', place, join(folder, 'alsa-utils.deb')], {
    stdio: 'pipe',
  });
  rmSync(place, { recursive: true });
  const deb = readFileSync(join(folder, 'alsa-utils.deb'));
  const sum = execFileSync('sha256sum', [join(folder, 'alsa-utils.deb')], { encoding: 'utf8' }).split(' ')[0];
  const entry = `${control}Filename: ./alsa-utils.deb\nSize: ${deb.length}\nSHA256: ${sum}\n`;
  writeFileSync(join(folder, 'Packages'), entry);
}
