/** Draws `config/desired` documents: valid, partly invalid, wholly invalid, empty. */
import type { DocumentContent, LaneKey } from './desired-model.ts';
import type { Dice } from './dice.ts';

/** A document to publish. */
export interface DrawnDocument {
  readonly payload: string;
  /** Null: the document is empty or wholly invalid. */
  readonly content: DocumentContent | null;
}

export const EMPTY: DrawnDocument = { payload: '', content: null };

type Choices = readonly [unknown, ...unknown[]];

/** Limits of the documents in this world. */
export interface DocumentTerms {
  /** Documents also change languages. */
  readonly languages: boolean;
  /** Echo modes that work in this room. */
  readonly echo: readonly [string, ...string[]];
  readonly lanes: readonly [string, ...string[]];
}

const RIGHT: Readonly<Record<Exclude<LaneKey, 'echo'>, Choices>> = {
  source: ['en', 'en', 'it', 'fr'],
  targets: [['es'], ['fr'], ['de'], ['es', 'fr'], ['fr', 'de']],
  voice: [null, 'default_low', 'default_high'],
  start: ['boot', 'voice', 'command'],
  standbyAfter: [0, 15, 60, 86_400],
};
const WRONG: Readonly<Record<LaneKey, Choices>> = {
  source: ['ENGLISH', '', 5, null, 'en_US', { en: true }],
  targets: [[], 'es', ['es', 'es'], ['es', 5], null, Array.from({ length: 9 }, (_, at) => `a${at}`)],
  voice: ['', 5, 'v'.repeat(129), 'bell\u0007'],
  echo: ['loud', null, 1, ['off']],
  start: ['never', true, null],
  standbyAfter: [-1, 86_401, '15', null],
};
/** Unknown keys, and keys that cannot be set over MQTT. */
const STRANGE: readonly [string, ...string[]] = ['echoo', 'bargeIn', 'capture', 'rolloverLead', '__proto__x'];
const LEVELS = ['debug', 'info', 'warn'] as const;

const WHOLLY_WRONG: readonly [(version: number) => string, ...((version: number) => string)[]] = [
  () => '{',
  () => 'null',
  () => '[]',
  () => '"config"',
  () => '{"lanes":[]}',
  () => '{"version":-1}',
  () => '{"version":1.5}',
  () => '{"version":"7"}',
  (version) => JSON.stringify({ version, ts: 'yesterday' }),
  (version) => JSON.stringify({ version, note: 'x'.repeat(66_000) }),
  (version) => `{"version":${version},"lanes":${'['.repeat(30_000)}`,
];

/** Draws documents. Each has a unique version, which may be lower than the one before. */
export function createDocuments(dice: Dice, terms: DocumentTerms): () => DrawnDocument {
  const used = new Set<number>();
  const freshVersion = (): number => {
    const version = dice.whole(0, 1_000_000);
    if (used.has(version)) return freshVersion();
    used.add(version);
    return version;
  };
  const keys: readonly [LaneKey, ...LaneKey[]] = terms.languages
    ? ['source', 'targets', 'targets', 'voice', 'echo', 'start', 'standbyAfter']
    : ['echo', 'start', 'standbyAfter', 'standbyAfter'];
  const right = (key: LaneKey): unknown =>
    key === 'echo' ? dice.pick(terms.echo) : dice.pick(RIGHT[key] as Choices);

  const drawEntry = (at: number, wrong: string[], wrongShare: number) => {
    const lane = dice.chance(0.8) ? dice.pick([...terms.lanes, 'other']) : null;
    const values: Partial<Record<LaneKey, unknown>> = {};
    const given: Record<string, unknown> = lane === null ? {} : { id: lane };
    const isOurs = lane === null ? at < terms.lanes.length : lane !== 'other';
    for (let count = dice.whole(1, 3); count > 0; count--) {
      const key = dice.pick(keys);
      if (key in given) continue;
      const isWrong = dice.chance(wrongShare);
      given[key] = isWrong ? dice.pick(WRONG[key]) : right(key);
      if (!isWrong) values[key] = given[key];
      else if (isOurs) wrong.push(`lanes[${at}].${key}`);
    }
    if (dice.chance(wrongShare)) {
      const key = dice.pick(STRANGE);
      given[key] = dice.chance(0.5) ? 'x' : null;
      if (isOurs) wrong.push(`lanes[${at}].${key}`);
    }
    return { given, entry: { at, lane, values } };
  };

  return () => {
    const version = freshVersion();
    if (dice.chance(0.12)) return { payload: dice.pick(WHOLLY_WRONG)(version), content: null };
    if (dice.chance(0.08)) return EMPTY;
    const wrongShare = dice.chance(0.3) ? 0.4 : 0;
    const wrong: string[] = [];
    const body: Record<string, unknown> = { version };
    const lanes = Array.from({ length: dice.whole(0, terms.lanes.length) }, (_, at) =>
      drawEntry(at, wrong, wrongShare),
    );
    if (lanes.length > 0) body['lanes'] = lanes.map(({ given }) => given);
    let logLevel: string | null = null;
    if (dice.chance(0.3)) {
      logLevel = dice.pick(LEVELS);
      body['log'] = { level: logLevel };
    } else if (dice.chance(wrongShare)) {
      body['log'] = { level: 'loud', journal: 'json' };
      wrong.push('log.level', 'log.journal');
    }
    if (dice.chance(wrongShare)) {
      body[dice.pick(['mqtt', 'device', 'earcons'])] = { label: 'x' };
      wrong.push(...['mqtt', 'device', 'earcons'].filter((key) => key in body));
    }
    if (dice.chance(0.2)) body['ts'] = dice.chance(0.5) ? null : '2026-01-15T09:00:00.000Z';
    return {
      payload: JSON.stringify(body),
      content: { version, lanes: lanes.map(({ entry }) => entry), logLevel, wrong },
    };
  };
}
