import { describe, expect, it } from 'vitest';
import {
  type CertificateFacts,
  judgeCertificate,
} from '../../../../src/device/doctor/network/certificate-rules.ts';
import { asWall, type WallMs } from '../../../../src/protocol/common/time.ts';

const DAY_MS = 86_400_000;
const NOW = asWall(Date.UTC(2026, 0, 15));

describe('a certificate', () => {
  const facts = (more: Partial<CertificateFacts> = {}): CertificateFacts => ({
    names: ['DNS:broker.example'],
    issuer: 'Museum CA',
    distrust: null,
    validFrom: NOW - 10 * DAY_MS,
    validTo: NOW + 90 * DAY_MS,
    ...more,
  });
  const judge = (more: Partial<CertificateFacts>, wall: WallMs | null = NOW) =>
    judgeCertificate(facts(more), { host: 'broker.example', wall, caKey: 'mqtt.caFile' });

  it.each<[Partial<CertificateFacts>, string, RegExp]>([
    [{}, 'ok', /good until 2026-04-15 \(90 days\)/],
    [{ validTo: NOW + 21 * DAY_MS }, 'ok', /21 days/],
    [{ validTo: NOW + 20 * DAY_MS }, 'warning', /good only until 2026-02-04 \(20 days\)/],
    [{ distrust: 'CERT_HAS_EXPIRED', validTo: NOW - DAY_MS }, 'problem', /ended on 2026-01-14/],
    [{ distrust: 'CERT_NOT_YET_VALID', validFrom: NOW + DAY_MS }, 'problem', /not valid before 2026-01-16/],
    [{ distrust: 'ERR_TLS_CERT_ALTNAME_INVALID' }, 'problem', /is for DNS:broker\.example/],
    [{ distrust: 'ERR_TLS_CERT_ALTNAME_INVALID', names: [] }, 'problem', /is for no name/],
    [{ distrust: 'SELF_SIGNED_CERT_IN_CHAIN' }, 'problem', /issued by Museum CA/],
  ])('%j', (more, verdict, words) => {
    expect(judge(more)).toMatchObject({ verdict, finding: expect.stringMatching(words) });
  });

  it('can be trusted by itself when it is self-signed', () => {
    expect(judge({ distrust: 'DEPTH_ZERO_SELF_SIGNED_CERT' }).fix).toMatch(
      /mqtt\.caFile to a PEM file with this certificate/,
    );
  });

  it('is shown with its dates while the clock is not set, and the clock is named as the cause', () => {
    expect(judge({}, null)).toMatchObject({ verdict: 'ok', finding: expect.stringContaining('2026-04-15') });
    expect(judge({ distrust: 'CERT_NOT_YET_VALID' }, null).fix).toContain('clock is not set');
    expect(judge({ distrust: 'CERT_HAS_EXPIRED', validTo: Number.NaN }).finding).toContain('an unknown day');
  });
});
