import { describe, expect, it } from 'vitest';
import { createFormatAttempts } from '../../../../src/adapters/audio/alsa/format-attempts.ts';
import { chooseControl, controlDevice } from '../../../../src/adapters/audio/alsa/mixer.ts';
import { createSetupReader } from '../../../../src/adapters/audio/alsa/setup.ts';

describe('the setup that a device granted', () => {
  const DUMP = [
    'Plug PCM: Rate conversion PCM (48000, sformat=S16_LE)',
    'Its setup is:',
    '  stream       : CAPTURE',
    '  format       : S16_LE',
    '  channels     : 1',
    '  rate         : 24000',
    '  exact rate   : 24000 (24000/1)',
    '  buffer_size  : 4096',
    '  period_size  : 480',
    '  period_time  : 20000',
    '  boundary     : 9223372036854775807',
    'Slave: Hardware PCM card 1',
    'Its setup is:',
    '  channels     : 2',
    '  rate         : 48000',
    '  buffer_size  : 8192',
    '  period_size  : 960',
  ].map((line) => line.trim());

  it('is read once, from the first block', () => {
    const reader = createSetupReader();
    const read = DUMP.map((line) => reader.read(line)).filter((setup) => setup !== null);
    expect(read).toEqual([{ rateHz: 24_000, channels: 1, periodFrames: 480, bufferFrames: 4096 }]);
  });

  it.each([
    ['ALSA <-> PulseAudio PCM I/O Plugin', true],
    ['ALSA <-> PipeWire PCM Plugin', true],
    ['Slave: ALSA <-> JACK PCM I/O Plugin', true],
    ["Hardware PCM card 1 'PulseAudio' device 0 subdevice 0", false],
    ['Plug PCM: Rate conversion PCM (48000, sformat=S16_LE)', false],
  ])('tells a sound server from a card: %s', (line, isServer) => {
    const reader = createSetupReader();
    reader.read(line);
    for (const rest of DUMP.slice(1)) reader.read(rest);
    expect(reader.isServer).toBe(isServer);
  });

  it('is not read from other lines', () => {
    const reader = createSetupReader();
    for (const line of ['rate: fast', 'Warning: rate is not accurate (requested = 24000Hz)', '']) {
      expect(reader.read(line)).toBeNull();
    }
  });
});

describe('the formats to request', () => {
  it('are the operator’s first, then ALSA’s conversion, then common formats of cards', () => {
    const attempts = createFormatAttempts('hw:CARD=Mic', 24_000);
    expect(attempts.current).toEqual({ device: 'hw:CARD=Mic', rateHz: 24_000, channels: 1 });
    expect(attempts.refuse()).toMatch(
      /"hw:CARD=Mic" does not accept 24000 Hz mono; write "plughw:CARD=Mic" instead/,
    );
    expect(attempts.current).toEqual({ device: 'plughw:CARD=Mic', rateHz: 24_000, channels: 1 });
    expect(attempts.refuse()).toMatch(/trying 48000 Hz mono$/);
    expect(attempts.current).toEqual({ device: 'hw:CARD=Mic', rateHz: 48_000, channels: 1 });
  });

  it('start from the beginning when all were refused', () => {
    const attempts = createFormatAttempts('my_mic', 24_000);
    let ways = 1;
    while (attempts.refuse() !== null) ways++;
    expect(ways).toBe(8);
    expect(attempts.current).toEqual({ device: 'my_mic', rateHz: 24_000, channels: 1 });
  });

  it('use the rate that the device granted', () => {
    const attempts = createFormatAttempts('hw:1', 24_000);
    attempts.accept(32_000);
    expect(attempts.current).toEqual({ device: 'hw:1', rateHz: 32_000, channels: 1 });
  });
});

describe('a card’s volume control', () => {
  it.each([
    ['plughw:CARD=Speaker,DEV=0', 'hw:CARD=Speaker'],
    ['hw:1,0', 'hw:1'],
    ['plughw:Speaker', 'hw:CARD=Speaker'],
    ['default', 'default'],
    ['default:CARD=Kiosk', 'hw:CARD=Kiosk'],
    ['default:1', 'hw:1'],
    ['hdmi:CARD=vc4hdmi0,DEV=0', 'hw:CARD=vc4hdmi0'],
    ['plug:dmix:Kiosk', 'hw:CARD=Kiosk'],
    ["plug:'dmix:CARD=Kiosk'", 'hw:CARD=Kiosk'],
    // A sound server, or a name from /etc/asound.conf, may have a control of its own name.
    ['pulse', 'pulse'],
    ['my_speaker', 'my_speaker'],
    ['plug:my_speaker', 'my_speaker'],
    ['file:/tmp/out.raw,raw', null],
    ['{ type hw card 1 }', null],
  ])('belongs to the card of %s', (device, control) => {
    expect(controlDevice(device)).toBe(control);
  });

  const CONTENTS = `Simple mixer control 'Mic',0
  Capabilities: cvolume cvolume-joined cswitch cswitch-joined
  Capture channels: Mono
Simple mixer control 'PCM',0
  Capabilities: pvolume pswitch pswitch-joined
  Playback channels: Front Left - Front Right
Simple mixer control 'Headphone',0
  Capabilities: pswitch
Simple mixer control 'Auto Gain Control',0
  Capabilities: pswitch pswitch-joined
`;

  it('is the playback control of the whole card', () => {
    expect(chooseControl(CONTENTS)).toEqual({ name: 'PCM', canMute: true });
    expect(chooseControl(CONTENTS.replace('pvolume pswitch pswitch-joined', 'pvolume'))).toEqual({
      name: 'PCM',
      canMute: false,
    });
    expect(chooseControl(CONTENTS.replace('pvolume', 'cvolume'))).toBeNull();
    expect(chooseControl('')).toBeNull();
  });
});
