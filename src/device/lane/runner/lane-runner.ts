import { type Defects, nameOf } from '../../../machine/defects.ts';
import type { EventLoop } from '../../../machine/event-loop.ts';
import { logRepeated, type RepeatFilter } from '../../../machine/repeat-filter.ts';
import { within } from '../../../machine/within.ts';
import type { DeviceFigures, OpenCapture, OpenPlayback } from '../../../ports/audio.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { OpenEchoCanceller } from '../../../ports/echo.ts';
import type { Log } from '../../../ports/log.ts';
import type { WatchPlug } from '../../../ports/plug.ts';
import {
  type OpenStream,
  OUTPUT_RATE_HZ,
  type StreamConnection,
  type StreamListener,
  type StreamTarget,
} from '../../../ports/stream.ts';
import type { CreateVoiceDetector } from '../../../ports/voice.ts';
import type { LaneConfig } from '../../../protocol/config.ts';
import type { TokenReason } from '../../../protocol/mqtt/token.ts';
import type { Phase } from '../../../protocol/phases.ts';
import type { CreateEchoDetector } from '../../../sound/echo-detector.ts';
import { BYTES_PER_SAMPLE } from '../../../sound/pcm.ts';
import { type StepResult, step } from '../machine.ts';
import { needsBackend } from '../session/retry-wait.ts';
import { openRequest } from '../session/token-request.ts';
import { ownPlayedMs } from '../sound/echo-rules.ts';
import { heardInRoom } from '../sound/headset.ts';
import type { LaneEffect } from '../state/lane-effect.ts';
import type { LaneEvent } from '../state/lane-event.ts';
import { LANE_DEFAULTS, type TaskOptions } from '../state/lane-options.ts';
import { createLane, type LaneState } from '../state/lane-state.ts';
import { type PendingTokenRequest, phaseOf, tokenRequestOf } from '../state/session-state.ts';
import { CapturePipeline } from './capture-pipeline.ts';
import { optionsOf } from './configured-options.ts';
import { hidingListener } from './hiding-listener.ts';
import { createLatencyRecorder, type LatencyRecorder } from './latency.ts';
import { PlaybackPipeline } from './playback-pipeline.ts';
import { heardBy, type RoomSeat } from './room-seat.ts';
import { createTimers, type Timers } from './timers.ts';

/** The grants' tokens, which a lane never sees. */
export interface GrantedTokens {
  /** Address and token of one connection; null if the token is gone, or must not be sent to that host. */
  target(grant: string): StreamTarget | null;
  forget(grant: string): void;
  /** Removes tokens from a foreign text, for the callbacks of a grant's connection during its whole life. */
  hideFor(grant: string): (text: string) => string;
}

/** Dependencies of a lane. */
export interface LaneDeps {
  readonly clock: Clock;
  readonly loop: EventLoop;
  readonly log: Log;
  readonly repeats: RepeatFilter;
  /** Reports exceptions in places that must not throw. */
  readonly defects: Defects;
  readonly tokenStore: GrantedTokens;
  readonly openStream: OpenStream;
  readonly openCapture: OpenCapture;
  readonly openPlayback: OpenPlayback;
  /** Missing: the lane has no headset. */
  readonly openHeadset?: OpenPlayback | undefined;
  readonly watchPlug?: WatchPlug | undefined;
  readonly createVoiceDetector: CreateVoiceDetector;
  /** Default: the detector in src/sound. */
  readonly createEchoDetector?: CreateEchoDetector | undefined;
  /** Absent if this machine cannot cancel echo. */
  readonly openEchoCanceller?: OpenEchoCanceller | undefined;
  /** The lane's place in a room; missing: the lane is not in a room. */
  readonly seat?: RoomSeat | undefined;
  requestToken(tokenRequest: { id: string; reason: TokenReason; attempt: number }): void;
  /** The task that the service accepted before this start; null: none is known. */
  readonly acceptedTask: TaskOptions | null;
  /** Prefix that makes the ids of the lane's token requests unique. */
  readonly idPrefix: string;
  /** Seed of the lane's jitter. */
  readonly seed: number;
}

