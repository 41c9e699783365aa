import { expect, it } from 'vitest';
import { fromDevice } from '../../../../src/adapters/audio/child/format.ts';
import { makePcm, makeTone, measureTone, readSamples } from '../wav-files.ts';

const RATE_HZ = 48_000;
const SECOND = RATE_HZ * 4;

it('captures and reports one channel when both cancel each other out', async () => {
  const tone = readSamples(makeTone(440, 2, RATE_HZ));
  const stereo = makePcm(tone.flatMap((left) => [left, -left]));
  const chosen: (number | null)[] = [];
  const conversion = await fromDevice({ rateHz: RATE_HZ, channels: 2 }, 24_000, (one) => chosen.push(one));
  const heard: Uint8Array[] = [];
  for (let at = 0; at < stereo.length; at += 3840)
    heard.push(conversion.convert(stereo.subarray(at, at + 3840)));
  const last = readSamples(Buffer.concat(heard)).slice(-20_000);
  expect(measureTone(last, 440, 24_000)).toBeGreaterThan(0.4);
  expect(chosen).toEqual([1]);
  const equal = makePcm(tone.flatMap((left) => [left, left])).subarray(0, SECOND);
  for (let at = 0; at < equal.length; at += 3840) conversion.convert(equal.subarray(at, at + 3840));
  expect(chosen).toEqual([1, null]);
  conversion.close();
});
