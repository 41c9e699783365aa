import { echoInForce } from '../../../src/device/lane/sound/echo-rules.ts';
import type { LaneEffect } from '../../../src/device/lane/state/lane-effect.ts';
import type { LaneEvent } from '../../../src/device/lane/state/lane-event.ts';
import type { LaneSettings } from '../../../src/device/lane/state/lane-options.ts';
import { taskOf } from '../../../src/device/lane/state/lane-options.ts';
import type { LaneState } from '../../../src/device/lane/state/lane-state.ts';
import { isStreaming, streamsOf } from '../../../src/device/lane/state/session-state.ts';
import { EARLY_CHUNKS } from '../../../src/device/lane/uplink/pacer.ts';
import type { ServiceEvent } from '../../../src/ports/stream.ts';
import { demand, type Step } from './demand.ts';
import { isQuiet, readEnds } from './sound.ts';
import { SpeakerLedger } from './speaker-ledger.ts';

/** Highest deviation of a sound card; everything above is faster than real time. */
const DRIFT = 0.001;
const LONGEST_PLAYOUT_MS = 60_000;
/** Delay after the capture from which a chunk is an exception: the gate may then err towards closed. */
const ON_TIME_MS = 320;

/** Number of the last sounds that are watched: more than a backlog and a stream's memory together. */
const WATCHED = 400;

interface Sound {
  readonly place: number;
  readonly open: boolean;
  readonly queued: boolean;
  /** The stream that heard it last. */
  stream: number | null;
  /** It has been turned into speech and must not be replayed. */
  spoken: boolean;
}

/** How the service handles what one stream gets. */
interface Listener {
  /** Sounds since the last pause. */
  open: Sound[];
  /** Sounds that are followed by a pause. */
  ended: Sound[];
  readonly understood: { id: string | null; sounds: Sound[]; languages: Set<string> }[];
  /** Number of sends so far, and the largest lead of any of them: max of t_i - i * period. */
  sends: number;
  paceBase: number;
  lastPlace: number;
}

/** Follows every captured chunk to the wire and every translated sound to the loudspeaker. */
export class SoundLedger {
  private readonly settings: LaneSettings;
  private captured = 0;
  private readonly sounds = new Map<Uint8Array, Sound>();
  private readonly listeners = new Map<number, Listener>();
  private lastPlace = -1;
  private readonly speaker = new SpeakerLedger();
  private readonly lastWord = new Map<number, number>();

  constructor(settings: LaneSettings) {
    this.settings = settings;
  }

  check(step: Step): void {
    const { before, event, state, effects, now } = step;
    if (event.type === 'sounding') this.speaker.tell(event);
    if (event.type === 'captured') this.capture(step, event);
    if (event.type === 'service' && isKnown(before, event.stream)) {
      this.understand(event.stream, event.said, taskOf(before).targets);
    }
    if (state.counts.takenBack > before.counts.takenBack) this.takeBack(step);
    for (const effect of effects) {
      if (effect.type === 'send_audio') this.send(effect, now);
      if (effect.type === 'play') this.play(effect, now, state, event.type === 'turn');
      if (effect.type === 'flush_playback')
        this.speaker.silence(now, state.options.echo === 'cancel' ? now + 180 : now);
    }
    this.checkPlayout(state);
  }

  private listener(stream: number): Listener {
    const fresh = { open: [], ended: [], understood: [], sends: 0, paceBase: -Infinity, lastPlace: -1 };
    const listener = this.listeners.get(stream) ?? fresh;
    this.listeners.set(stream, listener);
    this.listeners.delete(stream - 4);
    return listener;
  }

