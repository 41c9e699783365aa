import { beforeAll, describe, it } from 'vitest';
import { expectVisitorSent, loadVoices } from './cancelling.ts';
import type { Voices } from './perform.ts';

let voices: Voices;
beforeAll(async () => {
  voices = await loadVoices();
});

/** A small version of `npm run echo`; longer tests are in `echo.long.test.ts`. */
describe('a lane that cancels its echo', () => {
  it('sends a visitor who is as loud as the echo', async () => {
    await expectVisitorSent(voices, 11, 4);
  });
});
