import { primaryOf } from '../../../src/device/lane/replay/language-tags.ts';
import type { LaneStep } from '../../../src/device/lane/runner/lane-runner.ts';
import { TICK_MS, TICK_SAMPLES } from '../sound.ts';
import { type Form, isRoom, type Person, type Utterance } from './people.ts';

/** What happened at a desk. */
export interface DeskFigures {
  readonly form: Form;
  conversations: number;
  sentences: number;
  /** Sentences that were understood in the language of the one who spoke, and on that person's lane. */
  right: number;
  /** Sentences made of a loudspeaker's sound alone. */
  selfTranslated: number;
  /** Sentences that were spoken in the language in which they were said. */
  saidBack: number;
  /** Utterances for the kiosk, and those of which most was translated. */
  said: number;
  translated: number;
  /** Longest time until the other lane heard silence (ms), and the longest that a person's own words were cut. */
  floorMs: number;
  cutMs: number;
  /** Longest time from a key to its answer (ms). */
  answerMs: number;
}

export const emptyFigures = (form: Form): DeskFigures => ({
  form,
  conversations: 0,
  sentences: 0,
  right: 0,
  selfTranslated: 0,
  saidBack: 0,
  said: 0,
  translated: 0,
  floorMs: 0,
  cutMs: 0,
  answerMs: 0,
});

const CHUNK_MS = 320;
/** Level (amplitude, mean) above which a tick of a sent chunk has a voice. */
const VOICE = 500;
/** Share of an utterance that counts as translated. */
const MOST = 0.6;

interface Sentence {
  readonly lane: string;
  readonly language: string;
  readonly at: readonly number[];
  readonly spoken: Set<string>;
}