  /**
   * A sentence is understood by the pause after it, and spoken once its sound comes in every language. Sound with an id is that
   * sentence's alone; sound without an id speaks everything that is understood.
   */
  private understand(stream: number, said: ServiceEvent, targets: readonly string[]): void {
    const listener = this.listeners.get(stream);
    if (listener === undefined) return;
    if (said.type === 'understood') {
      listener.understood.push({ id: said.id, sounds: listener.ended, languages: new Set() });
      listener.ended = [];
    }
    // A piece without sound speaks nothing.
    if (said.type !== 'spoke' || said.pcm.byteLength === 0) return;
    const { sentence, language } = said;
    for (const { id, sounds, languages } of listener.understood) {
      if (sentence !== null && id !== sentence) continue;
      if (language !== null) languages.add(language);
      if (language !== null && targets.some((target) => !languages.has(target))) continue;
      for (const sound of sounds.splice(0)) sound.spoken = true;
    }
  }

  /** Chunks that are held again were heard by a stream that is gone. */
  private takeBack({ effects, state }: Step): void {
    const gone = effects.flatMap((effect) => (effect.type === 'close_stream' ? [effect.stream] : []));
    for (const { pcm, again } of state.backlog.chunks) {
      const cut = pcm !== null && again === true ? this.sounds.get(pcm) : undefined;
      // Its translation was cut off: it may be replayed once, to the same stream.
      if (cut !== undefined) Object.assign(cut, { spoken: false, stream: null });
    }
    for (const { pcm } of state.backlog.chunks) {
      const spoken = pcm !== null && this.sounds.get(pcm)?.spoken === true;
      demand(!spoken, 'a sound that was spoken is held again');
    }
    for (const sound of this.sounds.values()) {
      if (!sound.spoken && sound.stream !== null && gone.includes(sound.stream)) sound.stream = null;
    }
    for (const listener of this.listeners.values()) listener.lastPlace = -1;
    this.lastPlace = -1;
  }

  /** The gate, calculated again from the writes to the loudspeaker. */
  private capture(
    { before, state, effects, now }: Step,
    event: Extract<LaneEvent, { type: 'captured' }>,
  ): void {
    if (state.capturedCount === before.capturedCount) return;
    const { options, settings } = before;
    const { mode, tailMs } = echoInForce(before);
    const { capturedAt, pcm } = event;
    const lengthMs = Math.max(settings.chunkMs, capturedAt - (event.beganAt ?? capturedAt));
    const echoes = this.speaker.echoes(capturedAt, lengthMs, tailMs);
    const isMuted = options.muted || before.closing?.isDeaf === true || isKeyUp(before, capturedAt, lengthMs);
    const open = !isMuted && !(mode === 'half-duplex' && echoes === 'yes');
    const queued = !isStreaming(before.session) || before.backlog.chunks.length > 0;
    const sound = { place: this.captured++, open, queued, stream: null, spoken: false };
    this.sounds.set(pcm, sound);
    // A key that is pressed or released within a chunk leaves a part of it.
    const sent = effects.find(
      (effect) => effect.type === 'send_audio' && effect.capturedAt === capturedAt && effect.pcm !== null,
    );
    const held = state.backlog.chunks.find(({ seq }) => seq === state.capturedCount - 1);
    for (const part of [sent?.type === 'send_audio' ? sent.pcm : null, held?.pcm ?? null])
      if (part !== null) this.sounds.set(part, sound);
    const [oldest] = this.sounds.keys();
    if (this.sounds.size > WATCHED && oldest !== undefined) this.sounds.delete(oldest);
    const silencedSome = state.backlog.accounts.silenced > before.backlog.accounts.silenced;
    const chunk = state.backlog.chunks.findLast(({ seq }) => seq === state.capturedCount - 1);
    if (chunk !== undefined) {
      demand(chunk.pcm === null || open, 'a chunk that must not be heard is held with its sound');
      const onTime = now - capturedAt <= ON_TIME_MS && echoes === 'no';
      demand(chunk.pcm !== null || !open || !onTime, 'a chunk was silenced for no reason');
    } else if (open && echoes === 'no' && before.backlog.chunks.length === 0) {
      demand(!silencedSome || now - capturedAt > ON_TIME_MS, 'a chunk was silenced for no reason');
    }
  }

