import { describe, expect, it } from 'vitest';
import { keyClashes } from '../../src/protocol/key-clashes.ts';

const LANES = [
  { id: 'clerk', source: 'en', targets: ['es'], offer: [] },
  { id: 'visitor', source: 'es', targets: ['en'], offer: ['fr', 'de-AT'] },
];
const key = (command: string, args: object) => ({
  device: '/dev/input/pad',
  key: 'KEY_F1',
  do: { command, args },
});
/** What is wrong with a key after one that is right. */
const clash = (command: string, args: object) => keyClashes([key('mute', {}), key(command, args)], LANES);

describe('a key that the lanes cannot obey', () => {
  it.each([
    [
      'names a lane that there is not',
      'mute',
      { lane: 'guide' },
      'lane',
      'must be the id of a lane: "clerk", "visitor"',
    ],
    [
      'steps through the languages of a lane that offers none',
      'languages',
      { lane: 'clerk', step: 1 },
      'step',
      'must not be given: the lane has no "offer" to choose from',
    ],
    [
      'names a target that one of its lanes does not offer',
      'languages',
      { targets: ['en', 'fr'] },
      'targets',
      'must not name "fr": lane "clerk" does not offer it; add it to "offer"',
    ],
    [
      'names a source that its lane does not offer',
      'languages',
      { lane: 'visitor', source: 'it', targets: ['en'] },
      'source',
      'must not name "it": lane "visitor" does not offer it; add it to "offer"',
    ],
  ])('%s', (_name, command, args, part, message) => {
    expect(clash(command, args)).toEqual([{ path: ['keys', 1, 'do', 'args', part], message }]);
  });

  it.each([
    ['any lane', 'mute', {}],
    ['a lane that there is', 'mute', { lane: 'visitor' }],
    ['a step where one of the lanes offers languages', 'languages', { step: 1 }],
    [
      'languages of the lane, configured and offered',
      'languages',
      { lane: 'visitor', source: 'ES', targets: ['de-at'] },
    ],
    ['languages of all lanes', 'languages', { source: 'en', targets: ['es'] }],
    ['a language in another command', 'say', { language: 'it', text: 'Ciao' }],
  ])('does not name %s', (_name, command, args) => {
    expect(clash(command, args)).toEqual([]);
  });

  it('is not judged where keys or lanes are wrong in another way', () => {
    const wrong = key('mute', { lane: 'guide' });
    const [clerk] = LANES;
    for (const lanes of [
      undefined,
      'clerk',
      [{ ...clerk, targets: 'es' }],
      [{ ...clerk, offer: [7] }],
      [null],
    ])
      expect(keyClashes([wrong], lanes)).toEqual([]);
    for (const keys of [undefined, 'KEY_F1', [null], [{ do: 'mute' }], [{ do: { command: 'mute' } }]])
      expect(keyClashes(keys, LANES)).toEqual([]);
    expect(keyClashes([{ do: 'mute' }, wrong], LANES)).toHaveLength(1);
  });
});