/** The devices that are replaced. */
export interface NewDevices {
  readonly openCapture?: OpenCapture | undefined;
  readonly openPlayback?: OpenPlayback | undefined;
}

/** Longest wait for the state of the headset's plug (ms). */
const PLUG_MS = 3000;

/** One step of a lane as its watchers see it. */
export interface LaneStep {
  readonly lane: string;
  readonly event: LaneEvent;
  readonly effects: readonly LaneEffect[];
  readonly before: LaneState;
  readonly after: LaneState;
}

/** Runs one lane: passes events to its core and carries out the effects. It makes no decisions. */
export class LaneRunner {
  readonly id: string;
  readonly captureToWire: LatencyRecorder = createLatencyRecorder();
  readonly wireToSpeaker: LatencyRecorder = createLatencyRecorder();
  private readonly deps: LaneDeps;
  private readonly config: LaneConfig;
  private readonly watch: (step: LaneStep) => void;
  private readonly timers: Timers;
  private readonly silentChunk: Uint8Array;
  private current: LaneState;
  /** The open connections: more than one only during a rollover. */
  private readonly connections = new Map<number, StreamConnection>();
  /** Streams with backpressure: they get bytes faster than they can send them. */
  private readonly congested = new Set<number>();
  private hears = false;
  private cancels: boolean;
  private readonly capturePipeline: CapturePipeline;
  private readonly playbackPipeline: PlaybackPipeline;
  private plug: { close(): void } | null = null;

  constructor(config: LaneConfig, deps: LaneDeps, watch: (step: LaneStep) => void) {
    this.id = config.id;
    this.config = config;
    this.deps = deps;
    this.watch = watch;
    this.timers = createTimers(deps.clock, (timer) => this.post({ type: 'timer', timer }));
    this.current = createLane({
      settings: {
        ...LANE_DEFAULTS,
        // A recording holds only the speech of the service.
        softEdges: config.playback.driver !== 'file',
        quickens: config.playback.driver !== 'file',
        rollLeadMs: config.rolloverLead * 1000,
        playoutBytesPerMs: (OUTPUT_RATE_HZ * BYTES_PER_SAMPLE) / 1000,
      },
      options: { ...optionsOf(config), muted: false, volume: config.playback.volume },
      acceptedTask: deps.acceptedTask,
      room: deps.seat === undefined ? null : { heard: [], playedMs: 0 },
      idPrefix: deps.idPrefix,
      seed: deps.seed,
    });
    this.cancels = config.echo === 'cancel';
    const rateHz = config.capture.sampleRate;
    const { chunkMs } = this.current.settings;
    this.silentChunk = new Uint8Array(Math.round((chunkMs * rateHz) / 1000) * BYTES_PER_SAMPLE);
    const post = (event: LaneEvent): void => this.post(event);
    this.capturePipeline = new CapturePipeline({
      ...deps,
      lane: config.id,
      rateHz,
      chunkMs,
      post,
      playedRateHz: OUTPUT_RATE_HZ,
      cancelEcho: this.cancels,
    });
    const { wireToSpeaker } = this;
    const { volume, normalize: normalizes } = config.playback;
    this.playbackPipeline = new PlaybackPipeline({
      ...deps,
      wireToSpeaker,
      volume,
      normalizes,
      rateHz: OUTPUT_RATE_HZ,
      post,
      reference: heardBy(this.capturePipeline, deps.seat),
    });
    deps.seat?.sit({
      others: this.capturePipeline.others,
      heard: (heard, playedMs) => post({ type: 'room_heard', heard, playedMs }),
    });
  }

  /** Counters of the lane's devices. */
  get figures(): { readonly capture: DeviceFigures | null; readonly playback: DeviceFigures | null } {
    return { capture: this.capturePipeline.figures, playback: this.playbackPipeline.figures };
  }

  get state(): LaneState {
    return this.current;
  }

