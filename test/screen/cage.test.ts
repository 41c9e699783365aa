import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { createSystemClock } from '../../src/adapters/clock.ts';
import type { PageFiles } from '../../src/adapters/screen/page-files.ts';
import { openPageServer } from '../../src/adapters/screen/page-server.ts';
import { type ScreenText, screenBeatSchema } from '../../src/protocol/screen.ts';
import { createFakeSource, SNAPSHOT } from '../adapters/screen/fake-source.ts';
import { placeBundles } from '../bundles.ts';
import { needs } from '../needs.ts';
import { buildPage } from './browser.ts';
import { brightness, difference, type Glass, NO_GLASS, openGlass } from './glass.ts';

/** The page has as much memory as `--max-old-space-size` gives it. */
const EATER = `
addEventListener('load', () => new EventSource('/events').addEventListener('change', ({ data }) => {
  if (!data.includes('"level":9')) return;
  for (const eaten = []; ; ) eaten.push(new Array(100000).fill({}).map(() => ({})));
}));`;
const WORDS: ScreenText = {
  language: 'en',
  text: 'Where is the lift?',
  breaks: false,
  isSpoken: false,
  number: 1,
};
const ANSWER: ScreenText = {
  language: 'es',
  text: '¿Dónde está el ascensor?',
  breaks: false,
  isSpoken: false,
  number: 2,
};
/** Share of a half that antialiasing may change, and that a line of text changes at least. */
const SAME = 0.001;
/**
 * 20 s without a beat, and the start of a browser. A start that hangs is given up after 60 s, as on a kiosk, and the next one has to
 * show the text.
 */
const LONGEST_MS = 180_000;
/** Pictures in a row without a change: a browser that begins paints in steps, and a busy one pauses between them. */
const STILL_PICTURES = 10;

const RENDERER = /--type=renderer/;
const BROWSER = /^\S*chromium (?!.*--type=).*--kiosk/;
const CAGE = /^\S*cage .*-- chromium/;

/** What breaks, and how: the page is gone, or frozen; the browser is frozen; or cage has ended. All stop the beats. */
const FAULTS: readonly (readonly [
  string,
  (glass: Glass, starve: () => Promise<void>) => void | Promise<void>,
])[] = [
  ["the page's process is killed", (glass) => signal(glass, RENDERER, 'SIGKILL')],
  ["the page's process is frozen", (glass) => signal(glass, RENDERER, 'SIGSTOP')],
  ['the page has used up its memory', (_glass, starve) => starve()],
  ['the browser is frozen', (glass) => signal(glass, BROWSER, 'SIGSTOP')],
  ['cage ends, as cage 0.1 does when the monitor is switched off', (glass) => signal(glass, CAGE, 'SIGTERM')],
];

function signal(glass: Glass, which: RegExp, name: 'SIGKILL' | 'SIGSTOP' | 'SIGTERM'): void {
  const pids = glass.processes(which);
  if (pids.length === 0) throw new Error(`no process is ${which}`);
  for (const pid of pids) process.kill(pid, name);
}

async function hasPainted(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/beat`);
  return screenBeatSchema.parse(await answer.json()).ageMs !== null;
}

describe(`the screen's unit under cage${NO_GLASS ? ` (${NO_GLASS})` : ''}`, needs(NO_GLASS), () => {
  let folder: string;
  let files: PageFiles;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'dragoman-cage-'));
    const [page] = await Promise.all([buildPage(), placeBundles(folder)]);
    files = { ...page, script: page.script + EATER };
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.for(FAULTS)('shows new text when %s', async ([what, spoil], { expect }) => {
    const fake = createFakeSource({ ...SNAPSHOT, texts: [WORDS] });
    const clock = createSystemClock();
    const server = await openPageServer({
      port: 0,
      token: 'page-token',
      files,
      source: fake.source,
      clock,
    });
    const glass = openGlass(join(folder, 'dragoman.mjs'), Number(new URL(server.url).port));
    let words: Buffer = Buffer.alloc(0);
    /** Shares of the halves that differ from `words`. */
    let differs = { left: 1, right: 1 };
    const compare = (picture: Buffer): { left: number; right: number } => {
      differs = { left: difference('left', words, picture), right: difference('right', words, picture) };
      return differs;
    };
    const until = async (awaited: string, isSeen: (picture: Buffer) => boolean): Promise<number> => {
      const began = performance.now();
      let pictureAt = began;
      while (performance.now() - began < LONGEST_MS) {
        const picture = await glass.picture();
        if (picture !== null) pictureAt = performance.now();
        if (picture !== null && isSeen(picture)) return performance.now() - began;
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
      const seconds = (ms: number): string => `${(ms / 1000).toFixed(0)} s`;
      const saw = [
        `${glass.starts} starts`,
        `the last picture is ${seconds(performance.now() - pictureAt)} old and differs by ${JSON.stringify(differs)}`,
        `the page has ${server.clients} connections`,
        `running: ${glass.processes(/./).map(glass.describe).join(', ')}`,
      ];
      throw new Error(
        `${awaited} is not on the glass after ${seconds(LONGEST_MS)}: ${saw.join('; ')}; ${glass.said}`,
      );
    };
    try {
      await expect.poll(() => hasPainted(server.url), { timeout: LONGEST_MS }).toBe(true);
      let still = 0;
      await until('a picture that holds still', (picture) => {
        const { left, right } = compare(picture);
        still = Math.max(left, right) < SAME && brightness('left', picture) > SAME ? still + 1 : 0;
        words = picture;
        return still === STILL_PICTURES;
      });
      await spoil(glass, async () => {
        fake.change({ level: 9 });
        await expect.poll(() => server.clients).toBe(0);
      });
      // The left half has its words again, and the right half what came meanwhile.
      fake.change({ level: 0, texts: [ANSWER] });
      const ms = await until('the text', (picture) => {
        const { left, right } = compare(picture);
        return left < SAME && right > SAME;
      });
      process.stderr.write(
        `${what}: ${(ms / 1000).toFixed(1)} s until there is text again, ${glass.starts} starts\n`,
      );
      expect(glass.starts).toBeGreaterThan(1);
    } finally {
      await glass.close();
      await server.close();
    }
  });
});
