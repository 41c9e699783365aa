import { fadeOut } from '../../../core/audio/fade.ts';
import { BYTES_PER_SAMPLE, durationMs, sampleCount, silence } from '../../../core/audio/pcm.ts';
import { createPcmQueue } from '../../../core/audio/pcm-queue.ts';
import type { Playback, PlaybackSink } from '../../../ports/audio.ts';
import { type Conversion, frameBytesOf, toDevice } from './format.ts';
import type { PlaybackChild } from './playback-child.ts';
import * as limit from './playback-limits.ts';
import { type Buffering, createSpeakerLine, type SpeakerLine } from './playback-timeline.ts';
import type { Child } from './process.ts';
import { type SupervisorDeps, supervise } from './supervisor.ts';
import { createUnderway } from './underway.ts';

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
  const underway = createUnderway();
  let child: Child | null = null;
  let line: SpeakerLine | null = null;
  let conversion: Conversion | null = null;
  let periodBytes = 1;
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
  let needsRestart = false;
  /** Stretches in which the device has run without a break, and samples given to it in this one. */
  let run = 0;
  let given = 0;
  let cancelLook = (): void => {};
  let cancelStart = (): void => {};

  /** When what will be written next is heard; the past means that nothing sounds. */
  const lineEnd = (): number => {
    const behind = waiting.bytes / bytesPerMs;
    if (line === null || !sounding) return firstHeardAt() + limit.PREROLL_MS + behind;
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
    return (absentFrom === null || now - absentFrom < limit.PATIENCE_MS ? readyAt : now) + kind.latencyMs;
  };
  // Only where the device's pace is known: silence at another one would pile up, or run dry.
  const runsOn = (): boolean => wantsRunOn && line !== null && line.queuedFrames() !== null;
  const soundEnd = (): number => lineEnd() - padMs;
  const isSilent = (): boolean => !sounding || (waiting.bytes === 0 && soundEnd() <= clock.now());
  const tell = (): void => {
    if (!sounding && waiting.bytes === 0) return;
    if (runsOn() && isSilent()) return;
    const until = soundEnd();
    if (Math.abs(until - told) <= limit.TOLERANCE_MS) return;
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
    expectsDryUntil = hasSounded ? clock.now() + limit.DRY_NEWS_MS : Number.NEGATIVE_INFINITY;
    hasSounded = true;
    line.begin(clock.now() + kind.latencyMs);
    waiting.unshift(silence(Math.round((limit.PREROLL_MS * rateHz) / 1000) * BYTES_PER_SAMPLE));
  };
  const queuedMs = (): number => ((line?.queuedFrames() ?? 0) * 1000) / kind.shape().rateHz;
  const aheadMs = (now: number): number => (line === null ? 0 : line.end() - now);
  /** Writes what is due, looks at what was heard, and comes again while there is something to do. */
  const pump = (): void => {
    cancelLook();
    if (closed || line === null || conversion === null) return;
    const now = clock.now();
    if (!sounding) {
      if (waiting.bytes === 0 && !runsOn()) return;
      begin();
    }
    if (line.look(now, limit.HANG_LIMIT_MS)) return hang();
    if (!isSettled && awaitsProof && line.flows) settle();
    if (needsRestart && isSilent()) return restart();
    const most = runsOn() ? limit.RUN_ON_MS.most : limit.AHEAD_MS;
    const dueMs = Math.min(most - aheadMs(now), most - queuedMs());
    if (waiting.bytes > 0 && dueMs > 0) {
      const from = line.sent;
      const pcm = waiting.take(Math.ceil((dueMs * rateHz) / 1000) * BYTES_PER_SAMPLE);
      send(pcm);
      underway.add(pcm, from, line.sent);
    }
    if (runsOn()) runOn(now);
    else if (waiting.bytes === 0 && carry.byteLength > 0 && aheadMs(now) < limit.TAIL_MS) fillTail();
    const isOver =
      !runsOn() && waiting.bytes === 0 && carry.byteLength === 0 && aheadMs(now) <= 0 && !line.lags(now);
    underway.heard(line.heard(now));
    if (isSettled) supervisor.working();
    tell();
    if (isOver) return rest();
    const lookMs = line.isMeasured ? limit.LOOK_MS.later : limit.LOOK_MS.learning;
    const idleMs =
      waiting.bytes > 0 ? limit.LOOK_MS.learning : aheadMs(now) - (carry.byteLength > 0 ? limit.TAIL_MS : 0);
    const doubtfulMs = (line.doubtful(limit.HANG_LIMIT_MS) ?? Number.POSITIVE_INFINITY) - now;
    const soonMs = runsOn() ? aheadMs(now) - limit.RUN_ON_MS.least : idleMs;
    const waitMs = Math.min(lookMs, Math.max(limit.SHORTEST_LOOK_MS, Math.min(soonMs + 1, doubtfulMs)));
    cancelLook = clock.at(now + waitMs, pump, waitMs === limit.LOOK_MS.later ? limit.LOOK_SLACK_MS : 0);
  };
  const runOn = (now: number): void => {
    const ahead = aheadMs(now);
    if (waiting.bytes > 0 || ahead >= limit.RUN_ON_MS.least) return;
    const ms = Math.ceil(limit.RUN_ON_MS.silence - Math.max(0, ahead));
    send(silence(Math.round((ms * rateHz) / 1000) * BYTES_PER_SAMPLE));
    padMs += ms;
  };
  /** What the device has been given runs out: a child that is killed for it would break the clock. */
  const runOut = (): number => {
    send(fadeOut(waiting.take(Math.round((limit.FADE_MS * rateHz) / 1000) * BYTES_PER_SAMPLE)));
    waiting.clear();
    underway.clear();
    told = soundEnd();
    cancelLook();
    cancelLook = clock.at(clock.now() + limit.SHORTEST_LOOK_MS, pump);
    return told;
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
      send(silence(Math.round((limit.CONVERTER_TAIL_MS * rateHz) / 1000) * BYTES_PER_SAMPLE));
    if (carry.byteLength > 0) {
      const missing = periodBytes - carry.byteLength;
      line?.write(Buffer.concat([carry, silence(missing - (missing % (channels * BYTES_PER_SAMPLE)))]));
      carry = new Uint8Array(0);
    }
    padMs = Math.max(0, (line?.end() ?? 0) - before - held);
  };
  const rest = (): void => {
    sounding = false;
    underway.clear();
    padMs = 0;
    told = Number.NEGATIVE_INFINITY;
  };
  const hang = (): void => {
    const { part, name, program } = kind.device();
    const message = `the ${part} device "${name}" takes no sound; ${program} is started again. If it stays so, replug the device`;
    supervisor.failChild({ code: 'hung', message });
  };
  const forgetMissed = (): void => {
    const now = clock.now();
    if (line !== null || absentFrom === null || now - absentFrom < limit.PATIENCE_MS) return;
    waiting.take(Math.round(((now - accountedUntil) * rateHz) / 1000) * BYTES_PER_SAMPLE);
    accountedUntil = now;
  };
  /** Opening is no proof that a device that had failed sounds again: it has to take more than its buffer holds. */
  const prove = (): void => {
    awaitsProof = true;
    const missing = Math.round((limit.PROBE_MS * rateHz) / 1000) * BYTES_PER_SAMPLE - waiting.bytes;
    if (missing > 0) waiting.push(silence(missing));
  };
  const overflow = (heardAt: number): number => {
    const text = `more than ${limit.MAX_WAITING_S} s of sound wait for the loudspeaker; what comes on top is dropped`;
    if (!isOverflowing) log.warn({ device: kind.device().name }, text);
    isOverflowing = true;
    return heardAt;
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
    line = createSpeakerLine(mine, shape, buffering);
    hasSounded = false;
    cancelStart();
    if (isSure && isFaulty) prove();
    else if (isSure) settle();
    else cancelStart = clock.at(clock.now() + limit.SETTLED_MS, settle);
    pump();
  };
  const unplayed = (): void => {
    if (line === null) return;
    // A child that ended before it was known to work has let nobody hear anything.
    for (const pcm of underway.unheard(isSettled ? line.heard(clock.now()) : 0)) waiting.unshift(pcm);
  };

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
        cancelStart = clock.at(startedAt + kind.startLimitMs, () => startReady(limit.UNKNOWN, next, false));
        if (kind.line === null) startReady(limit.UNKNOWN, next, false);
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
      const message = `the sound for the playback device "${kind.device().name}" can't be converted: the resampler does not load; install the program again`;
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
      if (waiting.bytes / bytesPerMs > limit.MAX_WAITING_S * 1000) return overflow(heardAt);
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
      underway.clear();
      if (!isIdle && line !== null) restart();
      return undefined;
    },
    get place() {
      return runsOn() && sounding ? { run, sample: given + waiting.bytes / BYTES_PER_SAMPLE } : null;
    },
    runOn(on) {
      if (on === wantsRunOn) return;
      wantsRunOn = on;
      needsRestart ||= kind.runOn?.(on) === 'again';
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
