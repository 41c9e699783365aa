import { spawn } from 'node:child_process';

/** Grace period before SIGKILL (milliseconds). */
const END_WITHIN_MS = 3000;

/** A browser that fills the screen: cage, a compositor for one program, and chromium in it. */
export interface Browser {
  /** Resolves with the reason when it has ended. */
  readonly ended: Promise<string>;
  /** Ends it with all its processes. */
  end(): Promise<void>;
}

/** @param folder a folder in memory, the only one to which the browser writes */
export function openBrowser(
  url: string,
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): Browser {
  // If this program is killed, cage ends as well, and chromium with its display.
  const [program = '', ...words] = ['setpriv', '--pdeathsig', 'KILL', ...browserWords(url, folder)];
  const child = spawn(program, words, {
    // A process group of its own, so that a chromium that hangs is ended, too.
    detached: true,
    stdio: ['inherit', 'inherit', 'inherit'],
    env: { ...env, HOME: folder, TMPDIR: folder, XDG_RUNTIME_DIR: folder },
  });
  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('exit', (code, signal) => resolve(`exit code ${code ?? signal}`));
  });
  const signalAll = (signal: 'SIGTERM' | 'SIGKILL'): void => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, signal);
    } catch {
      // The processes have ended already.
    }
  };
  return {
    ended,
    async end() {
      signalAll('SIGTERM');
      const timer = setTimeout(() => signalAll('SIGKILL'), END_WITHIN_MS);
      await ended;
      clearTimeout(timer);
      signalAll('SIGKILL');
    },
  };
}

/** The command line. */
export function browserWords(url: string, folder: string): string[] {
  return [
    'cage',
    '--',
    'chromium',
    '--kiosk',
    '--incognito',
    '--ozone-platform=wayland',
    `--user-data-dir=${folder}/profile`,
    '--password-store=basic',
    '--disable-breakpad',
    // Nothing but the page appears, whatever a visitor touches.
    '--no-first-run',
    '--noerrdialogs',
    '--disable-features=Translate',
    '--disable-pinch',
    '--overscroll-history-navigation=0',
    // The browser sends no requests of its own.
    '--disable-component-update',
    '--disable-background-networking',
    '--disable-sync',
    // Little memory: one page, which needs few objects.
    '--process-per-site',
    '--renderer-process-limit=1',
    '--js-flags=--max-old-space-size=64',
    url,
  ];
}
