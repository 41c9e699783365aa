import { describe, expect, it } from 'vitest';
import { judgeUpgrade } from '../../../../../src/device/doctor/checks/stream/stream-rules.ts';

describe('a stream host', () => {
  it('is a problem when it opens no streams', () => {
    const answers = [101, 401, 404, 500, 302, null].map(
      (status) => judgeUpgrade({ status, code: null, date: null }, 'h').verdict,
    );
    expect(answers).toEqual(['ok', 'ok', 'problem', 'warning', 'warning', 'problem']);
  });

  it('has a warning when it redirects', () => {
    const judge = (location: string | null) =>
      judgeUpgrade({ status: 302, code: null, date: null, location }, 'h');
    expect(judge('https://other.example/')).toMatchObject({
      verdict: 'warning',
      finding: expect.stringMatching(/HTTP 302, which leads to https:\/\/other\.example\/$/),
      fix: expect.stringMatching(/^Redirects are not followed/),
    });
    expect(judge(null).fix).toMatch(/^Check streamUrl/);
  });
});
