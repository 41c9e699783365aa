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

  it('prints the addresses of all pages, serves them, and ends at Ctrl-C', async () => {
    const words = ['demo', '--web', '--output', join(folder, 'demo.wav')];
    const demo = spawn(process.execPath, [join(folder, 'dragoman.mjs'), ...words]);
    const exited = once(demo, 'exit');
    try {
      const pages = new Map<string, string>();
      let login: { name: string; password: string } | null = null;
      for await (const line of createInterface({ input: demo.stdout })) {
        const [, name, address] = /^(kiosk|emulator|console) +(http:\S+)$/.exec(line) ?? [];
        if (name !== undefined && address !== undefined) pages.set(name, address);
        const [, person, word] = /^ +sign in as (\S+) with (\S+)$/.exec(line) ?? [];
        if (person !== undefined && word !== undefined) login = { name: person, password: word };
        if (pages.size === 3 && login !== null) break;
      }
      const kiosk = pages.get('kiosk') ?? '';
      expect(await (await fetch(kiosk)).text()).toContain('<script type="module" src="/screen.js">');
      expect((await fetch(new URL('/screen.js', kiosk))).status).toBe(200);
      expect(await (await fetch(pages.get('emulator') ?? '')).text()).toContain('emulator');
      demo.stdout.resume();
      const console = pages.get('console') ?? '';
      const entry = await fetch(`${console}/api/sign-in`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Origin: console },
        body: JSON.stringify(login),
      });
      expect(entry.status).toBe(200);
      const headers = { Cookie: entry.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
      const statuses = async (): Promise<string[]> => {
        const answer = await fetch(`${console}/api/devices`, { headers });
        const { rows } = (await answer.json()) as { rows: { device: string; status: string }[] };
        return rows.map(({ device, status }) => `${device} ${status}`);
      };
      // Problems first.
      await expect
        .poll(statuses)
        .toEqual(['demo/kiosk-03 degraded', 'demo/kiosk-02 idle', 'demo/kiosk-01 ready']);
    } finally {
      demo.kill('SIGINT');
    }
    expect(await exited).toEqual([0, null]);
  });
});
