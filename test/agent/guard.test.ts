import { expect, it } from 'vitest';
import { guardPlayback } from '../../src/agent/guard/audio.ts';
import type { PlaybackSink } from '../../src/ports/audio.ts';

/** A loudspeaker that throws as long as `isBroken`, and notes when its owner is told of it. */
async function open() {
  const told: string[] = [];
  let isWriting = false;
  const note = (news: string) => (): void => void told.push(isWriting ? `${news} during a write` : news);
  const sink: PlaybackSink = { fault: note('fault'), back: note('back'), missed() {}, measured() {} };
  const device = { isBroken: false };
  let driver = sink;
  const playback = await guardPlayback(
    async (given) => {
      driver = given;
      return {
        mixer: null,
        flush() {},
        close: async () => {},
        write() {
          if (device.isBroken) throw new Error('no more');
          return { from: 5, until: 15 };
        },
      };
    },
    () => {},
  )(sink);
  const write = () => {
    isWriting = true;
    const written = playback.write(new Uint8Array(480));
    isWriting = false;
    return written;
  };
  return { told, device, write, playback, driver };
}

it('a loudspeaker that throws is told of once, and when it is over, and never in the middle of a write', async () => {
  const { told, device, write } = await open();
  expect(write()).toEqual({ from: 5, until: 15 });
  device.isBroken = true;
  expect([write(), write()]).toEqual([null, null]);
  expect(told).toEqual([]);
  await Promise.resolve();
  expect(told).toEqual(['fault']);
  device.isBroken = false;
  write();
  await Promise.resolve();
  expect(told).toEqual(['fault', 'back']);
});

it('a loudspeaker that has thrown and was unplugged is back when both are over', async () => {
  const { told, device, write, driver } = await open();
  device.isBroken = true;
  write();
  await Promise.resolve();
  driver.fault({ code: 'lost', message: 'it is gone' });
  device.isBroken = false;
  write();
  await Promise.resolve();
  expect(told).toEqual(['fault', 'fault']);
  driver.back();
  expect(told).toEqual(['fault', 'fault', 'back']);

  driver.fault({ code: 'lost', message: 'it is gone again' });
  device.isBroken = true;
  write();
  await Promise.resolve();
  driver.back();
  expect(told.slice(3)).toEqual(['fault', 'fault']);
  device.isBroken = false;
  write();
  await Promise.resolve();
  expect(told.slice(3)).toEqual(['fault', 'fault', 'back']);
});

it('a loudspeaker that is closed tells nothing more', async () => {
  const { told, device, write, playback } = await open();
  device.isBroken = true;
  write();
  await playback.close();
  expect(told).toEqual([]);
});
