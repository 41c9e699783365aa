import { afterEach, describe, expect, it } from 'vitest';
import { describeHolders } from '../../../src/adapters/audio/cards/card.ts';
import { type Survey, surveyDevices } from '../../../src/adapters/audio/cards/survey.ts';
import { adviseOn, suggestDevices } from '../../../src/cli/devices/advice.ts';
import { configuredDevices, findDevice } from '../../../src/cli/devices/configured.ts';
import { reportDevices } from '../../../src/cli/devices/devices-json.ts';
import { listDevices } from '../../../src/cli/devices/listing.ts';
import { configSchema } from '../../../src/protocol/config.ts';
import { devicesReportSchema } from '../../../src/protocol/devices-report.ts';
import { answeringTools, NO_TOOLS } from '../../adapters/audio/cards/fake-alsa-tools.ts';
import {
  headset,
  headsetLines,
  layOut,
  type Machine,
  NO_CARDS,
  processFiles,
  RASPBERRY_PI,
  runningStatus,
  type Tree,
  TWO_HEADSETS,
} from '../../adapters/audio/cards/machines.ts';
import { wrongIn } from '../../snake-case.ts';

let machine: Machine | null = null;
afterEach(() => machine?.clear());

async function survey(tree: Tree, tools = answeringTools()): Promise<Survey> {
  machine?.clear();
  machine = layOut(tree);
  return surveyDevices(machine, tools);
}

const BUSY_PI: Tree = {
  ...RASPBERRY_PI,
  'proc/asound/card0/pcm0p/sub0/status': runningStatus(900),
  'proc/asound/card3/pcm0c/sub0/status': runningStatus(812),
  ...processFiles(900, 'mpd'),
  ...processFiles(812, 'arecord', { parent: 790 }),
  ...processFiles(790, 'node', { words: ['node', '/opt/dragoman/dragoman.mjs', 'run'] }),
};

describe('the list of a Raspberry Pi', () => {
  it('shows name, abilities and users of each device', async () => {
    const text = listDevices(
      await survey(BUSY_PI, answeringTools({ capture: ['pulse'], playback: ['pulse'] })),
      [],
      80,
    );
    expect(text).toBe(`bcm2835 Headphones (Headphones, card 0 now)
  playback  plughw:CARD=Headphones
            2 channels; 8000-96000 Hz; S16_LE, S24_LE, S32_LE
            used by mpd (pid 900); 7 places free

vc4-hdmi-0 (vc4hdmi0, card 1 now)
  playback  sysdefault:CARD=vc4hdmi0
            abilities unknown: No such device; is a screen connected?

seeed-2mic-voicecard (seeed2micvoicec, card 2 now)
  capture   plughw:CARD=seeed2micvoicec
            2 channels; 8000-96000 Hz; S16_LE, S24_LE, S32_LE
  playback  plughw:CARD=seeed2micvoicec
            2 channels; 8000-96000 Hz; S16_LE, S24_LE, S32_LE

USB PnP Sound Device (Device, card 3 now, USB socket 1-1.3)
  capture   plughw:CARD=Device
            1 channel; 44100, 48000 Hz; S16_LE
            busy: in use by arecord of dragoman (pid 812)
  playback  plughw:CARD=Device
            2 channels; 44100, 48000 Hz; S16_LE

From the configuration of ALSA (devices of a sound server work only while it
runs):
  pulse     capture, playback: The device pulse

For a lane of the configuration (or use other names from above):
  "capture": { "device": "plughw:CARD=Device" },
  "playback": { "device": "plughw:CARD=Device" }
`);
  });

  it('fits the terminal', async () => {
    const found = await survey(
      BUSY_PI,
      answeringTools({ capture: ['a-device-of-a-long-name'], playback: ['pulse'] }),
    );
    for (const columns of [60, 80, 100]) {
      const lines = listDevices(found, [], columns).split('\n');
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
    }
  });

  it('is one JSON object for programs', async () => {
    const report = JSON.parse(JSON.stringify(reportDevices(await survey(BUSY_PI), [])));
    expect(wrongIn(devicesReportSchema, report)).toBeNull();
    expect(report).toMatchObject({
      kernel_sound: true,
      alsa_tools: true,
      suggested: { capture: 'plughw:CARD=Device', playback: 'plughw:CARD=Device' },
      advice: [],
    });
    expect(report.cards[3]).toEqual({
      id: 'Device',
      index: 3,
      name: 'USB PnP Sound Device',
      driver: 'USB-Audio',
      usb: { port: '1-1.3:1.0', model: '0d8c:0014' },
      allowed: true,
      devices: [
        {
          direction: 'capture',
          device: 'plughw:CARD=Device',
          number: 0,
          name: 'USB Audio',
          formats: ['S16_LE'],
          channels: [{ min: 1, max: 1 }],
          rates: [
            { min: 44_100, max: 44_100 },
            { min: 48_000, max: 48_000 },
          ],
          unknown_because: null,
          places: 1,
          busy: true,
          held_by: [{ pid: 812, program: 'arecord of dragoman' }],
        },
        expect.objectContaining({ direction: 'playback', busy: false, held_by: [] }),
      ],
    });
  });

  it('removes terminal control characters from device names', async () => {
    const evil = 'Evil\u001b[2Jname';
    const text = listDevices(
      await survey({
        'proc/asound/cards': ` 0 [Evil           ]: USB-Audio - ${evil}\n                      ${evil}\n`,
      }),
      [],
      80,
    );
    expect(text).not.toContain('\u001b');
    expect(text).toContain('Evilname (Evil');
  });
});

