/** What becomes of every 20 ms of speech: it is said exactly once, or one of few excuses holds. */

import type { LaneStep } from '../../src/agent/lane/lane-runner.ts';
import { phaseOf } from '../../src/core/lane/session/session.ts';
import { echoInForce } from '../../src/core/lane/sound/echo.ts';
import type { BacklogChunk } from '../../src/core/uplink/backlog.ts';
import { createDoubts } from './doubts.ts';
import { createDropped } from './dropped.ts';
import { createLeftOut } from './left-out.ts';
import { checkAge, chunksForgotten, chunksGone, isFinished, isLossRight, isStoppedByHold } from './losses.ts';
import { createPlayOrder } from './play-order.ts';
import { createSaidAccount } from './said.ts';
import { createSeams, isNextPart, lacksItsEnd, wasCut } from './seams.ts';
import { createSilentEnds } from './silent-ends.ts';
import { isStump, readRenderings, TICK_MS } from './sound.ts';
import { EXCUSES, type Excuse } from './speech-excuses.ts';
import type { Job, Sending, SpeechOracle, SpeechOracleSetup } from './speech-ports.ts';
import { createStrangeSounds } from './strange-sounds.ts';
import {
  ASLEEP,
  CUT,
  DEAF,
  DISTORTED,
  FORGOTTEN,
  GATED,
  HEARD,
  HOLD_FULL,
  LEFT_OUT,
  RENDERED,
  RETASKED,
  SHED,
  UNHEARD,
} from './tick-flags.ts';
import { createTickList } from './tick-list.ts';
import { createTickReader } from './tick-reader.ts';
import { checkUnspoken, cutJobs, isZeroOpen, meantTicks } from './told-cuts.ts';
import { hasGoneOn, type Judging, judgeTicks } from './unsaid.ts';

/** Judged this long after it was spoken: the backlog, its catching up and a full minute of playout fit in. */
const JUDGED_AFTER_MS = 200_000;
/** After such a pause the service takes what follows for another piece. */
const PAUSE_TICKS = 700 / TICK_MS;
/** What was heard so soon after the languages changed may be said in the old ones. */
const CHANGING_MS = 15_000;
const HOLD_MS = 30_000;
const CHUNK_MS = 320;
/** The sound of a rendering has left the service within this. */
const [MOST_FADE_BYTES, UNDER_WAY_MS] = [8 * 48, 20_000];

