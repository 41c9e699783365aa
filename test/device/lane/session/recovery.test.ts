import { describe, expect, it } from 'vitest';
import { RECOVERY } from '../../../../src/device/lane/session/recovery.ts';
import { LANE_DEFAULTS } from '../../../../src/device/lane/state/lane-options.ts';
import { REFUSALS, type ServiceEvent } from '../../../../src/ports/stream.ts';
import type { Cause } from '../../../../src/protocol/mqtt/causes.ts';
import { finished, limit, refused, rejected, warned } from '../../../service-events.ts';
import { LaneHarness } from '../lane-harness.ts';

const says = (said: ServiceEvent) => (lane: LaneHarness) => lane.says(said);

/** Each cause of the table, in every form in which it can come, on an open stream. */
const ON_A_STREAM: readonly (readonly [string, Cause, (lane: LaneHarness) => void])[] = [
  ['a lost socket', 'network', (lane) => lane.end()],
  ['a normal close without a word before it', 'network', (lane) => lane.end('closed')],
  ['its end event', 'stream_ended', says(finished())],
  ['its longest duration', 'max_duration_reached', says(limit('max_duration'))],
  ['a revocation', 'session_revoked', says(limit('revoked'))],
  ['an error of the service', 'service_error', (lane) => lane.end('cut', { reason: 'service_error' })],
  [
    'a timeout that the close names',
    'service_timeout',
    (lane) => lane.end('cut', { reason: 'service_timeout' }),
  ],
  ['a refusal in a close', 'session_revoked', (lane) => lane.end('cut', { reason: 'session_revoked' })],
  ['a timeout', 'service_timeout', says(refused('service_timeout'))],
  ['a refusal in a message', 'session_already_used', says(refused('session_already_used'))],
  ['the limit of streams', 'session_limit_reached', says(refused('session_limit_reached'))],
];

describe('a live stream that ends', () => {
  it.each(ON_A_STREAM)('by %s is followed by another one (%s)', (_, cause, happen) => {
    const lane = new LaneHarness().goLive();
    lane.speak(10);
    happen(lane);
    const row = RECOVERY[cause];
    expect(lane.phase).toBe(row.patience === 'parked' ? 'parked' : 'waiting');
    expect(lane.state.problem?.code).toBe(cause);
    expect(lane.last('close_stream')).toMatchObject({ stream: 1, how: 'terminate' });
    const ended = lane.all('notify').find(({ kind }) => kind === 'session_ended');
    expect(ended?.detail).toEqual({ session: 'test-1...', cause, live_ms: 3200 });
    expect(lane.notes.at(-1)).toBe(row.event ?? 'session_ended');
    expect(lane.due('retry')).toBeLessThanOrEqual(row.patience === 'prompt' ? 1000 : 5000);

    lane.speak(2);
    lane.comeBack();
    expect(lane.all('request_token').at(-1)).toMatchObject({ reason: row.tokenReason });
    expect(lane.state.counts).toMatchObject({ sessions: 2, failures: 1 });
    lane.speak(20);
    expect(lane.accounts.lost).toBe(0);
    // All of it is replayed to the new stream: the old one had not spoken a word of it.
    expect(lane.state.counts.takenBack).toBe(10);
    expect(lane.accounts.sent + lane.accounts.held).toBe(32);
  });

  it('counts revocations, limits and rollovers', () => {
    const lane = new LaneHarness().goLive();
    lane.says(limit('revoked'));
    lane.comeBack();
    lane.says(limit('max_duration'));
    lane.comeBack();
    expect(lane.state.counts).toMatchObject({
      sessions: 3,
      revocations: 1,
      maxDurations: 1,
      rollovers: 1,
      failures: 2,
    });
    expect(lane.notes).toEqual([
      'session_started',
      'session_ended',
      'revoked',
      'session_started',
      'session_ended',
      'max_duration',
      'session_started',
      'rollover',
    ]);
    const started = lane.all('notify').filter(({ kind }) => kind === 'session_started');
    expect(started.map(({ detail }) => detail['reason'])).toEqual(['start', 'revoked', 'max_duration']);
  });

  it('in the middle of a word loses no part of the word', () => {
    const lane = new LaneHarness().goLive();
    lane.speak(7);
    lane.says(limit('revoked'));
    lane.speak(15);
    lane.comeBack();
    lane.speak(10);
    expect(lane.accounts).toMatchObject({ captured: 32, lost: 0, dropped: 0, trimmed: 0 });
    const places = lane.all('send_audio').map(({ capturedAt }) => capturedAt ?? 0);
    expect(places.slice(7)).toEqual(places.slice(7).toSorted((a, b) => a - b));
    expect(places.slice(7, 14)).toEqual(places.slice(0, 7));
    expect(lane.wire).not.toContain('f');
  });

  it('plays the received translation to its end', () => {
    const lane = new LaneHarness().goLive();
    lane.hear('a', 3000, true);
    lane.end();
    lane.pass(4000);
    const played = lane.all('play').reduce((sum, { pcm }) => sum + pcm.byteLength, 0);
    expect(played).toBe(3000 * 48);
    expect(lane.all('flush_playback')).toHaveLength(0);
  });

  it("shows the service's message to the operator", () => {
    const lane = new LaneHarness().goLive();
    lane.end('cut', { detail: '1006' });
    expect(lane.state.problem?.message).toBe('the service closed the stream (1006)');
    lane.comeBack();
    lane.end('cut', { detail: `4000, ${'a'.repeat(500)}` });
    expect(lane.state.problem?.message).toBe(`the service closed the stream (4000, ${'a'.repeat(120)})`);
  });
});

