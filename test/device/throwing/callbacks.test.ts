import { expect, it } from 'vitest';
import { guardCallbacks, guardCapture } from '../../../src/device/guard/callback-guard.ts';
import type { AudioFault, CaptureSink } from '../../../src/ports/audio.ts';
import { explode } from './tools.ts';

const PCM = new Uint8Array(480);

it('reports a callback that throws, and the adapter continues', () => {
  const reported: string[] = [];
  const heard: string[] = [];
  const callbacks = { up: explode, down: (why: string) => void heard.push(why), refused: undefined };
  const guarded = guardCallbacks('bus', callbacks, (where) => reported.push(where));
  guarded.up();
  guarded.down('gone');
  expect(guarded.refused).toBeUndefined();
  expect(reported).toEqual(['bus.up']);
  expect(heard).toEqual(['gone']);
});

it('reports a microphone as failed once when its sound causes an exception, and again after a good chunk', async () => {
  const reported: string[] = [];
  const faults: AudioFault[] = [];
  let isBroken = true;
  let driver: CaptureSink | null = null;
  const open = guardCapture(
    async (sink) => {
      driver = sink;
      return { close: async () => {} };
    },
    (where) => reported.push(where),
  );
  await open({ frames: () => isBroken && explode(), ended() {}, fault: (fault) => void faults.push(fault) });
  const capture = driver as CaptureSink | null;
  capture?.frames(PCM, 0);
  capture?.frames(PCM, 20);
  expect(reported).toEqual(['capture.frames', 'capture.frames']);
  expect(faults).toMatchObject([{ code: 'failed', message: expect.stringMatching(/defect.*TypeError/) }]);
  isBroken = false;
  capture?.frames(PCM, 40);
  isBroken = true;
  capture?.frames(PCM, 60);
  expect(faults).toHaveLength(2);
});
