import { describe, expect, it } from 'vitest';
import {
  type BackendAnswer,
  judgeBackend,
} from '../../../../src/device/doctor/checks/backend/backend-rules.ts';
import { judgeClock } from '../../../../src/device/doctor/checks/clock/clock-rules.ts';
import {
  type CertificateFacts,
  judgeCertificate,
  judgeOwnCertificate,
} from '../../../../src/device/doctor/network/certificate-rules.ts';
import {
  judgeReach,
  judgeUpgrade,
  type ReachFacts,
} from '../../../../src/device/doctor/network/reach-rules.ts';
import { asWall, type WallMs } from '../../../../src/protocol/time.ts';

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

  it('is also checked when it is the device’s own', () => {
    const own = (days: number, more = {}) => ({
      validTo: NOW + days * DAY_MS,
      isRenewed: false,
      isAsked: false,
      ...more,
    });
    const verdicts = [90, 5, -1].map((days) => judgeOwnCertificate(own(days), NOW).verdict);
    expect(verdicts).toEqual(['ok', 'warning', 'problem']);
    expect(judgeOwnCertificate(own(0), null).verdict).toBe('ok');
    expect(judgeOwnCertificate(own(5), NOW)).toMatchObject({
      finding: expect.stringContaining('in mqtt.certFile ends on'),
      fix: expect.stringContaining('store it as the file in mqtt.certFile'),
    });
    expect(judgeOwnCertificate(own(5, { isRenewed: true, isAsked: true }), NOW)).toMatchObject({
      finding: expect.stringMatching(/^the renewed client certificate ends .* the next one is requested$/),
      fix: expect.stringContaining('devices renew'),
    });
  });
});

describe('the way to a server', () => {
  const judge = (more: Partial<ReachFacts>, proxy: string | null = null) =>
    judgeReach(
      {
        host: 'broker.example',
        port: 8883,
        addresses: ['10.0.0.1'],
        address: '10.0.0.1',
        unanswered: [],
        failure: null,
        connectMs: 12.4,
        certificate: null,
        ...more,
      },
      { who: 'the broker', addressFrom: 'mqtt.url', caKey: 'mqtt.caFile', wall: NOW, proxy },
    );
  it('is ok when the server is reached, and names the family of the address', () => {
    expect(judge({})).toMatchObject({
      verdict: 'ok',
      finding: 'broker.example:8883 reached over IPv4 (10.0.0.1) in 12 ms',
      data: { address: '10.0.0.1', family: 'IPv4' },
    });
    expect(judge({ address: 'fd00::1' }).finding).toContain('over IPv6 (fd00::1)');
    expect(judge({ host: '10.0.0.1' }).finding).toBe('10.0.0.1:8883 reached in 12 ms');
  });
  it('is ok when another address of the server has no route', () => {
    const unanswered = [{ address: 'fd00::1', code: 'ENETUNREACH' }];
    expect(judge({ unanswered })).toMatchObject({ verdict: 'ok', data: { unanswered } });
  });
  it('has a warning when another address of the server drops packets', () => {
    expect(judge({ unanswered: [{ address: 'fd00::1', code: 'TIMEOUT' }] })).toMatchObject({
      verdict: 'warning',
      finding: expect.stringMatching(/does not answer over IPv6 \(fd00::1\).*IPv4 \(10\.0\.0\.1\) works/),
      fix: expect.stringContaining('Repair IPv6 in this network'),
    });
    expect(judge({ unanswered: [{ address: '10.0.0.9', code: 'TIMEOUT' }] }).fix).toMatch(
      /^Remove 10\.0\.0\.9 from the addresses of broker\.example/,
    );
  });
  it.each<[NonNullable<ReachFacts['failure']>, RegExp, RegExp]>([
    [{ step: 'name', code: 'ENOTFOUND' }, /this name is unknown/, /mqtt\.url/],
    [{ step: 'name', code: 'EAI_AGAIN' }, /name server/, /network/],
    [{ step: 'name', code: 'EODD' }, /EODD/, /mqtt\.url/],
    [{ step: 'connection', code: 'ECONNREFUSED' }, /nothing listens/, /port/],
    [{ step: 'connection', code: 'TIMEOUT' }, /no answer/, /firewall/],
    [{ step: 'connection', code: 'ENETUNREACH' }, /no network/, /cable/],
    [{ step: 'connection', code: 'EODD' }, /EODD/, /network/],
    [{ step: 'tls', code: 'CLIENT_CERTIFICATE' }, /our certificate/, /issued for this device/],
    [{ step: 'tls', code: 'UNUSABLE_PEM' }, /TLS files/, /belong together/],
    [{ step: 'tls', code: 'ECONNRESET' }, /fails at TLS/, /speaks TLS/],
    [{ step: 'tls', code: 'TIMEOUT' }, /does not answer the TLS handshake/, /speaks TLS/],
  ])('%j', (failure, finding, fix) => {
    expect(judge({ failure })).toMatchObject({
      verdict: 'problem',
      finding: expect.stringMatching(finding),
      fix: expect.stringMatching(fix),
    });
  });
  it.each(['ENOTFOUND', 'EAI_AGAIN'])('needs multicast DNS when a name in .local fails with %s', (code) => {
    const outcome = judge({ host: 'broker.local', failure: { step: 'name', code } });
    expect(outcome.fix).toMatch(/MulticastDNS=resolve.*libnss-mdns.*IP address.*mqtt\.url/);
    expect(outcome.fix).not.toContain('spelling');
  });
  it('names a proxy that is set and not used', () => {
    expect(judge({}, 'HTTPS_PROXY')).toMatchObject({
      verdict: 'ok',
      finding: expect.stringContaining('without the proxy of HTTPS_PROXY'),
      data: { proxy_ignored: 'HTTPS_PROXY' },
    });
    const failure = { step: 'connection', code: 'TIMEOUT' } as const;
    expect(judge({ failure }, 'https_proxy').fix).toContain(
      'https_proxy is set, but all connections are direct: let broker.example:8883 through the firewall',
    );
  });
  it('has a problem at a stream host that opens no streams', () => {
    const answers = [101, 401, 404, 500, 302, null].map(
      (status) => judgeUpgrade({ status, code: null, date: null }, 'h').verdict,
    );
    expect(answers).toEqual(['ok', 'ok', 'problem', 'warning', 'warning', 'problem']);
  });
});

