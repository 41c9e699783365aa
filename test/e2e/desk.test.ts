import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadWav } from '../../src/adapters/audio/sound-source.ts';
import { createSystemClock } from '../../src/adapters/clock.ts';
import { runDeskDemo } from '../../src/cli/demo/desk.ts';
import { openEnvironment } from '../../src/cli/demo/environment.ts';
import recording from '../../src/cli/demo/visitor.json' with { type: 'json' };
import type { Log } from '../../src/ports/log.ts';
import { inProcessPrograms } from './in-process.ts';

const quiet = (): void => {};
const log: Log = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet };

// `npm run demo -- --desk`
it('interprets a conversation at one microphone and at two when the demo runs with --desk', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-desk-'));
  const output = join(folder, 'desk.wav');
  const environment = await openEnvironment(inProcessPrograms());
  const said: string[] = [];
  try {
    const { lanes } = await runDeskDemo(environment, {
      output,
      clock: createSystemClock(),
      log,
      abort: new AbortController().signal,
      print: (line) => void said.push(line),
    });
    const byClerk = recording.sentences.filter(({ speaker }) => speaker === 'man').length;
    const all = recording.sentences.length;
    expect(lanes.map(({ id, sentences, translations }) => [id, sentences, translations])).toEqual([
      ['desk', all, all],
      ['clerk', byClerk, byClerk],
      ['visitor', all - byClerk, all - byClerk],
    ]);
    // Each sentence at the one microphone is translated from the language of its person.
    const sources = said.flatMap((line) => /^desk +(en|es) {2}/.exec(line)?.[1] ?? []);
    expect(sources).toEqual(recording.sentences.map(({ speaker }) => (speaker === 'man' ? 'en' : 'es')));
    for (const lane of lanes) {
      const { pcm } = await loadWav(lane.output);
      expect(pcm.some((byte) => byte !== 0)).toBe(true);
    }
  } finally {
    await environment.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
