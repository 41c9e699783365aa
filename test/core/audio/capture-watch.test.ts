import { describe, expect, it } from 'vitest';
import { type CaptureWatch, createCaptureWatch } from '../../../src/core/audio/capture-watch.ts';
import { chance } from '../../acoustics.ts';

const RATE_HZ = 8000;
const PIECE_MS = 100;
const PIECE_SAMPLES = (RATE_HZ * PIECE_MS) / 1000;

type Paint = (index: number) => number;
const dice = chance(3);
const quiet: Paint = () => Math.round((dice() - 0.5) * 60);
const zero: Paint = () => 0;

/** Pieces of each paint, of which all that is heard is made: minutes of it sample by sample would be most of the work. */
const POOL = 23;
const pools = new Map<Paint, readonly Int16Array[]>();
function painted(paint: Paint, piece: number): Uint8Array {
  const pool =
    pools.get(paint) ??
    Array.from({ length: POOL }, () =>
      Int16Array.from({ length: PIECE_SAMPLES }, (_, index) => paint(index)),
    );
  pools.set(paint, pool);
  return new Uint8Array((pool[piece % POOL] ?? new Int16Array(0)).slice().buffer);
}

/** A microphone that delivers a piece each 100 ms, more or less. */
class Microphone {
  readonly told: string[] = [];
  readonly messages: string[] = [];
  private readonly watch: CaptureWatch = createCaptureWatch({ rateHz: RATE_HZ, playedRateHz: 24_000 });
  private now = 5_000_000;
  private lateMs = 0;

  /** @param clock how much real time a second of sound takes; @param lateness of each piece, milliseconds */
  hear(seconds: number, paint: Paint, clock = 1, lateness: () => number = () => 0): this {
    for (let piece = 0; piece < seconds * 10; piece++) {
      this.now += PIECE_MS * clock;
      this.note(this.watch.hear(painted(paint, piece), this.now + this.lateMs + lateness()));
    }
    return this;
  }

  /** Time passes and no sound comes of it. */
  lose(ms: number): this {
    this.now += ms;
    return this;
  }

  play(seconds: number, amplitude = 8000): this {
    for (let piece = 0; piece < seconds * 10; piece++) {
      this.watch.played(new Uint8Array(new Int16Array(2400).fill(amplitude).buffer));
    }
    return this;
  }

  end(): this {
    this.note(this.watch.end());
    return this;
  }

  private note(news: ReturnType<CaptureWatch['hear']>): void {
    for (const { finding, present, message } of news) {
      this.told.push(`${present ? '+' : '-'}${finding}`);
      this.messages.push(message);
    }
  }
}

const microphone = (): Microphone => new Microphone();

describe('a microphone that is well', () => {
  it.each([-300, 0, 300])(
    'with a clock that is %i ppm off is told nothing of, however late its sound comes',
    (ppm) => {
      const lateness = (): number => dice() ** 4 * 150;
      expect(microphone().hear(300, quiet, 1 + ppm / 1e6, lateness).told).toEqual([]);
    },
  );

  it('may lose sound now and then', () => {
    const mic = microphone();
    for (let count = 0; count < 12; count++) mic.hear(41, quiet).lose(count % 3 === 0 ? 2000 : 60);
    expect(mic.told).toEqual([]);
  });

  it('may be in a quiet room all night, and may hear shouting', () => {
    const whisper: Paint = () => Math.round((dice() - 0.5) * 4);
    expect(microphone().hear(600, whisper).told).toEqual([]);
    const shout: Paint = (index) => (index % 400 === 0 ? 32_767 : quiet(index) * 500);
    expect(microphone().hear(60, shout).told).toEqual([]);
  });

  it('may be the input of a program that was busy for seconds and gets all of it at once', () => {
    let pause = 0;
    const lateness = (): number => {
      pause = pause > 0 ? pause - PIECE_MS : dice() < 0.005 ? 3000 : 0;
      return Math.max(0, pause);
    };
    expect(microphone().hear(300, quiet, 1, lateness).told).toEqual([]);
  });
});

