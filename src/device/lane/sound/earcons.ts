import type { Phase } from '../../../protocol/phases.ts';
import { type Earcon, synthesizeEarcon } from '../../../sound/earcon.ts';
import { BYTES_PER_SAMPLE } from '../../../sound/pcm.ts';
import { cutYielding, enqueueOwn, isPlaying, unsounded } from '../../playout/playout.ts';
import { ANSWER, OWN_STREAM, PROMPT } from '../../playout/sentences.ts';
import { isMuted } from '../state/lane-options.ts';
import type { LaneState } from '../state/lane-state.ts';
import { hearingStream, phaseOf } from '../state/session-state.ts';
import { NO_CHIMES } from '../state/state-parts.ts';
import type { StepContext } from '../state/step-context.ts';
import { feedLoudspeaker, silenceLoudspeaker } from './playback-rules.ts';

/** Time without a session (ms) before the chime `lost`: a shorter gap is hardly noticed. */
const MISSED_AFTER_MS = 2000;
/** Minimum interval between chimes about a session that comes and goes (ms). */
const SESSION_PAUSE_MS = 15_000;
const MUTE_PAUSE_MS = 500;
/** Pause of speech before a good-news chime (ms): half-duplex hears nothing while a chime sounds. */
const SILENT_FOR_MS = 1000;
/** Age at which a good-news chime is no longer played (ms). */
const GOOD_NEWS_MS = 10_000;

/** Phases in which a visitor expects nothing from the lane. */
const AT_REST: readonly Phase[] = ['idle', 'draining', 'restarting', 'closed'];
const UP: readonly Phase[] = ['live', 'rolling'];

function chime(context: StepContext, earcon: Earcon, about: 'session' | 'mute'): void {
  const { options, chimes } = context.state;
  context.set({ chimes: { ...chimes, [about === 'session' ? 'sessionAt' : 'muteAt']: context.now } });
  if (options.earcons) sound(context, earcon, about);
}

/** Plays a chime on request. It replaces a requested chime that still waits. */
export function playChime(context: StepContext, earcon: Earcon): void {
  sound(context, earcon, 'asked');
}

function sound(context: StepContext, earcon: Earcon, key: string): void {
  const { settings } = context.state;
  const rateHz = (settings.playoutBytesPerMs * 1000) / BYTES_PER_SAMPLE;
  sayOwn(context, key, synthesizeEarcon(earcon, rateHz));
}

/** Plays a chime that confirms a key press. It does not close the echo gate, because whoever pressed the key speaks at once. */
export function answerKey(context: StepContext, earcon: Earcon): void {
  sound(context, earcon, ANSWER);
}

/** Plays a sound of the device itself. It replaces an announcement that still waits. */
export function announce(context: StepContext, pcm: Uint8Array): void {
  sayOwn(context, 'announcement', pcm);
}

/** Speaks a sentence of the spoken menu in place of the one before; null: none. It is dropped while translated speech plays or waits. */
export function prompt(context: StepContext, pcm: Uint8Array | null): void {
  const { playout, settings } = context.state;
  const isPrompt = playout.utterances.every(({ stream, key }) => stream === OWN_STREAM && key === PROMPT);
  const speech = unsounded(playout, context.now, settings.playoutBytesPerMs);
  // Up to a second is written ahead, which a key must not wait for.
  if (isPrompt && speech.ms === 0 && isPlaying(playout, context.now)) silenceLoudspeaker(context);
  else context.set({ playout: cutYielding(playout) });
  if (pcm !== null && speech.ms === 0) sayOwn(context, PROMPT, pcm);
}

function sayOwn(context: StepContext, key: string, pcm: Uint8Array): void {
  context.set({ playout: enqueueOwn(context.state.playout, key, pcm, context.now) });
  feedLoudspeaker(context);
}

/** At the end of a step: plays chimes for changes that a listener should know. */
export function updateChimes(context: StepContext, before: LaneState): void {
  const { state } = context;
  if (AT_REST.includes(context.phase)) {
    if (phaseOf(before.session) !== context.phase) rest(context);
    return;
  }
  // A new session also sets `lastVoiceAt`.
  const isVoice =
    before.lastVoiceAt !== state.lastVoiceAt && before.counts.sessions === state.counts.sessions;
  if (isVoice) context.set({ chimes: { ...context.state.chimes, voiceAt: context.now } });
  if (context.state.chimes.muted !== isMuted(state.options)) chimeMute(context);
  followSession(context, before);
  chimeDue(context);
}

function followSession(context: StepContext, before: LaneState): void {
  if (phaseOf(before.session) === context.phase && before.failures === context.state.failures) return;
  if (UP.includes(context.phase)) noteUp(context);
  else if (isGone(context, before)) context.set({ chimes: { ...context.state.chimes, session: 'away' } });
  if (context.state.chimes.session === 'away' && context.state.timers.earcon === null) {
    const { sessionAt } = context.state.chimes;
    context.arm('earcon', Math.max(context.now + MISSED_AFTER_MS, sessionAt + SESSION_PAUSE_MS));
  }
}

function rest(context: StepContext): void {
  context.disarm('earcon');
  const { sessionAt, muteAt } = context.state.chimes;
  context.set({ chimes: { ...NO_CHIMES, sessionAt, muteAt } });
}

/** Whether a lane that was live has lost its session. Standby, and a rollover without room for two streams, do not count. */
function isGone({ state }: StepContext, before: LaneState): boolean {
  const { session, chimes, failures, oldSession } = state;
  if (!chimes.wasLive || chimes.session !== 'up') return false;
  if (session.kind === 'standby' || hearingStream(session) !== null || oldSession?.successorWaits === true)
    return false;
  return hearingStream(before.session) !== null || failures > before.failures;
}

function noteUp(context: StepContext): void {
  const { chimes } = context.state;
  context.disarm('earcon');
  const news: Earcon | null = chimes.session === 'signalled' ? 'recovered' : chimes.wasLive ? null : 'ready';
  const due = news === null ? chimes.due : { earcon: news, since: context.now };
  context.set({ chimes: { ...chimes, wasLive: true, session: 'up', due } });
}

/** Plays the waiting chime in a pause. Called at each step: three times a second while the microphone is open. */
function chimeDue(context: StepContext): void {
  const { chimes } = context.state;
  const { due, session, voiceAt } = chimes;
  if (due === null) return;
  const isStale = session !== 'up' || context.now - due.since > GOOD_NEWS_MS;
  if (!isStale && context.now - voiceAt < SILENT_FOR_MS) return;
  context.set({ chimes: { ...chimes, due: null } });
  if (!isStale) chime(context, due.earcon, 'session');
}

/** The session has been gone long enough to signal it. */
export function onEarconTimer(context: StepContext): void {
  const { chimes } = context.state;
  if (chimes.session !== 'away') return;
  context.set({ chimes: { ...chimes, session: 'signalled' } });
  chime(context, 'lost', 'session');
}

function chimeMute(context: StepContext): void {
  const { options, chimes } = context.state;
  const muted = isMuted(options);
  // It is too soon after the last chime: a later step plays this one.
  if (chimes.muted !== null && context.now - chimes.muteAt < MUTE_PAUSE_MS) return;
  context.set({ chimes: { ...chimes, muted } });
  if (chimes.muted !== null) chime(context, muted ? 'muted' : 'unmuted', 'mute');
}