describe('the clock', () => {
  const sight = (offsetMs: number, uncertaintyMs = 100) => ({ who: 'the backend', offsetMs, uncertaintyMs });
  it('is compared with other clocks, the most certain first', () => {
    expect(judgeClock(NOW, []).verdict).toBe('ok');
    expect(judgeClock(NOW, [sight(2000)]).verdict).toBe('ok');
    expect(judgeClock(NOW, [sight(-40_000)]).finding).toContain('40 s ahead of');
    expect(judgeClock(NOW, [sight(200_000, 500), sight(100, 10)]).verdict).toBe('ok');
    expect(judgeClock(NOW, [sight(40_000, 20_000)]).verdict).toBe('ok');
    expect(judgeClock(NOW, [sight(20 * 60_000)])).toMatchObject({
      verdict: 'problem',
      finding: expect.stringContaining('20 min behind'),
    });
    expect(judgeClock(NOW, [sight(5 * 3_600_000)]).finding).toContain('5 h behind');
    expect(judgeClock(NOW, [sight(400 * DAY_MS)]).finding).toContain('400 days behind');
    expect(judgeClock(null, [sight(0)]).verdict).toBe('problem');
    const far = asWall(Date.UTC(2101, 5, 1));
    expect(judgeClock(far, [])).toMatchObject({
      verdict: 'problem',
      finding: expect.stringContaining('2101'),
    });
    expect(judgeClock(far, [sight(0)]).verdict).toBe('ok');
  });
});

describe('the backend', () => {
  const denied = (code: string, final: boolean, retryAfterS: number | null = 9.2): BackendAnswer => ({
    kind: 'denied',
    code,
    detail: 'so it is',
    final,
    retryAfterS,
  });
  it.each<[BackendAnswer, string, RegExp]>([
    [{ kind: 'probed', session: 'deleted' }, 'ok', /issued in 80 ms and returned; no session is left/],
    [{ kind: 'probed', session: 'expires' }, 'ok', /its session will expire/],
    [{ kind: 'granted', windowS: 60 }, 'ok', /discarded; its session expires within 60 s/],
    [{ kind: 'granted', windowS: null }, 'ok', /expires soon/],
    [{ kind: 'malformed' }, 'problem', /neither a token nor a refusal/],
    [{ kind: 'silent', waitedS: 12 }, 'problem', /within 12 s/],
    [{ kind: 'unasked' }, 'problem', /does not let this device publish p\/token\/req/],
    [denied('device_not_allowed', true), 'problem', /so it is \(device_not_allowed\)/],
    [denied('balance', true), 'problem', /so it is \(balance\)/],
    [denied('too_many_requests', false), 'warning', /so it is/],
    [denied('backend_busy', false, null), 'warning', /so it is/],
    // Whatever the code is: a backend that others wrote has codes of its own.
    [denied('store_unavailable', false), 'warning', /so it is/],
    [denied('service_unavailable', false), 'warning', /so it is/],
    [denied('service_unauthorized', true), 'problem', /so it is/],
  ])('is judged by its answer %j', (answer, verdict, words) => {
    const outcome = judgeBackend(answer, 80, 'p/token/req');
    expect(outcome).toMatchObject({ verdict, finding: expect.stringMatching(words) });
    expect(outcome.fix === null).toBe(verdict === 'ok');
  });
});