describe('advice', () => {
  const codes = async (tree: Tree, tools = answeringTools()) =>
    adviseOn(await survey(tree, tools)).map(({ code }) => code);

  it('is given without kernel sound, without a card, without alsa-utils, and without permission', async () => {
    expect(await codes({})).toEqual(['no_kernel_sound']);
    expect(await codes(NO_CARDS)).toEqual(['no_cards']);
    expect(adviseOn(await surveyDevices(layOutAgain(NO_CARDS), NO_TOOLS)).map(({ code }) => code)).toEqual([
      'no_cards',
      'no_alsa_tools',
    ]);
    const found = await survey(RASPBERRY_PI);
    const cards = found.cards.map((card) => ({
      ...card,
      isAllowed: card.index === 2 ? false : card.isAllowed,
    }));
    expect(adviseOn({ ...found, cards })).toMatchObject([
      { code: 'not_allowed', lines: ['sudo usermod -aG audio "$USER"'] },
    ]);
  });

  it('shows how to distinguish identical cards, in lines to copy', async () => {
    const found = await survey(TWO_HEADSETS);
    const wide = listDevices(found, [], 80);
    expect(wide).toContain('The cards Device and Device_1 are identical');
    expect(wide).toContain('\n  ACTION=="add", KERNEL=="card*", KERNELS=="1-1.4:1.0", ATTR{id}="DeviceB"\n');
    const narrow = listDevices(found, [], 60);
    expect(narrow).toContain('KERNELS=="1-1.4:1.0", \\\n  ATTR{id}="DeviceB"\n');
    for (const [text, columns] of [
      [wide, 80],
      [narrow, 60],
    ] as const) {
      expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(columns);
    }
  });

  function layOutAgain(tree: Tree): Machine {
    machine?.clear();
    machine = layOut(tree);
    return machine;
  }
});

describe('the recommended devices', () => {
  it('are those of a USB card, otherwise the first ones, HDMI last', async () => {
    expect(suggestDevices(await survey(RASPBERRY_PI))).toEqual({
      capture: 'plughw:CARD=Device',
      playback: 'plughw:CARD=Device',
    });
    const without = Object.fromEntries(
      Object.entries(RASPBERRY_PI).filter(([path]) => !/card3|C3/.test(path)),
    );
    const cards = RASPBERRY_PI['proc/asound/cards']?.split('\n').slice(0, 6).join('\n') ?? '';
    const board = await survey({ ...without, 'proc/asound/cards': `${cards}\n` });
    expect(suggestDevices(board)).toEqual({
      capture: 'plughw:CARD=seeed2micvoicec',
      playback: 'plughw:CARD=seeed2micvoicec',
    });
    const outputs = await survey({
      ...without,
      'proc/asound/cards': `${cards.split('\n').slice(0, 4).join('\n')}\n`,
    });
    expect(suggestDevices(outputs)).toEqual({ capture: null, playback: 'plughw:CARD=Headphones' });
    expect(
      suggestDevices(await surveyDevices({ proc: '/nowhere', sys: '/nowhere', dev: '/nowhere' }, NO_TOOLS)),
    ).toEqual({
      capture: null,
      playback: null,
    });
  });
});

