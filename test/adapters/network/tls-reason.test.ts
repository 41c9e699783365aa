import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { expect, it } from 'vitest';
import {
  describeTlsCode,
  isAboutOwnFiles,
  isDistrust,
  isOurCertificateRefused,
  tlsReason,
} from '../../../src/adapters/network/tls-reason.ts';

const error = (code: string, message: string): Error => Object.assign(new Error(message), { code });
const QUEUE =
  '80CC:error:0A000412:SSL routines:ssl3_read_bytes:sslv3 alert bad certificate:../deps/x.c:1:SSL\n';

it.each([
  [error('EPROTO', `write EPROTO ${QUEUE}`), 'sslv3 alert bad certificate'],
  [error('ERR_SSL_CA_MD_TOO_WEAK', 'error:0A00018E:SSL routines::ca md too weak'), 'ca md too weak'],
  [error('UNSPECIFIED', 'CA certificate key too weak'), 'CA certificate key too weak'],
  [
    error('SELF_SIGNED_CERT_IN_CHAIN', 'self-signed certificate; try running Node.js with --use-system-ca'),
    'self-signed certificate',
  ],
  [error('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:1'), null],
  [error('EPROTO', 'write EPROTO'), null],
  ['no error', null],
])('reads the reason of OpenSSL from %s', (given, reason) => {
  expect(tlsReason(given)).toBe(reason);
});

it('reads the names of a certificate that is for another host', () => {
  const certificate = { subject: { CN: 'a' }, subjectaltname: 'DNS:other.example' } as PeerCertificate;
  const reason = tlsReason(checkServerIdentity('broker.example', certificate));
  expect(reason).toMatch(/broker\.example\.? is not in the cert's altnames: DNS:other\.example/);
});

it.each([
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', null, true],
  ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', null, true],
  ['EPROTO', 'sslv3 alert bad certificate', true],
  ['EPROTO', 'tlsv1 alert protocol version', false],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate', false],
])('tells whether our certificate is refused by %s, %s', (code, reason, is) => {
  expect(isOurCertificateRefused(code, reason)).toBe(is);
});

it.each([
  ['UNSPECIFIED', true, false],
  ['CERT_HAS_EXPIRED', true, false],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', true, false],
  ['ERR_TLS_CERT_ALTNAME_INVALID', true, false],
  ['ERR_OSSL_PEM_NO_START_LINE', false, true],
  ['ERR_SSL_EE_KEY_TOO_SMALL', false, true],
  ['ERR_SSL_DH_KEY_TOO_SMALL', false, false],
  ['ECONNRESET', false, false],
])('tells whose certificate %s is about', (code, theirs, ours) => {
  expect([isDistrust(code), isAboutOwnFiles(code)]).toEqual([theirs, ours]);
});

it('shows the code beside the reason when it says more', () => {
  expect(describeTlsCode('UNSPECIFIED', 'x')).toBe('x');
  expect(describeTlsCode('EPROTO', 'x')).toBe('x');
  expect(describeTlsCode('CERT_REVOKED', 'x')).toBe('x, CERT_REVOKED');
  expect(describeTlsCode('EPROTO', null)).toBe('EPROTO');
});