describe('an early message instead of a task', () => {
  it.each(REFUSALS)('with %s follows the table', (cause) => {
    const lane = new LaneHarness().goConfiguring();
    lane.says(refused(cause));
    expect(lane.state.problem?.code).toBe(cause);
    const { patience, promptTries } = RECOVERY[cause];
    expect(lane.phase).toBe(patience === 'parked' && promptTries === undefined ? 'parked' : 'waiting');
  });

  it("that names the balance parks the lane, with the service's message", () => {
    const lane = new LaneHarness().goConfiguring();
    lane.says(refused('insufficient_balance', { detail: 'INSUFFICIENT_BALANCE: top up first' }));
    expect(lane.phase).toBe('parked');
    expect(lane.state.problem).toMatchObject({
      code: 'insufficient_balance',
      message: 'the service says INSUFFICIENT_BALANCE: top up first',
    });
  });

  it.each(['new', 'known'])(
    'that calls a %s task invalid parks the lane only if a prompt retry fails the same way',
    (kind) => {
      const lane = new LaneHarness();
      const refuse = (phase: string): void => {
        lane.until(() => lane.phase === 'acquiring', 10_000);
        lane.grant();
        lane.open();
        lane.says(rejected(`not now ${'x'.repeat(300)}`));
        expect(lane.phase).toBe(phase);
        expect(lane.state.problem?.code).toBe('task_rejected');
        expect(lane.state.problem?.message).toHaveLength(200);
      };
      if (kind === 'known') lane.goLive().end();
      else lane.goAcquiring();
      refuse('waiting');
      refuse('parked');
      lane.comeBack();
      expect(lane.phase).toBe('live');
      lane.end();
      refuse('waiting');
    },
  );

  it('that calls the task invalid without an explanation has the same effect', () => {
    const lane = new LaneHarness().goConfiguring();
    lane.says(rejected());
    expect(lane.state.problem).toMatchObject({ code: 'task_rejected', message: 'the task is not valid' });
  });

  it('about something else is noted and does not end the attempt', () => {
    const lane = new LaneHarness().goConfiguring();
    lane.says(warned('error', { code: 'RATE_LIMIT_EXCEEDED', text: 'slower, please' }));
    expect(lane.phase).toBe('configuring');
    expect(lane.state.problem).toBeNull();
    expect(lane.state.warning).toEqual({
      code: 'service_rate_limit_exceeded',
      message: 'slower, please',
      at: lane.now,
    });
    lane.says(warned('error'));
    expect(lane.state.warning).toMatchObject({ code: 'service_error', message: 'no details' });
  });
});

