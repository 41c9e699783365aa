import { describe, expect, it } from 'vitest';
import { parseDeviceName } from '../../../../src/adapters/audio/cards/device-name.ts';
import { parseHardwareParameters } from '../../../../src/adapters/audio/cards/hardware-parameters.ts';
import { parseDeviceList } from '../../../../src/adapters/audio/cards/software-devices.ts';
import { parseUsbStream } from '../../../../src/adapters/audio/cards/usb-stream.ts';
import { BOARD_PARAMETERS, headsetStream } from './machines.ts';

const one = (number: number) => ({ least: number, most: number });

describe('the stream file of a USB card', () => {
  it('is read separately for each direction', () => {
    const { capture, playback } = parseUsbStream(headsetStream('1.3'));
    expect(capture).toEqual({ formats: ['S16_LE'], channels: [one(1)], rates: [one(44_100), one(48_000)] });
    expect(playback.channels).toEqual([one(2)]);
  });

  it('may hold several settings, a running state and a range of rates', () => {
    const text = `Some Interface at usb-0000:01:00.0-1.2, high speed : USB Audio

Capture:
  Status: Running
    Interface = 2
    Altset = 1
    Packet Size = 100
    Momentary freq = 48000 Hz (0x30.0000)
  Interface 2
    Altset 1
    Format: S16_LE
    Channels: 2
    Endpoint: 0x83 (3 IN) (ASYNC)
    Rates: 8000 - 96000 (continuous)
    Bits: 16
    Channel map: FL FR
  Interface 2
    Altset 2
    Format: S24_3LE
    Channels: 1
    Endpoint: 0x83 (3 IN) (ASYNC)
    Rates: 44100, 48000, 192000
    Bits: 24
    Channel map: MONO
`;
    const { capture, playback } = parseUsbStream(text);
    expect(capture).toEqual({
      formats: ['S16_LE', 'S24_3LE'],
      channels: [one(1), one(2)],
      rates: [{ least: 8000, most: 96_000 }, one(192_000)],
    });
    expect(playback.formats).toEqual([]);
  });
});

describe('the hardware parameters from ALSA', () => {
  it('are found among other output', () => {
    expect(parseHardwareParameters(BOARD_PARAMETERS)).toEqual({
      formats: ['S16_LE', 'S24_LE', 'S32_LE'],
      channels: [one(2)],
      rates: [{ least: 8000, most: 96_000 }],
    });
  });

  it('are null while the dump is incomplete', () => {
    const end = BOARD_PARAMETERS.lastIndexOf('--------------------');
    expect(parseHardwareParameters(BOARD_PARAMETERS.slice(0, end))).toBeNull();
    expect(parseHardwareParameters(BOARD_PARAMETERS.slice(0, end + 20))).not.toBeNull();
    expect(parseHardwareParameters('arecord: main:831: audio open error: No such device\n')).toBeNull();
  });

  it('leave out limits that are not real', () => {
    const text = BOARD_PARAMETERS.replace('RATE: [8000 96000]', 'RATE: [1 4294967295]').replace(
      'CHANNELS: 2',
      'CHANNELS: [1 1073741823]',
    );
    expect(parseHardwareParameters(text)).toMatchObject({ channels: [], rates: [] });
  });
});

describe('the list of ALSA devices', () => {
  it('is read without the cards and the building blocks', () => {
    const text = `null
    Discard all samples (playback) or generate zero samples (capture)
lavrate
    Rate Converter Plugin Using Libav/FFmpeg Library
pipewire
    PipeWire Sound Server
default
    Default Audio Device
    second line
hw:CARD=Headphones,DEV=0
    bcm2835 Headphones, bcm2835 Headphones
    Direct hardware device without any conversions
sysdefault:CARD=vc4hdmi0
    vc4-hdmi-0, MAI PCM i2s-hifi-0
    Default Audio Device
booth
`;
    expect(parseDeviceList(text)).toEqual([
      { name: 'pipewire', description: 'PipeWire Sound Server' },
      { name: 'default', description: 'Default Audio Device' },
      { name: 'booth', description: '' },
    ]);
    expect(parseDeviceList('')).toEqual([]);
  });
});

describe('parsing a device name', () => {
  it.each([
    ['plughw:CARD=Mic', { plugin: 'plughw', card: 'Mic', device: 0 }],
    ['hw:CARD=Mic,DEV=1', { plugin: 'hw', card: 'Mic', device: 1 }],
    ['plughw:DEV=2,CARD=Mic', { plugin: 'plughw', card: 'Mic', device: 2 }],
    ['plughw:Mic,1', { plugin: 'plughw', card: 'Mic', device: 1 }],
    ['hw:0,0', { plugin: 'hw', card: 0, device: 0 }],
    ['plughw:1', { plugin: 'plughw', card: 1, device: 0 }],
    ['plughw:CARD=2', { plugin: 'plughw', card: 2, device: 0 }],
    ['default', null],
    ['pulse', null],
    ['plughw:', null],
    ['plug:"hw:0,0"', null],
    ['plughw:CARD=Mic,DEV=x', null],
    ['hw:DEV=0', null],
  ])('%s', (name, parts) => {
    expect(parseDeviceName(name)).toEqual(parts);
  });
});
