import { describe, expect, it } from 'vitest';
import {
  type BackendAnswer,
  judgeBackend,
} from '../../../../../src/device/doctor/checks/backend/backend-rules.ts';

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
