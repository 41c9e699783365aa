import { describe, expect, it } from 'vitest';
import { judgeUpgrade } from '../../../../../src/device/doctor/checks/stream/stream-rules.ts';

describe('a stream host', () => {
  it('is a problem when it opens no streams', () => {
    const answers = [101, 401, 404, 500, 302, null].map(
      (status) => judgeUpgrade({ status, code: null, date: null }, 'h').verdict,
    );
    expect(answers).toEqual(['ok', 'ok', 'problem', 'warning', 'warning', 'problem']);
  });
});
