import type { LaneEvent, TimerName } from '../../../src/device/lane/state/lane-event.ts';
import type { LaneState } from '../../../src/device/lane/state/lane-state.ts';
import { hearingStream, phaseOf, setupOf, streamsOf } from '../../../src/device/lane/state/session-state.ts';
import { isTransition, type Phase } from '../../../src/protocol/phases.ts';
import { demand, type Step } from './demand.ts';
import { SoundLedger } from './sound-ledger.ts';
import { StreamLedger } from './stream-ledger.ts';

const HEARING: readonly Phase[] = [
  'standby',
  'acquiring',
  'connecting',
  'configuring',
  'live',
  'rolling',
  'waiting',
  'parked',
];
/** Timers that must be armed in each phase: without them the lane would stay there forever. */
const LIFELINES: Readonly<Record<Phase, readonly TimerName[]>> = {
  idle: [],
  // A voice wakes it.
  standby: [],
  acquiring: [],
  connecting: ['setup'],
  configuring: ['setup', 'poll'],
  live: ['pace', 'ping'],
  rolling: ['pace', 'ping'],
  draining: ['drain'],
  waiting: ['retry'],
  parked: ['retry'],
  restarting: ['retry'],
  closed: [],
};
/** Timers that must not be armed outside these phases. */
const HOMES: Readonly<Record<TimerName, readonly Phase[]>> = {
  token: ['acquiring', 'rolling'],
  retry: ['waiting', 'parked', 'restarting'],
  setup: ['connecting', 'configuring', 'rolling'],
  poll: ['configuring', 'live', 'rolling'],
  pace: ['live', 'rolling'],
  ping: ['configuring', 'live', 'rolling', 'draining'],
  silence: ['live', 'rolling'],
  stable: ['configuring', 'live', 'rolling'],
  drain: ['draining'],
  playout: HEARING,
  roll: ['configuring', 'live', 'rolling'],
  drainOld: HEARING,
  standby: ['live', 'rolling'],
  duck: HEARING,
  earcon: HEARING,
  warning: [...HEARING, 'draining'],
  closing: HEARING,
  saying: HEARING,
};

/** What must hold after every step of a lane, calculated from events and effects alone if possible. */
export class Ledger {
  private readonly streams = new StreamLedger();
  private readonly sound: SoundLedger;
  private capturing = false;
  /** Several chunks were captured at one moment: their times do not show their lengths. */
  private hadBurst = false;
  private capturedAt = Number.NEGATIVE_INFINITY;

  constructor(state: LaneState) {
    this.sound = new SoundLedger(state.settings);
  }

  check(step: Step): void {
    try {
      checkConservation(step);
      checkPhase(step);
      checkTimers(step);
      this.checkLosses(step);
      this.checkCapture(step);
      this.streams.check(step);
      this.sound.check(step);
    } catch (error) {
      const what = error instanceof Error ? error.message : String(error);
      throw new Error(
        `${what}\n  at ${step.now} ms, ${phaseOf(step.before.session)}, on ${describe(step.event)}`,
      );
    }
  }

  /** The reported times of lost speech cover all of it. */
  private checkLosses({ event, effects, state: { settings } }: Step): void {
    if (event.type === 'captured') {
      this.hadBurst ||= event.capturedAt - this.capturedAt < settings.chunkMs;
      this.capturedAt = event.capturedAt;
    }
    if (this.hadBurst) return;
    for (const effect of effects) {
      if (effect.type !== 'notify' || effect.kind !== 'speech_lost') continue;
      const { detail, times = {} } = effect;
      const lostMs = Number('lost_ms' in detail ? detail.lost_ms : Number.NaN);
      const { from = Number.NaN, to = Number.NaN } = times;
      demand(to - from >= lostMs - settings.chunkMs, `${lostMs} ms lost from ${from} to ${to}`);
    }
  }

  /** The microphone is open exactly while speech matters. */
  private checkCapture({ effects, state }: Step): void {
    for (const { type } of effects) {
      if (type === 'open_capture') {
        demand(!this.capturing, 'the microphone was opened twice');
        this.capturing = true;
      }
      if (type === 'close_capture') {
        demand(this.capturing, 'the microphone was closed twice');
        this.capturing = false;
      }
    }
    demand(this.capturing === HEARING.includes(phaseOf(state.session)), `microphone open: ${this.capturing}`);
  }
}

function checkConservation(step: Step): void {
  const { state } = step;
  const { captured, sent, silenced, trimmed, dropped, lost } = state.backlog.accounts;
  const held = state.backlog.chunks.length;
  demand(
    captured === sent + silenced + trimmed + dropped + held,
    `${captured} captured, but ${sent} sent + ${silenced} silenced + ${trimmed} trimmed + ${dropped} dropped + ${held} held`,
  );
  demand(lost <= dropped, `${lost} lost of ${dropped} dropped`);
  demand(captured === state.capturedCount, 'captured and capturedCount differ');
  checkFlow(step);
  const capacity = Math.floor(state.settings.backlogMs / state.settings.chunkMs);
  demand(held <= capacity, `${held} chunks held, ${capacity} allowed`);
  const seqs = state.backlog.chunks.map(({ seq }) => seq);
  demand(
    seqs.every((seq, i) => i === 0 || seq > (seqs[i - 1] ?? seq)),
    'held chunks out of order',
  );
}

