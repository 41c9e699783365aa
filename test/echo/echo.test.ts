import { beforeAll, describe, it } from 'vitest';
import { expectVisitorLeftAlone, expectVisitorSent, loadVoices } from './cancelling.ts';
import type { Voices } from './perform.ts';

let voices: Voices;
beforeAll(async () => {
  voices = await loadVoices();
});

/** What `npm run echo` does with recorded people, in small; longer in `echo.long.test.ts`. */
describe('a lane that cancels its echo', () => {
  it('sends a visitor who is as loud as the echo', async () => {
    await expectVisitorSent(voices, 11, 4);
  });

  it('leaves a visitor alone where no echo is to be heard', async () => {
    await expectVisitorLeftAlone(voices);
  });
});
