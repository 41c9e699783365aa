/** Checks that each 20 ms of speech is translated exactly once, unless an excuse holds (speech-excuses.ts). */

import type { LaneStep } from '../../src/device/lane/runner/lane-runner.ts';
import { echoInForce } from '../../src/device/lane/sound/echo-rules.ts';
import { phaseOf } from '../../src/device/lane/state/session-state.ts';
import type { BacklogChunk } from '../../src/device/lane/uplink/backlog.ts';
import { createCounted } from './counted.ts';
import { createDropped } from './dropped.ts';
import { checkAge, chunksGone, isFinished, isStoppedByHold } from './losses.ts';
import { createPlayOrder } from './play-order.ts';
import { createSaidAccount } from './said.ts';
import { isStump, readRenderings, TICK_MS } from './sound.ts';
import { EXCUSES, type Excuse, FLAGS } from './speech-excuses.ts';
import type { Job, Sending, SpeechOracle, SpeechOracleSetup } from './speech-ports.ts';
import { createStrangeSounds } from './strange-sounds.ts';
import { createTickList } from './tick-list.ts';
import { createTickReader } from './tick-reader.ts';
import { hasGoneOn, type Judging, judgeTicks } from './unsaid.ts';

/** Age at which speech is judged (ms): time for the backlog, its catching up and a full minute of playout. */
const JUDGED_AFTER_MS = 200_000;
/** Pause after which the service begins another sentence (ticks). */
const PAUSE_TICKS = 700 / TICK_MS;
/** Time after a change of the languages in which speech may be translated in the old ones (ms). */
const CHANGING_MS = 15_000;
/** Length of the backlog, and of the speech that is kept for a replay (ms). */
const HOLD_MS = 30_000;
const CHUNK_MS = 320;
/** Age of sent speech up to which a counted loss may concern it (ms). */
const LOST_WITHIN_MS = 60_000;
/** Share of a translation after which the device may count it as spoken: half of the estimated length, and voices differ. */
const MOSTLY_SPOKEN_SHARE = 0.35;
/** Longest fade at a gap within a sentence (bytes). */
const MOST_FADE_BYTES = 8 * 48;
const MOST_JOBS = 200;