  get phase(): Phase {
    return phaseOf(this.current.session);
  }

  /** The open token request. */
  get tokenRequest(): PendingTokenRequest | null {
    return tokenRequestOf(this.current.session);
  }

  /** The token request that an answer may still fulfil. */
  get openRequest(): PendingTokenRequest | null {
    return openRequest(this.current);
  }

  /** Whether the lane may need the backend at any moment. */
  get needsBackend(): boolean {
    return needsBackend(this.current, this.deps.clock.now());
  }

  /** Opens the loudspeaker, and learns whether the plug of the headset is in, so that no first word is heard by others. */
  async open(): Promise<void> {
    await Promise.all([this.playbackPipeline.open(), this.watchPlug()]);
  }

  private async watchPlug(): Promise<void> {
    const { watchPlug, clock } = this.deps;
    if (watchPlug === undefined) return;
    let known = (): void => {};
    const isKnown = new Promise<void>((resolve) => {
      known = resolve;
    });
    this.plug = watchPlug({
      changed: (isIn) => {
        this.post({ type: 'headset', isIn });
        known();
      },
      lost: (message) => {
        this.post({ type: 'audio_fault', device: 'headset', code: 'failed', message });
        this.post({ type: 'headset', isIn: false });
        known();
      },
      found: () => this.post({ type: 'device_back', device: 'headset' }),
    });
    await within(clock, PLUG_MS, isKnown);
  }

  /** Uses other devices from now on; the session continues. */
  async renew({ openCapture, openPlayback }: NewDevices): Promise<void> {
    await Promise.all([
      openCapture === undefined ? null : this.capturePipeline.renew(openCapture, () => this.hears),
      openPlayback === undefined ? null : this.playbackPipeline.renew(openPlayback),
    ]);
  }

  /** Releases the audio devices. Called when the lane is `closed`, or at its time limit. */
  async close(): Promise<void> {
    this.timers.disarmAll();
    this.plug?.close();
    for (const connection of this.connections.values()) connection.terminate();
    this.connections.clear();
    await Promise.allSettled([this.capturePipeline.close(), this.playbackPipeline.close()]);
  }

  post(event: LaneEvent): void {
    this.deps.loop.post(() => this.take(event));
  }

  private take(event: LaneEvent): void {
    const before = this.current;
    const { state, effects } = this.stepOrRestart(before, event);
    this.current = state;
    for (const effect of effects) {
      try {
        this.perform(effect);
      } catch (error) {
        this.deps.defects(`${this.id}.${effect.type}`, error);
        // Restart the lane, because its state assumes that the effect is done. During a restart, failures to release are ignored.
        if (event.type !== 'defect') this.post({ type: 'defect', where: `${effect.type}: ${nameOf(error)}` });
      }
    }
    if (before.playout !== state.playout) this.deps.seat?.sounds(heardInRoom(state), ownPlayedMs(state));
    this.watch({ lane: this.id, event, effects, before, after: state });
  }

  /** An exception in a step restarts this lane only. */
  private stepOrRestart(before: LaneState, event: LaneEvent): StepResult {
    const now = this.deps.clock.now();
    try {
      return step(before, event, now);
    } catch (error) {
      this.deps.defects(`${this.id}: ${event.type}`, error);
      const where = `${event.type}: ${nameOf(error)}`;
      return step(before, { type: 'defect', where, during: event }, now);
    }
  }