describe('a wrong clock', () => {
  it.each([
    [1.008, 'too_slow', '0.8 % too slowly'],
    [0.993, 'too_fast', '0.7 % too fast'],
    [1.05, 'too_slow', '5.0 % too slowly'],
    [0.95, 'too_fast', '5.0 % too fast'],
  ])('of %f is told once as %s, and once when it is over', (clock, finding, words) => {
    const mic = microphone().hear(200, quiet, clock);
    expect(mic.told).toEqual([`+${finding}`]);
    expect(mic.messages[0]).toContain(words);
    expect(mic.hear(200, quiet).told).toEqual([`+${finding}`, `-${finding}`]);
  });

  it.each([
    [2.834, 'incomplete', 'delivers 33 % of the expected sound'],
    [1.2, 'incomplete', 'delivers 83 % of the expected sound'],
    [0.5, 'too_fast', 'delivers 200 % of the expected sound'],
  ])('of %f is none: %s, in words of what comes', (clock, finding, words) => {
    const mic = microphone().hear(400, quiet, clock);
    expect(mic.told).toEqual([`+${finding}`]);
    expect(mic.messages[0]).toContain(words);
  });

  it('is not confused with a microphone that is away for longer than it is there', () => {
    const mic = microphone();
    for (let count = 0; count < 20; count++) mic.hear(9, quiet).lose(30_000);
    expect(mic.told).toEqual(['+incomplete']);
    expect(mic.messages[0]).toMatch(/delivers [1-4]\d % of the expected sound/);
  });

  it('is none where sound is missing: that is told within half a minute, and over about as soon', () => {
    const mic = microphone().hear(60, quiet);
    expect(mic.hear(12, quiet, 2).told).toEqual(['+incomplete']);
    expect(mic.hear(90, quiet, 2).told).toEqual(['+incomplete']);
    expect(mic.hear(32, quiet).told).toEqual(['+incomplete', '-incomplete']);
    expect(mic.hear(200, quiet).told).toEqual(['+incomplete', '-incomplete']);
    expect(microphone().hear(1, quiet, 100).told).toEqual(['+incomplete']);
  });

  it('is none where some seconds were lost now and then', () => {
    const mic = microphone();
    for (let count = 0; count < 6; count++) mic.hear(40, quiet).lose(4000);
    expect(mic.told).toEqual([]);
  });

  it('is not judged in the first minute', () => {
    expect(microphone().hear(60, quiet, 1.05).told).toEqual([]);
  });
});

describe('a noise gate', () => {
  const talk = (mic: Microphone): Microphone => {
    for (let word = 0; word < 4; word++) mic.hear(1, quiet).hear(3, zero);
    return mic;
  };
  it('is no digital silence, however quiet the room is', () => {
    expect(talk(new Microphone()).hear(500, zero).told).toEqual([]);
  });
  it('is a deaf microphone where it does not even open for the loudspeaker', () => {
    const mic = talk(new Microphone());
    for (let second = 0; second < 31; second++) mic.play(1).hear(1, zero);
    expect(mic.told).toEqual(['+deaf']);
  });
  it('is digital silence after ten minutes', () => {
    expect(talk(new Microphone()).hear(601, zero).told).toEqual(['+silent']);
  });
});

describe('digital silence', () => {
  it('is told after ten seconds, once, and over with the first sound', () => {
    const mic = microphone().hear(5, quiet).hear(9.9, zero);
    expect(mic.told).toEqual([]);
    expect(mic.hear(30, zero).told).toEqual(['+silent']);
    expect(mic.hear(1, quiet).told).toEqual(['+silent', '-silent']);
  });

  it('is no deafness, and ends with the microphone', () => {
    expect(microphone().hear(20, zero).play(100).hear(1, zero).end().told).toEqual(['+silent', '-silent']);
  });
});

describe('a deaf microphone', () => {
  const whisper: Paint = (index) => (index % 3) - 1;

  it('does not hear the loudspeaker in half a minute of its sound', () => {
    const mic = microphone().hear(5, whisper).play(29.9).hear(1, whisper);
    expect(mic.told).toEqual([]);
    expect(mic.play(0.1).hear(1, whisper).told).toEqual(['+deaf']);
    expect(mic.hear(10, whisper).told).toEqual(['+deaf']);
    expect(mic.hear(1, quiet).told).toEqual(['+deaf', '-deaf']);
  });

  it('is none that hears anything meanwhile, or where nothing can be heard', () => {
    expect(microphone().hear(1, whisper).play(20).hear(1, quiet).play(20).hear(1, whisper).told).toEqual([]);
    expect(microphone().hear(1, whisper).play(60, 500).hear(1, whisper).told).toEqual([]);
  });
});

describe('clipping', () => {
  const clipped: Paint = (index) =>
    index % 100 === 0 ? 32_767 : index % 100 === 50 ? -32_768 : 12_000 - (index % 2) * 24_000;

  it('is told with its share, and over when it is much less', () => {
    const mic = microphone().hear(30, clipped);
    expect(mic.told).toEqual(['+clipping']);
    expect(mic.messages[0]).toContain('2.0 %');
    const hardly: Paint = (index) => (index === 0 ? 32_767 : quiet(index));
    expect(mic.hear(30, hardly).told).toEqual(['+clipping']);
    expect(mic.hear(30, quiet).told).toEqual(['+clipping', '-clipping']);
  });

  it('is told as soon as it is certain, and not before', () => {
    const mic = microphone();
    expect(mic.hear(1.4, clipped).told).toEqual([]);
    expect(mic.hear(0.3, clipped).told).toEqual(['+clipping']);
    // It is over when ten seconds were well, not before.
    expect(mic.hear(17, quiet).told).toEqual(['+clipping']);
    expect(mic.hear(2, quiet).told).toEqual(['+clipping', '-clipping']);
  });
});

describe('an offset', () => {
  it('is told and over', () => {
    const mic = microphone().hear(20, (index) => quiet(index) - 1640);
    expect(mic.told).toEqual(['+dc_offset']);
    expect(mic.messages[0]).toContain('DC offset of -5 %');
    expect(mic.hear(20, quiet).told).toEqual(['+dc_offset', '-dc_offset']);
  });
});

it('a microphone that is opened again is told of again', () => {
  expect(microphone().hear(12, zero).end().end().hear(1, zero).told).toEqual([
    '+silent',
    '-silent',
    '+silent',
  ]);
});
