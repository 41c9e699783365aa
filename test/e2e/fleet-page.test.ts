/** Runs each command of docs/fleet.md, "From no broker to twenty kiosks", in a new folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, constants, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findMosquitto, findOpenssl } from '../adapters/mqtt/mosquitto.ts';
import { placeBundles } from '../bundles.ts';
import { freePort } from '../free-port.ts';
import { needs } from '../needs.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MARK = 'tried by a test:';
const [, section = ''] = readFileSync(`${ROOT}docs/fleet.md`, 'utf8').split(`<!-- ${MARK} from here -->`);
const [tried = ''] = section.split(`<!-- ${MARK} to here -->`);
const blocks = [...tried.matchAll(/```sh\n(.*?)```/gs)].map(([, text = '']) => text);
const missing = findMosquitto() === null || !findOpenssl();

/** Waits until three kiosks are ready; a reader of the page would be slower. Each check starts a program. */
const WAIT = `
for i in {1..150}; do
  sleep 2
  XDG_CONFIG_HOME=$PWD/waiting; export XDG_CONFIG_HOME
  mkdir -p waiting; [ -e waiting/dragoman ] || cp -r museum/logins/otto waiting/dragoman
  [ "$(node dist/dragoman.mjs ctl --all status --json 2>/dev/null | grep -c '"ready"')" -ge 3 ] && break
done
`;
/** Waits until the third kiosk is back, and checks that it is the new board. */
const WAIT_BOARD = `
boots() { node dist/dragoman.mjs ctl kiosk-03 status --json 2>/dev/null | grep -o '"boot_id":"[^"]*"'; }
for i in {1..150}; do
  sleep 2
  now=$(boots) && [ -n "$now" ] && [ "$now" != "$before" ] && { echo "kiosk-03 ready new board"; break; }
done
sleep 3
[ "$(boots)" = "$now" ]
`;
/** What Debian gives an ordinary user. */
const PLAIN_PATH = '/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games';
/** The user and group "nobody" of Debian. */
const ORDINARY = 65_534;

describe(
  missing ? 'the page: mosquitto or openssl is not installed' : 'the page',
  needs(missing && 'needs mosquitto, openssl'),
  () => {
    let folder: string;
    let child: ChildProcess | null = null;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'dragoman-fleet-'));
      await placeBundles(join(folder, 'dist'));
      mkdirSync(join(folder, 'bin'));
      // The folder of this Node may be closed to other users.
      cpSync(process.execPath, join(folder, 'bin/node'), { mode: constants.COPYFILE_FICLONE });
      if (process.getuid?.() === 0)
        for (const path of ['.', 'bin']) chownSync(join(folder, path), ORDINARY, ORDINARY);
    });
    afterAll(() => {
      if (child?.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    });

    it('works, from an empty machine to kiosks that execute commands', async () => {
      expect(blocks).toHaveLength(6);
      const ports = [await freePort(), await freePort(), await freePort()].map(String);
      const [emulator = '', devices = '', people = ''] = ports;
      const commands = blocks.map((text) =>
        text
          .replaceAll('8080', emulator)
          .replace('--tenant museum', `--tenant museum --device-port ${devices} --people-port ${people}`),
      );
      const [setUp = '', start = '', kiosks = '', otto = '', anna = '', board = ''] = commands;
      const script = [
        'set -euo pipefail',
        "trap 'trap - TERM; kill 0' EXIT",
        setUp,
        start,
        kiosks,
        WAIT,
        'echo "== otto"',
        otto,
        'echo "== anna"',
        anna,
        'echo "== board"',
        'before=$(node dist/dragoman.mjs ctl kiosk-03 status --json | grep -o \'"boot_id":"[^"]*"\')',
        board,
        WAIT_BOARD,
        'echo "== done"',
        'cat *.log',
      ].join('\n');
      const said = await run(script, folder);
      const [before = '', ofOtto = '', ofAnna = '', ofBoard = ''] =
        said.out.split(/^== (?:otto|anna|board)$/m);
      expect(before.match(/^museum\/kiosk-\d\d {2}/gm)).toHaveLength(20);
      expect(ofOtto, said.all).toMatch(/kiosk-01 +ready/);
      expect(ofOtto.match(/^kiosk-0\d: ok: .*en to es, volume 60, echo off$/gm), said.all).toHaveLength(3);
      expect(ofOtto).toMatch(/^kiosk-02: ok: .*en to fr/m);
      expect(ofOtto).toMatch(/^kiosk-01: ok: .*muted/m);
      expect(ofOtto).toMatch(/^not Otto: [1-4]$/m);
      expect(ofAnna, said.all).toMatch(/^kiosk-03: version 1 is in force$/m);
      expect(ofAnna).toMatch(/^museum\/kiosk-20 {2}disabled {2}lobby$/m);
      // The new board in its first process; the old board still runs, but cannot log in.
      expect(ofBoard, said.all).toMatch(/^museum\/kiosk-03 {2}.*museum\.kiosk-03$/m);
      expect(ofBoard, said.all).toMatch(/^kiosk-03 ready new board$/m);
      expect(said.out).toMatch(/refused the connection: Not authorized/i);
      expect(said.out).toContain('== done');
    }, 480_000);

    const run = (script: string, cwd: string): Promise<{ out: string; all: string }> =>
      new Promise((resolve) => {
        const env = { PATH: `${join(cwd, 'bin')}:${PLAIN_PATH}`, HOME: cwd };
        const shell = spawn('bash', ['-c', script], {
          ...(process.getuid?.() === 0 && { uid: ORDINARY, gid: ORDINARY }),
          cwd,
          env,
          detached: true,
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        child = shell;
        let out = '';
        let err = '';
        shell.stdout.on('data', (part) => {
          out += String(part);
        });
        shell.stderr.on('data', (part) => {
          err += String(part);
        });
        // Its output may arrive after its end. A program that it left running would keep the pipes open.
        shell.once('exit', () => {
          const end = (): void => resolve({ out, all: `${out.slice(-6000)}\n${err.slice(-3000)}` });
          shell.once('close', end);
          setTimeout(end, 10_000).unref();
        });
      });
  },
);
