import { describe, expect, it } from 'vitest';
import { type CaptureWatch, createCaptureWatch } from '../../src/sound/capture-watch.ts';
import { chance } from '../acoustics.ts';

const RATE_HZ = 8000;
const PIECE_MS = 100;
const PIECE_SAMPLES = (RATE_HZ * PIECE_MS) / 1000;

type Paint = (index: number) => number;
const dice = chance(3);
const quiet: Paint = () => Math.round((dice() - 0.5) * 60);
const zero: Paint = () => 0;

/** Pieces of each kind of sound, used repeatedly: making minutes of sound sample by sample would be most of the work. */
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

/** A microphone that delivers a piece about every 100 ms. */
class Microphone {
  readonly found: string[] = [];
  readonly messages: string[] = [];
  private readonly watch: CaptureWatch = createCaptureWatch({ rateHz: RATE_HZ, playedRateHz: 24_000 });
  private now = 5_000_000;
  private lateMs = 0;

  /** @param clock real time per second of sound; @param lateness of each piece, milliseconds */
  hear(seconds: number, paint: Paint, clock = 1, lateness: () => number = () => 0): this {
    for (let piece = 0; piece < seconds * 10; piece++) {
      this.now += PIECE_MS * clock;
      this.note(this.watch.hear(painted(paint, piece), this.now + this.lateMs + lateness()));
    }
    return this;
  }

  /** Time passes without any sound. */
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
      this.found.push(`${present ? '+' : '-'}${finding}`);
      this.messages.push(message);
    }
  }
}

const microphone = (): Microphone => new Microphone();

describe('a working microphone', () => {
  it.each([-300, 0, 300])(
    'causes no finding with a clock %i ppm off, however late its sound arrives',
    (ppm) => {
      const lateness = (): number => dice() ** 4 * 150;
      expect(microphone().hear(300, quiet, 1 + ppm / 1e6, lateness).found).toEqual([]);
    },
  );

  it('causes no finding when sound is lost now and then', () => {
    const mic = microphone();
    for (let count = 0; count < 12; count++) mic.hear(41, quiet).lose(count % 3 === 0 ? 2000 : 60);
    expect(mic.found).toEqual([]);
  });

  it('causes no finding in a quiet room all night, nor by shouting', () => {
    const whisper: Paint = () => Math.round((dice() - 0.5) * 4);
    expect(microphone().hear(600, whisper).found).toEqual([]);
    const shout: Paint = (index) => (index % 400 === 0 ? 32_767 : quiet(index) * 500);
    expect(microphone().hear(60, shout).found).toEqual([]);
  });

  it('causes no finding when a program was busy for seconds and then gets all sound at once', () => {
    let pause = 0;
    const lateness = (): number => {
      pause = pause > 0 ? pause - PIECE_MS : dice() < 0.005 ? 3000 : 0;
      return Math.max(0, pause);
    };
    expect(microphone().hear(300, quiet, 1, lateness).found).toEqual([]);
  });
});

describe('a wrong clock', () => {
  it.each([
    [1.008, 'too_slow', '0.8 % too slowly'],
    [0.993, 'too_fast', '0.7 % too fast'],
    [1.05, 'too_slow', '5.0 % too slowly'],
    [0.95, 'too_fast', '5.0 % too fast'],
  ])('is reported once, and once when it is over: factor %f as %s', (clock, finding, words) => {
    const mic = microphone().hear(200, quiet, clock);
    expect(mic.found).toEqual([`+${finding}`]);
    expect(mic.messages[0]).toContain(words);
    expect(mic.hear(200, quiet).found).toEqual([`+${finding}`, `-${finding}`]);
  });

  it.each([
    [2.834, 'incomplete', 'delivers 33 % of the expected sound'],
    [1.2, 'incomplete', 'delivers 83 % of the expected sound'],
    [0.5, 'too_fast', 'delivers 200 % of the expected sound'],
  ])('is reported with the share of the sound that arrives: factor %f as %s', (clock, finding, words) => {
    const mic = microphone().hear(400, quiet, clock);
    expect(mic.found).toEqual([`+${finding}`]);
    expect(mic.messages[0]).toContain(words);
  });

  it('is not reported for a microphone that is away longer than present', () => {
    const mic = microphone();
    for (let count = 0; count < 20; count++) mic.hear(9, quiet).lose(30_000);
    expect(mic.found).toEqual(['+incomplete']);
    expect(mic.messages[0]).toMatch(/delivers [1-4]\d % of the expected sound/);
  });

  it('is not reported for missing sound, which is reported within half a minute, and its end about as fast', () => {
    const mic = microphone().hear(60, quiet);
    expect(mic.hear(12, quiet, 2).found).toEqual(['+incomplete']);
    expect(mic.hear(90, quiet, 2).found).toEqual(['+incomplete']);
    expect(mic.hear(32, quiet).found).toEqual(['+incomplete', '-incomplete']);
    expect(mic.hear(200, quiet).found).toEqual(['+incomplete', '-incomplete']);
    expect(microphone().hear(1, quiet, 100).found).toEqual(['+incomplete']);
  });

  it('is not reported when some seconds were lost now and then', () => {
    const mic = microphone();
    for (let count = 0; count < 6; count++) mic.hear(40, quiet).lose(4000);
    expect(mic.found).toEqual([]);
  });

  it('is not judged in the first minute', () => {
    expect(microphone().hear(60, quiet, 1.05).found).toEqual([]);
  });
});

