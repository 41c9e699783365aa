import { fadeOut } from '../../../core/audio/fade.ts';
import { BYTES_PER_SAMPLE, durationMs, sampleCount, silence } from '../../../core/audio/pcm.ts';
import { createPcmQueue } from '../../../core/audio/pcm-queue.ts';
import type { Playback, PlaybackSink } from '../../../ports/audio.ts';
import { type Conversion, frameBytesOf, toDevice } from './format.ts';
import type { PlaybackChild } from './playback-child.ts';
import {
  AHEAD_MS,
  CONVERTER_TAIL_MS,
  DRY_NEWS_MS,
  FADE_MS,
  HANG_LIMIT_MS,
  LOOK_MS,
  LOOK_SLACK_MS,
  MAX_WAITING_S,
  PACE_PATIENCE_MS,
  PATIENCE_MS,
  PREROLL_MS,
  PROBE_MS,
  RUN_ON_MS,
  SETTLED_MS,
  SHORTEST_LOOK_MS,
  TAIL_MS,
  TOLERANCE_MS,
  UNKNOWN,
} from './playback-limits.ts';
import { type Buffering, createSpeakerLine, type SpeakerLine } from './playback-timeline.ts';
import type { Child } from './process.ts';
import { type SupervisorDeps, supervise } from './supervisor.ts';