describe('a lane that parks', () => {
  it('forgets a token left over from a failed rollover', () => {
    const lane = new LaneHarness().goRolling();
    lane.grant();
    lane.unreach(false);
    const { grant } = lane.lease ?? {};
    expect(grant).toBeDefined();
    lane.says(refused('insufficient_balance'), 1);
    expect(lane.phase).toBe('parked');
    expect(lane.lease).toBeNull();
    expect(lane.all('forget_grant').map((effect) => effect.grant)).toContain(grant?.id);
  });
});

describe('a black hole', () => {
  it('is detected when three pings in a row are not answered', () => {
    const lane = new LaneHarness().goLive();
    lane.pongs = false;
    const liveAt = lane.now;
    lane.until(() => lane.phase === 'waiting', 60_000);
    const { pingMs, pingsMissed } = LANE_DEFAULTS;
    expect(lane.now - liveAt).toBeGreaterThanOrEqual(pingMs * (pingsMissed + 1));
    expect(lane.now - liveAt).toBeLessThanOrEqual(pingMs * (pingsMissed + 1) + 10);
    expect(lane.all('ping')).toHaveLength(pingsMissed);
    expect(lane.state.problem?.code).toBe('unresponsive');
    lane.pongs = true;
    lane.comeBack();
    expect(lane.last('notify').detail).toMatchObject({ reason: 'network' });
  });

  it('is not assumed when only some answers are lost', () => {
    const lane = new LaneHarness().goLive();
    for (let i = 0; i < 6; i++) {
      lane.pongs = i % 3 === 2;
      lane.pass(LANE_DEFAULTS.pingMs);
    }
    expect(lane.phase).toBe('live');
    expect(lane.all('ping').length).toBeGreaterThanOrEqual(5);
  });
});

describe('failures in a row', () => {
  it('cause increasing waits, up to a minute', () => {
    const longest = new Map<number, number>();
    for (let seed = 0; seed < 60; seed++) {
      const lane = new LaneHarness({ seed: seed * 7919 }).goConnecting();
      for (let failures = 1; failures <= 9; failures++) {
        lane.unreach(true);
        expect(lane.state.failures).toBe(failures);
        longest.set(failures, Math.max(longest.get(failures) ?? 0, lane.due('retry')));
        lane.until(() => lane.phase === 'acquiring', 61_000);
        lane.grant();
      }
    }
    for (const [failures, wait] of longest) {
      const bound = Math.min(60_000, 1000 * 2 ** (failures - 1));
      expect(wait).toBeLessThanOrEqual(bound);
      expect(wait).toBeGreaterThan(bound * 0.85);
    }
  });

  it('are forgotten after a stable minute, not before', () => {
    const lane = new LaneHarness().goConnecting();
    lane.unreach(true);
    lane.comeBack();
    lane.pass(LANE_DEFAULTS.stableMs - 1);
    expect(lane.state.failures).toBe(1);
    lane.pass(1);
    expect(lane.state.failures).toBe(0);
  });

  it('are not forgotten when streams are live only briefly', () => {
    const lane = new LaneHarness().goLive();
    for (let i = 1; i <= 4; i++) {
      lane.pass(LANE_DEFAULTS.stableMs - 5000);
      lane.end();
      expect(lane.state.failures).toBe(i);
      lane.comeBack();
    }
  });

  it('are forgotten when the lane is started again', () => {
    const lane = new LaneHarness().goParked();
    lane.stop();
    lane.start();
    expect(lane.state).toMatchObject({ failures: 0, problem: null, reason: 'start' });
  });
});