describe('a noise gate', () => {
  const talk = (mic: Microphone): Microphone => {
    for (let word = 0; word < 4; word++) mic.hear(1, quiet).hear(3, zero);
    return mic;
  };
  it('is not digital silence, however quiet the room', () => {
    expect(talk(new Microphone()).hear(500, zero).found).toEqual([]);
  });
  it('counts as deaf when it does not even open for the loudspeaker', () => {
    const mic = talk(new Microphone());
    for (let second = 0; second < 31; second++) mic.play(1).hear(1, zero);
    expect(mic.found).toEqual(['+deaf']);
  });
  it('counts as digital silence after ten minutes', () => {
    expect(talk(new Microphone()).hear(601, zero).found).toEqual(['+silent']);
  });
});

describe('digital silence', () => {
  it('is reported once after ten seconds, and ends with the first sound', () => {
    const mic = microphone().hear(5, quiet).hear(9.9, zero);
    expect(mic.found).toEqual([]);
    expect(mic.hear(30, zero).found).toEqual(['+silent']);
    expect(mic.hear(1, quiet).found).toEqual(['+silent', '-silent']);
  });

  it('is not reported as deafness, and ends when the microphone is closed', () => {
    expect(microphone().hear(20, zero).play(100).hear(1, zero).end().found).toEqual(['+silent', '-silent']);
  });
});

describe('a deaf microphone', () => {
  const whisper: Paint = (index) => (index % 3) - 1;

  it('is reported when it does not hear the loudspeaker in half a minute of its sound', () => {
    const mic = microphone().hear(5, whisper).play(29.9).hear(1, whisper);
    expect(mic.found).toEqual([]);
    expect(mic.play(0.1).hear(1, whisper).found).toEqual(['+deaf']);
    expect(mic.hear(10, whisper).found).toEqual(['+deaf']);
    expect(mic.hear(1, quiet).found).toEqual(['+deaf', '-deaf']);
  });

  it('is not reported when it hears anything, or when nothing audible was played', () => {
    expect(microphone().hear(1, whisper).play(20).hear(1, quiet).play(20).hear(1, whisper).found).toEqual([]);
    expect(microphone().hear(1, whisper).play(60, 500).hear(1, whisper).found).toEqual([]);
  });
});

describe('clipping', () => {
  const clipped: Paint = (index) =>
    index % 100 === 0 ? 32_767 : index % 100 === 50 ? -32_768 : 12_000 - (index % 2) * 24_000;

  it('is reported with its share, and ends when it is much less', () => {
    const mic = microphone().hear(30, clipped);
    expect(mic.found).toEqual(['+clipping']);
    expect(mic.messages[0]).toContain('2.0 %');
    const hardly: Paint = (index) => (index === 0 ? 32_767 : quiet(index));
    expect(mic.hear(30, hardly).found).toEqual(['+clipping']);
    expect(mic.hear(30, quiet).found).toEqual(['+clipping', '-clipping']);
  });

  it('is reported as soon as it is certain, and not before', () => {
    const mic = microphone();
    expect(mic.hear(1.4, clipped).found).toEqual([]);
    expect(mic.hear(0.3, clipped).found).toEqual(['+clipping']);
    // It ends only after ten good seconds.
    expect(mic.hear(17, quiet).found).toEqual(['+clipping']);
    expect(mic.hear(2, quiet).found).toEqual(['+clipping', '-clipping']);
  });
});

describe('a DC offset', () => {
  it('is reported, and its end as well', () => {
    const mic = microphone().hear(20, (index) => quiet(index) - 1640);
    expect(mic.found).toEqual(['+dc_offset']);
    expect(mic.messages[0]).toContain('DC offset of -5 %');
    expect(mic.hear(20, quiet).found).toEqual(['+dc_offset', '-dc_offset']);
  });
});

it('reports the findings again after the microphone was opened again', () => {
  expect(microphone().hear(12, zero).end().end().hear(1, zero).found).toEqual([
    '+silent',
    '-silent',
    '+silent',
  ]);
});
