import { fileURLToPath } from 'node:url';
import { parseSync } from 'vite';
import { describe, expect, it } from 'vitest';
import { readTree, type SourceFile } from './source.ts';

const TREE = readTree(fileURLToPath(new URL('../../', import.meta.url)));
const LANE = /^src\/core\/lane\/(.+)\.ts$/;

/** The files in which a field of the lane's state may be set while it runs; a restart makes all of them new. */
const WRITERS: Readonly<Record<string, readonly string[]>> = {
  // Whoever sets it decides what the lane is in: nobody but `become` and `patch`.
  session: ['step-context'],
  timers: ['step-context'],
  counts: ['step-context'],
  oldSession: ['step-context', 'session/old-session'],
  // The operator's: what the service refuses of them is kept beside them.
  options: ['change-options'],
  refusedTask: ['change-options', 'session/accepted-task'],
  acceptedTask: ['session/accepted-task'],
  wanted: ['lifecycle', 'machine'],
  ending: ['machine'],
  hold: ['session/closing'],
  closing: ['lifecycle', 'session/closing'],
  brokerUp: ['session/token'],
  backendSilent: ['machine'],
  nextId: ['session/token'],
  nextStream: ['session/session-setup'],
  rolloversWithoutRoom: ['session/account-limit'],
  longestSetupMs: ['session/session-setup'],
  endsMarked: ['message'],
  silentEnds: ['session/silent-service'],
  doubtful: ['session/unheard-speech'],
  unreadable: ['session/unreadable'],
  vainWakes: ['session/vain-wakes'],
  loss: ['sound/speech-lost'],
  noSessionSince: ['status'],
  echo: ['sound/echo'],
  noiseFloor: ['sound/capture'],
  capturedCount: ['sound/capture'],
  pacer: ['sound/sending'],
  playout: ['sound/playback', 'sound/earcons', 'sound/unheard'],
  playbackLost: ['sound/playback'],
  unheard: ['sound/unheard'],
  stopped: ['sound/stopped'],
  chimes: ['sound/earcons'],
  ducked: ['sound/ducking'],
  bargedIn: ['sound/ducking'],
};

interface Syntax {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

const isSyntax = (part: unknown): part is Syntax =>
  typeof part === 'object' && part !== null && 'type' in part;

/** The fields that `context.set({ ... })` sets in a file. */
function fieldsSetIn({ path, text }: SourceFile): string[] {
  const fields: string[] = [];
  const textOf = (part: unknown): string => (isSyntax(part) ? text.slice(part.start, part.end) : '');
  const take = (object: unknown): void => {
    if (!isSyntax(object) || !Array.isArray(object['properties'])) return;
    for (const property of object['properties'] as readonly Syntax[]) {
      if (property.type === 'SpreadElement') take(property['argument']);
      else fields.push(textOf(property['key']));
    }
  };
  const visit = (part: unknown): void => {
    if (Array.isArray(part)) return part.forEach(visit);
    if (!isSyntax(part)) return;
    const isSet = part.type === 'CallExpression' && /^(context|this)\.set$/.test(textOf(part['callee']));
    if (isSet && Array.isArray(part['arguments'])) take(part['arguments'][0]);
    Object.values(part).forEach(visit);
  };
  visit(parseSync(path, text).program);
  return fields;
}

describe('a field of the lane', () => {
  const written = TREE.flatMap((file) => {
    const name = LANE.exec(file.path)?.[1];
    return name === undefined || name === 'restart'
      ? []
      : fieldsSetIn(file).map((field) => ({ field, name }));
  });

  it.each(Object.entries(WRITERS))('%s is set by its few owners', (field, owners) => {
    const writers = new Set(written.filter((one) => one.field === field).map(({ name }) => name));
    expect([...writers].toSorted()).toEqual([...owners].toSorted());
  });

  it('is found wherever it is set', () => {
    const text =
      'context.set({ a: 1, ...{ b: 2 }, ...other });\nif (x) this.set({ c });\nother.set({ d: 1 });';
    expect(fieldsSetIn({ path: 'src/core/lane/a.ts', text })).toEqual(['a', 'b', 'c']);
  });
});
