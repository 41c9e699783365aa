import { describe, expect, it } from 'vitest';
import { createListener, type Reading } from '../../../src/cli/devices/listener.ts';
import { type MeterEnd, type MeterView, runMeter } from '../../../src/cli/devices/meter.ts';
import { createJsonMeter, createLineMeter, createLiveMeter } from '../../../src/cli/devices/meter-view.ts';
import { explainBusy, judgeSound } from '../../../src/cli/devices/meter-words.ts';
import type { AudioFault, CaptureSink } from '../../../src/ports/audio.ts';
import type { VoiceDetector } from '../../../src/ports/voice.ts';
import { meterLineSchema } from '../../../src/protocol/devices-report.ts';
import { createVirtualClock, type VirtualClock } from '../../virtual-clock.ts';
import { TinyTerminal } from '../demo/tiny-terminal.ts';

const RATE = 16_000;

/** A voice detector that counts every large sample as voice. */
const loudIsVoice: VoiceDetector = {
  hear(pcm, report) {
    for (const sample of pcm) report(Math.abs(sample) > 1000, 1);
  },
  close() {},
};

/** A square wave: its RMS equals its amplitude. */
function square(ms: number, amplitude: number): Uint8Array {
  const samples = new Int16Array(Math.round((ms * RATE) / 1000));
  for (let at = 0; at < samples.length; at++) samples[at] = at % 16 < 8 ? amplitude : -amplitude;
  return new Uint8Array(samples.buffer);
}

describe('a reading', () => {
  it('has level, peak and speech since the previous reading', () => {
    const listener = createListener(RATE, loudIsVoice);
    listener.hear(square(100, 16_384));
    expect(listener.take()).toMatchObject({ ms: 100, clipped: 0, isDigitalSilence: false, speechMs: 100 });
    listener.hear(square(50, 100));
    listener.hear(square(50, 3277));
    const reading = listener.take();
    expect(reading.peakDb).toBeCloseTo(-20, 1);
    expect(reading.rmsDb).toBeCloseTo(-23, 1);
    expect(reading.speechMs).toBe(50);
    expect(listener.total()).toMatchObject({ ms: 200, speechMs: 150 });
    expect(listener.total().peakDb).toBeCloseTo(-6, 1);
  });

  it('is clipped when samples are close to full scale', () => {
    const listener = createListener(RATE, loudIsVoice);
    listener.hear(new Uint8Array(Int16Array.of(32_767, -32_768, -32_767, 32_766, 0).buffer));
    expect(listener.take()).toMatchObject({ clipped: 4, clippedShare: 0.8 });
  });

  it('is digital silence when all samples are equal', () => {
    const listener = createListener(RATE, loudIsVoice);
    listener.hear(new Uint8Array(3200));
    expect(listener.take()).toMatchObject({ isDigitalSilence: true, rmsDb: -96 });
    listener.hear(new Uint8Array(Int16Array.of(-1, -1, -1, -1).buffer));
    expect(listener.take().isDigitalSilence).toBe(true);
    expect(listener.total().isDigitalSilence).toBe(false);
    listener.hear(new Uint8Array(Int16Array.of(0, 0, 1, 0).buffer));
    expect(listener.take().isDigitalSilence).toBe(false);
    expect(listener.take()).toMatchObject({ ms: 0, isDigitalSilence: false });
  });
});

/** Runs a meter on a microphone that the test plays. */
function start(view: MeterView, limitMs: number | null, clock: VirtualClock = createVirtualClock(0)) {
  let sink: CaptureSink | null = null;
  let isOpen = false;
  let endIt = (): void => {};
  const askedToEnd = new Promise<void>((resolve) => {
    endIt = resolve;
  });
  const ended: Promise<MeterEnd> = runMeter({
    openCapture: async (given) => {
      sink = given;
      isOpen = true;
      return {
        close: async () => {
          isOpen = false;
        },
      };
    },
    createVoiceDetector: () => loudIsVoice,
    rateHz: RATE,
    clock,
    view,
    limitMs,
    askedToEnd,
  });
  return {
    clock,
    ended,
    endIt,
    say: (pcm: Uint8Array) => sink?.frames(pcm, clock.now()),
    fail: (fault: AudioFault) => sink?.fault(fault),
    get isOpen() {
      return isOpen;
    },
  };
}

const LOST: AudioFault = { code: 'lost', message: 'the capture device "x" went away; check its plug' };
const BUSY: AudioFault = { code: 'busy', message: 'the capture device "x" is in use' };