export function createSpeechOracle(setup: SpeechOracleSetup): SpeechOracle {
  const { violations, firstTick, serviceCase } = setup;
  const isExact = serviceCase === 'a';
  const flags = createTickList(0);
  const sendings = createTickList<Sending | undefined>(undefined);
  const spokenAt = createTickList(0);
  const [timesSent, timesHeard] = [createTickList(0), createTickList(0)];
  const strange = createStrangeSounds(violations);
  const counted = createCounted(violations);
  const jobs = new Map<number, Job>();
  const [lastHeard, numberOf] = [new Map<string, number>(), new Map<string, number>()];
  const [overAt, signAt, reactedAt] = [
    new Map<number, number>(),
    new Map<number, number>(),
    new Map<number, number>(),
  ];
  const lives: number[] = [];
  const excused = Object.fromEntries(EXCUSES.map((name) => [name, 0])) as Record<Excuse, number>;
  let [spokenTicks, saidTicks, targetsSince] = [0, 0, Number.NEGATIVE_INFINITY];
  let [queue, targets]: [number[], readonly string[]] = [[], []];
  const said = createSaidAccount(violations, isExact);
  const order = createPlayOrder(
    { violations, named: serviceCase !== 'c' },
    (stream) => numberOf.get(stream) ?? 0,
  );
  const mark = (tick: number, flag: number): void => flags.set(tick, flags.get(tick) | flag);
  const markAll = (ticks: readonly number[], flag: number): void => {
    for (const tick of ticks) mark(tick, flag);
  };
  const has = (tick: number, flag: number): boolean => (flags.get(tick) & flag) !== 0;
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
    if (phase === 'idle' || phase === 'draining' || phase === 'closed') return markAll(ticks, FLAGS.deaf);
    const { capturedAt } = event;
    const silenced =
      effects.some((e) => e.type === 'send_audio' && e.capturedAt === capturedAt && e.pcm === null) ||
      after.backlog.chunks.some((chunk) => chunk.capturedAt === capturedAt && chunk.pcm === null);
    if (!silenced) return;
    const beganAt = Math.min(event.beganAt ?? capturedAt, capturedAt - CHUNK_MS);
    const isMuted = before.options.muted || before.closing?.isDeaf === true;
    const { mode } = echoInForce(before);
    const justified = isMuted || setup.wasLoud(beganAt - 420, capturedAt + 100);
    violations.check(
      'gate',
      justified,
      () => `speech was muted while the loudspeaker was silent (phase ${phase})`,
    );
    // When a microphone comes back, the gate closes until the echo is learnt again.
    const learns = before.captureLost && echoInForce(after).mode !== 'cancel';
    const bothSpeak = !isMuted && !learns && mode === 'cancel';
    violations.check('gate', !bothSpeak, () => `speech was muted although the echo is cancelled`);
    markAll(ticks, FLAGS.gated);
  };

  /** Notes speech that the device drops from the backlog, or that it counts as lost after sending it. */
  const noteGone = (step: LaneStep, now: number): void => {
    const { before, after } = step;
    const was = before.backlog.accounts;
    const is = after.backlog.accounts;
    if (was.trimmed === is.trimmed && was.dropped === is.dropped && was.lost === is.lost) return;
    const gone = chunksGone(step);
    if (is.lost > was.lost) {
      const voiced = gone.filter((chunk) => chunk.voiced);
      markChunks(voiced, FLAGS.lost);
      // The rest of the loss is speech of a stream for whose replay the backlog had no room.
      const isOfStream = is.lost - was.lost > voiced.length;
      for (const tick of isOfStream ? queue : [])
        if (now - (sendings.get(tick)?.at ?? now) < LOST_WITHIN_MS) mark(tick, FLAGS.lost);
    }
    if (after.session.kind === 'standby') return markChunks(gone, FLAGS.asleep);
    for (const { pcm, voiced } of gone) {
      if (pcm === null || voiced) continue;
      const ticks = ticksOf(pcm);
      const isPause = ticks.length === 0 || isStump(pcm);
      violations.check('trim', isPause, () => `a trimmed pause held ${ticks.length} ticks of speech`);
    }
  };

  /** Notes the languages in which speech must be translated. */
  const noteTargets = ({ before, after }: LaneStep, now: number): void => {
    const { targets: wanted } = after.options;
    if (wanted === targets) return;
    const isSame = wanted.length === targets.length && wanted.every((one, index) => one === targets[index]);
    targets = wanted;
    if (isSame && before.options.source === after.options.source) return;
    targetsSince = now;
    for (const tick of queue) said.relax(tick);
  };
  const dropped = createDropped<Job>({
    violations,
    isSilent: setup.isSilent,
    jobOf: (id) => jobs.get(id),
    gone: ({ ticks }, how) => markAll(ticks, FLAGS[how]),
    missed: (job, ticks) => said.missed(job, ticks),
  });

  /** The service did not speak it in full: most of it arrived, or the replay was cut too. */
  const isCutByService = (tick: number): boolean => {
    const all = [...jobs.values()];
    const cut = all.filter(
      ({ ticks, deliveredTicks, lengthTicks }) => deliveredTicks < lengthTicks && ticks.includes(tick),
    );
    const isMost = ({ sentence, language }: Job): boolean => {
      const parts = all.filter((one) => one.sentence === sentence && one.language === language);
      const sum = (of: (part: Job) => number): number => parts.reduce((ticks, part) => ticks + of(part), 0);
      return sum((part) => part.deliveredTicks) >= sum((part) => part.lengthTicks) * MOSTLY_SPOKEN_SHARE;
    };
    return cut.length > 1 || cut.some(isMost);
  };
  /** No stream worked for longer than the backlog holds, or the speech was sent to a stream that has been silent since. */
  const isOutage = (tick: number): boolean => {
    if (has(tick, FLAGS.lost)) return true;
    const sending = sendings.get(tick);
    if (sending === undefined) return false;
    const { connection, at: sentAt, quietSince } = sending;
    const over = overAt.get(connection);
    if (over === undefined) return (reactedAt.get(connection) ?? Number.NEGATIVE_INFINITY) < sentAt;
    const live = lives.find((at) => at > sentAt) ?? Number.POSITIVE_INFINITY;
    return over - sentAt > HOLD_MS || live - quietSince > HOLD_MS;
  };
  const excuse = (tick: number): Excuse | null => {
    for (const why of ['gated', 'deaf', 'shed', 'unheard', 'asleep'] as const)
      if (has(tick, FLAGS[why])) return why;
    if (has(tick, FLAGS.overrun)) return 'service';
    if (isOutage(tick) && setup.mayLose(spokenAt.get(tick))) return 'outage';
    return isCutByService(tick) ? 'service' : null;
  };

  /** A microphone that is unplugged within a word cuts it in two: the rest is sent later, or never. */
  const isApart = (one: number, next: number): boolean => {
    const [before, after] = [sendings.get(one)?.at ?? null, sendings.get(next)?.at ?? null];
    if (before === null || after === null) return before !== after;
    return next - one > PAUSE_TICKS || after - before > PAUSE_TICKS * TICK_MS + CHUNK_MS;
  };
  const judging: Judging = {
    violations,
    excused,
    isApart,
    isSaid: said.isSaid,
    excuse(tick) {
      const why = excuse(tick);
      // A stream that has not ended may still speak it.
      const isOpen = !overAt.has(sendings.get(tick)?.connection ?? -1) && sendings.get(tick) !== undefined;
      if (why !== null && !isOpen && !has(tick, FLAGS.overrun)) counted.unsaid(why);
      return why;
    },
    isLeftOut: (tick) => has(tick, FLAGS.heard) && !has(tick, FLAGS.rendered) && timesSent.get(tick) === 1,
    wentOn: (tick) => hasGoneOn(sendings.get(tick), overAt),
    isRendered: (tick) => has(tick, FLAGS.rendered),
    isUnnamed: (tick) => !isExact && sendings.get(tick) !== undefined,
    describe(tick) {
      const missing = said.missing(tick);
      const how = missing.length === 0 ? '' : ` to the end in ${missing.join(', ')}`;
      const heard = has(tick, FLAGS.heard) ? 'heard' : 'not heard';
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
      return said.repeatedTicks;
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
      counted.step(step);
      noteTargets(step, now);
      noteCaptured(step);
      const isStop = step.event.type === 'stop' || step.event.type === 'shutdown';
      const isHeld = isStoppedByHold(step);
      if (isStop || isHeld) markChunks(chunksGone(step), FLAGS.deaf);
      else noteGone(step, now);
      dropped.unheard(step, now);
      if (isStop || (isHeld && !isFinished(step.before, now))) this.ended();
      else dropped.shed(step);
    },
    sent(connection, pcm, now) {
      const quietSince = signAt.get(connection) ?? now;
      const sending: Sending = { connection, at: now, quietSince };
      read(new Int16Array(pcm.buffer, pcm.byteOffset, pcm.byteLength >> 1), (tick) => {
        sendings.set(tick, sending);
        timesSent.set(tick, timesSent.get(tick) + 1);
        checkAge(violations, now - spokenAt.get(tick));
      });
    },
    ended() {
      markAll(queue, FLAGS.deaf);
    },
    accepted: (connection, stream) => void numberOf.set(stream, connection),
    sign: (connection, now) => void signAt.set(connection, now),
    reacted: (connection, now) => void reactedAt.set(connection, now),
    connectionOver: (connection, now) => void overAt.set(connection, now),
    live: (now) => void lives.push(now),
    heard(stream, sound, running) {
      const { echoes } = read(sound, (tick) => {
        const last = lastHeard.get(stream) ?? 0;
        timesHeard.set(tick, timesHeard.get(tick) + 1);
        // It may be a replay, after another stream broke or a translation was cut off.
        const isAgain = timesSent.get(tick) > 1 && timesHeard.get(tick) <= timesSent.get(tick);
        if (tick <= last && !isAgain)
          violations.add('stream_order', `stream ${stream} heard tick ${tick} after ${last}`);
        lastHeard.set(stream, Math.max(last, tick));
        if (running) mark(tick, FLAGS.heard);
      });
      if (echoes > 0 && setup.echo)
        violations.add('echo', `the service received ${echoes} ticks of the loudspeaker's sound`);
    },
    overrun: (sound) => void read(sound, (tick) => mark(tick, FLAGS.overrun)),
    rendered(given) {
      const ticks = given.ticks.map((tick) => tick - firstTick);
      markAll(ticks, FLAGS.rendered);
      jobs.set(given.id, { ...given, ticks, playedTicks: 0, deliveredTicks: 0, lacksEnd: false });
      if (jobs.size > MOST_JOBS) jobs.delete(jobs.keys().next().value ?? 0);
    },
    delivered(pcm, isLast, now) {
      const [found] = readRenderings(pcm);
      const job = jobs.get(found?.job ?? 0);
      if (job === undefined || found === undefined) return;
      job.deliveredTicks += found.ticks;
      job.lacksEnd = !isLast && job.deliveredTicks >= job.lengthTicks;
      order.delivered(job, found.ticks, now);
    },
    written(pcm, now) {
      if (pcm.byteLength <= MOST_FADE_BYTES) return;
      const stretches = readRenderings(pcm);
      for (const stretch of stretches) {
        const job = jobs.get(stretch.job);
        if (job === undefined)
          violations.add('playout', 'the device played a sound that the service never sent');
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
      for (const tick of ready) said.forget(tick);
    },
    compareCounts: counted.compare,
  };
}
