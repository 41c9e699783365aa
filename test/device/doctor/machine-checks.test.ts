import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { CHECK_LIST } from '../../../src/device/doctor/check-list.ts';
import type { Inside } from '../../../src/device/doctor/inside.ts';
import type { Outside } from '../../../src/device/doctor/outside.ts';
import { runChecks } from '../../../src/device/doctor/report/check.ts';
import { wantedDevices } from '../../../src/device/doctor/sound-devices/wanted-devices.ts';
import { checksAt } from '../../../src/device/doctor/way.ts';
import type { MachineParts, ProgramAnswer } from '../../../src/ports/machine.ts';
import { type Config, configSchema } from '../../../src/protocol/config.ts';
import type { CheckName, Finding } from '../../../src/protocol/mqtt/diagnose.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-checks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ON_MACHINE: readonly CheckName[] = [
  'mixer',
  'permissions',
  'disk',
  'memory',
  'service',
  'power',
  'temperature',
];
const MISSING: ProgramAnswer = { ok: false, missing: true, text: '' };
const MIXER = `Simple mixer control 'Speaker',0
  Capabilities: pvolume pswitch
  Front Left: Playback 26 [70%] [-11.00dB] [off]
Simple mixer control 'Mic',0
  Capabilities: cvolume cswitch
  Mono: Capture 28 [80%] [0.00dB] [on]
`;

function makeConfig(capture: object, playback: object): Config {
  return configSchema.parse({
    device: { id: 'kiosk-01', tenant: 'museum' },
    mqtt: { url: 'mqtt://127.0.0.1:1' },
    lanes: [{ source: 'en', targets: ['es'], capture, playback }],
  });
}
const CARDS = makeConfig({ device: 'plughw:CARD=Mic' }, { device: 'plughw:CARD=Head,DEV=0' });
const FILES = makeConfig(
  { driver: 'file', path: 'in.wav' },
  { driver: 'file', path: join(folder, 'none', 'out.wav') },
);

async function examine(
  config: Config | null,
  answer: (words: readonly string[]) => ProgramAnswer = () => MISSING,
  more: Partial<MachineParts> = {},
) {
  const asked: string[] = [];
  const parts: MachineParts = {
    env: {},
    kernel: { proc: folder, sys: folder },
    run: async (program, words) => {
      asked.push([program, ...words].join(' '));
      return answer([program, ...words]);
    },
    soundAccess: () => ({
      hasSound: true,
      user: 'kiosk',
      isInAudio: true,
      cards: [
        { id: 'Mic', index: 0, isAllowed: true },
        { id: 'Head', index: 1, isAllowed: true },
      ],
    }),
    ...more,
  };
  const place = { machine: parts, configured: config === null ? null : { config } } as Outside;
  const checks = checksAt(place, CHECK_LIST, ON_MACHINE, ({ outside }) => outside);
  const findings = await runChecks(checks, { clock: createVirtualClock() });
  const of = (check: string): Finding | undefined => findings.find((one) => one.check === check);
  return { of, asked, findings };
}