describe('a meter in lines', () => {
  it('prints one line per second until the time limit, and frees the microphone', async () => {
    let text = '';
    const meter = start(
      createLineMeter((line) => (text += line)),
      3000,
    );
    await meter.clock.elapse(0);
    for (const amplitude of [327, 16_384, 32_767]) {
      for (let piece = 0; piece < 10; piece++) {
        await meter.clock.elapse(99);
        meter.say(square(100, amplitude));
        await meter.clock.elapse(1);
      }
    }
    const { total, fault } = await meter.ended;
    expect(text).toBe(
      [
        '   1 s  rms -40.0  peak -40.0 dBFS\n',
        '   2 s  rms  -6.0  peak  -6.0 dBFS  speech\n',
        '   3 s  rms  -0.0  peak  -0.0 dBFS  CLIPPED\n',
      ].join(''),
    );
    expect(fault).toBeNull();
    expect(total.ms).toBe(3000);
    expect(meter.isOpen).toBe(false);
    expect(meter.clock.armed).toBe(0);
  });

  it('reports a lost microphone, and continues when it returns', async () => {
    let text = '';
    const meter = start(
      createLineMeter((line) => (text += line)),
      null,
    );
    await meter.clock.elapse(900);
    meter.say(new Uint8Array(3200));
    await meter.clock.elapse(100);
    meter.fail(LOST);
    await meter.clock.elapse(2900);
    meter.say(square(100, 3277));
    await meter.clock.elapse(200);
    meter.endIt();
    const { total } = await meter.ended;
    expect(text.split('\n')).toEqual([
      '   1 s  rms -96.0  peak -96.0 dBFS  digital silence',
      `waiting for the microphone: ${LOST.message}`,
      '   2 s  no sound',
      '   3 s  no sound',
      '   4 s  rms -20.0  peak -20.0 dBFS  speech',
      '',
    ]);
    expect(total.ms).toBe(200);
    expect(meter.clock.armed).toBe(0);
  });

  it('ends at once when the microphone cannot be opened', async () => {
    const meter = start(
      createLineMeter(() => {}),
      null,
    );
    await meter.clock.elapse(50);
    meter.fail(BUSY);
    expect((await meter.ended).fault).toEqual(BUSY);
    expect(meter.isOpen).toBe(false);
    expect(meter.clock.armed).toBe(0);
  });

  it('prints lines of JSON for programs, the summary last', async () => {
    const lines: unknown[] = [];
    const meter = start(
      createJsonMeter((line) => lines.push(meterLineSchema.parse(JSON.parse(line)))),
      1500,
    );
    await meter.clock.elapse(500);
    meter.say(square(500, 16_384));
    await meter.clock.elapse(600);
    meter.fail(LOST);
    await meter.clock.elapse(400);
    await meter.ended;
    const levels = { sound_ms: 500, rms_dbfs: -6, peak_dbfs: -6, clipped_samples: 0, digital_silence: false };
    expect(lines).toEqual([
      { t_s: 1, ...levels, speech_ms: 500 },
      { fault: LOST },
      { t_s: 1.5, ...levels, sound_ms: 0, rms_dbfs: -96, peak_dbfs: -96, speech_ms: 0 },
      { summary: { ...levels, speech_ms: 500 } },
    ]);
  });
});

