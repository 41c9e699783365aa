import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placeBundles } from '../bundles.ts';

describe('the demo with its pages', () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'dragoman-web-'));
    await placeBundles(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('prints the addresses of both pages, serves them, and ends at Ctrl-C', async () => {
    const words = ['demo', '--web', '--output', join(folder, 'demo.wav')];
    const demo = spawn(process.execPath, [join(folder, 'dragoman.mjs'), ...words]);
    const exited = once(demo, 'exit');
    try {
      const pages = new Map<string, string>();
      for await (const line of createInterface({ input: demo.stdout })) {
        const [, name, address] = /^(kiosk|emulator) +(http:\S+)$/.exec(line) ?? [];
        if (name !== undefined && address !== undefined) pages.set(name, address);
        if (pages.size === 2) break;
      }
      const kiosk = pages.get('kiosk') ?? '';
      expect(await (await fetch(kiosk)).text()).toContain('<script type="module" src="/screen.js">');
      expect((await fetch(new URL('/screen.js', kiosk))).status).toBe(200);
      expect(await (await fetch(pages.get('emulator') ?? '')).text()).toContain('emulator');
      demo.stdout.resume();
    } finally {
      demo.kill('SIGINT');
    }
    expect(await exited).toEqual([0, null]);
  });
});