/** Follows each lane from the microphone to the loudspeaker, by the times at which its sound was captured. */
export function createDeskOracle(form: Form, languages: readonly [string, string], lanes: readonly string[]) {
  const figures = emptyFigures(form);
  /** For each stream: when each tick of it was captured; null: inserted silence. */
  const heard = new Map<string, (number | null)[]>();
  const sentences = new Map<string, Sentence>();
  /** Ticks with a voice that each lane has sent, by lane. */
  const passed = new Map<string, Set<number>>(lanes.map((id) => [id, new Set()]));
  const pressed = new Map<string, number>();
  const problems: string[] = [];

  const sent = (lane: string, stream: number, pcm: Uint8Array | null, capturedAt: number | null): void => {
    const key = `${lane}/${stream}`;
    const ticks = heard.get(key) ?? [];
    heard.set(key, ticks);
    const sound = pcm === null ? null : new Int16Array(pcm.buffer, pcm.byteOffset, pcm.byteLength >> 1);
    for (let index = 0; index < CHUNK_MS / TICK_MS; index++) {
      const at = capturedAt === null ? null : capturedAt - CHUNK_MS + index * TICK_MS;
      ticks.push(at);
      if (sound === null || at === null) continue;
      let sum = 0;
      for (let place = 0; place < TICK_SAMPLES; place += 4)
        sum += Math.abs(sound[index * TICK_SAMPLES + place] ?? 0);
      if (sum / (TICK_SAMPLES / 4) > VOICE) passed.get(lane)?.add(Math.round(at / TICK_MS));
    }
  };

  const step = ({ lane, event, effects }: LaneStep, now: number): void => {
    for (const effect of effects) {
      if (effect.type === 'send_audio') sent(lane, effect.stream, effect.pcm, effect.capturedAt);
      if (event.type === 'turn' && effect.type === 'play') pressed.set(`${lane}/${effect.write}`, now);
    }
    if (event.type === 'sounding' && event.from !== null) {
      const at = pressed.get(`${lane}/${event.write}`);
      if (at !== undefined) figures.answerMs = Math.max(figures.answerMs, event.from - at);
    }
    if (event.type !== 'service') return;
    const { said } = event;
    if (said.type === 'understood' && said.id !== null && said.span !== null) {
      const ticks = heard.get(`${lane}/${event.stream}`) ?? [];
      const at = ticks
        .slice(Math.round(said.span.fromMs / TICK_MS), Math.round(said.span.toMs / TICK_MS))
        .flatMap((one) => (one === null ? [] : [one]));
      sentences.set(said.id, { lane, language: said.language, at, spoken: new Set() });
    }
    if (said.type === 'spoke' && said.sentence !== null && said.language !== null && said.pcm.byteLength > 0)
      sentences.get(said.sentence)?.spoken.add(said.language);
  };

  const personOf = (utterances: readonly Utterance[], { at }: Sentence) => {
    const share = (utterance: Utterance): number =>
      at.filter((one) => one >= utterance.from - TICK_MS && one <= utterance.until).length;
    const [best] = utterances
      .map((utterance) => ({ utterance, ticks: share(utterance) }))
      .sort((one, other) => other.ticks - one.ticks);
    return best === undefined || best.ticks === 0 ? null : best.utterance;
  };

  /** Whether a sentence was understood in a person's language, on that person's lane. */
  const isFor = ({ lane, language }: Sentence, person: Person): boolean =>
    (!isRoom(form) || lane === lanes[person]) && primaryOf(language) === languages[person];

  const judge = (
    utterances: readonly Utterance[],
    wasHeard: (from: number, until: number) => boolean,
    isExcused: (from: number, until: number) => boolean,
  ): DeskFigures => {
    figures.conversations += 1;
    for (const [id, sentence] of sentences) {
      const [first, last] = [Math.min(...sentence.at), Math.max(...sentence.at)];
      const utterance = personOf(utterances, sentence);
      if (utterance === null) {
        if (sentence.at.length > 0 && wasHeard(first, last)) {
          figures.selfTranslated += 1;
          problems.push(`${id} on ${sentence.lane} is the loudspeaker's sound, ${first} to ${last}`);
        }
        continue;
      }
      const other = utterances.some(
        (one) => one.person !== utterance.person && one.from < last && one.until > first,
      );
      // What both say at once may be either's; a single microphone does not tell them apart.
      const isMixed = utterances.some(
        (one) => one.person !== utterance.person && one.from < utterance.until && one.until > utterance.from,
      );
      if (isMixed || (!isRoom(form) && (utterance.isAside || other))) continue;
      figures.sentences += 1;
      const isRight = isFor(sentence, utterance.person);
      if (isRight) figures.right += 1;
      else
        problems.push(
          `${id} on ${sentence.lane} in ${sentence.language}: person ${utterance.person} said it, ${first} to ${last}`,
        );
      if (isRight && sentence.spoken.has(languages[utterance.person])) figures.saidBack += 1;
    }
    for (const utterance of utterances) {
      const { from, until, person, voiced, isAside } = utterance;
      const isAlone = !utterances.some(
        (one) =>
          one !== utterance && one.person !== person && one.from < until + 700 && one.until > from - 700,
      );
      if (isRoom(form) && !isAside) judgeFloor(utterance, utterances, wasHeard, isExcused);
      if (isAside || (!isRoom(form) && !isAlone) || wasHeard(from - 300, until) || isExcused(from, until))
        continue;
      figures.said += 1;
      const own = [...sentences.values()].filter((sentence) => isFor(sentence, person));
      const ticks = new Set(own.flatMap(({ at }) => at.map((one) => Math.round(one / TICK_MS))));
      const part = [...voiced].filter((tick) => ticks.has(tick)).length / voiced.size;
      if (part >= MOST) figures.translated += 1;
      else problems.push(`person ${person} said ${from} to ${until}: ${Math.round(part * 100)} % translated`);
    }
    return figures;
  };

  /** Which of a person's words the two lanes have sent. */
  const judgeFloor = (
    { person, from, until, voiced }: Utterance,
    utterances: readonly Utterance[],
    wasHeard: (from: number, until: number) => boolean,
    isExcused: (from: number, until: number) => boolean,
  ): void => {
    if (wasHeard(from - 400, until + 400) || isExcused(from, until)) return;
    const [own, other] = person === 0 ? lanes : lanes.toReversed();
    const others = (tick: number): boolean =>
      utterances.some((one) => one.person !== person && one.voiced.has(tick));
    // While both speak, each lane may have either.
    const alone = [...voiced].filter((tick) => !others(tick));
    const both = alone.length < voiced.size;
    const inOther = alone.filter((tick) => passed.get(other ?? '')?.has(tick) === true).length * TICK_MS;
    const inOwn = alone.filter((tick) => passed.get(own ?? '')?.has(tick) === true).length * TICK_MS;
    if (both) return;
    figures.floorMs = Math.max(figures.floorMs, inOther);
    const cutMs = alone.length * TICK_MS - inOwn;
    figures.cutMs = Math.max(figures.cutMs, cutMs);
    if (inOther > 200 || cutMs > 100)
      problems.push(`person ${person} said ${from} to ${until}: ${inOther} ms on ${other}, ${cutMs} ms cut`);
  };

  return { step, judge, problems };
}

export const languageOf = (languages: readonly [string, string], person: Person): string => languages[person];
