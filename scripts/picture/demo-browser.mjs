/** Runs the shipped `dragoman demo --web`, and opens a browser for its pages. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import puppeteer from 'puppeteer-core';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Longest wait for a page's content (ms): the recording has the first sentences within 10 s. */
export const LONGEST_MS = 60_000;

/** Path of a picture of the documentation. */
export const pictureAt = (name) => join(ROOT, 'docs', name);

/** @param use gets a page of the browser, and the addresses of the demo's pages */
export async function withDemo(use) {
  const folder = await mkdtemp(join(tmpdir(), 'dragoman-picture-'));
  const words = ['demo', '--web', '--json', '--output', join(folder, 'demo.wav')];
  const demo = spawn(process.execPath, [join(ROOT, 'dist', 'dragoman.mjs'), ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => demo.on('exit', resolve));
  try {
    const pages = await pagesOf(createInterface({ input: demo.stdout }));
    const browser = await puppeteer.launch({
      executablePath: CHROMIUM,
      args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--accept-lang=en-GB'],
    });
    try {
      await use(await browser.newPage(), pages);
    } finally {
      await browser.close();
    }
  } finally {
    demo.kill('SIGINT');
    await ended;
    await rm(folder, { recursive: true });
  }
}

async function pagesOf(lines) {
  for await (const line of lines) {
    const { pages } = JSON.parse(line);
    if (pages !== undefined) return pages;
  }
  throw new Error('the demo ended before it served its pages');
}
