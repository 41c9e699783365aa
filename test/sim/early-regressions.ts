import type { Regression } from './regression.ts';

const FIRST: readonly Omit<Regression, 'generation'>[] = [
  {
    seed: 81,
    hours: 0.5,
    found: 'a chunk left half full by a hanging microphone held the old sound of its own loudspeaker',
  },
  {
    seed: 901,
    hours: 0.4,
    found: 'the simulator took what waited in a socket through two outages for lost',
  },
  {
    seed: 5027,
    hours: 0.5,
    found: 'the simulator did not know a microphone unplugged in the middle of a word',
  },
  {
    seed: 777_192,
    hours: 0.3,
    found:
      'what fills a chunk up after a gap made the room seem silent, and its noise speech: a sentence was said twice',
  },
  { seed: 100_187, hours: 0.1, found: 'the same, without names for sentences' },
  { seed: 300_181, hours: 0.5, found: 'the same, where the service heard half of the sentence before' },
  {
    seed: 100_282,
    hours: 0.8,
    found:
      'a pause in a loud room was none for us, but for the service: the end of a sentence was said twice',
  },
  { seed: 510_270, hours: 0.7, found: 'the same, at a sentence with a breath in it' },
  {
    seed: 900_061,
    hours: 0.6,
    found: 'the loudspeaker was in the first part of a chunk whose second part was captured a second later',
  },
  { seed: 900_088, hours: 0.6, found: 'the same, with a shorter gap' },
  {
    seed: 100_200,
    hours: 0.4,
    found: 'the simulator did not know a service that spoils sound later than it was told to',
  },
  { seed: 620_200, hours: 1, found: 'a long sentence that the service cut at a pause shorter than a chunk' },
  {
    seed: 700_886,
    hours: 1,
    found: 'two sessions broke off, one after the other, and the older one still owed a sentence',
  },
  { seed: 910_594, hours: 1, found: 'sound came before the word that its sentence was understood' },
  {
    seed: 1_110_115,
    hours: 1,
    found: 'the simulator took a stream that woke from a black hole for out of order',
  },
  {
    seed: 108_394_677_891,
    hours: 1,
    found: 'sound without names of two streams at a time was cut into one another',
  },
  {
    seed: 244_830_946_291,
    hours: 0.4,
    found: 'the simulator took what a broken stream owed, and was sent again, for out of order',
  },
  {
    seed: 244_830_946_656,
    hours: 0.8,
    found: 'the simulator told sentences apart that no device can: without names or a pause between them',
  },
  {
    seed: 800_174,
    hours: 1,
    found: 'the simulator took two short noises with a pause between them for one lost piece of speech',
  },
  {
    seed: 800_433,
    hours: 0.5,
    found: 'word of a long sentence was taken for word of a breath long before its end: it was said twice',
  },
  {
    seed: 3_005_378,
    hours: 0.2,
    found: 'sound without a name came before the word that its sentence was understood: it was said twice',
  },
  {
    seed: 241_161_761_308,
    hours: 0.6,
    found: 'the simulator took a word cut in two by an unplugged microphone for one lost piece of speech',
  },
  {
    seed: 219_807_504_277,
    hours: 1,
    found: 'a noise that the service never had a word for hid the sentence that it had: it was said twice',
  },
  {
    seed: 31_000_783,
    hours: 0.5,
    found:
      'a revoked stream that lingered beyond the limit of its session kept the emulator busy without end',
  },
];

const SECOND: readonly Omit<Regression, 'generation'>[] = [
  {
    seed: 8_820_155,
    hours: 0.4,
    found:
      'without names and with late texts the sound of a sentence followed that of the one before: it was said twice',
  },
  { seed: 20_000_215, hours: 0.8, found: 'the same in one language, by a session that was ended in order' },
  {
    seed: 8_830_045,
    hours: 0.6,
    found: 'the simulator blamed the device for a soft first word, which the service had heard and left out',
  },
  {
    seed: 20_000_031,
    hours: 0.8,
    found: 'nobody was told of a translation without a name of which half came',
  },
  {
    seed: 20_000_347,
    hours: 0.7,
    found: 'nobody was told of the first translation of a service, cut four seconds before its stream ended',
  },
  {
    seed: 20_000_049,
    hours: 0.3,
    found: 'the simulator did not know that a connection that throws tells the status a second later',
  },
];

/** Those of the first two generations, which draw fewer faults and shorter sentences. */
export const EARLY_REGRESSIONS: readonly Regression[] = [
  ...FIRST.map((one) => ({ ...one, generation: 1 as const })),
  ...SECOND.map((one) => ({ ...one, generation: 2 as const })),
];
