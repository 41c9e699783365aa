import { describe, expect, it } from 'vitest';
import { judgeReach, type ReachFacts } from '../../../../src/device/doctor/network/reach-rules.ts';
import { asWall } from '../../../../src/protocol/common/time.ts';

const NOW = asWall(Date.UTC(2026, 0, 15));

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
});
