/** Where a sentence ends and the next one begins, and of which parts one consists. */
export const SENTENCES = [
  {
    name: 'any-part-ends-a-sentence',
    file: 'uplink/replay/parts.ts',
    find: "parts.every(({ state }) => state !== 'open')",
    replace: 'parts.length > 0',
    tests: ['uplink/replay/parts.test.ts'],
  },
  {
    name: 'end-of-a-part-leaves-nothing-owed',
    file: 'uplink/replay/parts.ts',
    find: 'if (lengthOf(rest) < LEAST_REST_MS) return none;',
    replace: 'if (lengthOf(rest) >= 0) return none;',
    tests: ['uplink/replay/parts.test.ts'],
  },
  {
    name: 'part-settles-what-it-does-not-cover',
    file: 'uplink/replay/parts.ts',
    find: 'const isWithin = one.fromMs >= fromMs && one.toMs <= toMs;',
    replace: 'const isWithin = one.fromMs >= 0;',
    tests: ['uplink/replay/parts.test.ts'],
  },
  {
    name: 'early-sound-takes-the-next-sentence',
    file: 'uplink/replay/understood.ts',
    find: 'toMs: Math.min(sentEnd(log), nextMs)',
    replace: 'toMs: sentEnd(log)',
    tests: ['uplink/replay/next-sentence.test.ts'],
  },
  {
    name: 'late-times-take-the-next-sentence',
    file: 'uplink/replay/understood.ts',
    find: 'Math.max(toMs, Math.min(end, nextBegin(log, id, toMs - OVERLAP_MS)))',
    replace: 'end',
    tests: ['uplink/replay/next-sentence.test.ts'],
  },
  {
    name: 'late-times-take-what-sounds-already',
    file: 'uplink/replay/understood.ts',
    find: 'Math.min(...[...told, ...taken]',
    replace: 'Math.min(...told',
    tests: ['uplink/replay/next-sentence.test.ts'],
  },
  {
    name: 'interim-texts-behind-a-new-task-tell-no-times',
    file: 'uplink/replay/interim.ts',
    find: 'isOpen && told !== null ? placeSpan(log, told).span : placePart(log, told)',
    replace: 'isOpen ? null : placePart(log, told)',
    tests: ['uplink/replay/next-sentence.test.ts'],
  },
  {
    name: 'doubtful-ends-stay-when-times-come',
    file: 'uplink/replay/understood.ts',
    find: 'seam?.next == null ? { ...rest, sentence: null } : { ...piece, sentence: null }',
    replace: 'seam === rest.seam ? { ...rest, sentence: null } : { ...piece, sentence: null }',
    tests: ['uplink/replay/next-sentence.test.ts'],
  },
];
