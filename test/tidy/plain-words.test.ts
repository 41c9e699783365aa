/** Words that nobody should have to learn: what stands here instead is the field's, or today's. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readTree, type SourceFile } from './source.ts';

const TREE = readTree(fileURLToPath(new URL('../../', import.meta.url)));

const INSTEAD: Readonly<Record<string, string>> = {
  'mend(?:s|ed|ing)?': 'fix',
  'reckon(?:s|ed|ing)?': 'count, take for',
  beforehand: 'in advance',
  'for ever': 'forever',
  'whilst|wherein|thereby|henceforth|hither|thither|hark|dear|tidings': "today's word",
  'errands?': 'task, wrapper',
  spoilt: 'spoiled',
  'condemn(?:s|ed)?|forsake\\w*|surrender\\w*': 'end, close, drop, lose or forget: docs/architecture.md',
  'giveBack|dismiss': 'end, close, drop, lose or forget: docs/architecture.md',
  soundings: 'playout timeline',
  'vault|token-?desk|command-?desk|fault-?desk': 'token store, token client, command dispatcher',
  'echo-?thinner': 'decimator',
  'so many': 'this many, as many, a number of',
  'own ears': 'detector',
  'stage-?hands|puppets?|surgery': 'fixture, harness, fake',
  'workshop|tongues?|keeper': 'testbed, language or voice, store',
  'lineUp|lineCare|no_line': 'the connection to the broker; a line is one of a text',
};

/** Where such a word has its own meaning, or is spoken of. */
const ABOUT_WORDS = /^(CHANGELOG\.md|package-lock\.json|test\/tidy\/(plain-words|ending-verbs)\.test\.ts)$/;

function foundIn(files: readonly SourceFile[]): string[] {
  const words = Object.entries(INSTEAD).map(
    ([word, instead]) => [new RegExp(`\\b(?:${word})\\b`, 'gi'), instead] as const,
  );
  return files
    .filter(({ path }) => !ABOUT_WORDS.test(path))
    .flatMap(({ path, text }) =>
      words.flatMap(([word, instead]) =>
        [...text.matchAll(word)].map(([found]) => `${path}: "${found}"; rather: ${instead}`),
      ),
    );
}

describe('plain words', () => {
  it('stand in everything that is written here', () => {
    expect(foundIn(TREE)).toEqual([]);
  });

  it.each([
    'It is mended.',
    'kept for ever',
    'const lineUp = true;',
    'to surrender a lease',
    'the Errand',
    'So many chunks',
  ])('would be broken by "%s"', (text) => {
    expect(foundIn([{ path: 'src/core/a.ts', text }])).toHaveLength(1);
  });

  it('are not broken by a part of a word', () => {
    expect(foundIn([{ path: 'src/a.ts', text: 'recommend, amendment, dearth, timelineUp' }])).toEqual([]);
  });
});