  private perform(effect: LaneEffect): void {
    switch (effect.type) {
      case 'arm':
        return this.timers.arm(effect.timer, effect.at, effect.slackMs);
      case 'disarm':
        return this.timers.disarm(effect.timer);
      case 'request_token':
        return this.deps.requestToken(effect);
      case 'forget_grant':
        return this.deps.tokenStore.forget(effect.grant);
      case 'open_stream':
        return this.openStream(effect.stream, effect.grant);
      case 'send_task':
        return this.runTask(effect);
      case 'poll_task':
        return this.to(effect.stream)?.askForTask();
      case 'send_audio':
        return this.sendAudio(effect);
      case 'ping':
        return this.to(effect.stream)?.ping();
      case 'say':
        return this.to(effect.stream)?.say(effect.text, effect.language, effect.translate);
      case 'end_task':
        return this.to(effect.stream)?.end();
      case 'close_stream':
        return this.closeStream(effect.stream, effect.how);
      case 'open_capture':
        this.hears = true;
        this.capturePipeline.open();
        return this.keepClock();
      case 'close_capture':
        this.hears = false;
        void this.capturePipeline.close();
        return this.keepClock();
      case 'cancel_echo':
        this.cancels = effect.on;
        this.capturePipeline.cancelEcho(effect.on);
        return this.keepClock();
      case 'play':
        return this.playbackPipeline.play(effect);
      case 'use_output':
        return void this.playbackPipeline.useOutput(effect.output, effect.percent);
      case 'flush_playback':
        return this.playbackPipeline.flush();
      case 'set_volume':
        return this.playbackPipeline.setVolume(effect.percent);
      case 'duck':
        return this.playbackPipeline.duck(effect.on);
      case 'notify':
      case 'caption':
      case 'said':
        // Effects for the watchers, which publish and log them.
        return;
    }
  }

  /** Echo cancelling needs one unbroken playback clock. */
  private keepClock(): void {
    this.playbackPipeline.runOn(this.hears && this.cancels);
  }

  private to(stream: number): StreamConnection | undefined {
    return this.connections.get(stream);
  }

  private openStream(stream: number, grant: string): void {
    const target = this.deps.tokenStore.target(grant);
    if (target === null) {
      this.post({ type: 'unreached', stream, spent: true, message: 'the token is gone' });
      return;
    }
    const listener: StreamListener = {
      opened: () => this.post({ type: 'opened', stream }),
      said: (said) => this.post({ type: 'service', stream, said }),
      unreached: (spent, message, isOurs) => this.post({ type: 'unreached', stream, spent, message, isOurs }),
      broke: (fault, message) => this.post({ type: 'broke', stream, fault, message }),
      oddity: (oddity) =>
        logRepeated(this.deps, {
          level: 'debug',
          kind: `oddity:${this.id}`,
          fields: { lane: this.id, oddity },
          sentence: 'the service sent something unexpected',
        }),
      unreadable: (what, description) => this.post({ type: 'unreadable', stream, what, description }),
      pong: () => this.post({ type: 'pong', stream }),
      drained: () => {
        if (this.congested.delete(stream)) this.post({ type: 'drained', stream });
      },
    };
    const hide = this.deps.tokenStore.hideFor(grant);
    const connection = this.deps.openStream(target, hidingListener(listener, hide));
    this.connections.set(stream, connection);
  }

  private runTask({
    stream,
    source,
    targets,
    voice,
    speaker,
  }: Extract<LaneEffect, { type: 'send_task' }>): void {
    const inputRateHz = this.config.capture.sampleRate;
    const bothWays = speaker === 'both' && { bothWays: true };
    this.to(stream)?.runTask({ source, targets, voice, ...bothWays, inputRateHz });
  }

  private closeStream(stream: number, how: 'close' | 'terminate'): void {
    const connection = this.to(stream);
    this.connections.delete(stream);
    this.congested.delete(stream);
    connection?.[how]();
  }

  private sendAudio(effect: Extract<LaneEffect, { type: 'send_audio' }>): void {
    const connection = this.to(effect.stream);
    connection?.sendAudio(effect.pcm ?? this.silentChunk);
    if ((connection?.bufferedBytes ?? 0) > this.current.settings.congestedBytes) {
      this.congested.add(effect.stream);
      this.post({ type: 'congested', stream: effect.stream });
    }
    if (effect.capturedAt !== null && !effect.queued) {
      // An interrupted chunk was padded, so the end of the chunk may be in the future.
      this.captureToWire.record(Math.max(0, this.deps.clock.now() - effect.capturedAt));
    }
  }
}
