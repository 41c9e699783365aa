import { describe, expect, it, onTestFinished } from 'vitest';
import { plainText } from '../../../../src/adapters/audio/child/process.ts';
import { isSetupListing } from '../../../../src/adapters/audio/child/stderr-classifier.ts';
import { createCommandCapture } from '../../../../src/adapters/audio/drivers/command-driver.ts';
import { createListener, makeProgram, RATE_HZ } from './fake-programs.ts';

/** As `arecord -v` of alsa-utils 1.2.8 writes it. */
const LISTING = `Recording WAVE 'stdin' : Signed 16 bit Little Endian, Rate 24000 Hz, Mono
Plug PCM: Rate conversion PCM (48000, sformat=S16_LE)
Converter: linear-interpolation
Protocol version: 10002
Its setup is:
  stream       : CAPTURE
  access       : RW_INTERLEAVED
  format       : S16_LE
  subformat    : STD
  channels     : 1
  rate         : 24000
  exact rate   : 24000 (24000/1)
  msbits       : 16
  buffer_size  : 6000
  period_size  : 480
  period_time  : 20000
  tstamp_mode  : NONE
  tstamp_type  : MONOTONIC
  period_step  : 1
  avail_min    : 480
  period_event : 0
  start_threshold  : 1
  stop_threshold   : 6000
  silence_threshold: 0
  silence_size : 0
  boundary     : 5404319552844595200
Slave: Route conversion PCM (sformat=S16_LE)
  Transformation table:
    0 <- 0*0.5 + 1*0.5
Slave: Hardware PCM card 1 'USB Audio' device 0 subdevice 0
Direct Snoop PCM
ALSA <-> PulseAudio PCM I/O Plugin
Soft volume PCM
Control: Master
Min. dB: -51
Resolution: 256
  appl_ptr     : 0
  hw_ptr       : 0`.split('\n');

const WORDS = [
  'arecord: main:850: audio open error: No such device',
  'ALSA lib pcm.c:2722:(snd_pcm_open_noupdate) Unknown PCM kiosk',
  'Warning: rate is not accurate (requested = 24000Hz, got = 48000Hz)',
  'Aborted by signal Terminated...',
  'rate: fast',
  'arecord: pcm_read:2221: read error: Input/output error',
];

describe('the setup listing of an ALSA tool', () => {
  it.each(LISTING)('is recognised: %s', (line) => {
    expect(isSetupListing(plainText(line))).toBe(true);
  });

  it.each(WORDS)('does not include messages: %s', (line) => {
    expect(isSetupListing(plainText(line))).toBe(false);
  });

  it.each([
    ['without a message', LISTING],
    ['after saying "the plug is loose"', ['the plug is loose', ...LISTING]],
  ])('is not quoted as the last message: %s', async (words, lines) => {
    const { heard, captureSink, deps } = createListener();
    const program = makeProgram(`console.error(${JSON.stringify(lines.join('\n'))}); process.exitCode = 7;`);
    const open = createCommandCapture({ command: [program], rateHz: RATE_HZ, seed: 1, deps });
    const capture = await open(captureSink);
    onTestFinished(() => capture.close());
    await expect.poll(() => heard.faults[0]?.message, { timeout: 60_000 }).toContain(`exit code 7 ${words};`);
  });
});
