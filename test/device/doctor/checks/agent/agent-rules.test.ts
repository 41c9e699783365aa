import { describe, expect, it } from 'vitest';
import { type AgentFacts, judgeAgent } from '../../../../../src/device/doctor/checks/agent/agent-rules.ts';

const judge = (facts: Partial<AgentFacts>) =>
  judgeAgent(
    {
      version: '1',
      status: 'degraded',
      reasons: [],
      broker: true,
      problem: null,
      differing: [],
      ...facts,
    },
    12,
    '1',
  );

describe('a running agent', () => {
  it('is well when it is ready, or deliberately does not listen', () => {
    expect(judge({ status: 'ready' })).toMatchObject({
      verdict: 'ok',
      finding: 'the running agent (process 12) is ready',
    });
    for (const reason of ['muted', 'closed', 'stopped', 'stopped:desk'])
      expect(judge({ status: 'idle', reasons: [reason] }).verdict).toBe('ok');
  });

  it('has a problem for each of its reasons', () => {
    const outcome = judge({ reasons: ['capture:main/lost', 'muted', 'no_broker', 'from_the_future:x'] });
    expect(outcome.verdict).toBe('problem');
    for (const reason of ['capture:main/lost', 'no_broker', 'from_the_future:x'])
      expect(outcome.finding).toContain(`"${reason}": `);
    expect(outcome.finding).not.toContain('"muted"');
    expect(judge({ reasons: ['capture:a/lost', 'capture:b/deaf'] }).finding).toMatch(
      /reports "capture:a\/lost", "capture:b\/deaf": The microphone is [^"]*\.$/,
    );
    expect(outcome.data).toMatchObject({ status: 'degraded', agent: 12 });
  });

  it('has a problem when it is not connected, although its lanes are well', () => {
    expect(judge({ status: 'ready', broker: 'mqtt://b refused' })).toMatchObject({
      verdict: 'problem',
      finding: 'the running agent (process 12) has no connection to the broker: mqtt://b refused',
    });
  });

  it('has a problem when its configuration cannot be used', () => {
    expect(judge({ reasons: ['config:mqtt'], problem: 'mqtt.caFile: EACCES' }).finding).toBe(
      'the running agent (process 12) cannot use its configuration: mqtt.caFile: EACCES',
    );
  });

  it('is to be reloaded when only its last reload has failed', () => {
    expect(judge({ reasons: ['config_problem:lanes[0].source'] }).fix).toContain('systemctl reload dragoman');
    expect(judge({ reasons: ['config_problem:mqtt', 'no_backend'] }).fix).toContain('docs/operate.md');
  });

  it('must be restarted when it runs with another configuration', () => {
    const outcome = judge({
      status: 'ready',
      reasons: ['restart_needed:lanes'],
      differing: ['lanes', 'log'],
    });
    expect(outcome).toMatchObject({
      verdict: 'problem',
      finding: 'the running agent (process 12) runs with another configuration: lanes, log',
      fix: expect.stringContaining('systemctl restart dragoman'),
    });
    expect(judge({ reasons: ['restart_needed:device'] }).finding).toContain('restart_needed:device');
  });

  it('causes a warning when it has another version, or says nothing', () => {
    expect(judge({ status: 'ready', version: '0' }).verdict).toBe('warning');
    expect(judgeAgent(null, 12, '1')).toMatchObject({
      verdict: 'warning',
      fix: expect.stringContaining('root'),
    });
  });
});
