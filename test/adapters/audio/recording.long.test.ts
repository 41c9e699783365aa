import { expect, it } from 'vitest';
import { needs } from '../../needs.ts';
import { isMakeable, makeRecording } from './recording-script.ts';
import { makeFolder } from './wav-files.ts';

it(
  'the recording of the demo is made by its script, each time with the same bytes (needs espeak-ng and sox)',
  needs(!isMakeable && 'needs espeak-ng, sox'),
  () => {
    const [first, second] = [makeRecording(makeFolder()), makeRecording(makeFolder())];
    expect(first.every((bytes) => bytes.length > 100)).toBe(true);
    expect(first.every((bytes, i) => bytes.equals(second[i] ?? Buffer.alloc(0)))).toBe(true);
  },
);
