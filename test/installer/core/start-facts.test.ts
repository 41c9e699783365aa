import { describe, expect, it } from 'vitest';
import { readUnitStatus } from '../../../src/installer/core/agent-state.ts';
import { type Interface, judgeStart, type StartFacts } from '../../../src/installer/core/start-facts.ts';
import type { Finding } from '../../../src/protocol/mqtt/diagnose.ts';

const wire: Interface = { name: 'eth0', isWireless: false, hasLink: true, addresses: ['192.0.2.7'] };
const radio: Interface = { name: 'wlan0', isWireless: true, hasLink: false, addresses: [] };
const unplugged = { ...wire, hasLink: false, addresses: [] };

const finding = (
  check: Finding['check'],
  verdict: Finding['verdict'],
  data: Finding['data'] = {},
): Finding => ({
  check,
  lane: null,
  verdict,
  finding: `${check} is ${verdict}`,
  fix: verdict === 'ok' ? null : 'Fix it.',
  data,
});
const says = (text: string, active = 'active') =>
  readUnitStatus({ LoadState: 'loaded', ActiveState: active, SubState: 'running', StatusText: text });
const facts = (agent: StartFacts['agent'], more: Partial<StartFacts> = {}): StartFacts => ({
  agent,
  interfaces: [wire],
  wifi: null,
  isClockSet: true,
  findings: [],
  ...more,
});
const codes = (given: StartFacts): string => {
  const verdict = judgeStart(given);
  return verdict.kind === 'ready'
    ? 'ready'
    : verdict.troubles.map(({ code }) => code).join(' ') || verdict.kind;
};

const DEGRADED = 'degraded (no_broker): main acquiring, en to es; no broker: nothing listens there';

describe('the status of the agent', () => {
  it.each([
    [null, { kind: 'unknown' }],
    [{ LoadState: 'not-found', ActiveState: 'inactive' }, { kind: 'unknown' }],
    [{ LoadState: 'loaded', ActiveState: 'active', StatusText: '' }, { kind: 'starting' }],
    [{ LoadState: 'loaded', ActiveState: 'active' }, { kind: 'starting' }],
    [{ LoadState: 'loaded', ActiveState: 'activating' }, { kind: 'starting' }],
    [{ LoadState: 'loaded', ActiveState: 'activating', NRestarts: '2' }, { kind: 'starting' }],
    [
      {
        LoadState: 'loaded',
        ActiveState: 'activating',
        SubState: 'auto-restart',
        NRestarts: '3',
        Result: 'exit-code',
      },
      { kind: 'down', why: 'dragoman.service is activating (auto-restart), result exit-code' },
    ],
    [
      {
        LoadState: 'loaded',
        ActiveState: 'failed',
        SubState: 'failed',
        Result: 'oom-kill',
        StatusText: 'ready: x',
      },
      { kind: 'down', why: 'dragoman.service is failed (failed), result oom-kill' },
    ],
    [
      {
        LoadState: 'loaded',
        ActiveState: 'reloading',
        StatusText: 'ready: main live, en to es; broker connected',
      },
      {
        kind: 'says',
        status: 'ready',
        reasons: [],
        broker: 'connected',
        text: 'ready: main live, en to es; broker connected',
      },
    ],
    [
      { LoadState: 'loaded', ActiveState: 'active', StatusText: 'degraded (capture:lost, no_broker): x' },
      {
        kind: 'says',
        status: 'degraded',
        reasons: ['capture:lost', 'no_broker'],
        broker: 'unknown',
        text: 'degraded (capture:lost, no_broker): x',
      },
    ],
  ])('is read from the unit properties %j', (unit, state) => {
    expect(readUnitStatus(unit as Record<string, string> | null)).toEqual(state);
  });
});

