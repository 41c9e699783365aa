import { EARLY_REGRESSIONS } from './early-regressions.ts';
import type { Regression } from './regression.ts';

const FOURTH: readonly Omit<Regression, 'generation'>[] = [
  {
    seed: 62_200_089,
    hours: 1,
    found:
      'nobody was told of a translation whose last piece never came, behind a rollover: its session had marked no end',
  },
  {
    seed: 62_200_027,
    hours: 1,
    found: 'a text that seemed to come behind its sound once: no cut was noticed any more in that session',
  },
  {
    seed: 84_100_137,
    hours: 1,
    found: 'the simulator counted what was used before a restart, though the clock had not been set',
  },
];

const FIFTH: readonly Omit<Regression, 'generation'>[] = [
  {
    seed: 105_000_036,
    hours: 1,
    found:
      'one word against a task that had run for minutes parked the lane for five of them, while somebody spoke',
  },
  {
    seed: 71_700_008,
    hours: 1,
    found: 'sound before its text took the beginning of the next sentence, which was cut off and lost',
  },
  {
    seed: 85_100_061,
    hours: 1,
    found: 'times that came late gave a sentence the next one as well: that was said again with it',
  },
  {
    seed: 111_000_026,
    hours: 1,
    found: 'most of a part of a translation was spoken, and said once more with the parts that were not',
  },
  {
    seed: 122_000_121,
    hours: 1,
    found: 'the simulator wanted the first part said again alone where nobody knows which seconds it is',
  },
  {
    seed: 993_000_031,
    hours: 1,
    found:
      'a part whose text was still to come taught too slow a pace: the next language of it was said twice',
  },
  {
    seed: 993_000_095,
    hours: 1,
    found: 'a refusal that was on its way was given twice to a command that the broker sent again',
  },
  {
    seed: 994_000_882,
    hours: 1,
    found: 'a stream broke off in the first part of a sentence, and the second was neither said nor told',
  },
  {
    seed: 997_000_547,
    hours: 1,
    found: 'a part without an end beside one that has one was taken for spoken',
  },
  {
    seed: 998_000_477,
    hours: 0.35,
    found: 'the simulator wanted the cause of a loss from a service whose times were not true',
  },
  {
    seed: 1_001_000_271,
    hours: 0.7,
    found:
      'speech waited for a quarter of an hour, while there was neither a stream nor a microphone, to be said then',
  },
  {
    seed: 1_001_000_509,
    hours: 0.46,
    found: 'a sentence of which no sound came, from a stream that had died, was told and not said again',
  },
  {
    seed: 1_001_000_576,
    hours: 0.88,
    found: 'what was missing in a language that nobody wanted any more was said again, and all of it muted',
  },
  {
    seed: 1_002_000_126,
    hours: 0.37,
    found:
      'an old session that had written down a translation and spoken none of it ended in order, and it was lost',
  },
  {
    seed: 1_002_000_499,
    hours: 0.26,
    found:
      'of a service without texts, the end of a cut that had been said before muted a sentence behind the next one',
  },
  {
    seed: 1_003_000_324,
    hours: 0.47,
    found:
      'the second part of what had been said before was heard again, because its first had seemed to be all',
  },
  {
    seed: 1_003_000_434,
    hours: 0.36,
    found: 'the simulator wanted a part of which nobody could know, of a service without times',
  },
  {
    seed: 77_005,
    hours: 0.65,
    found:
      'the end of a repeat that the service had cut, and spoken before its text came, took the next sentence, and was heard again',
  },
  {
    seed: 1_005_000_072,
    hours: 0.75,
    found: 'the simulator blamed the device for what a microphone gave that had hung for two minutes',
  },
  {
    seed: 1_011_000_121,
    hours: 0.6,
    found:
      'a status that had stayed better for 5 s but for a fraction of a millisecond was looked at without end',
  },
  {
    seed: 1_011_000_137,
    hours: 0.2,
    found:
      'of a cut translation without times, what may have been of the next sentence counted as said with the first',
  },
  {
    seed: 1_011_000_300,
    hours: 0.48,
    found:
      "a visitor's sentence whose sound came before its text was taken for the operator's text, and said again",
  },
  {
    seed: 1_012_000_026,
    hours: 1,
    found: 'the simulator did not see that it closed, and its clock jumped to an open hour, within a second',
  },
  {
    seed: 1_013_000_277,
    hours: 1,
    found:
      'closing gave up speech that was too old and speech that waited in one step, and told the first alone as lost',
  },
  {
    seed: 1_013_000_910,
    hours: 1,
    found:
      'speech that a broken stream owed was given up for want of room, and the pause that had the room was left out then',
  },
  {
    seed: 1_013_000_988,
    hours: 1,
    found:
      'the simulator knew that a sentence had ended in a pause of half a second, without times, and the device did not',
  },
  {
    seed: 1_014_000_991,
    hours: 1,
    found:
      'a cut translation that had waited for its occasion struck in the calm, and the simulator did not know',
  },
  {
    seed: 1_017_000_038,
    hours: 1,
    found: 'the first words behind a cut were taken for said, as its word came later than 960 ms after it',
  },
  {
    seed: 1_018_000_098,
    hours: 1,
    found: 'what a sentence had written down itself was said again with the next one',
  },
  {
    seed: 1_019_000_025,
    hours: 1,
    found: 'a noise before a sentence made all of it the one behind a pause, and it was said again whole',
  },
  {
    seed: 1_020_000_517,
    hours: 1,
    found: 'the simulator counted the tries of three lives of a device, killed twice in a minute, as one',
  },
  {
    seed: 1_021_000_150,
    hours: 1,
    found:
      'the first words behind a cut were taken for said in the language in which only the sentence before was',
  },
  {
    seed: 1_021_000_174,
    hours: 1,
    found: 'a second of speech that a stop took with half a minute that was too old did not count as lost',
  },
  {
    seed: 1_022_000_380,
    hours: 1,
    found: 'the simulator took a rollover that new languages had hastened for the end of a stream',
  },
  {
    seed: 1_022_000_538,
    hours: 1,
    found:
      'word of a sentence was taken for word of a pause that had been left before it, and it was said twice',
  },
  {
    seed: 1_022_000_646,
    hours: 1,
    found:
      'the simulator knew which words the first of two parts had spoken, without times, and the device did not',
  },
  {
    seed: 1_024_000_165,
    hours: 1,
    found: 'a text that was stuck on the way as its stream broke off was told as left out by the service',
  },
  {
    seed: 1_024_000_188,
    hours: 1,
    found: 'the simulator forgot that a command may expire while a hanging disk is to write it down',
  },
  {
    seed: 1_032_000_054,
    hours: 1,
    found: 'the rest of a sentence was told as passed over while its later parts were still to be translated',
  },
  {
    seed: 1_034_000_581,
    hours: 1,
    found:
      'the rest of a sentence was told as passed over: its later parts came across a change of the languages',
  },
  {
    seed: 1_034_000_953,
    hours: 1,
    found:
      'the end of the first part of a translation never came, and what was said behind it was lost without a word',
  },
  {
    seed: 1_035_000_110,
    hours: 1,
    found:
      "the rest of a sound without a name was taken for the operator's text, and its sentence said twice",
  },
];

export const REGRESSIONS: readonly Regression[] = [
  ...EARLY_REGRESSIONS,
  ...FOURTH.map((one) => ({ ...one, generation: 4 as const })),
  ...FIFTH.map((one) => ({ ...one, generation: 5 as const })),
];
