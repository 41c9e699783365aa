import type { AlsaTools } from './alsa-tools.ts';
import {
  addressOf,
  type Card,
  type CardStream,
  type Direction,
  isBusy,
  type MachineFolders,
} from './card.ts';
import { hasKernelSound, readCards } from './kernel-cards.ts';
import { findTwins, type Twins } from './same-name.ts';

/** A stream of a card and what asking it came to. */
export interface SurveyedStream extends CardStream {
  /** What a configuration calls it. */
  readonly address: string;
  readonly isBusy: boolean;
  /** Why nothing could be learned of what it can do, in ALSA's words; null where something was. */
  readonly silence: string | null;
}

export interface SurveyedCard extends Card {
  readonly streams: readonly SurveyedStream[];
}

export interface OfferedDevice {
  readonly name: string;
  readonly description: string;
  readonly directions: readonly Direction[];
}

/** What this machine can hear and speak with, now. */
export interface Survey {
  readonly hasKernelSound: boolean;
  /** Whether arecord and aplay are there. */
  readonly hasAlsaTools: boolean;
  readonly cards: readonly SurveyedCard[];
  readonly software: readonly OfferedDevice[];
  readonly twins: readonly Twins[];
}

const DIRECTIONS = ['capture', 'playback'] as const;

/** Looks at all cards, and asks those that nobody uses what they can do. */
export async function surveyDevices(folders: MachineFolders, tools: AlsaTools): Promise<Survey> {
  const cards = readCards(folders);
  const [lists, surveyed] = await Promise.all([
    Promise.all(DIRECTIONS.map((direction) => tools.listSoftware(direction))),
    Promise.all(cards.map((card) => surveyCard(card, tools))),
  ]);
  const offered = new Map<string, OfferedDevice>();
  for (const [index, direction] of DIRECTIONS.entries()) {
    for (const { name, description } of lists[index] ?? []) {
      const directions = [...(offered.get(name)?.directions ?? []), direction];
      offered.set(name, { name, description, directions });
    }
  }
  return {
    hasKernelSound: hasKernelSound(folders),
    hasAlsaTools: lists.every((list) => list !== null),
    cards: surveyed,
    software: [...offered.values()],
    twins: findTwins(cards),
  };
}

async function surveyCard(card: Card, tools: AlsaTools): Promise<SurveyedCard> {
  return {
    ...card,
    streams: await Promise.all(card.streams.map((stream) => surveyStream(card, stream, tools))),
  };
}

/** A USB card tells everything without being opened; another one is opened, but never when somebody else needs it. */
async function surveyStream(card: Card, stream: CardStream, tools: AlsaTools): Promise<SurveyedStream> {
  const surveyed = (whole: CardStream, silence: string | null): SurveyedStream => ({
    ...whole,
    address: addressOf(card, whole),
    isBusy: isBusy(whole),
    silence,
  });
  if (stream.ability.formats.length > 0) return surveyed(stream, null);
  if (isBusy(stream)) return surveyed(stream, 'not asked while it is busy');
  const device = `hw:CARD=${card.id},DEV=${stream.device}`;
  const answer = await tools.askAbility(stream.direction, device);
  return answer.ok ? surveyed({ ...stream, ability: answer.ability }, null) : surveyed(stream, answer.reason);
}
