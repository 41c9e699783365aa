import { describe, expect, it } from 'vitest';
import { withSecondPlayback } from '../../../src/adapters/audio/second-playback.ts';
import type { AudioFault, OpenPlayback, PlaybackSink } from '../../../src/ports/audio.ts';

/** A loudspeaker and a hearing loop; each call is noted. */
async function open(spoil: Partial<Record<'first' | 'second', OpenPlayback>> = {}) {
  const calls: string[] = [];
  const sinks: Record<string, PlaybackSink> = {};
  const device =
    (name: 'first' | 'second'): OpenPlayback =>
    async (sink) => {
      sinks[name] = sink;
      return {
        mixer: name === 'first' ? { setVolume: (percent) => void calls.push(`volume ${percent}`) } : null,
        write(pcm) {
          calls.push(`${name} writes ${pcm.byteLength}`);
          return name === 'first' ? { from: 1, until: 2 } : { from: 3, until: 4 };
        },
        flush() {
          calls.push(`${name} flushes`);
          return name === 'first' ? 5 : 6;
        },
        runOn: (on) => void calls.push(`${name} runs ${on}`),
        close: async () => void calls.push(`${name} closes`),
      };
    };
  const told: (AudioFault['code'] | null)[] = [];
  const faults: string[] = [];
  const sink: PlaybackSink = {
    fault: ({ code }) => void faults.push(code),
    back: () => void faults.push('back'),
    missed: () => void faults.push('missed'),
    measured: () => void faults.push('measured'),
    also: (fault) => void told.push(fault === null ? null : fault.code),
  };
  const playback = await withSecondPlayback(
    spoil.first ?? device('first'),
    spoil.second ?? device('second'),
  )(sink);
  await Promise.resolve();
  return { playback, calls, sinks, told, faults, device };
}

describe('a second device beside the loudspeaker', () => {
  it('gets the same sound at the same time, and the times are those of the loudspeaker', async () => {
    const { playback, calls } = await open();
    expect(playback.write(new Uint8Array(4))).toEqual({ from: 1, until: 2 });
    expect(playback.flush()).toBe(5);
    playback.runOn?.(true);
    playback.mixer?.setVolume(50);
    await playback.close();
    expect(calls).toEqual([
      'first writes 4',
      'second writes 4',
      'second flushes',
      'first flushes',
      'first runs true',
      'second runs true',
      'volume 50',
      'first closes',
      'second closes',
    ]);
  });

  it('reports its faults apart, and the loudspeaker goes on', async () => {
    const { playback, calls, sinks, told, faults } = await open();
    sinks['second']?.fault({ code: 'lost', message: 'gone' });
    sinks['second']?.missed(5);
    sinks['second']?.measured(5);
    playback.write(new Uint8Array(2));
    sinks['second']?.back();
    expect(told).toEqual(['lost', null]);
    expect(faults).toEqual([]);
    expect(calls).toContain('first writes 2');
  });

  it('does not stop the loudspeaker when it cannot be opened', async () => {
    const { playback, calls, told } = await open({ second: () => Promise.reject(new Error('none')) });
    await new Promise(setImmediate);
    playback.write(new Uint8Array(2));
    expect(told).toEqual(['failed']);
    expect(calls).toEqual(['first writes 2']);
  });

  it('does not delay the loudspeaker, joins in when it is open, and is closed if that is too late', async () => {
    let opens = (): void => {};
    const isOpen = new Promise<void>((resolve) => {
      opens = resolve;
    });
    const { device, calls: seconds } = await open();
    const late = await open({ second: (sink) => isOpen.then(() => device('second')(sink)) });
    late.playback.runOn?.(true);
    late.playback.write(new Uint8Array(2));
    expect(seconds).toEqual([]);
    opens();
    await new Promise(setImmediate);
    late.playback.write(new Uint8Array(6));
    expect(seconds).toEqual(['second runs true', 'second writes 6']);
    const never = await open({ second: (sink) => isOpen.then(() => device('second')(sink)) });
    await never.playback.close();
    expect(seconds.at(-1)).toBe('second closes');
  });

  const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const atOnce = async (): Promise<void> => {};
  it.each([
    ['before it opens', atOnce, soon],
    ['after it has opened', soon, atOnce],
  ])('closes when the loudspeaker fails %s', async (_, waitFirst, waitSecond) => {
    const calls: string[] = [];
    const { device } = await open();
    const first: OpenPlayback = async () => {
      await waitFirst();
      throw new Error('no such device');
    };
    const second: OpenPlayback = async (sink) => {
      await waitSecond();
      const playback = await device('second')(sink);
      return { ...playback, close: async () => void calls.push('second closes') };
    };
    await expect(open({ first, second })).rejects.toThrow('no such device');
    await soon();
    await soon();
    expect(calls).toEqual(['second closes']);
  });
});
