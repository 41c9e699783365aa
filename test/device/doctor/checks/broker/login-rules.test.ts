import { describe, expect, it } from 'vitest';
import { explainHttpAnswer } from '../../../../../src/core/network/http-answer.ts';
import {
  isAgentsAlone,
  judgeLogin,
  type LoginFacts,
} from '../../../../../src/device/doctor/checks/broker/login-rules.ts';

const NAMES = { username: 'kiosk', passwordFile: '/etc/dragoman/password', certFile: null };
const judge = (facts: LoginFacts, isExposed = false, names = {}) =>
  judgeLogin(facts, { clientId: 'museum.kiosk-01', isExposed, names: { ...NAMES, ...names } });
const done: LoginFacts = { ok: true, protocol: 4, subscriptions: 3, as: 'agent', limits: [] };
const failed = (more: Partial<Extract<LoginFacts, { ok: false }>> = {}): LoginFacts => ({
  ok: false,
  refused: true,
  message: 'mqtt://b refused the connection',
  agent: 'absent',
  ...more,
});

describe('the login', () => {
  it('is reported with its version', () => {
    expect(judge(done)).toMatchObject({
      verdict: 'ok',
      finding: 'the running agent is logged in (MQTT 3.1.1), 3 subscriptions granted',
    });
    expect(judge(done, true)).toMatchObject({
      verdict: 'warning',
      fix: expect.stringContaining('mqtts://'),
    });
  });

  it('names the server of HTTP that answers, and what to do there', () => {
    const message = explainHttpAnswer('wss://b/mqtt', 502, 'HTTP 502 (Bad Gateway)');
    expect(judge(failed({ refused: false, message }))).toMatchObject({
      verdict: 'problem',
      finding: 'wss://b/mqtt answered with HTTP 502 (Bad Gateway) in place of a WebSocket',
      fix: expect.stringMatching(/^The proxy does not reach the broker: .*\.$/),
    });
  });

  it('causes a warning when the broker allows less', () => {
    expect(judge({ ...done, limits: ['retain', 'qos'] })).toMatchObject({
      verdict: 'warning',
      finding: expect.stringMatching(/no retained messages.*QoS 0 only/),
      fix: expect.stringMatching(/retain_available.*max_qos/),
      data: { limits: ['retain', 'qos'] },
    });
  });

  it.each<[number, RegExp]>([
    [1, /knows MQTT 5 or 3\.1\.1/],
    [0x84, /knows MQTT 5 or 3\.1\.1/],
    [4, /user "kiosk".*password in \/etc\/dragoman\/password \(mqtt\.passwordFile\)\.$/],
    [5, /user "kiosk".*allow this user/],
    [0x80, /broker's log/],
    [0x85, /client identifier/],
    [0x86, /user "kiosk".*password in \/etc\/dragoman\/password \(mqtt\.passwordFile\)\.$/],
    [0x87, /user "kiosk".*allow this user to connect and to publish its status/],
    [0x88, /load/],
    [0x8a, /banned/],
    [0x8c, /another kind of login/],
    [0x90, /mqtt\.prefix/],
    [0x95, /larger packets/],
    [0x97, /quota/],
    [0x9a, /retain_available/],
    [0x9b, /max_qos/],
    [0x9c, /mqtt\.url/],
    [0x9d, /mqtt\.url/],
    [0x9f, /load/],
  ])('is a problem with its cause when the broker refuses it with reason %i', (code, fix) => {
    for (const refused of [true, false])
      expect(judge(failed({ code, refused }))).toMatchObject({
        verdict: 'problem',
        fix: expect.stringMatching(fix),
      });
  });

  it('names what is not configured when the broker refuses it', () => {
    expect(judge(failed({ code: 0x87 }), false, { username: null, passwordFile: null }).fix).toMatch(
      /wants a login: set mqtt\.username/,
    );
    expect(judge(failed({ code: 0x87 }), false, { passwordFile: null }).fix).toMatch(
      /mqtt\.passwordFile, which is not set/,
    );
    expect(judge(failed({ code: 0x87 }), false, { certFile: '/c.pem' }).fix).toContain('/c.pem');
  });

  it('is a problem when a running agent is refused, too, or nothing is known of it', () => {
    for (const code of [4, 5, 0x86, 0x87]) {
      const fails = judge(failed({ code, agent: { fails: 'refused' } }));
      expect(fails).toMatchObject({ verdict: 'problem', fix: expect.stringContaining('password') });
      expect(fails.finding).toContain('the running agent has no connection either');
      expect(judge(failed({ code, agent: 'unknown' })).verdict).toBe('problem');
      expect(fails.finding + fails.fix).not.toMatch(/identifier/);
    }
  });

  it('is a warning when only the identifier of the doctor may be the reason', () => {
    expect(judge(failed({ code: 0x85, agent: 'connected' })).verdict).toBe('warning');
    // Nothing is known to work.
    expect(judge(failed({ code: 0x85, agent: 'unknown' })).verdict).toBe('problem');
    expect(judge(failed({ code: 0x85, agent: { fails: 'refused' } })).verdict).toBe('problem');
    expect(judge(failed({ code: 0x87, agent: 'connected' }))).toMatchObject({
      verdict: 'warning',
      finding: expect.stringContaining('the agent itself, which is connected with the same login'),
      fix: expect.stringMatching(/"diagnose".*password/),
    });
    expect(judge(failed({ code: 0x86, agent: 'connected' })).verdict).toBe('problem');
  });

  it('lets the agent be asked when the broker allows one identifier for each login', () => {
    const alone = (more: Partial<Parameters<typeof failed>[0]>) =>
      isAgentsAlone(failed(more), { username: 'kiosk', passwordFile: '/p', certFile: null });
    expect(alone({ code: 0x87, agent: 'connected' })).toBe(true);
    expect(alone({ code: 5, agent: 'connected' })).toBe(true);
    expect(alone({ code: 0x85, agent: 'unknown' })).toBe(true);
    // The login in the file may be another one than the agent's.
    expect(alone({ code: 0x87, agent: 'unknown' })).toBe(false);
    expect(alone({ code: 0x86, agent: 'connected' })).toBe(false);
    expect(alone({ code: 0x85, agent: 'absent' })).toBe(false);
    expect(alone({ code: 0x85, agent: { fails: 'refused' } })).toBe(false);
    const topics = 'b does not allow us to subscribe to x';
    expect(alone({ code: 0x87, message: topics, agent: 'connected' })).toBe(false);
  });

  it('is a problem when there is no answer, or a topic is refused', () => {
    expect(judge(failed({ refused: false, message: 'no answer' })).fix).toContain("broker's log");
    const cut = 'mqtt://b:1883 closed the connection after our SUBSCRIBE to "a/+"';
    expect(judge(failed({ refused: false, message: cut }))).toMatchObject({
      verdict: 'problem',
      finding: cut,
      fix: expect.stringContaining('may forbid this packet'),
    });
    const topics = 'b does not allow us to subscribe to x';
    expect(judge(failed({ message: topics, agent: 'connected' }))).toMatchObject({
      verdict: 'problem',
      fix: expect.stringContaining('access list'),
    });
  });
});
