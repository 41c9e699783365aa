/** Which translations the device means when it tells that one was cut off (`audio_cut`). */
import { streamsOf } from '../../src/core/lane/session/session.ts';
import type { LaneState } from '../../src/core/lane/state.ts';
import { TICK_MS } from './sound.ts';
import type { Job } from './speech-ports.ts';
import type { Violations } from './violations.ts';

/** Of a translation of which less came the device has to know that it is to be said again, once, where it has a name. */
const CUT_SHARE = 0.2;
/** Of two zeros that are no further apart both fit all that the service tells. */
const ALIKE_MS = 1000;

export interface CutSetup {
  /** The service names its sentences. */
  readonly named: boolean;
  /** It was not sent again. */
  readonly isFirst: (job: Job) => boolean;
  /** The device does not know where the times count from that the service tells. */
  readonly isZeroOpen: boolean;
  /** A text of its sentence's translation has reached the device: without one nothing tells how long it should be. */
  readonly isWritten: (ticks: readonly number[]) => boolean;
  /** The device has been told which seconds a part of its sentence's translation is of. */
  readonly isPlaced: (ticks: readonly number[]) => boolean;
}

/**
 * Those of the jobs of which it may be told that they were cut. With a name, and at the first try, enough of it must have come:
 * less is to be said again. But where no text tells how long it should be nothing can be asked for; and where nothing tells which
 * seconds it translates, its sentence can't be said again without the part that was whole.
 */
export function cutJobs(
  jobs: readonly Job[],
  { language, played_ms: playedMs }: Readonly<Record<string, unknown>>,
  { named, isFirst, isZeroOpen, isWritten, isPlaced }: CutSetup,
): readonly Job[] {
  const isOtherWhole = (job: Job): boolean =>
    jobs.some((one) => one !== job && isOfOneSentence(one, job) && one.deliveredTicks >= one.lengthTicks);
  const told = jobs.filter((job) => {
    const { deliveredTicks, lengthTicks } = job;
    // Of what is told nothing had come.
    if (playedMs === 0 && deliveredTicks > 0) return false;
    const isUnplaced = (isZeroOpen || !isPlaced(job.ticks)) && isOtherWhole(job);
    const isOnce = named && isFirst(job) && isWritten(job.ticks) && !isUnplaced;
    // Without names the device can only mean what has begun to sound; with one, a second try that never sounds as well.
    const least = isOnce ? lengthTicks * CUT_SHARE : named ? 0 : 1;
    const isCut = deliveredTicks >= least && deliveredTicks < lengthTicks;
    return isCut && (language === undefined || job.language === language);
  });
  // Where no text has told of its parts, the whole sentence is meant: also what had not begun to sound.
  const isMeant = (job: Job): boolean => told.some((one) => isOfOneSentence(one, job));
  return jobs.filter(
    (job) => told.includes(job) || (job.deliveredTicks === 0 && !isWritten(job.ticks) && isMeant(job)),
  );
}

/**
 * The speech that is meant by such a word: that of the translation; and where no text has told what it is of, all that had been
 * sent behind it, up to the length that is told.
 * @param connectionOf the one by which it was sent last
 */
export function meantTicks(
  { ticks }: Job,
  { expected_ms: expectedMs }: Readonly<Record<string, unknown>>,
  isWritten: CutSetup['isWritten'],
  connectionOf: (tick: number) => number | undefined,
): readonly number[] {
  const [first, last] = [ticks[0], ticks.at(-1)];
  if (first === undefined || last === undefined || isWritten(ticks)) return ticks;
  const meant = [...ticks];
  for (let tick = last + 1; tick < first + Number(expectedMs) / TICK_MS; tick++)
    if (connectionOf(tick) === connectionOf(first)) meant.push(tick);
  return meant;
}

/** Of what is told as never spoken the device waits for so long, in two languages. */
const AWAITED_MS = 100_000;

/** What is told as never spoken, of a service without names, has not reached the device. */
export function checkUnspoken(
  violations: Pick<Violations, 'check'>,
  jobs: readonly Job[],
  { language, played_ms: playedMs }: Readonly<Record<string, unknown>>,
  now: number,
): void {
  // Where sound does not tell its language all of them are meant.
  const languages = String(language).split(',');
  const recent = jobs.filter((job) => languages.includes(job.language) && now - job.renderedAt < AWAITED_MS);
  const isTrue = recent.some(({ deliveredTicks, lengthTicks }) => deliveredTicks < lengthTicks);
  violations.check(
    'told',
    playedMs !== 0 || isTrue,
    () => `a translation into ${language} is told as never spoken, and all were`,
  );
}

function isOfOneSentence(one: Job, other: Job): boolean {
  return one.stream === other.stream && one.sentence === other.sentence && one.language === other.language;
}

/** Whether a new task has left open where a service's times count from, and nothing that it tells can decide it. */
export function isZeroOpen(lane: Pick<LaneState, 'session' | 'oldSession'>): boolean {
  return streamsOf(lane).some(({ replay: { times } }) => {
    const apartMs = Math.max(...times.zeros) - Math.min(...times.zeros);
    return times.zeros.length > 1 && apartMs <= ALIKE_MS;
  });
}