describe('the devices of a configuration', () => {
  const find = async (direction: 'capture' | 'playback', device: string, tree: Tree = BUSY_PI) => {
    const tools = answeringTools({ capture: ['booth'], playback: [] });
    const found = await survey(tree, tools);
    return findDevice({ lane: 'main', direction, device }, found, tools);
  };

  it('are those of lanes with cards', () => {
    const config = configSchema.parse({
      device: { id: 'a', tenant: 'b' },
      mqtt: { url: 'mqtt://localhost' },
      lanes: [
        { id: 'one', source: 'en', targets: ['es'], capture: { device: 'plughw:CARD=Mic' } },
        { id: 'two', source: 'en', targets: ['es'], capture: { driver: 'file', path: 'in.wav' } },
      ],
    });
    expect(configuredDevices(config)).toEqual([
      { lane: 'one', direction: 'capture', device: 'plughw:CARD=Mic' },
      { lane: 'one', direction: 'playback', device: 'default' },
      { lane: 'two', direction: 'playback', device: 'default' },
    ]);
  });

  it.each([
    ['playback', 'plughw:CARD=Device', true, 'present and free'],
    ['capture', 'plughw:CARD=Device', true, 'present, in use by arecord of dragoman (pid 812)'],
    ['playback', 'hw:3,0', true, 'present and free; card numbers may change, so use "plughw:CARD=Device"'],
    [
      'capture',
      'plughw:CARD=Headphones',
      false,
      'the card Headphones has no such capture device; available: "plughw:CARD=seeed2micvoicec"',
    ],
    [
      'capture',
      'plughw:CARD=Mic',
      false,
      'not present (No such device); available: "plughw:CARD=seeed2micvoicec"',
    ],
    ['capture', 'booth', true, 'present, from the configuration of ALSA'],
    ['playback', 'default', false, 'not present (No such device); available: "plughw:CARD=Headphones"'],
  ] as const)('are checked: %s %s', async (direction, device, isThere, finding) => {
    expect(await find(direction, device)).toEqual({ lane: 'main', direction, device, isThere, finding });
  });

  it('are found when their number has changed', async () => {
    const moved = {
      'proc/asound/cards': headsetLines(7, 'Device', '1.2'),
      ...headset(7, 'Device', '1.2'),
    };
    expect(await find('capture', 'plughw:CARD=Device', moved)).toMatchObject({ isThere: true });
  });

  it.each([
    'Invalid argument, ALSA: "_toplevel_:6:0:Unexpected char"',
    'No such device or address, ALSA: "Cannot open shared library libasound_module_pcm_pulse.so"',
  ])('may be there, but cannot be opened: %s', async (reason) => {
    const tools = { ...answeringTools(), askAbility: async () => ({ ok: false, reason }) as const };
    const device = { lane: 'main', direction: 'capture', device: 'mic' } as const;
    const found = await findDevice(device, await survey(RASPBERRY_PI, tools), tools);
    expect(found.finding).toContain(`cannot be opened (${reason})`);
  });

  it('are listed with the fault of the configuration of ALSA', async () => {
    const trouble = 'ALSA: "_toplevel_:6:0:Unexpected char"';
    const broken = { ...answeringTools(), listSoftware: async () => ({ devices: [], trouble }) };
    const surveyed = await survey(RASPBERRY_PI, broken);
    expect(adviseOn(surveyed)).toEqual([
      {
        code: 'alsa_configuration',
        message: expect.stringContaining(`no device can be opened (${trouble}). Repair`),
        lines: [],
      },
    ]);
    expect(listDevices(surveyed, [], 80)).toContain('"_toplevel_:6:0:Unexpected char"');
  });

  it('are listed instead of a recommendation', async () => {
    const finding = await find('capture', 'plughw:CARD=Device');
    const text = listDevices(await survey(BUSY_PI), [finding], 60);
    expect(text).toContain(`In the configuration:
  lane main, capture: "plughw:CARD=Device"
    present, in use by arecord of dragoman (pid 812)
`);
    expect(text).not.toContain('For a lane');
  });
});

describe('the programs that use a device', () => {
  it('are each named once', () => {
    const one = { pid: 1, program: 'a' };
    expect(describeHolders([one])).toBe('a (pid 1)');
    expect(describeHolders([one, one, { pid: null, program: 'another' }, { pid: 3, program: 'c' }])).toBe(
      'a (pid 1), another and c (pid 3)',
    );
  });
});
