/** The configured pair and its successors, kept in one file, so that key and certificate always match. */
import { createHash, type X509Certificate } from 'node:crypto';
import * as z from 'zod';
import { faultOf } from '../../core/offered-certificate.ts';
import type { CertificateInfo, DeviceCertificate } from '../../ports/certificate.ts';
import type { StateFile, StateFound } from '../../ports/state-file.ts';
import { parseJson } from '../../protocol/common/json.ts';
import { tlsRefusal } from '../config/pem.ts';
import { createRequest } from './certificate-request.ts';
import { infoOf, inspect, readCertificates } from './inspect.ts';

/** PEM. */
export interface Pair {
  readonly certificate: string;
  readonly key: string;
}

const pairSchema = z.object({ certificate: z.string(), key: z.string() });
/** A later release, which ran before a roll-back, may have written more fields. */
const keptSchema = z.object({
  format: z.literal(1),
  /** SHA-256 of the configured certificate: with another one, this whole record is void. */
  configured: z.string(),
  /** Null: the configured pair. */
  present: pairSchema.nullable(),
  successor: pairSchema.nullable(),
  request: z.object({ id: z.string(), csr: z.string(), key: z.string() }).nullable(),
});
type Kept = z.infer<typeof keptSchema>;
const DAMAGED = 'it is damaged';

export interface DeviceCertificateParts {
  readonly configured: Pair;
  /** PEM of the authorities that may issue a successor, read again each time. */
  readonly authorities: () => string;
  /** The common name: the client identifier. */
  readonly name: string;
  readonly file: StateFile;
}

/** The port `DeviceCertificate`, and the parts that the connection needs. */
export interface OpenedCertificate extends DeviceCertificate {
  /** The pair for the next connection. */
  pair(): Pair;
  /** Call it if the next connection uses another login. */
  hide(): void;
  /** Whether this is the configured certificate with which the store was opened. */
  isOf(pem: string): boolean;
  /** The path of the store. */
  readonly file: string;
  /** Why the stored state cannot be read; null: it was read, or there is none. */
  readonly unread: string | null;
  /** The store holds more than the configured pair. */
  readonly isKept: boolean;
  /** The present pair is not the configured one. */
  readonly isRenewed: boolean;
}

/** Null when the configured certificate cannot be read: the connection reports why. */
export function openDeviceCertificate(parts: DeviceCertificateParts): OpenedCertificate | null {
  const { configured, authorities, name, file } = parts;
  const own = readCertificates(configured.certificate)?.[0];
  if (own === undefined) return null;
  let kept = nothing(fingerprint(own));
  let unread: string | null = null;
  let uses: 'present' | 'new' = 'present';
  let shown: 'present' | 'new' | null = null;
  let writing: Promise<unknown> = Promise.resolve();

  const take = (found: StateFound): void => {
    const read = keptIn(found, kept.configured);
    unread = typeof read === 'string' ? read : null;
    // The unusable file may hold the only key of a certificate.
    if (unread !== null && found.kind === 'text') file.putAside?.();
    if (typeof read !== 'string') kept = read;
    uses = kept.successor === null ? 'present' : 'new';
  };
  const reading = file.read();
  if (reading.kind !== 'awaited') take(reading);
  else {
    if (reading.isOverdue) unread = 'the disk takes too long';
    // The next connection uses what was read. Nothing could be stored before the read, so it overwrites nothing newer.
    reading.whenFound(take);
  }

  /** Changes the state in memory at once, and then the file. */
  const keep = (changes: Partial<Kept>): Promise<string | null> => {
    kept = { ...kept, ...changes };
    const text = JSON.stringify(kept);
    const written = writing.then(() => file.write(text));
    writing = written;
    return written.then((result) => (result.ok ? null : result.message));
  };
  const present = (): Pair => kept.present ?? configured;

  return {
    get present() {
      return infoOfPair(present()) ?? infoOf(own);
    },
    get successor() {
      return kept.successor === null ? null : infoOfPair(kept.successor);
    },
    get request() {
      const { request } = kept;
      return request === null ? null : { id: request.id, csr: request.csr };
    },
    isOf: (pem) => pem === configured.certificate,
    file: file.name,
    get unread() {
      return unread;
    },
    get isKept() {
      return kept.present !== null || kept.successor !== null || kept.request !== null;
    },
    get isRenewed() {
      return kept.present !== null;
    },
    get shown() {
      return shown;
    },
    pair() {
      const next = uses === 'new' ? kept.successor : null;
      shown = next === null ? 'present' : 'new';
      return next ?? present();
    },
    hide() {
      shown = null;
    },
    use(which) {
      uses = which;
    },
    async draft(id) {
      const { key, request: csr } = createRequest(name);
      const problem = await keep({ request: { id, csr, key } });
      // A request that is not stored is unknown after a restart, so its answer would be useless.
      if (problem !== null) await keep({ request: null });
      return problem;
    },
    async offer(pem, wall) {
      const { request } = kept;
      if (request === null) return wrong('was not requested');
      const facts = inspect(pem, request.key, authorities(), wall);
      if (facts === null) return wrong('cannot be read: it must be PEM, the device certificate first');
      const fault = faultOf(facts, infoOfPair(present()) ?? infoOf(own), wall);
      if (fault !== null) return wrong(fault);
      const refusal = tlsRefusal(tidy(pem));
      if (refusal !== null) return wrong(`cannot be used for TLS (${refusal})`);
      const successor = { certificate: tidy(pem), key: request.key };
      const problem = await keep({ request: null, successor });
      if (problem === null) return { ok: true };
      await keep({ request, successor: null });
      return { ok: false, code: 'not_kept', message: `is valid, but cannot be stored: ${problem}` };
    },
    adopt() {
      uses = 'present';
      return kept.successor === null
        ? Promise.resolve(null)
        : keep({ present: kept.successor, successor: null });
    },
    drop() {
      uses = 'present';
      return keep({ successor: null });
    },
  };
}

function wrong(message: string) {
  return { ok: false, code: 'wrong_certificate', message } as const;
}

function nothing(configured: string): Kept {
  return { format: 1, configured, present: null, successor: null, request: null };
}

/** The stored state; a string is the reason why it cannot be read. */
function keptIn(found: StateFound, configured: string): Kept | string {
  if (found.kind === 'none') return nothing(configured);
  if (found.kind === 'unreadable') return found.why;
  const { success, data } = keptSchema.safeParse(parseJson(found.text));
  if (!success) return DAMAGED;
  if (data.configured !== configured) return nothing(configured);
  const isUsable = (pair: Pair | null): boolean => pair === null || infoOfPair(pair) !== null;
  return isUsable(data.present) && isUsable(data.successor) ? data : DAMAGED;
}

function infoOfPair({ certificate }: Pair): CertificateInfo | null {
  const [own] = readCertificates(certificate) ?? [];
  return own === undefined ? null : infoOf(own);
}

/** Keeps only the certificates: text between them would reach the TLS library. */
function tidy(pem: string): string {
  return (readCertificates(pem) ?? []).map(String).join('');
}

function fingerprint(certificate: X509Certificate): string {
  return createHash('sha256').update(certificate.raw).digest('hex');
}
