import type { Generation } from './terms.ts';

/** A seed that has found a defect of the agent or of the simulator. `.ci/run` runs all of them. */
export interface Regression {
  readonly seed: number;
  readonly hours: number;
  /** Generation in which the seed found the defect. */
  readonly generation: Generation;
  readonly found: string;
}

type Found = readonly [seed: number, hours: number, found: string];

const FIRST: readonly Found[] = [
  [81, 0.5, 'a chunk half filled before the microphone hung contained old echo'],
  [901, 0.4, 'the simulator reported speech as lost that waited in a socket through two outages'],
  [5027, 0.5, 'the simulator did not expect a microphone to be unplugged within a word'],
  [777_192, 0.3, 'silence that filled up a chunk made room noise seem like speech, which was replayed'],
  [100_282, 0.8, 'in a loud room only the service heard a pause, and the end of a sentence was said twice'],
  [510_270, 0.7, 'in a sentence with a breath only the service heard a pause, and its end was said twice'],
  [900_061, 0.6, 'echo in the first part of a chunk was sent when the second part came a second later'],
  [900_088, 0.6, 'echo in the first part of a chunk was sent when the second part came after a short gap'],
  [620_200, 1, 'the service cut a long sentence at a pause shorter than a chunk'],
  [700_886, 1, 'two sessions broke in a row while the older one still owed a sentence'],
  [910_594, 1, 'sound arrived before the text of its sentence'],
  [1_110_115, 1, 'the simulator reported a stream as out of order after a black hole'],
  [108_394_677_891, 1, 'sound of two streams without ids was interleaved'],
  [244_830_946_291, 0.4, 'the simulator reported replayed speech of a broken stream as out of order'],
  [244_830_946_656, 0.8, 'the simulator separated sentences that had neither ids nor a pause between them'],
  [
    800_174,
    1,
    'the simulator reported two short noises with a pause between them as one lost piece of speech',
  ],
  [241_161_761_308, 0.6, 'the simulator reported a word as lost that an unplugged microphone had cut in two'],
  [219_807_504_277, 1, 'a noise that the service ignored hid the sentence before it, which was said twice'],
  [31_000_783, 0.5, 'a revoked stream that lingered beyond its limit put the emulator in an endless loop'],
];

const SECOND: readonly Found[] = [
  [60_000_258, 1, 'a timeout named only by the close code counted as a service fault, and retries came late'],
  [76_000_289, 1, 'the simulator blamed the device for a loudspeaker that failed to open each time'],
  [82_000_406, 0.9, 'the simulator ended the wait for a loudspeaker when that of another lane took sound'],
  [
    94_000_238,
    0.69,
    'the simulator assigned a stream to the wrong lane when its token was revoked before use',
  ],
  [98_000_048, 1, 'a late command of the simulator stopped a lane for good after the last fault'],
  [110_000_173, 1, 'the simulator did not expect the service to skip audio that arrives in a burst'],
  [
    130_000_570,
    1,
    'a stream died within a sentence, and the sound of the sentence before it counted as the answer',
  ],
  [190_000_799, 1, 'the simulator played sound of a killed process when its loudspeaker came back'],
  [310_000_259, 1, 'the simulator had no bound for the parking after a token of another intent'],
  [
    992_000_231,
    1,
    'a loudspeaker that failed to open and was unplugged was reported as back at the next write',
  ],
  [
    992_000_307,
    1,
    'one error for the first task of a process parked the lane for six minutes while visitors spoke',
  ],
];

const THIRD: readonly Found[] = [
  [
    105_000_036,
    1,
    'one error for a task that had run for minutes parked the lane for five minutes while visitors spoke',
  ],
  [993_000_095, 1, 'a command that the broker sent again was refused twice'],
  [994_000_882, 1, 'a stream broke in the first part of a sentence, and the second was lost silently'],
  [1_001_000_271, 0.7, 'speech was sent after it had waited for 15 minutes without a stream or a microphone'],
  [1_001_000_509, 0.46, 'a sentence of a dead stream without sound was reported as lost instead of replayed'],
  [1_001_000_576, 0.88, 'speech missing only in a removed language was replayed, and muted wholly'],
  [1_002_000_126, 0.37, 'a translation was lost when the old session ended cleanly before any of its sound'],
  [1_005_000_072, 0.75, 'the simulator blamed the device for a microphone that hung for two minutes'],
  [
    1_011_000_121,
    0.6,
    'the status was checked in an endless loop a fraction of a millisecond before its 5 s were over',
  ],
  [
    1_012_000_026,
    1,
    'the simulator missed that the device closed, and its clock jumped to an open hour, within a second',
  ],
  [
    1_013_000_277,
    1,
    'closing dropped speech that was too old and speech that waited, and reported only the first',
  ],
  [1_014_000_991, 1, 'a waiting fault that cuts a translation struck in the calm time'],
  [
    1_020_000_517,
    1,
    'the simulator added up the tries of three processes when the device was killed twice in a minute',
  ],
  [
    1_021_000_174,
    1,
    'a stop dropped 30 s of old speech and 1 s of new speech, and did not count the latter as lost',
  ],
  [
    1_022_000_380,
    1,
    'the simulator reported a rollover as the end of a stream when new languages hastened it',
  ],
  [1_024_000_188, 1, 'the simulator did not expect a command to expire while a hanging disk stores it'],
  [
    1_034_000_953,
    1,
    'the end of the first part of a translation never came, and the next parts were lost silently',
  ],
];

export const REGRESSIONS: readonly Regression[] = [FIRST, SECOND, THIRD].flatMap((list, index) =>
  list.map(([seed, hours, found]) => ({ seed, hours, found, generation: (index + 1) as Generation })),
);
