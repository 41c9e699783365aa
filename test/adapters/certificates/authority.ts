/** A test authority: issues certificates of any kind and age with `openssl ca`, which shares no code with ours. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RUN_FOLDER } from '../../once-a-run.ts';

export const DAY_MS = 86_400_000;

export interface Issue {
  /** Wall-clock milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly subject?: string;
  readonly extensions?: readonly string[];
  /** Default: sha256. */
  readonly digest?: 'sha1';
}

export interface TestAuthority {
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
  /** Certifies the key of a request; uses the request's own name by default. */
  issue(request: string, issue: Issue): string;
  /** An authority below this one. */
  below(name: string): TestAuthority;
  close(): void;
}

const CLIENT = ['basicConstraints=critical,CA:FALSE', 'extendedKeyUsage=clientAuth'];
const AUTHORITY = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign,cRLSign'];
const FOR_LONG: Issue = { from: Date.UTC(2020, 0), to: Date.UTC(2049, 0), extensions: AUTHORITY };
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

export function createTestAuthority(name: string): TestAuthority {
  // Test files share the folder, and none knows when the last is done with it: the end of the run removes it.
  const folder = mkdtempSync(join(process.env[RUN_FOLDER] ?? tmpdir(), 'dragoman-ca-'));
  const openssl = (...args: string[]): void =>
    void execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  openssl('req', '-x509', ...NEW_KEY, '-keyout', 'ca.key', '-out', 'ca.crt', '-subj', `/CN=${name}`);
  openssl('req', '-new', '-key', 'ca.key', '-out', 'ca.csr', '-subj', `/CN=${name}`);
  const close = (): void => rmSync(folder, { recursive: true, force: true });
  const own = openAuthority(folder, close).issue(readFileSync(join(folder, 'ca.csr'), 'utf8'), FOR_LONG);
  writeFileSync(join(folder, 'ca.crt'), own);
  return openAuthority(folder, close);
}

/**
 * Opens an existing authority: `ca.key` and `ca.crt` in a folder.
 * @param scratch a folder for its records
 */
export function openTestAuthority(folder: string, scratch: string): TestAuthority {
  const copy = mkdtempSync(join(scratch, 'dragoman-ca-'));
  for (const file of ['ca.key', 'ca.crt']) writeFileSync(join(copy, file), readFileSync(join(folder, file)));
  return openAuthority(copy, () => {});
}

function openAuthority(folder: string, close: () => void): TestAuthority {
  const openssl = (...args: string[]): void =>
    void execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
  const write = (file: string, lines: readonly string[]): void =>
    writeFileSync(join(folder, file), `${lines.join('\n')}\n`);
  write('index.txt.attr', ['unique_subject = no']);
  writeFileSync(join(folder, 'index.txt'), '');
  write('ca.cnf', [
    '[ca]',
    'default_ca = own',
    '[own]',
    'database = index.txt',
    'new_certs_dir = .',
    'rand_serial = yes',
    'default_md = sha256',
    'policy = any',
    'copy_extensions = none',
    '[any]',
    'commonName = supplied',
    'organizationName = optional',
  ]);
  const issue: TestAuthority['issue'] = (request, { from, to, subject, extensions = CLIENT, digest }) => {
    write('in.csr', [request]);
    write('in.ext', extensions);
    const time = (wallMs: number): string =>
      `${new Date(wallMs).toISOString().replace(/\D/g, '').slice(0, 14)}Z`;
    openssl(
      'ca',
      '-batch',
      '-notext',
      '-config',
      'ca.cnf',
      '-cert',
      'ca.crt',
      '-keyfile',
      'ca.key',
      '-in',
      'in.csr',
      '-extfile',
      'in.ext',
      '-out',
      'out.crt',
      '-startdate',
      time(from),
      '-enddate',
      time(to),
      ...(subject === undefined ? [] : ['-subj', subject]),
      ...(digest === undefined ? [] : ['-md', digest]),
    );
    return read('out.crt');
  };
  return {
    certificate: read('ca.crt'),
    key: read('ca.key'),
    issue,
    below(name) {
      const lower = mkdtempSync(join(folder, 'below-'));
      const files = ['-keyout', join(lower, 'ca.key'), '-out', join(lower, 'ca.csr')];
      openssl('req', '-new', ...NEW_KEY, ...files, '-subj', `/CN=${name}`);
      const request = readFileSync(join(lower, 'ca.csr'), 'utf8');
      writeFileSync(join(lower, 'ca.crt'), issue(request, FOR_LONG));
      return openAuthority(lower, () => {});
    },
    close,
  };
}
