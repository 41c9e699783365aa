import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { browserWords, openBrowser } from '../../../src/adapters/screen/browser.ts';

const LOADER = new URL('../../../scripts/import-typescript.mjs', import.meta.url).href;
const URL_OF_PAGE = 'http://127.0.0.1:8484';
let folder: string;
let env: Record<string, string>;

/** A cage that writes its process and that of a child, which ends at SIGKILL alone. */
const CAGE = `#!/bin/sh
sh -c 'trap "" TERM; while :; do sleep 1; done' &
trap "exit 0" TERM
echo "$HOME $XDG_RUNTIME_DIR $TMPDIR $*" > "$TEST_FOLDER/words"
echo "$$ $!" > "$TEST_FOLDER/pids.part"
mv "$TEST_FOLDER/pids.part" "$TEST_FOLDER/pids"
while :; do sleep 0.1; done
`;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-browser-'));
  writeFileSync(join(folder, 'cage'), CAGE);
  chmodSync(join(folder, 'cage'), 0o755);
  env = { PATH: `${folder}:${process.env['PATH']}`, TEST_FOLDER: folder };
});
afterEach(() => rmSync(folder, { recursive: true }));

async function pids(): Promise<number[]> {
  await expect.poll(() => existsSync(join(folder, 'pids'))).toBe(true);
  return readFileSync(join(folder, 'pids'), 'utf8').trim().split(' ').map(Number);
}

/** A zombie, which its parent has not buried, does not run. */
function runs(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

describe('the browser of the screen', () => {
  it('writes only to its folder, and has neither a debugging port nor a profile on the disk', async () => {
    const browser = openBrowser(URL_OF_PAGE, '/run/dragoman-screen', env);
    await pids();
    const words = readFileSync(join(folder, 'words'), 'utf8');
    expect(words).toMatch(/^(\/run\/dragoman-screen ){3}-- chromium --kiosk --incognito /);
    expect(words).toContain(' --user-data-dir=/run/dragoman-screen/profile ');
    expect(words.trim().endsWith(` ${URL_OF_PAGE}`)).toBe(true);
    expect(browserWords(URL_OF_PAGE, '/x').join(' ')).not.toMatch(/remote-debugging|no-sandbox/);
    await browser.end();
  });

  it('ends with all its processes, also those that ignore SIGTERM', async () => {
    const browser = openBrowser(URL_OF_PAGE, folder, env);
    const all = await pids();
    expect(all.map(runs)).toEqual([true, true]);
    await browser.end();
    await expect.poll(() => all.map(runs)).toEqual([false, false]);
    expect(await browser.ended).toBe('exit code 0');
  });

  it('says so when there is no cage', async () => {
    rmSync(join(folder, 'cage'));
    // Debian's cage may be installed here.
    symlinkSync('/usr/bin/setpriv', join(folder, 'setpriv'));
    const browser = openBrowser(URL_OF_PAGE, folder, { ...env, PATH: folder });
    expect(await browser.ended).toBe('exit code 127');
    await browser.end();
  });

  it('ends its cage when the program is killed', async () => {
    const script = `const { importTypeScript } = await import(process.env.LOADER);
      const { openBrowser } = await importTypeScript('src/adapters/screen/browser.ts');
      openBrowser('${URL_OF_PAGE}', process.env.TEST_FOLDER, process.env);
      setInterval(() => {}, 1000);`;
    const words = ['--input-type=module', '-e', script];
    const parent = spawn(process.execPath, words, { env: { ...env, LOADER } });
    const [cage = 0, child = 0] = await pids();
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    await expect.poll(() => runs(cage)).toBe(false);
    process.kill(child, 'SIGKILL');
  });
});