describe('a live meter', () => {
  const live = (columns: number) => {
    const terminal = new TinyTerminal(columns, 5);
    terminal.show('Listening to x, until Ctrl-C.\r\n');
    return { terminal, meter: start(createLiveMeter(terminal, { unicode: false }), null) };
  };

  it('is one row in a fixed place, and restores the terminal', async () => {
    const { terminal, meter } = live(80);
    await meter.clock.elapse(0);
    for (let piece = 0; piece < 20; piece++) {
      meter.say(square(320, 3277));
      await meter.clock.elapse(320);
    }
    expect(terminal.screen.slice(0, 3)).toEqual([
      'Listening to x, until Ctrl-C.',
      '[#####################           ]  rms -20.0  peak -20.0 dBFS  speech',
      '',
    ]);
    expect(terminal.isCursorVisible).toBe(false);
    meter.endIt();
    await meter.ended;
    expect(terminal.isCursorVisible).toBe(true);
    expect(terminal.cursor).toEqual({ row: 2, column: 0 });
  });

  /** A view with `isEven` and ten readings per second. */
  const often = () => {
    const shown: Reading[] = [];
    const view: MeterView = {
      everyMs: 100,
      isEven: true,
      show: (reading) => shown.push(reading),
      fault() {},
      end() {},
    };
    return { shown, meter: start(view, null) };
  };

  it('moves ten times per second although pieces are a third of a second long', async () => {
    const { shown, meter } = often();
    await meter.clock.elapse(0);
    for (let piece = 0; piece < 30; piece++) {
      await meter.clock.elapse(320);
      meter.say(square(320, 3277));
    }
    meter.endIt();
    await meter.ended;
    expect(shown.every(({ ms }) => ms === 100)).toBe(true);
    // 9.6 s, minus the first third of a second, when the first piece is not there yet.
    expect(shown.length).toBeGreaterThan(85);
  });

  it('catches up when sound arrives late', async () => {
    const { shown, meter } = often();
    await meter.clock.elapse(0);
    meter.say(square(5000, 3277));
    await meter.clock.elapse(100);
    expect(shown[0]?.ms).toBe(4400);
    meter.endIt();
    expect((await meter.ended).total.ms).toBe(5000);
  });

  it('fits a narrow terminal', async () => {
    for (const columns of [30, 45, 60, 80, 120]) {
      const { terminal, meter } = live(columns);
      await meter.clock.elapse(0);
      for (let piece = 0; piece < 5; piece++) {
        meter.say(square(100, 32_767));
        await meter.clock.elapse(100);
      }
      const rows = terminal.screen.filter((row) => row !== '');
      expect(rows).toHaveLength(2);
      expect(rows[1]?.length).toBeLessThan(columns);
      expect(rows[1]).toMatch(columns < 40 ? /rms/ : /CLIPPED/);
      meter.fail(LOST);
      expect(terminal.screen.filter((row) => row !== '')).toHaveLength(2);
      meter.endIt();
      await meter.ended;
    }
  });

  it('shows that it waits for sound or for the microphone', async () => {
    const { terminal, meter } = live(80);
    await meter.clock.elapse(1200);
    expect(terminal.screen[1]).toBe('waiting for sound ...');
    meter.say(square(320, 3277));
    await meter.clock.elapse(200);
    meter.fail(LOST);
    expect(terminal.screen[1]).toBe('the microphone is gone; waiting for it ...');
    meter.endIt();
    await meter.ended;
  });
});

describe('the summary', () => {
  const reading: Reading = {
    ms: 5000,
    rmsDb: -30,
    peakDb: -12,
    clipped: 0,
    clippedShare: 0,
    isDigitalSilence: false,
    speechMs: 2000,
  };

  it('rates the sound and names the fix', () => {
    expect(judgeSound(reading, 'Mic')).toBe(
      'Heard 5.0 s of sound: rms -30.0 dBFS, loudest peak -12.0 dBFS, 2.0 s of speech.',
    );
    expect(judgeSound({ ...reading, clipped: 400, clippedShare: 0.005 }, 'Mic')).toContain(
      '0.5 % of it is clipped: turn its gain down in alsamixer -c Mic',
    );
    // A single clipped sample, such as from a cough, is inaudible.
    expect(judgeSound({ ...reading, clipped: 1, clippedShare: 0.00001 }, 'Mic')).not.toContain('clipped');
    expect(judgeSound({ ...reading, isDigitalSilence: true }, null)).toContain(
      'its capture control in alsamixer (F4)',
    );
    expect(judgeSound({ ...reading, rmsDb: -80 }, 'Mic')).toContain('too quiet');
    expect(judgeSound({ ...reading, ms: 0 }, 'Mic')).toBe('There was no sound.');
  });

  it('names the program that uses the microphone, and how to free it', () => {
    expect(explainBusy('x', [{ pid: 7, program: 'arecord of dragoman' }])).toBe(
      'the microphone "x" is in use by arecord of dragoman (pid 7); stop the agent meanwhile (sudo systemctl stop dragoman)',
    );
    expect(explainBusy('x', [{ pid: 7, program: 'sox' }])).toContain('sox (pid 7); end that program');
    expect(explainBusy('x', [{ pid: 7, program: 'pipewire' }])).toContain('use the device "pipewire"');
    expect(explainBusy('x', [])).toContain('in use by another program; end that program');
  });
});

describe('the level of speech', () => {
  const total = {
    ms: 9000,
    rmsDb: -50,
    peakDb: -30,
    clipped: 0,
    clippedShare: 0,
    isDigitalSilence: false,
    speechMs: 4000,
  };
  it('has a recommendation when it is too low', () => {
    expect(judgeSound({ ...total, speechDb: -45 }, 'Mic')).toMatch(
      /Speech is at -45 dBFS: turn the microphone up by 21 dB \(alsamixer -c Mic, F4/,
    );
    expect(judgeSound({ ...total, speechDb: -28 }, null)).toMatch(/Speech is at -28 dBFS, which is good\.$/);
    expect(judgeSound({ ...total, speechDb: null }, null)).toMatch(/4\.0 s of speech\.$/);
  });
});