/** No account decreases, except for what a broken stream gives back; and what was counted as sent was sent. */
function checkFlow({ before, state, effects }: Step): void {
  const old = before.backlog.accounts;
  for (const key of ['captured', 'trimmed', 'dropped', 'lost'] as const) {
    demand(state.backlog.accounts[key] >= old[key], `${key} went back`);
  }
  const { sent, silenced, lost } = state.backlog.accounts;
  const out = effects.filter((effect) => effect.type === 'send_audio' && effect.capturedAt !== null).length;
  const back = state.counts.takenBack - before.counts.takenBack;
  const missing = old.sent + old.silenced + out - back - sent - silenced;
  demand(
    back === 0 ||
      effects.some(({ type }) => type === 'close_stream') ||
      state.counts.saidAgain > before.counts.saidAgain,
    'chunks taken back from no stream',
  );
  if (missing === 0) return;
  // Speech without a result counts as lost when the stream ends, not before.
  const open = new Set(streamsOf(state).map(({ id }) => id));
  const hasEnded = streamsOf(before).some(({ id }) => !open.has(id));
  demand(hasEnded && missing > 0 && lost - old.lost >= missing, `${out} sent and ${back} back do not add up`);
}

function checkPhase({ before, state, effects, walks }: Step): void {
  for (const { from, to } of walks) demand(isTransition(from, to), `${from} went to ${to}`);
  const phase = phaseOf(state.session);
  const path = [phaseOf(before.session), ...walks.map(({ to }) => to)];
  demand(
    walks.every(({ from }, i) => from === path[i]) && path.at(-1) === phase,
    `the phase changed off the table: ${path.join(' > ')}, now ${phase}`,
  );
  const { wanted, hold, closing, ending, problem, reason } = state;
  const wants = HEARING.includes(phase) || phase === 'restarting';
  const mayRun = wanted && (hold === null || closing !== null);
  demand(mayRun === wants || phase === 'draining', `wanted is ${wanted} while ${phase}, hold ${hold}`);
  demand(closing === null || hold !== null, 'closing without a hold');
  const { saying } = state;
  demand(saying === null || streamsOf(state).some(({ id }) => id === saying.stream), 'a text for no stream');
  demand(
    hold === null || !effects.some(({ type }) => type === 'request_token'),
    'a token asked for in a hold',
  );
  demand(!(wanted && ending), 'wanted after the end');
  const isForced = problem !== null || reason === 'rollover';
  if (phase === 'waiting' || phase === 'parked') demand(isForced, `${phase} for no reason`);
  checkRoles(state);
  if (before.session.kind === 'closed') demand(effects.length === 0, 'something was done after the end');
}

/** Rules that the types do not express: the old session beside another, and the amount of memory. */
function checkRoles({ session, oldSession, settings }: LaneState): void {
  const phase = phaseOf(session);
  demand(oldSession === null || session.kind !== 'rolling', 'three streams');
  if (oldSession !== null) demand(HEARING.includes(phase), `an old session while ${phase}`);
  for (const { replay } of streamsOf({ session, oldSession })) {
    const size = new Set(replay.pieces.map(({ chunk }) => chunk.seq)).size;
    demand(size * settings.chunkMs <= settings.replayMs, `${size} chunks remembered as sent`);
  }
}

/** The timers that must be armed beside the phase's own. */
function lifelinesOf(state: LaneState, now: number): TimerName[] {
  const { session, oldSession, options, settings, brokerUp } = state;
  const [phase, stream, setup] = [phaseOf(session), hearingStream(session), setupOf(session)];
  const lines: TimerName[] = [];
  if (setup?.stage === 'acquiring' && brokerUp) lines.push('token');
  if (setup?.stage === 'connecting') lines.push('setup');
  if (setup?.stage === 'configuring') lines.push('setup', 'poll');
  if (oldSession !== null) lines.push('drainOld');
  if (state.closing !== null) lines.push('closing');
  if (state.saying !== null) lines.push('saying');
  if (stream === null || phase === 'draining') return lines;
  if (phase === 'configuring') lines.push('ping');
  const latestAt = (stream.limitAt ?? Number.NEGATIVE_INFINITY) - settings.rollLatestMs;
  if (now < latestAt) lines.push('roll');
  if (stream.taskStale) lines.push('poll');
  if (options.standbyAfterMs > 0 && phase !== 'configuring') lines.push('standby');
  return lines;
}

function checkTimers({ state, effects, now, timers }: Step): void {
  for (const effect of effects) {
    if (effect.type !== 'arm') continue;
    demand(Number.isFinite(effect.at), `timer ${effect.timer} armed at ${effect.at}`);
    demand(effect.at >= now, `timer ${effect.timer} armed ${now - effect.at} ms in the past`);
  }
  const phase = phaseOf(state.session);
  const setup = setupOf(state.session);
  for (const timer of [...LIFELINES[phase], ...lifelinesOf(state, now)]) {
    demand(timers.has(timer), `${phase} without ${timer}`);
  }
  for (const timer of timers.keys()) {
    demand(HOMES[timer].includes(phase), `timer ${timer} is armed while ${phase}`);
  }
  if (state.oldSession === null) demand(!timers.has('drainOld'), 'drainOld is armed without an old session');
  if (setup?.stage !== 'acquiring') demand(!timers.has('token'), 'token is armed for no request');
  if (setup?.stage === 'ready') demand(!timers.has('setup'), 'setup is armed for what is ready');
  for (const [timer, at] of Object.entries(state.timers)) {
    demand((timers.get(timer as TimerName) ?? null) === at, `the lane and the world differ about ${timer}`);
  }
}

function describe(event: LaneEvent): string {
  if (event.type === 'captured') return `captured (${event.capturedAt})`;
  if (event.type === 'service' && event.said.type === 'spoke') return `spoke on stream ${event.stream}`;
  return JSON.stringify(event);
}