export function createSpeechOracle(setup: SpeechOracleSetup): SpeechOracle {
  const { violations, firstTick } = setup;
  const flags = createTickList(0);
  const sendings = createTickList<Sending | undefined>(undefined);
  const [spokenAt, places] = [createTickList(0), createTickList(0)];
  const [timesSent, timesHeard] = [createTickList(0), createTickList(0)];
  const isGivenUp = (tick: number): boolean => (flags.get(tick) & HOLD_FULL) !== 0;
  const seams = createSeams(timesSent, (tick) => spokenAt.get(tick) > 0, isGivenUp);
  const strange = createStrangeSounds(violations);
  const jobs = new Map<number, Job>();
  const [lastHeard, numberOf] = [new Map<string, number>(), new Map<string, number>()];
  const [overAt, signAt] = [new Map<number, number>(), new Map<number, number>()];
  const [soundAt, sentMs] = [new Map<number, number>(), new Map<number, number>()];
  const [silentEnds, leftOut] = [createSilentEnds(violations), createLeftOut(violations, setup.isTruthful)];
  const lives: number[] = [];
  const excused = Object.fromEntries(EXCUSES.map((name) => [name, 0])) as Record<Excuse, number>;
  let [spokenTicks, saidTicks, targetsSince] = [0, 0, Number.NEGATIVE_INFINITY];
  let [queue, targets]: [number[], readonly string[]] = [[], []];
  const isGone = (stream: string): boolean => overAt.has(numberOf.get(stream) ?? 0);
  const doubts = createDoubts({
    ...{ seams, sentOf: sendings.get, placeOf: places.get, times: setup },
    isOver: (connection) => overAt.has(connection),
  });
  const said = createSaidAccount(violations, doubts.isDoubtful);
  const order = createPlayOrder(setup, (stream) => numberOf.get(stream) ?? 0);
  const mark = (tick: number, flag: number): void => flags.set(tick, flags.get(tick) | flag);
  const markAll = (ticks: readonly number[], flag: number): void => {
    for (const tick of ticks) mark(tick, flag);
  };
  const { read, ticksOf } = createTickReader(firstTick, violations);
  const markChunks = (chunks: readonly BacklogChunk[], flag: number): void => {
    for (const { pcm } of chunks) if (pcm !== null) markAll(ticksOf(pcm), flag);
  };
  const noteCaptured = (step: LaneStep): void => {
    const { event, before, after, effects } = step;
    if (event.type !== 'captured') return;
    const ticks = ticksOf(event.pcm);
    if (ticks.length === 0) return;
    const phase = phaseOf(before.session);
    if (phase === 'idle' || phase === 'draining' || phase === 'closed') return markAll(ticks, DEAF);
    const { capturedAt } = event;
    const silenced =
      effects.some((e) => e.type === 'send_audio' && e.capturedAt === capturedAt && e.pcm === null) ||
      after.backlog.chunks.some((chunk) => chunk.capturedAt === capturedAt && chunk.pcm === null);
    if (!silenced) return;
    const beganAt = Math.min(event.beganAt ?? capturedAt, capturedAt - CHUNK_MS);
    const isMuted = before.options.muted || before.closing?.isDeaf === true;
    const { mode } = echoInForce(before);
    const justified = isMuted || setup.wasLoud(beganAt - 420, capturedAt + 100);
    violations.check('gate', justified, () => `speech was silenced while nothing was heard (phase ${phase})`);
    // With the first sound of a microphone that was away the gate closes until the echo is learnt again.
    const learns = before.captureLost && echoInForce(after).mode !== 'cancel';
    const bothSpeak = !isMuted && !learns && mode === 'cancel';
    violations.check('gate', !bothSpeak, () => `speech was silenced although the echo is cancelled`);
    markAll(ticks, GATED);
  };

  const noteGone = (step: LaneStep, now: number): void => {
    const { before, after, event } = step;
    const was = before.backlog.accounts;
    const is = after.backlog.accounts;
    if (was.trimmed === is.trimmed && was.dropped === is.dropped) return;
    const gone = chunksGone(before, after);
    if (event.type === 'stop' || event.type === 'shutdown' || isStoppedByHold(before, after))
      return markChunks(gone, DEAF);
    if (is.lost > was.lost) {
      violations.check('backlog', isLossRight(step, now), () => 'audio lost while the backlog had room');
      markChunks(
        gone.filter(({ voiced }) => voiced),
        HOLD_FULL,
      );
    }
    if (after.session.kind === 'standby') return markChunks(gone, ASLEEP);
    for (const { pcm, voiced } of gone) {
      if (pcm === null || voiced) continue;
      const ticks = ticksOf(pcm);
      violations.check(
        'trim',
        ticks.length === 0 || isStump(pcm),
        () => `a pause that was taken out held ${ticks.length} ticks of speech`,
      );
    }
  };

  /** In which languages it is to be said. */
  const noteTargets = ({ before, after }: LaneStep, now: number): void => {
    const { targets: wanted } = after.options;
    if (wanted === targets) return;
    const isSame = wanted.length === targets.length && wanted.every((one, index) => one === targets[index]);
    targets = wanted;
    if (isSame && before.options.source === after.options.source) return;
    targetsSince = now;
    for (const tick of queue) said.relax(tick);
    markAll(queue, RETASKED);
  };
  /** The device has told that a translation was cut off. */
  const noteCut = ({ before, effects }: LaneStep, now: number): void => {
    const isFirst = ({ ticks }: Job): boolean => timesSent.get(ticks[0] ?? 0) <= 1;
    const connectionOf = (tick: number) => sendings.get(tick)?.connection;
    const cutSetup = { ...doubts, named: setup.named, isFirst, isZeroOpen: isZeroOpen(before) };
    for (const effect of effects) {
      if (effect.type !== 'notify' || effect.kind !== 'audio_cut') continue;
      if (!setup.named) checkUnspoken(violations, [...jobs.values()], effect.detail, now);
      for (const job of cutJobs([...jobs.values()], effect.detail, cutSetup))
        markAll(meantTicks(job, effect.detail, doubts.isWritten, connectionOf), CUT);
    }
  };
  const dropped = createDropped<Job>({
    ...{ violations, isSilent: setup.isSilent, jobOf: (id) => jobs.get(id) },
    gone: ({ ticks }, how) => markAll(ticks, how === 'unheard' ? UNHEARD : SHED),
    missed: (job, ticks) => said.missed(job, ticks),
  });
  const spoil = (job: Job | undefined): void => {
    if (job === undefined) return;
    job.spoiled = true;
    markAll(job.ticks, DISTORTED);
  };

  // Across a new task the zero of the times that the service tells is not known.
  const isExactAt = (tick: number): boolean => setup.isExact() && (flags.get(tick) & RETASKED) === 0;
  const excuse = (tick: number): Excuse | null => {
    const flag = flags.get(tick);
    if (flag & GATED) return 'gated';
    if (flag & DEAF) return 'deaf';
    if (flag & HOLD_FULL) return 'hold_full';
    if (flag & SHED) return 'shed';
    if (flag & UNHEARD) return 'unheard';
    if (flag & ASLEEP) return 'asleep';
    if (flag & CUT) return 'cut';
    if (flag & DISTORTED) return 'service';
    if (flag & LEFT_OUT) return 'left_out';
    const sending = sendings.get(tick);
    const isExact = isExactAt(tick);
    if (!isExact && seams.isInDoubt(tick)) return 'unnamed';
    if (!setup.named && targets.length > 1 && wasCut(jobs.values(), tick)) return 'unnamed';
    if (!setup.named && lacksItsEnd(jobs.values(), tick)) return 'unnamed';
    if (!isExact && isNextPart([...jobs.values()], tick, isGone)) return 'unnamed';
    const over = overAt.get(sending?.connection ?? 0);
    if (sending === undefined || over === undefined) return null;
    if (flag & FORGOTTEN) return 'late_break';
    if (sending.late) return 'behind';
    if (!setup.isExact() && (soundAt.get(sending.connection) ?? 0) > sending.at) return 'unnamed';
    const live = lives.find((at) => at > over) ?? Number.POSITIVE_INFINITY;
    if (live - sending.quietSince > HOLD_MS) return 'late_break';
    return null;
  };

  /** A microphone that goes away in the middle of a word cuts it in two: the rest is sent when it is back, or never. */
  const isApart = (one: number, next: number): boolean => {
    const [before, after] = [sendings.get(one)?.at ?? null, sendings.get(next)?.at ?? null];
    if (before === null || after === null) return before !== after;
    return next - one > PAUSE_TICKS || after - before > PAUSE_TICKS * TICK_MS + CHUNK_MS;
  };

  const judging: Judging = {
    ...{ violations, excused, isApart, isSaid: said.isSaid },
    excuse(tick) {
      const isLate = !isExactAt(tick) && seams.isBehindLateText(tick, isGone);
      const why = excuse(tick) ?? (isLate ? 'unnamed' : null);
      if (why === 'left_out') leftOut.unsaid(tick);
      const over = overAt.get(sendings.get(tick)?.connection ?? 0);
      if (why !== null && over !== undefined) silentEnds.unsaid(over, why === 'late_break');
      const isOutage = why === 'hold_full' || why === 'late_break';
      return isOutage && !setup.mayLose(spokenAt.get(tick)) ? null : why;
    },
    isLeftOut: (tick) => (flags.get(tick) & (HEARD | RENDERED)) === HEARD && timesSent.get(tick) === 1,
    wentOn: (tick) => hasGoneOn(sendings.get(tick), overAt),
    isRendered: (tick) => (flags.get(tick) & RENDERED) !== 0,
    describe(tick) {
      const missing = said.missing(tick);
      const how = missing.length === 0 ? '' : ` to the end in ${missing.join(', ')}`;
      const heard = (flags.get(tick) & HEARD) === 0 ? 'not heard' : 'heard';
      const where = sendings.get(tick)?.connection ?? 'no connection';
      return `${how} (tick ${tick}, spoken at ${Math.round(spokenAt.get(tick))} ms, ${heard} by the service on ${where})`;
    },
  };

  return {
    get spokenTicks() {
      return spokenTicks;
    },
    get saidTicks() {
      return saidTicks;
    },
    get repeatedTicks() {
      return said.doubtfulTicks;
    },
    get saidLate() {
      return order.lateTicks;
    },
    excused,
    spoken(number, at) {
      const tick = number - firstTick;
      spokenTicks++;
      flags.set(tick, 0);
      spokenAt.set(tick, at);
      said.demand(tick, at < targetsSince + CHANGING_MS ? [] : targets);
      queue.push(tick);
    },
    step(step, now) {
      strange.step(step);
      silentEnds.step(step, now);
      leftOut.step(step, now);
      noteTargets(step, now);
      noteCaptured(step);
      noteGone(step, now);
      markChunks(chunksForgotten(step.before, step.after), FORGOTTEN);
      dropped.unheard(step, now);
      noteCut(step, now);
      if (step.event.type === 'stop' || step.event.type === 'shutdown') this.ended();
      else if (isStoppedByHold(step.before, step.after) && !isFinished(step.before, now)) this.ended();
      else dropped.shed(step);
    },
    sent(connection, pcm, now) {
      const quietSince = signAt.get(connection) ?? now;
      const streamMs = sentMs.get(connection) ?? 0;
      sentMs.set(connection, streamMs + CHUNK_MS);
      const sending: Sending = { connection, at: now, late: setup.isLate(), quietSince };
      read(new Int16Array(pcm.buffer, pcm.byteOffset, pcm.byteLength >> 1), (tick, fromMs) => {
        sendings.set(tick, sending);
        places.set(tick, streamMs + fromMs);
        timesSent.set(tick, timesSent.get(tick) + 1);
        checkAge(violations, now - spokenAt.get(tick));
      });
    },
    ended() {
      markAll(queue, DEAF);
      silentEnds.ended();
    },
    accepted: (connection, stream) => void numberOf.set(stream, connection),
    sign: (connection, now) => void signAt.set(connection, now),
    connectionOver: (connection, now) => void overAt.set(connection, now),
    live: (now) => void lives.push(now),
    heard(stream, sound, running) {
      const { echoes } = read(sound, (tick) => {
        const last = lastHeard.get(stream) ?? 0;
        timesHeard.set(tick, timesHeard.get(tick) + 1);
        // Sent again: by another stream that broke off, or because its translation was cut off.
        const isAgain = timesSent.get(tick) > 1 && timesHeard.get(tick) <= timesSent.get(tick);
        if (tick <= last && !isAgain)
          violations.add('stream_order', `stream ${stream} heard tick ${tick} after ${last}`);
        lastHeard.set(stream, Math.max(last, tick));
        if (running) mark(tick, HEARD);
      });
      if (echoes > 0 && setup.echo)
        violations.add('echo', `the service heard ${echoes} ticks of the loudspeaker`);
    },
    overrun: (sound) => void read(sound, (tick) => mark(tick, DISTORTED)),
    rendered(given) {
      const ticks = given.ticks.map((tick) => tick - firstTick);
      const job: Job = { ...given, ticks, playedTicks: 0, deliveredTicks: 0 };
      if (job.spoiled) spoil(job);
      markAll(ticks, job.leftOut ? RENDERED | LEFT_OUT : RENDERED);
      if (job.leftOut && setup.writes) leftOut.begun(job);
      seams.rendered(job);
      doubts.rendered(numberOf.get(job.stream) ?? 0, given, ticks);
      jobs.set(job.id, job);
      if (jobs.size > 200) jobs.delete(jobs.keys().next().value ?? 0);
    },
    spoiling(now) {
      for (const job of jobs.values()) if (now - job.renderedAt < UNDER_WAY_MS) spoil(job);
    },
    word: doubts.word,
    delivered(pcm, isNamed, now) {
      const [found] = readRenderings(pcm);
      const job = jobs.get(found?.job ?? 0);
      if (job === undefined || found === undefined) return;
      job.deliveredTicks += found.ticks;
      order.delivered(job, found.ticks, now);
      doubts.sound(job.ticks, isNamed, now);
      soundAt.set(numberOf.get(job.stream) ?? 0, now);
    },
    written(pcm, now) {
      // The soft edges of a gap within a sentence.
      if (pcm.byteLength <= MOST_FADE_BYTES) return;
      const stretches = readRenderings(pcm);
      for (const stretch of stretches) {
        const job = jobs.get(stretch.job);
        if (job === undefined) violations.add('playout', 'a sound was played that nobody rendered');
        else {
          if (order.written(job, stretch, now)) said.begin(job);
          said.played(job, stretch.ticks);
        }
      }
      if (stretches.length === 0) strange.played(pcm);
    },
    untaken: dropped.untaken,
    judge(now, heldSince) {
      const due = queue.findIndex(
        (tick) =>
          (sendings.get(tick)?.at ?? spokenAt.get(tick)) > now - JUDGED_AFTER_MS ||
          spokenAt.get(tick) > heldSince - CHUNK_MS,
      );
      const ready = due < 0 ? queue : queue.slice(0, due);
      queue = due < 0 ? [] : queue.slice(due);
      saidTicks += judgeTicks(ready, judging);
      silentEnds.judge(now);
      for (const tick of ready) said.forget(tick);
    },
  };
}
