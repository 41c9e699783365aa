import type { Act, Role } from './hostile.ts';
import { CHUNK_MS, type LaneHarness } from './lane-harness.ts';

function streamOf(lane: LaneHarness, who: Role): number {
  const { oldSession, nextStream } = lane.state;
  if (who === 'hearing') return lane.hearing?.id ?? nextStream - 1;
  if (who === 'oldSession') return oldSession?.stream.id ?? nextStream - 1;
  return nextStream - (who === 'newest' ? 1 : 3);
}

function requestOf(lane: LaneHarness, which: number): string {
  return lane.all('request_token').at(-1 - which)?.id ?? 'unheard-of';
}

type Answer = Extract<
  Act,
  {
    act:
      | 'grant'
      | 'unusable'
      | 'deny'
      | 'refused'
      | 'unreached'
      | 'ended'
      | 'service'
      | 'hear'
      | 'fault'
      | 'timer';
  }
>;

/** Performs the act. */
export function perform(lane: LaneHarness, act: Act): void {
  switch (act.act) {
    case 'pass':
      return lane.pass(act.ms);
    case 'stall':
      return lane.stall(act.ms);
    case 'speak':
      return lane.speak(act.chunks);
    case 'hush':
      return lane.hush(act.chunks);
    case 'burst':
      for (let i = act.chunks - 1; i >= 0; i--) lane.capture(act.voiced, lane.now - i * CHUNK_MS);
      return;
    case 'start':
      return lane.start();
    case 'stop':
      return lane.stop();
    case 'talk':
      lane.step({ type: 'conversation', conversation: { startedAt: 0, notice: null, endingAt: null } });
      return;
    case 'repeat':
      lane.step({ type: 'repeat', language: lane.state.options.targets[0] ?? 'es' });
      return;
    case 'say':
      return lane.say();
    case 'shutdown':
      return lane.shutdown();
    case 'defect':
      return lane.crash(['idle', 'draining'].includes(lane.phase) ? { type: 'start' } : undefined);
    case 'broke':
      lane.step({
        type: 'broke',
        stream: streamOf(lane, act.who),
        fault: act.fault,
        message: 'it broke',
      });
      return;
    case 'languages':
      return lane.options({ targets: [lane.state.options.targets[0] === 'es' ? 'fr' : 'es'] });
    case 'opened':
      lane.step({ type: 'opened', stream: streamOf(lane, act.who) });
      return;
    case 'pong':
    case 'congested':
    case 'drained':
      lane.step({ type: act.act, stream: streamOf(lane, act.who) });
      return;
    case 'voice':
      return lane.options({ start: lane.state.options.start === 'boot' ? 'voice' : 'boot' });
    case 'standby':
      return lane.options({ standbyAfterMs: act.ms });
    case 'hold':
      return lane.hold(act.hold);
    case 'understood':
      return lane.understands(act.sentence === null ? null : `${act.sentence}`, streamOf(lane, act.who));
    case 'mute':
      return lane.options({ muted: act.on });
    case 'broker':
      return lane.brokerIs(act.on);
    case 'pongs':
      lane.pongs = act.on;
      return;
    default:
      return performAnswer(lane, act);
  }
}

/** Performs an act of the backend, the service or a device. */
function performAnswer(lane: LaneHarness, act: Answer): void {
  switch (act.act) {
    case 'grant': {
      const fit =
        act.fit === 'intent' ? { intent: 'tts' } : act.fit === 'type' ? { connectionType: 'webrtc' } : {};
      const grant = lane.grantFor(requestOf(lane, act.which), {
        windowMs: act.windowMs,
        maxDurationMs: act.maxMs,
        ...fit,
      });
      lane.step({ type: 'granted', grant });
      return;
    }
    case 'unusable':
      lane.step({ type: 'unusable', id: requestOf(lane, act.which), message: 'no' });
      return;
    case 'deny': {
      const denial = { code: 'no', message: 'no', final: act.final, retryAfterMs: act.retryAfterMs };
      lane.step({ type: 'denied', id: requestOf(lane, act.which), denial });
      return;
    }
    case 'refused': {
      const { status, reason, retryAfterMs } = act;
      return lane.refuse(reason, { status, retryAfterMs }, streamOf(lane, act.who));
    }
    case 'unreached':
      lane.step({
        type: 'unreached',
        stream: streamOf(lane, act.who),
        spent: act.spent,
        message: 'no way',
      });
      return;
    case 'ended':
      return lane.end(act.how, { reason: act.reason }, streamOf(lane, act.who));
    case 'service':
      return lane.says(act.said, streamOf(lane, act.who));
    case 'hear':
      return lane.hear(
        act.sentence === null ? null : `${act.sentence}`,
        act.ms,
        act.last,
        streamOf(lane, act.who),
      );
    case 'fault':
      return lane.fault(act.device);
    case 'timer':
      lane.step({ type: 'timer', timer: act.timer });
  }
}