/** Runs a playback on a child process. */
export function runPlayback(
  kind: PlaybackChild,
  rateHz: number,
  sink: PlaybackSink,
  deps: SupervisorDeps,
  seed: number,
): Playback {
  const { clock, log } = deps;
  const bytesPerMs = (rateHz * BYTES_PER_SAMPLE) / 1000;
  const waiting = createPcmQueue();
  /** What is on its way to the ear, so that it is not lost with a child that crashes. */
  let underway: { pcm: Uint8Array; from: number; end: number }[] = [];
  let child: Child | null = null;
  let line: SpeakerLine | null = null;
  let conversion: Conversion | null = null;
  let periodBytes = 1;
  /** Device frames that do not fill a period yet. */
  let carry: Uint8Array = new Uint8Array(0);
  let sounding = false;
  let expectsDryUntil = Number.NEGATIVE_INFINITY;
  let hasSounded = false;
  /** Silence behind the last sound. */
  let padMs = 0;
  let told = Number.NEGATIVE_INFINITY;
  /** Since when what waits is not heard, because no child is ready. */
  let absentFrom: number | null = clock.now();
  /** Until when what should have been heard meanwhile is accounted for. */
  let accountedUntil = clock.now();
  /** The present child works, as far as can be told. */
  let isSettled = false;
  let awaitsProof = false;
  let startedAt = clock.now();
  let usualStartMs = 20;
  /** The owner knows of a fault, and not yet of its end. */
  let isFaulty = false;
  let isOverflowing = false;
  let closed = false;
  let wantsRunOn = false;
  /** It has to be started anew as soon as it is silent. */
  let needsRestart = false;
  /** The child's buffer is known, and with it the pace. */
  let isPaced = false;
  /** Stretches in which the device has run without a break, and samples given to it in this one. */
  let run = 0;
  let given = 0;
  let cancelLook = (): void => {};
  let cancelStart = (): void => {};

  /** When what will be written next is heard; the past means that nothing sounds. */
  const lineEnd = (): number => {
    const behind = waiting.bytes / bytesPerMs;
    if (line === null || !sounding) return firstHeardAt() + PREROLL_MS + behind;
    return line.end() + carryMs() + behind;
  };
  const carryMs = (): number => {
    const shape = kind.shape();
    return (carry.byteLength / frameBytesOf(shape)) * (1000 / shape.rateHz);
  };
  const firstHeardAt = (): number => {
    const now = clock.now();
    if (line !== null) return now + kind.latencyMs;
    const readyAt = Math.max(now, startedAt + usualStartMs);
    return (absentFrom === null || now - absentFrom < PATIENCE_MS ? readyAt : now) + kind.latencyMs;
  };
  /** Only where the device's pace is known: silence at another one would pile up, or run dry. */
  const runsOn = (): boolean => wantsRunOn && line !== null && line.queuedFrames() !== null;
  /** Its pace could be known, and is not any more: after many breaks its counts contradict each other. */
  const hasLostPace = (): boolean => wantsRunOn && isPaced && line !== null && line.queuedFrames() === null;
  const soundEnd = (): number => lineEnd() - padMs;
  const isSilent = (): boolean => !sounding || (waiting.bytes === 0 && soundEnd() <= clock.now());
  const tell = (): void => {
    if (!sounding && waiting.bytes === 0) return;
    if (runsOn() && isSilent()) return;
    const until = soundEnd();
    if (Math.abs(until - told) <= TOLERANCE_MS) return;
    told = until;
    sink.measured(until);
  };

  const send = (pcm: Uint8Array): void => {
    if (line === null || conversion === null) return;
    given += sampleCount(pcm);
    const made = conversion.convert(pcm);
    carry = carry.byteLength === 0 ? made : Buffer.concat([carry, made]);
    const whole = carry.byteLength - (carry.byteLength % periodBytes);
    if (whole > 0) {
      line.write(carry.subarray(0, whole));
      carry = carry.subarray(whole);
    }
  };
  const begin = (): void => {
    if (line === null) return;
    sounding = true;
    run += 1;
    given = 0;
    expectsDryUntil = hasSounded ? clock.now() + DRY_NEWS_MS : Number.NEGATIVE_INFINITY;
    hasSounded = true;
    line.begin(clock.now() + kind.latencyMs);
    waiting.unshift(silence(Math.round((PREROLL_MS * rateHz) / 1000) * BYTES_PER_SAMPLE));
  };
  const queuedMs = (): number => ((line?.queuedFrames() ?? 0) * 1000) / kind.shape().rateHz;
  const aheadMs = (now: number): number => (line === null ? 0 : line.end() - now);
  /** Writes what is due, looks at what was heard, and comes again while there is something to do. */
  const pump = (): void => {
    cancelLook();
    if (closed || line === null || conversion === null) return;
    const now = clock.now();
    if (hasLostPace() && isSilent()) {
      const restartsAt = startedAt + PACE_PATIENCE_MS;
      if (now >= restartsAt) return restart();
      if (waiting.bytes === 0) cancelLook = clock.at(restartsAt, pump);
    }
    if (!sounding) {
      if (waiting.bytes === 0 && !runsOn()) return;
      begin();
    }
    if (line.look(now, HANG_LIMIT_MS)) return hang();
    if (!isSettled && awaitsProof && line.flows) settle();
    if (needsRestart && isSilent()) return restart();
    const most = runsOn() ? RUN_ON_MS.most : AHEAD_MS;
    const dueMs = Math.min(most - aheadMs(now), most - queuedMs());
    if (waiting.bytes > 0 && dueMs > 0) {
      const from = line.sent;
      const pcm = waiting.take(Math.ceil((dueMs * rateHz) / 1000) * BYTES_PER_SAMPLE);
      send(pcm);
      underway.push({ pcm, from, end: line.sent });
    }
    if (runsOn()) runOn(now);
    else if (waiting.bytes === 0 && carry.byteLength > 0 && aheadMs(now) < TAIL_MS) fillTail();
    const isOver =
      !runsOn() && waiting.bytes === 0 && carry.byteLength === 0 && aheadMs(now) <= 0 && !line.lags(now);
    const heard = line.heard(now);
    underway = underway.filter(({ end }) => end > heard);
    if (isSettled) supervisor.working();
    tell();
    if (isOver) {
      rest();
      return hasLostPace() ? pump() : undefined;
    }
    const lookMs = line.isMeasured ? LOOK_MS.later : LOOK_MS.learning;
    const idleMs = waiting.bytes > 0 ? LOOK_MS.learning : aheadMs(now) - (carry.byteLength > 0 ? TAIL_MS : 0);
    const doubtfulMs = (line.doubtful(HANG_LIMIT_MS) ?? Number.POSITIVE_INFINITY) - now;
    const soonMs = runsOn() ? aheadMs(now) - RUN_ON_MS.least : idleMs;
    const waitMs = Math.min(lookMs, Math.max(SHORTEST_LOOK_MS, Math.min(soonMs + 1, doubtfulMs)));
    cancelLook = clock.at(now + waitMs, pump, waitMs === LOOK_MS.later ? LOOK_SLACK_MS : 0);
  };
  /** Silence, so that the device's clock goes on. */
  const runOn = (now: number): void => {
    const ahead = aheadMs(now);
    if (waiting.bytes > 0 || ahead >= RUN_ON_MS.least) return;
    const ms = Math.ceil(RUN_ON_MS.silence - Math.max(0, ahead));
    send(silence(Math.round((ms * rateHz) / 1000) * BYTES_PER_SAMPLE));
    padMs += ms;
  };
  /** What the device has been given runs out, and softly: a child that is killed for it would break the clock. */
  const runOut = (): number => {
    send(fadeOut(waiting.take(Math.round((FADE_MS * rateHz) / 1000) * BYTES_PER_SAMPLE)));
    waiting.clear();
    underway = [];
    told = soundEnd();
    const until = told;
    pump();
    return until;
  };
  const restart = (): void => {
    needsRestart = false;
    leave();
    startedAt = clock.now();
    supervisor.restartChild();
  };
  const fillTail = (): void => {
    const before = line?.end() ?? 0;
    const held = carryMs();
    const { channels, rateHz: deviceHz } = kind.shape();
    if (deviceHz !== rateHz)
      send(silence(Math.round((CONVERTER_TAIL_MS * rateHz) / 1000) * BYTES_PER_SAMPLE));
    if (carry.byteLength > 0) {
      const missing = periodBytes - carry.byteLength;
      line?.write(Buffer.concat([carry, silence(missing - (missing % (channels * BYTES_PER_SAMPLE)))]));
      carry = new Uint8Array(0);
    }
    padMs = Math.max(0, (line?.end() ?? 0) - before - held);
  };
  const rest = (): void => {
    sounding = false;
    underway = [];
    padMs = 0;
    told = Number.NEGATIVE_INFINITY;
  };
  const hang = (): void => {
    const { part, name, program } = kind.device();
    const message = `the ${part} device "${name}" takes no sound; ${program} is started again. If it stays so, replug the device`;
    supervisor.failChild({ code: 'hung', message });
  };
  /** While there is no device, what should have been heard is past. */
  const forgetMissed = (): void => {
    const now = clock.now();
    if (line !== null || absentFrom === null || now - absentFrom < PATIENCE_MS) return;
    waiting.take(Math.round(((now - accountedUntil) * rateHz) / 1000) * BYTES_PER_SAMPLE);
    accountedUntil = now;
  };
  /** Opening is no proof that a device that had failed sounds again: it has to take more than its buffer holds. */
  const prove = (): void => {
    awaitsProof = true;
    const missing = Math.round((PROBE_MS * rateHz) / 1000) * BYTES_PER_SAMPLE - waiting.bytes;
    if (missing > 0) waiting.push(silence(missing));
  };
  const settle = (): void => {
    isSettled = true;
    awaitsProof = false;
    absentFrom = null;
    supervisor.working();
  };

  const ready = async (buffering: Buffering, mine: Child, isSure: boolean): Promise<void> => {
    const shape = kind.shape();
    const made = await toDevice(shape, rateHz);
    if (child !== mine || closed) return made.close();
    conversion?.close();
    conversion = made;
    usualStartMs = (usualStartMs * 3 + Math.min(1000, clock.now() - startedAt)) / 4;
    periodBytes = buffering.periodFrames * frameBytesOf(shape);
    forgetMissed();
    isPaced = buffering.bufferFrames !== null;
    line = createSpeakerLine(mine, shape, buffering);
    hasSounded = false;
    cancelStart();
    if (isSure && isFaulty) prove();
    else if (isSure) settle();
    else cancelStart = clock.at(clock.now() + SETTLED_MS, settle);
    pump();
  };
  const unplayed = (): void => {
    if (line === null) return;
    // A child that ended before it was known to work has let nobody hear anything.
    const heard = isSettled ? line.heard(clock.now()) : 0;
    for (const { pcm, from, end } of underway.toReversed()) {
      if (end <= heard) continue;
      const part = heard <= from ? 0 : (heard - from) / (end - from);
      waiting.unshift(pcm.subarray(Math.floor(part * sampleCount(pcm)) * BYTES_PER_SAMPLE));
    }
  };

  /** Nothing reaches this child any more. */
  const leave = (): void => {
    cancelLook();
    rest();
    line?.close();
    line = null;
    carry = new Uint8Array(0);
    isSettled = awaitsProof = false;
    if (absentFrom === null) absentFrom = accountedUntil = clock.now();
  };

  const supervisor = supervise(
    {
      device: kind.device,
      direction: 'out',
      spec: kind.spec,
      started(next) {
        child = next;
        startedAt = clock.now();
        // One that never says that it is ready may still play; if it doesn't, that is found out soon.
        cancelStart = clock.at(startedAt + kind.startLimitMs, () => startReady(UNKNOWN, next, false));
        if (kind.line === null) startReady(UNKNOWN, next, false);
      },
      line(text) {
        const news = kind.line?.(text) ?? null;
        if (news?.kind === 'again') supervisor.restartChild();
        if (news?.kind === 'ready' && child !== null) startReady(news.buffering, child, true);
      },
      xrun(ms) {
        if (line === null || !sounding) return false;
        const isOld = clock.now() < expectsDryUntil;
        expectsDryUntil = Number.NEGATIVE_INFINITY;
        if (isOld) return false;
        line.ranDry(clock.now(), ms);
        run += 1;
        tell();
        return true;
      },
      gone() {
        cancelStart();
        unplayed();
        leave();
        child = null;
      },
      alternative: kind.alternative,
      inspect: kind.inspect,
      isQuiet: isSilent,
      fault(fault) {
        isFaulty = true;
        sink.fault(fault);
      },
      back() {
        isFaulty = false;
        sink.back();
      },
    },
    deps,
    seed,
  );
  function startReady(buffering: Buffering, mine: Child, isSure: boolean): void {
    ready(buffering, mine, isSure).catch(() => {
      const message = `the sound for the playback device "${kind.device().name}" can't be converted: the resampler does not load; install the program anew`;
      supervisor.failChild({ code: 'failed', message });
    });
  }

  return {
    mixer: null,
    figures: supervisor.figures,
    write(pcm) {
      forgetMissed();
      const samples = sampleCount(pcm);
      const heardAt = lineEnd();
      if (closed || samples === 0) return heardAt;
      if (waiting.bytes / bytesPerMs > MAX_WAITING_S * 1000) {
        if (!isOverflowing)
          log.warn(
            { device: kind.device().name },
            `more than ${MAX_WAITING_S} s of sound wait for the loudspeaker; what comes on top is dropped`,
          );
        isOverflowing = true;
        return heardAt;
      }
      isOverflowing = false;
      padMs = 0;
      waiting.push(pcm.subarray(0, samples * BYTES_PER_SAMPLE));
      told = heardAt + durationMs(samples * BYTES_PER_SAMPLE, rateHz);
      pump();
      return heardAt;
    },
    flush() {
      if (runsOn() && sounding) return runOut();
      const isIdle = !sounding && waiting.bytes === 0;
      waiting.clear();
      underway = [];
      if (!isIdle && line !== null) restart();
      return undefined;
    },
    get place() {
      return runsOn() && sounding ? { run, sample: given + waiting.bytes / BYTES_PER_SAMPLE } : null;
    },
    runOn(on) {
      if (on === wantsRunOn) return;
      wantsRunOn = on;
      if (kind.runOn?.(on) === 'again') needsRestart = true;
      if (needsRestart && isSilent() && line !== null) restart();
      else pump();
    },
    async close() {
      if (closed) return;
      closed = true;
      cancelLook();
      cancelStart();
      waiting.clear();
      line?.close();
      conversion?.close();
      await supervisor.close();
    },
  };
}
