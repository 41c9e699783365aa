import { describe, expect, it } from 'vitest';
import { judgeOwnCertificate } from '../../../../../src/device/doctor/checks/broker/own-certificate-rules.ts';
import { asWall } from '../../../../../src/protocol/common/time.ts';

const DAY_MS = 86_400_000;
const NOW = asWall(Date.UTC(2026, 0, 15));

describe('the client certificate of the device', () => {
  it('has a warning before it ends, and is a problem after that', () => {
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
