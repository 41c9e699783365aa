import { describe, expect, it } from 'vitest';
import { day, faultOf, type OfferedFacts } from '../../../src/core/offered-certificate.ts';
import {
  type CertificateTrial,
  type ConnectionOutcome,
  NEW_TRIAL,
  noteConnection,
  renewalAt,
} from '../../../src/device/broker/certificate-renewal-rules.ts';

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 4, 4);
const SUBJECT = 'CN=museum.kiosk-01';

describe('the renewal of a certificate', () => {
  it('begins when two thirds of its life are over, spread over a twentieth of it', () => {
    const life = { validFrom: NOW, validTo: NOW + 300 * DAY };
    expect(renewalAt(life, 0)).toBe(NOW + 200 * DAY);
    expect(renewalAt(life, 1)).toBeCloseTo(NOW + 215 * DAY);
  });

  const present = { subject: SUBJECT, validFrom: NOW - 200 * DAY, validTo: NOW + 100 * DAY };
  const good: OfferedFacts = {
    subject: SUBJECT,
    validFrom: NOW,
    validTo: NOW + 300 * DAY,
    isForKey: true,
    isAuthority: false,
    isForClients: true,
    isTrusted: true,
  };

  it.each<[string, Partial<OfferedFacts>, RegExp | null]>([
    ['a good one', {}, null],
    ['one that begins within ten minutes, because clocks differ', { validFrom: NOW + 599_000 }, null],
    ['another key', { isForKey: false }, /another key/],
    [
      'another device',
      { subject: 'CN=museum.kiosk-02' },
      /"CN=museum.kiosk-02", not for "CN=museum.kiosk-01"/,
    ],
    ['an additional name', { subject: `O=Museum\n${SUBJECT}` }, /"O=Museum CN=museum.kiosk-01", not/],
    ['an authority', { isAuthority: true }, /an authority/],
    ['a server', { isForClients: false }, /clients/],
    ['an unknown authority', { isTrusted: false }, /mqtt.caFile/],
    ['one that has expired', { validTo: NOW }, /ended on 2026-05-04/],
    ['one that begins later', { validFrom: NOW + 601_000 }, /is not valid before 2026-05-04/],
    ['one that ends tomorrow', { validTo: NOW + DAY - 1 }, /ends on 2026-05-04, within a day/],
    ['one that ends sooner than the present one', { validTo: NOW + DAY }, null],
    ['one without an end', { validTo: Number.NaN }, /unknown day/],
    ['one without a beginning', { validFrom: Number.NaN }, /unknown day/],
  ])('%s', (_, change, expected) => {
    const fault = faultOf({ ...good, ...change }, present, NOW);
    if (expected === null) expect(fault).toBeNull();
    else expect(fault).toMatch(expected);
  });

  it('prints a date, and "an unknown day" for an invalid one', () => {
    expect([day(NOW), day(Number.NaN), day(9e15)]).toEqual([
      '2026-05-04',
      'an unknown day',
      'an unknown day',
    ]);
  });
});

describe('a new certificate on trial', () => {
  const run = (outcomes: readonly ConnectionOutcome[]) => {
    let trial: CertificateTrial = NEW_TRIAL;
    return outcomes.map((outcome) => {
      const used = trial.uses;
      const noted = noteConnection(trial, outcome);
      trial = noted.trial;
      return `${used} ${outcome}: ${noted.verdict}`;
    });
  };

  it('is adopted when a connection with it succeeds', () => {
    expect(run(['failed', 'up'])).toEqual(['new failed: open', 'new up: adopt']);
  });

  it('is dropped when the broker refuses it and accepts the present one', () => {
    expect(run(['refused', 'failed', 'up'])).toEqual([
      'new refused: open',
      'present failed: open',
      'present up: drop',
    ]);
  });

  it('alternates with the present one while neither connects, and is not dropped', () => {
    const outage = run(['failed', 'failed', 'failed', 'failed', 'failed', 'failed', 'failed', 'up']);
    expect(outage.slice(2)).toEqual([
      'new failed: open',
      'present failed: open',
      'present failed: open',
      'present failed: open',
      'new failed: open',
      'new up: adopt',
    ]);
    expect(run(['refused', 'refused', 'up']).at(-1)).toBe('new up: adopt');
  });

  it('is not dropped when only the line failed, and is tried at the next connection', () => {
    const cut = ['failed', 'failed', 'failed', 'up', 'failed', 'up'] as const;
    expect(run(cut).slice(3)).toEqual(['present up: open', 'new failed: open', 'new up: adopt']);
    expect(run(['failed', 'failed', 'failed', 'up', 'refused', 'up']).at(-1)).toBe('present up: drop');
  });
});