  private send(effect: Extract<LaneEffect, { type: 'send_audio' }>, now: number): void {
    const listener = this.listener(effect.stream);
    const period = this.settings.chunkMs * (1 - DRIFT);
    const ahead = listener.paceBase + listener.sends * period - EARLY_CHUNKS * this.settings.chunkMs - now;
    demand(ahead <= 1e-6, `${ahead} ms more than two chunks ahead of real time`);
    listener.paceBase = Math.max(listener.paceBase, now - listener.sends * period);
    listener.sends++;
    if (effect.pcm === null) return this.pause(listener);
    demand(effect.capturedAt !== null, 'a filler with sound in it');
    const sound = this.sounds.get(effect.pcm);
    if (sound === undefined) throw new Error('invariant broken: a sound was sent that was never captured');
    const { place, stream, spoken, open } = sound;
    demand(stream === null, `sound ${place} was sent to stream ${stream} and again to ${effect.stream}`);
    demand(!spoken, `sound ${place} was spoken and is sent again`);
    demand(effect.queued === sound.queued || effect.queued, 'queued is wrong');
    demand(open, 'a muted or echoing chunk reached the service');
    demand(place > this.lastPlace && place > listener.lastPlace, 'chunks were sent out of order');
    sound.stream = effect.stream;
    listener.lastPlace = place;
    this.lastPlace = place;
    if (isQuiet(effect.pcm)) this.pause(listener);
    else listener.open.push(sound);
  }

  private pause(listener: Listener): void {
    listener.ended.push(...listener.open);
    listener.open = [];
  }

  /** Nothing is played twice or backwards; the loudspeaker's timeline grows by the writes. */
  private play(
    { pcm, kind, write }: Extract<LaneEffect, { type: 'play' }>,
    now: number,
    { options, headset, isSwitching }: LaneState,
    isAnswer: boolean,
  ): void {
    demand(pcm.byteLength > 0, 'an empty write');
    demand(!isSwitching, 'a write while neither loudspeaker nor headset is open');
    for (const { sentence, word } of kind === 'speech' ? readEnds(pcm) : []) {
      demand(word > (this.lastWord.get(sentence) ?? -1), `word ${word} of sentence ${sentence} played again`);
      this.lastWord.set(sentence, word);
    }
    const ms = pcm.byteLength / this.settings.playoutBytesPerMs;
    const isOutOfAir = headset !== null || (isAnswer && kind === 'earcon');
    this.speaker.play(write, ms, now, options.echo, isOutOfAir);
  }

  private checkPlayout({ playout, settings, session }: LaneState): void {
    const bytes = playout.utterances.flatMap(({ pieces }) => pieces.map(({ pcm }) => pcm.byteLength));
    const queued = bytes.reduce((sum, length) => sum + length, 0);
    demand(queued === playout.queuedBytes, `${queued} bytes wait, ${playout.queuedBytes} calculated`);
    demand(queued <= LONGEST_PLAYOUT_MS * settings.playoutBytesPerMs, 'more playout than allowed');
    const keys = playout.utterances.map(({ stream, key }) => `${stream}/${key}`);
    demand(new Set(keys).size === keys.length, 'one sentence waits in two places');
    const waiting = playout.utterances.filter(({ begun }) => !begun).map(({ stream }) => stream);
    demand(
      waiting.every((stream, i) => i === 0 || stream >= (waiting[i - 1] ?? stream)),
      'a newer session is heard before an older one',
    );
    const { kind } = session;
    if (['idle', 'draining', 'closed'].includes(kind)) demand(queued === 0, `sound waits while ${kind}`);
    this.speaker.check(playout.heard?.until ?? 0);
  }
}

/** Whether a key would have to be held for the chunk to be heard. */
function isKeyUp({ options, twoWay }: LaneState, capturedAt: number, lengthMs: number): boolean {
  if (options.twoWay !== 'hold') return false;
  return capturedAt <= twoWay.turnedAt || capturedAt - lengthMs >= twoWay.openUntil;
}

/** Whether the lane still listens to that stream. */
function isKnown(state: LaneState, id: number): boolean {
  // A lane that drains plays nothing, and one that is closed does nothing at all.
  if (state.session.kind === 'draining' || state.session.kind === 'closed') return false;
  return streamsOf(state).some((known) => known.id === id);
}
