import type { Generation } from './terms.ts';

/** A seed that once found a defect, of the agent or of the simulator itself. The short ones run with every test. */
export interface Regression {
  readonly seed: number;
  readonly hours: number;
  /** How the seed drew when it found it. */
  readonly generation: Generation;
  readonly found: string;
}

type Found = readonly [seed: number, hours: number, found: string];

const FIRST: readonly Found[] = [
  [81, 0.5, 'a chunk left half full by a hanging microphone held the old sound of its own loudspeaker'],
  [901, 0.4, 'the simulator took what waited in a socket through two outages for lost'],
  [5027, 0.5, 'the simulator did not know a microphone unplugged in the middle of a word'],
  [777_192, 0.3, 'filling up a chunk after a gap made the room seem silent and its noise speech: said twice'],
  [100_282, 0.8, 'a pause in a loud room was one to the service only: the end of a sentence was said twice'],
  [510_270, 0.7, 'the same, at a sentence with a breath in it'],
  [900_061, 0.6, 'the loudspeaker was in the first part of a chunk whose second part came a second later'],
  [900_088, 0.6, 'the same, with a shorter gap'],
  [620_200, 1, 'a long sentence that the service cut at a pause shorter than a chunk'],
  [700_886, 1, 'two sessions broke off, one after the other, and the older one still owed a sentence'],
  [910_594, 1, 'sound came before the text of its sentence'],
  [1_110_115, 1, 'the simulator took a stream that woke from a black hole for out of order'],
  [108_394_677_891, 1, 'sound without ids of two streams at a time was interleaved'],
  [244_830_946_291, 0.4, 'the simulator took what a broken stream owed, and was replayed, for out of order'],
  [244_830_946_656, 0.8, 'the simulator told sentences apart without ids or a pause between them'],
  [800_174, 1, 'the simulator took two short noises with a pause between them for one lost piece of speech'],
  [
    241_161_761_308,
    0.6,
    'the simulator took a word cut in two by an unplugged microphone for one lost piece',
  ],
  [
    219_807_504_277,
    1,
    'a noise that the service ignored hid the sentence that it had heard: it was said twice',
  ],
  [31_000_783, 0.5, 'a revoked stream that lingered beyond its limit kept the emulator busy without end'],
];

const SECOND: readonly Found[] = [
  [60_000_258, 1, 'a timeout named by the close alone was taken for trouble of the service: tries came late'],
  [76_000_289, 1, 'the simulator blamed the device for a loudspeaker that threw each time it was opened'],
  [82_000_406, 0.9, 'the simulator kept a loudspeaker away while the one of another lane took sound'],
  [
    94_000_238,
    0.69,
    'the simulator took a stream with a token revoked before its use for one of the other lane',
  ],
  [98_000_048, 1, 'the simulator stopped a lane by a late order after its faults had ceased, for good'],
  [110_000_173, 1, 'the simulator did not know that a service may not listen to a word that came in a heap'],
  [
    130_000_570,
    1,
    'a stream died within a sentence: the sound of the one before had settled that an answer was owed',
  ],
  [190_000_799, 1, 'the simulator played what waited in a killed process, as its loudspeaker came back'],
  [
    310_000_259,
    1,
    'the simulator gave a token for something else, and did not know how long that parks a lane',
  ],
  [
    992_000_231,
    1,
    'a loudspeaker that had thrown and was then unplugged was reported back with the next write',
  ],
  [
    992_000_307,
    1,
    'one error about the first task of a process parked the lane for six minutes, while visitors spoke',
  ],
];

const THIRD: readonly Found[] = [
  [
    105_000_036,
    1,
    'one error about a task that had run for minutes parked the lane for five, while visitors spoke',
  ],
  [993_000_095, 1, 'a refusal on its way was given twice to a command that the broker sent again'],
  [994_000_882, 1, 'a stream broke off in the first part of a sentence, and the second was lost silently'],
  [1_001_000_271, 0.7, 'speech waited for 15 minutes, without a stream or a microphone, to be said then'],
  [1_001_000_509, 0.46, 'a sentence of a dead stream, of which no sound came, was reported and not replayed'],
  [1_001_000_576, 0.88, 'what lacked only in a language no longer wanted was replayed, and muted as a whole'],
  [
    1_002_000_126,
    0.37,
    'an old session that had spoken none of a translation ended cleanly, and it was lost',
  ],
  [1_005_000_072, 0.75, 'the simulator blamed the device for a microphone that had hung for two minutes'],
  [
    1_011_000_121,
    0.6,
    'a status better for 5 s but for a fraction of a millisecond was looked at without end',
  ],
  [
    1_012_000_026,
    1,
    'the simulator did not see that it closed, and its clock jumped to an open hour, within a second',
  ],
  [
    1_013_000_277,
    1,
    'closing gave up speech that was too old and speech that waited, and reported the first alone',
  ],
  [1_014_000_991, 1, 'a cut translation that had waited for its occasion struck in the calm'],
  [
    1_020_000_517,
    1,
    'the simulator counted the tries of three lives of a device, killed twice in a minute, as one',
  ],
  [1_021_000_174, 1, 'a second of speech that a stop took with 30 s that were too old did not count as lost'],
  [1_022_000_380, 1, 'the simulator took a rollover that new languages had hastened for the end of a stream'],
  [
    1_024_000_188,
    1,
    'the simulator forgot that a command may expire while a hanging disk is to write it down',
  ],
  [
    1_034_000_953,
    1,
    'the end of the first part of a translation never came, and what followed was lost silently',
  ],
];

export const REGRESSIONS: readonly Regression[] = [FIRST, SECOND, THIRD].flatMap((list, index) =>
  list.map(([seed, hours, found]) => ({ seed, hours, found, generation: (index + 1) as Generation })),
);
