import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, inject } from 'vitest';
import { FILES, type Kiosk, SERVICE, until } from './kiosk.ts';
import { underSystemd } from './under-systemd.ts';

const SHOWN = '/opt/fake';
const YEAR_1970_S = 1000;
/** The build time of systemd, to which it sets a clock that is earlier. */
const BUILT_S = Date.UTC(2025, 7, 1) / 1000;

/** Folder of the library that fakes the clock, a certificate that is valid since yesterday, and the clock's offset. */
const folder = mkdtempSync(join(tmpdir(), 'dragoman-clock-'));
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true }));
const missing = make();

function make(): string | null {
  if (inject('debian').missing !== null) return null;
  for (const program of ['gcc', 'openssl'])
    if (spawnSync(program, [program === 'gcc' ? '--version' : 'version']).status !== 0)
      return `no ${program}`;
  const source = fileURLToPath(new URL('fake-clock.c', import.meta.url));
  execFileSync('gcc', [
    '-O2',
    '-Wall',
    '-Wextra',
    '-Werror',
    '-fPIC',
    '-shared',
    '-o',
    join(folder, 'fake-clock.so'),
    source,
  ]);
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'ca.pem')];
  const words = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '10',
  ];
  const names = ['-subj', '/CN=kiosk', '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync('openssl', [...words, ...names, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
  chmodSync(key, 0o644);
  return null;
}

/** Sets the clock of the agent and of the programs that set its clock. Seconds since 1970; 0: the machine's time. */
function setFakeClock(seconds: number): void {
  const offset = seconds === 0 ? 0 : Math.round(seconds - Date.now() / 1000);
  writeFileSync(join(folder, 'offset'), `${offset}\n`);
}
const fakeOffset = (): number => Number(readFileSync(join(folder, 'offset'), 'utf8'));

const FAKED = [`Environment=LD_PRELOAD=${SHOWN}/fake-clock.so FAKE_CLOCK=${SHOWN}/offset`];
const FAKED_SETTER = `[Service]\n${FAKED.join('\n')}\nReadWritePaths=${SHOWN}\n`;
const CA = `${SHOWN}/ca.pem`;

/** Starts broker and service with TLS, and the agent with this time. */
async function start(kiosk: Kiosk, seconds: number): Promise<void> {
  setFakeClock(seconds);
  await kiosk.edit(FAKED);
  await kiosk.encrypt({ certificate: CA, key: `${SHOWN}/key.pem` });
  await kiosk.configureAll({
    lanes: [FILES],
    mqtt: { url: 'mqtts://127.0.0.1:8883', username: 'kiosk', passwordFile: 'mqtt-password', caFile: CA },
    service: { hosts: ['127.0.0.1:8443'], caFile: CA },
  });
  await kiosk.systemctl('start', SERVICE);
}

async function ts(kiosk: Kiosk): Promise<string | null> {
  return ((await kiosk.retained('status')) as { ts: string | null }).ts;
}

/** Whether the time in its last status is the machine's present time. */
const tellsTime = async (kiosk: Kiosk): Promise<boolean> =>
  Math.abs(Date.parse((await ts(kiosk)) ?? '') - Date.now()) < 60_000;

underSystemd(
  'clock under systemd',
  (test) => {
    test('publishes a null `ts` and works without encryption while it is not set', async (kiosk) => {
      setFakeClock(YEAR_1970_S);
      await kiosk.edit(FAKED);
      await kiosk.systemctl('start', SERVICE);
      await kiosk.live();
      expect(await ts(kiosk)).toBeNull();
      await kiosk.untilStatus('the clock is not set');
      setFakeClock(0);
      await until('the agent notices it', async () => (await kiosk.journal()).includes('the clock is set'));
      await kiosk.command('mute');
      await until('its time', () => tellsTime(kiosk));
    });

    test('delays TLS, with a reason, and TLS works within seconds after it is set', async (kiosk, {
      annotate,
    }) => {
      await start(kiosk, YEAR_1970_S);
      await until('the log has it', async () => /not valid yet/.test(await kiosk.journal('warning')));
      expect(await kiosk.show('ActiveState')).toBe('active');
      await kiosk.untilStatus('the clock is not set');
      await until('the clock has a set time', async () =>
        /enable dragoman-clock.path/.test(await kiosk.journal('err')),
      );
      setFakeClock(0);
      await annotate(`live ${(await kiosk.live()).toFixed(0)} ms after the clock was set`);
      expect(await kiosk.show('NRestarts')).toBe('0');
    });

    test('is not set by other content of the file', async (kiosk) => {
      setFakeClock(BUILT_S);
      const before = fakeOffset();
      await kiosk.machine.write('/etc/systemd/system/dragoman-clock.service.d/fake.conf', FAKED_SETTER);
      await kiosk.systemctl('daemon-reload');
      const place = '/run/dragoman/clock';
      const built = String(BUILT_S - 1);
      const texts = [
        '',
        'soon',
        '0',
        built,
        '-1',
        '4102444801',
        '1795321669; touch /run/hacked',
        '9'.repeat(40),
      ];
      const scripts = [...texts.map((text) => `printf %s '${text}' >${place}`), `ln -s /etc/shadow ${place}`];
      for (const script of scripts) {
        await kiosk.machine.must(['sh', '-ec', `mkdir -p /run/dragoman; ${script}`]);
        await kiosk.machine.run(['systemctl', 'start', 'dragoman-clock.service']);
        expect(fakeOffset(), script).toBe(before);
        expect((await kiosk.machine.run(['test', '-e', place])).code, script).toBe(1);
        await kiosk.machine.run(['systemctl', 'reset-failed']);
      }
      expect((await kiosk.machine.run(['test', '-e', '/run/hacked'])).code).toBe(1);
      await kiosk.machine.must(['journalctl', '--sync']);
      const words = ['journalctl', '-o', 'cat', '-u', 'dragoman-clock.service'];
      expect(await kiosk.machine.must(words)).not.toMatch(/root:/);
    });

    for (const [when, seconds] of [
      ['in 1970', YEAR_1970_S],
      ['when systemd was built', BUILT_S],
    ] as const)
      test(`comes from the service’s host when there is no time server: ${when}`, async (kiosk, {
        annotate,
      }) => {
        await kiosk.machine.write('/etc/systemd/system/dragoman-clock.service.d/fake.conf', FAKED_SETTER);
        await kiosk.systemctl('enable', '--now', 'dragoman-clock.path');
        await start(kiosk, seconds);
        await annotate(`live ${(await kiosk.live()).toFixed(0)} ms after the start`);
        // The clock is set to the time of the answer, which may have arrived a while ago.
        expect(Math.abs(fakeOffset())).toBeLessThan(60);
        await until('its time', () => tellsTime(kiosk));
        // The request is done and removed.
        await until(
          'the request is removed',
          async () => (await kiosk.machine.run(['test', '-e', '/run/dragoman/clock'])).code === 1,
        );
        await kiosk.systemctl('disable', '--now', 'dragoman-clock.path');
      });
  },
  { missing, shared: [{ from: folder, to: SHOWN, writable: true }] },
);
