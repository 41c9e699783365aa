import { describe, expect, it } from 'vitest';
import { speakTexts, type TextsToSpeak } from '../../../src/backend/service/speak-texts.ts';
import type { OpenStream, StreamListener } from '../../../src/ports/stream.ts';
import { closed, ready, refused, spoke } from '../../service-events.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

const sound = (ms: number, first = 7): Uint8Array => new Uint8Array(48 * ms).fill(first);

/** The test acts as the service. */
function begin(given: Partial<TextsToSpeak> = {}) {
  const clock = createVirtualClock();
  const calls: string[] = [];
  let listener: StreamListener | null = null;
  const note =
    (name: string) =>
    (...args: unknown[]) =>
      void calls.push([name, ...args.map((one) => JSON.stringify(one))].join(' '));
  const openStream: OpenStream = (_target, given) => {
    listener = given;
    return {
      runTask: note('task'),
      askForTask: note('ask'),
      sendAudio: () => void calls.push('audio'),
      say: note('say'),
      end: note('end'),
      ping: note('ping'),
      close: note('close'),
      terminate: note('terminate'),
      bufferedBytes: 0,
    };
  };
  const order = {
    target: { address: 'wss://x', token: 't' },
    language: 'es',
    voice: null,
    longestMs: 30_000,
  };
  const done = speakTexts({ openStream, clock }, { ...order, texts: ['Uno.', 'Dos.'], ...given });
  let ended: unknown = null;
  done.then(
    (sounds) => {
      ended = sounds.map((pcm) => [pcm.byteLength / 48, pcm[0]]);
    },
    (error) => {
      ended = error.message;
    },
  );
  if (listener === null) throw new Error('no stream');
  const stream: StreamListener = listener;
  return {
    clock,
    calls,
    stream,
    /** Without silence, which is sent all the time. */
    own: () => calls.filter((call) => call !== 'audio' && call !== 'ask'),
    async result() {
      await clock.elapse(0);
      return ended;
    },
    async run() {
      stream.opened();
      await clock.elapse(3000);
      stream.said(ready());
    },
    says: (pcm: Uint8Array, last: boolean, language: string | null = 'es') =>
      stream.said(spoke(pcm, { language, last })),
  };
}

describe('texts spoken for the cards', () => {
  it('follow each other on one stream, which is kept alive and closed at the end', async () => {
    const { clock, calls, own, run, says, result } = begin();
    await run();
    await clock.elapse(1000);
    expect(calls.filter((call) => call === 'audio')).toHaveLength(3);
    expect(own().at(-1)).toBe('say "Uno." "es" false');
    says(sound(300, 1), false);
    says(sound(200, 1), true);
    await clock.elapse(1500);
    expect(own().at(-1)).toBe('say "Dos." "es" false');
    says(sound(400, 2), true);
    await clock.elapse(1500);
    expect(await result()).toEqual([
      [500, 1],
      [400, 2],
    ]);
    expect(own().at(-1)).toBe('close');
    const after = calls.length;
    await clock.elapse(60_000);
    expect(calls.length).toBe(after);
  });

  it('end after a pause when the service marks no end, and not before', async () => {
    const { clock, own, run, says, result } = begin({ texts: ['Uno.'] });
    await run();
    says(sound(300), false);
    await clock.elapse(4900);
    says(sound(300), false);
    await clock.elapse(4900);
    expect(own()).not.toContain('close');
    await clock.elapse(200);
    expect(await result()).toEqual([[600, 7]]);
  });

  it('hold all sentences of a text, each with its mark', async () => {
    const { clock, stream, run, result } = begin();
    const says = (pcm: Uint8Array, sentence: string) =>
      stream.said(spoke(pcm, { language: 'es', last: true, sentence }));
    await run();
    says(sound(300, 1), 'a');
    await clock.elapse(1000);
    says(sound(200, 1), 'b');
    await clock.elapse(1500);
    says(sound(400, 2), 'c');
    await clock.elapse(1500);
    expect(await result()).toEqual([
      [500, 1],
      [400, 2],
    ]);
  });

  it('fail rather than give a text the end of the one before', async () => {
    const { clock, stream, run, result } = begin();
    await run();
    stream.said(spoke(sound(300, 1), { language: 'es', last: false, sentence: 'a' }));
    await clock.elapse(5000);
    stream.said(spoke(sound(300, 1), { language: 'es', last: true, sentence: 'a' }));
    expect(await result()).toMatch(/came too late: try again/);
  });

  it('take no sound of another language, and none before the task runs', async () => {
    const { clock, stream, run, says, result } = begin({ texts: ['Uno.'] });
    stream.opened();
    says(sound(100), true);
    await run();
    says(sound(100), true, 'en');
    says(sound(700, 3), true, 'es-MX');
    await clock.elapse(1500);
    expect(await result()).toEqual([[700, 3]]);
  });

  it.each([
    ['nothing is spoken', () => {}, 15_000, /spoke nothing within 15 s/],
    ['the sound is too long', ({ says }) => says(sound(30_010), false), 0, /longer than 30 s: shorten/],
    ['the stream ends', ({ stream }) => stream.said(closed('cut')), 0, /ended the stream/],
    [
      'the stream is refused',
      ({ stream }) => stream.said(refused('forbidden', { status: 403 })),
      0,
      /refuses the stream: forbidden/,
    ],
    [
      'the service is away',
      ({ stream }) => stream.unreached(false, 'no route'),
      0,
      /cannot reach the service: no route/,
    ],
    ['the stream breaks', ({ stream }) => stream.broke('service', 'not the protocol'), 0, /not the protocol/],
  ] as [string, (device: ReturnType<typeof begin>) => void, number, RegExp][])(
    'fail with the reason when %s',
    async (_, act, ms, message) => {
      const device = begin();
      await device.run();
      act(device);
      if (ms > 0) {
        await device.clock.elapse(ms - 1);
        expect(await device.result()).toBeNull();
        await device.clock.elapse(1);
      }
      expect(await device.result()).toMatch(message);
      const after = device.calls.length;
      await device.clock.elapse(60_000);
      expect(device.calls.length).toBe(after);
    },
  );

  it('may be as long as the limit', async () => {
    const { clock, run, says, result } = begin({ texts: ['Uno.'] });
    await run();
    says(sound(30_000), true);
    await clock.elapse(1500);
    expect(await result()).toEqual([[30_000, 7]]);
  });

  it('fail when the task does not run within 30 s', async () => {
    const { clock, stream, calls, result } = begin();
    stream.opened();
    await clock.elapse(29_999);
    expect(await result()).toBeNull();
    await clock.elapse(1);
    expect(await result()).toMatch(/was not ready within 30 s/);
    expect(calls.filter((call) => call === 'ask')).toHaveLength(14);
  });
});