describe('a start', () => {
  it.each<[string, string, Partial<StartFacts>]>([
    ['ready', 'ready: main live, en to es; broker connected', {}],
    ['ready', 'idle (closed): main idle, en to es; broker connected', { interfaces: [], isClockSet: false }],
    // There was no way to start it.
    ['not_yet', 'idle (stopped): main idle, en to es; broker not tried yet', {}],
    [
      'ready',
      'degraded (disk_problem:commands, config_problem:mqtt): main live, en to es; broker connected',
      {},
    ],
    ['ready', 'degraded (screen:EADDRINUSE, keys:left, certificate:2026-12-01): x; broker connected', {}],
    ['broker_refused', 'degraded (broker:mqtt.new): x; broker connected', {}],
    ['service_down', 'degraded (unreadable:main): x; broker connected', {}],
    ['not_yet', 'degraded (disk_problem:commands, x): main live, en to es; broker connected', {}],
    [
      'broker_unreachable',
      'idle (stopped): x; no broker: no answer',
      { findings: [finding('broker', 'problem')] },
    ],
    // The end of a long status line is cut off.
    ['ready', `ready: ${'lane live, en to es; '.repeat(20)}`.slice(0, 300), {}],
    ['service_down', 'degraded (config): lanes[0].source: must be a language', {}],
    ['no_network', DEGRADED, { interfaces: [unplugged] }],
    ['no_network', DEGRADED, { interfaces: [] }],
    ['no_address', DEGRADED, { interfaces: [{ ...wire, addresses: [] }, radio] }],
    ['wifi_password_wrong', DEGRADED, { interfaces: [unplugged, radio], wifi: 'password_wrong' }],
    ['wifi_not_found', DEGRADED, { interfaces: [radio], wifi: 'not_found' }],
    // A cable makes up for a wrong Wi-Fi password.
    ['broker_unreachable', DEGRADED, { wifi: 'password_wrong', interfaces: [wire, radio] }],
    ['clock_wrong', DEGRADED, { isClockSet: false }],
    ['clock_wrong', DEGRADED, { findings: [finding('clock', 'problem')] }],
    ['clock_wrong', DEGRADED, { findings: [finding('broker', 'problem', { certificate_begins: 'later' })] }],
    ['broker_unreachable', DEGRADED, { findings: [finding('broker', 'problem')] }],
    ['broker_refused', DEGRADED, { findings: [finding('broker', 'problem', { login: 'refused' })] }],
    ['broker_refused', DEGRADED, { findings: [finding('broker', 'warning', { login: 'refused' })] }],
    ['broker_unreachable', DEGRADED, { findings: [finding('broker', 'warning')] }],
    ['broker_refused', 'degraded (identity_conflict): x; broker connected', {}],
    ['broker_refused', 'degraded (not_subscribed:cmd): x; broker connected', {}],
    ['broker_refused', 'degraded (no_backend, not_published:token/req): x; broker connected', {}],
    ['backend_silent', 'degraded (no_backend, failing:network): x; broker connected', { interfaces: [] }],
    ['service_down', 'degraded (parked:insufficient_balance): x; broker connected', {}],
    ['no_microphone', 'degraded (capture:lost): x; broker connected', {}],
    ['no_loudspeaker', 'degraded (playback:main/lost): x; broker connected', {}],
    [
      'no_network no_microphone no_loudspeaker',
      'degraded (no_broker, capture:silent, playback:lost): x; no broker: none',
      { interfaces: [unplugged] },
    ],
  ])('is %s when the agent reports "%s" (%#)', (wanted, text, more) => {
    expect(codes(facts(says(text), more))).toBe(wanted);
  });

  it("is judged by the doctor's findings when no agent can be asked", () => {
    const unknown = (...findings: Finding[]) => codes(facts({ kind: 'unknown' }, { findings }));
    expect(unknown()).toBe('not_yet');
    expect(unknown(finding('broker', 'ok'), finding('backend', 'ok'), finding('capture', 'ok'))).toBe(
      'ready',
    );
    expect(unknown(finding('broker', 'ok'), finding('backend', 'problem'))).toBe('backend_silent');
    expect(unknown(finding('backend', 'ok'), finding('capture', 'problem'))).toBe('no_microphone');
    expect(unknown(finding('backend', 'ok'), finding('playback', 'problem'))).toBe('no_loudspeaker');
  });

  it('waits for an agent that starts, and reports one that does not', () => {
    expect(codes(facts({ kind: 'starting' }))).toBe('not_yet');
    expect(codes(facts({ kind: 'down', why: 'failed' }, { findings: [finding('capture', 'problem')] }))).toBe(
      'service_down no_microphone',
    );
  });

  it('quotes the source of a problem, and is certain only of a wrong password', () => {
    const one = (given: StartFacts) => {
      const verdict = judgeStart(given);
      return verdict.kind === 'ready' ? null : verdict.troubles[0];
    };
    expect(one(facts(says(DEGRADED), { findings: [finding('broker', 'problem')] }))).toEqual({
      code: 'broker_unreachable',
      detail: 'broker is problem. Fix it.',
      isCertain: false,
    });
    expect(one(facts(says(DEGRADED), { interfaces: [radio], wifi: 'password_wrong' }))).toMatchObject({
      isCertain: true,
    });
    expect(one(facts(says('degraded (config): x')))).toMatchObject({ isConfiguration: true });
  });
});
