/** Checks the file's certificates and keys: whether each is readable, whether they match, and how long they are valid. */
import { createPrivateKey, createPublicKey, type X509Certificate } from 'node:crypto';
import { infoOf, readCertificates } from '../adapters/certificates/inspect.ts';
import type { ProvisioningDocument } from '../protocol/provisioning.ts';
import type { ProvisioningProblem } from './core/outcome.ts';

export interface KeyCheck {
  readonly problems: readonly ProvisioningProblem[];
  readonly notes: readonly string[];
}

interface Found {
  readonly problems: ProvisioningProblem[];
  readonly notes: string[];
}

/**
 * @param keyNow PEM of the device's present private key; null: none
 * @param wall null while the clock is not set
 */
export function checkKeys(
  { caPem, certPem, keyPem, ownerKeysPem }: ProvisioningDocument,
  keyNow: string | null,
  wall: number | null,
): KeyCheck {
  const findings: Found = { problems: [], notes: [] };
  if (caPem !== undefined) checkCertificate(findings, 'caPem', caPem, wall);
  const own = certPem === undefined ? null : checkCertificate(findings, 'certPem', certPem, wall);
  if (own !== null) checkPair(findings, own, keyPem, keyNow);
  if (certPem === undefined && keyPem !== undefined)
    addProblem(findings, 'certPem', 'is missing: "keyPem" is useless without it', 'Add the certificate.');
  for (const [index, pem] of (ownerKeysPem ?? []).entries())
    checkOwnerKey(findings, `ownerKeysPem[${index}]`, pem);
  return findings;
}

function addProblem({ problems }: Found, field: string, message: string, fix: string): void {
  problems.push({ field, message, fix });
}

const AS_PEM = 'Copy it whole from its file, from "-----BEGIN" to "-----END", with each line break as \\n.';

/** The first certificate; null when it is unusable. */
function checkCertificate(
  found: Found,
  field: string,
  pem: string,
  wall: number | null,
): X509Certificate | null {
  if (/PRIVATE KEY-----/.test(pem)) {
    addProblem(found, field, 'holds a private key', 'Private keys belong only in "keyPem".');
    return null;
  }
  const [own] = readCertificates(pem) ?? [];
  if (own === undefined) {
    addProblem(found, field, 'holds no certificate that can be read', AS_PEM);
    return null;
  }
  const { validFrom, validTo } = infoOf(own);
  const name = own.subject.split('\n').at(-1)?.slice(0, 100) ?? '';
  if (wall !== null && validTo <= wall)
    addProblem(found, field, `expired on ${day(validTo)}, by this device's clock`, 'Have a new one issued.');
  else found.notes.push(`${field}: ${name}, valid until ${day(validTo)}.`);
  if (wall !== null && validFrom > wall)
    found.notes.push(`${field} is not valid before ${day(validFrom)}, by this device's clock.`);
  return own;
}

function day(wallMs: number): string {
  return new Date(wallMs).toISOString().slice(0, 10);
}

function checkPair(
  found: Found,
  certificate: X509Certificate,
  given: string | null | undefined,
  keyNow: string | null,
): void {
  const pem = given ?? keyNow;
  if (pem === null) {
    // A key that was removed from the file is requested by the plan, which knows whether the device has lost it.
    if (given === null) return;
    return addProblem(found, 'keyPem', 'is missing', 'Add the private key of "certPem".');
  }
  if (/ENCRYPTED/.test(pem))
    return addProblem(
      found,
      'keyPem',
      'is protected by a password',
      'Remove the password: "openssl pkey -in key.pem".',
    );
  try {
    if (certificate.checkPrivateKey(createPrivateKey(pem))) return;
  } catch {
    return addProblem(found, 'keyPem', 'holds no private key that can be read', AS_PEM);
  }
  const whose = typeof given === 'string' ? 'belongs' : 'is missing, and the one on this device belongs';
  addProblem(
    found,
    'keyPem',
    `${whose} to another certificate than "certPem"`,
    'Take both from the same folder.',
  );
}

function checkOwnerKey(findings: Found, field: string, pem: string): void {
  if (/PRIVATE KEY-----/.test(pem))
    return addProblem(
      findings,
      field,
      'is a private key, which belongs to the backend alone',
      'Write the public key.',
    );
  try {
    if (createPublicKey(pem).asymmetricKeyType === 'ed25519') return;
  } catch {
    return addProblem(findings, field, 'holds no public key that can be read', AS_PEM);
  }
  addProblem(findings, field, 'is not an Ed25519 key', '"dragoman-backend keys create" makes a pair.');
}