describe('the checks of the machine', () => {
  it('find the cards that the lanes use', () => {
    expect(wantedDevices(CARDS)).toEqual([
      { key: 'lanes[0].capture.device', device: 'plughw:CARD=Mic', card: 'Mic', direction: 'capture' },
      {
        key: 'lanes[0].playback.device',
        device: 'plughw:CARD=Head,DEV=0',
        card: 'Head',
        direction: 'playback',
      },
    ]);
    expect(wantedDevices(FILES)).toEqual([]);
    expect(wantedDevices(makeConfig({}, {})).map(({ card }) => card)).toEqual([null, null]);
  });

  it('ask the mixer of each card for its own direction', async () => {
    const { of, asked } = await examine(CARDS, ([program]) =>
      program === 'amixer' ? { ok: true, text: MIXER } : MISSING,
    );
    expect(asked.filter((line) => line.startsWith('amixer'))).toEqual([
      'amixer -D hw:CARD=Mic scontents',
      'amixer -D hw:CARD=Head scontents',
    ]);
    expect(of('mixer')).toMatchObject({
      verdict: 'problem',
      finding: "the loudspeaker is switched off: 'Speaker' of card Head",
    });
    expect(of('permissions')?.verdict).toBe('ok');
  });

  it('are skipped without a mixer, a service manager and sensors', async () => {
    const { of } = await examine(CARDS);
    expect(of('mixer')).toMatchObject({ verdict: 'skipped', finding: expect.stringContaining('alsa-utils') });
    for (const name of ['service', 'power', 'temperature']) expect(of(name)?.verdict, name).toBe('skipped');
    const silent = await examine(CARDS, () => ({ ok: false, missing: false, text: 'no such card' }));
    expect(silent.of('mixer')).toMatchObject({
      verdict: 'skipped',
      finding: expect.stringContaining('card Mic'),
    });
    const broken = await examine(CARDS, () => ({
      ok: false,
      missing: false,
      text: 'ALSA lib conf.c:2007:(_snd_config_load_with_include) _toplevel_:5:0:Unexpected char\namixer: Mixer attach hw:CARD=Mic error: Invalid argument',
    }));
    expect(broken.of('mixer')?.finding).toContain(
      'the mixer of card Mic does not answer (amixer: Mixer attach hw:CARD=Mic error: Invalid argument, ALSA: "_toplevel_:5:0:Unexpected char")',
    );
    const plain = await examine(CARDS, () => ({
      ok: false,
      missing: false,
      text: 'ALSA lib control.c:1528:(snd_ctl_open_noupdate) Invalid CTL mic',
    }));
    expect(plain.of('mixer')?.finding).toContain('card Mic has no mixer');
    // The message of alsa-utils 1.2.8.
    const absent = await examine(CARDS, () => ({
      ok: false,
      missing: false,
      text: 'ALSA lib confmisc.c:165:(snd_config_get_card) Cannot get card index for Mic\namixer: Mixer attach hw:CARD=Mic error: No such device',
    }));
    expect(absent.of('mixer')).toMatchObject({
      verdict: 'skipped',
      finding: 'card Mic is not there; card Head is not there',
    });
    const bare = await examine(makeConfig({}, {}), () => ({
      ok: false,
      missing: false,
      text: "ALSA lib confmisc.c:855:(parse_card) cannot find card '0'\namixer: Mixer attach default error: No such file or directory",
    }));
    expect(bare.of('mixer')?.finding).toBe('there is no card behind "default"');
    expect((await examine(FILES)).of('mixer')?.finding).toBe('no lane uses a sound card');
  });

  it('read the unit of the service', async () => {
    const { of, asked } = await examine(CARDS, ([program]) =>
      program === 'systemctl' ? { ok: true, text: 'LoadState=not-found\nActiveState=inactive\n' } : MISSING,
    );
    expect(of('service')).toMatchObject({ verdict: 'warning', data: { load: 'not-found' } });
    expect(asked.find((line) => line.startsWith('systemctl'))).toMatch(
      /^systemctl show dragoman\.service --property=LoadState,.*NoNewPrivileges/,
    );
  });

  it('look at the folders that the agent writes to: recordings and state', async () => {
    expect((await examine(FILES)).of('disk')).toMatchObject({
      verdict: 'problem',
      finding: expect.stringContaining(join(folder, 'none')),
    });
    const { of } = await examine(CARDS, undefined, { env: { STATE_DIRECTORY: folder } });
    expect(of('disk')).toMatchObject({ data: { folder, access: 'writable' } });
  });

  it('run as far as possible without a configuration', async () => {
    const { findings } = await examine(null);
    const names = (verdicts: readonly string[]): string[] =>
      findings.filter(({ verdict }) => verdicts.includes(verdict)).map(({ check }) => check);
    expect(names(['ok', 'warning'])).toEqual(['disk', 'memory']);
    expect(findings.find(({ check }) => check === 'permissions')?.finding).toContain('configuration');
  });

  it('are left out by the running agent of a simulation, which has no machine', async () => {
    const inside = { machine: null, config: CARDS } as Inside;
    const checks = checksAt(inside, CHECK_LIST, ON_MACHINE, (check) => check.inside);
    expect(await runChecks(checks, { clock: createVirtualClock() })).toEqual([]);
  });
});
