/** A private mosquitto, and certificates for it. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../free-port.ts';

const MOSQUITTO = ['mosquitto', '/usr/sbin/mosquitto'];

/** The command of an installed mosquitto, or null. */
export function findMosquitto(): string | null {
  found.mosquitto ??= { command: MOSQUITTO.find((command) => isInstalled(command, '-h')) ?? null };
  return found.mosquitto.command;
}

export function findOpenssl(): boolean {
  found.openssl ??= isInstalled('openssl', 'version');
  return found.openssl;
}

/** Many files ask, and each answer starts a program. */
const found: { mosquitto?: { command: string | null }; openssl?: boolean } = {};
const isInstalled = (command: string, word: string): boolean =>
  spawnSync(command, [word]).error === undefined;

export interface Mosquitto {
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  /** Makes it write its store. */
  save(): void;
  /** Makes it read its rules again. */
  reload(): void;
  close(): Promise<void>;
}

/** Starts a mosquitto child on a free port. `lines` go into its configuration after the listener. */
export async function startMosquitto(
  command: string,
  lines: (folder: string) => readonly string[] = () => ['allow_anonymous true'],
): Promise<Mosquitto> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-mosquitto-'));
  const extra = lines(folder);
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const file = join(folder, 'mosquitto.conf');
    writeFileSync(file, ['persistence false', `listener ${port} 127.0.0.1`, ...extra, ''].join('\n'));
    const child = spawn(command, ['-c', file], { stdio: 'ignore' });
    if (await answers(port, child)) {
      return {
        url: `mqtt://127.0.0.1:${port}`,
        port,
        folder,
        save: () => void child.kill('SIGUSR1'),
        reload: () => void child.kill('SIGHUP'),
        close: () => stop(child, folder),
      };
    }
    if (attempt === 5) throw new Error('mosquitto does not start');
  }
}

async function answers(port: number, child: ChildProcess): Promise<boolean> {
  for (let tries = 0; tries < 3000 && child.exitCode === null; tries += 1) {
    const reached = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (reached) return true;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  child.kill();
  return false;
}

async function stop(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null) {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill();
    await gone;
  }
  rmSync(folder, { recursive: true, force: true });
}

/** Makes a throw-away authority with a server and a client certificate in `folder`; paths by name. */
export function makeCertificates(folder: string): Record<'ca' | 'otherCa' | 'server' | 'client', PemPair> {
  const openssl = (...args: string[]): void => {
    execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  };
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const authority = (name: string): void =>
    openssl(
      'req',
      '-x509',
      ...newKey,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.crt`,
      '-days',
      '2',
      '-subj',
      `/CN=${name}`,
    );
  const signed = (name: string, extension: string): void => {
    writeFileSync(join(folder, `${name}.ext`), extension);
    openssl(
      'req',
      '-new',
      ...newKey,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.csr`,
      '-subj',
      `/CN=${name}`,
    );
    const by = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial'];
    openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      ...by,
      '-out',
      `${name}.crt`,
      '-days',
      '2',
      '-extfile',
      `${name}.ext`,
    );
  };
  authority('ca');
  authority('other-ca');
  signed('server', 'subjectAltName=IP:127.0.0.1\n');
  signed('client', 'extendedKeyUsage=clientAuth\n');
  const pair = (name: string): PemPair => ({
    crt: join(folder, `${name}.crt`),
    key: join(folder, `${name}.key`),
  });
  return { ca: pair('ca'), otherCa: pair('other-ca'), server: pair('server'), client: pair('client') };
}

export interface PemPair {
  readonly crt: string;
  readonly key: string;
}
