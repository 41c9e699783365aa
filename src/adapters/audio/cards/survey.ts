import type { AlsaTools } from './alsa-tools.ts';
import {
  addressOf,
  type Card,
  type CardStream,
  type Direction,
  isBusy,
  type MachineFolders,
} from './card.ts';
import { findTwins, type Twins } from './identical-cards.ts';
import { hasKernelSound, readCards } from './kernel-cards.ts';

/** A card's stream, with what the device reported about itself. */
export interface SurveyedStream extends CardStream {
  /** The stream's name in a configuration. */
  readonly address: string;
  readonly isBusy: boolean;
  /** Why its abilities are unknown, in ALSA's words; null when they are known. */
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

/** The sound devices of this machine at this moment. */
export interface Survey {
  readonly hasKernelSound: boolean;
  /** Whether arecord and aplay are installed. */
  readonly hasAlsaTools: boolean;
  /** Why ALSA cannot read its configuration, in ALSA's words; null if it can. */
  readonly alsaTrouble: string | null;
  readonly cards: readonly SurveyedCard[];
  readonly software: readonly OfferedDevice[];
  readonly twins: readonly Twins[];
}

const DIRECTIONS = ['capture', 'playback'] as const;

/** Lists all cards, and asks the idle ones what they can do. */
export async function surveyDevices(folders: MachineFolders, tools: AlsaTools): Promise<Survey> {
  const cards = readCards(folders);
  const [lists, surveyed] = await Promise.all([
    Promise.all(DIRECTIONS.map((direction) => tools.listSoftware(direction))),
    Promise.all(cards.map((card) => surveyCard(card, tools))),
  ]);
  const offered = new Map<string, OfferedDevice>();
  for (const [index, direction] of DIRECTIONS.entries()) {
    for (const { name, description } of lists[index]?.devices ?? []) {
      const directions = [...(offered.get(name)?.directions ?? []), direction];
      offered.set(name, { name, description, directions });
    }
  }
  return {
    hasKernelSound: hasKernelSound(folders),
    hasAlsaTools: lists.every((list) => list !== null),
    alsaTrouble: lists.map((list) => list?.trouble ?? null).find((trouble) => trouble !== null) ?? null,
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

/** A USB card describes itself without being opened. Any other card is opened, but never while it is in use. */
async function surveyStream(card: Card, stream: CardStream, tools: AlsaTools): Promise<SurveyedStream> {
  const surveyed = (whole: CardStream, silence: string | null): SurveyedStream => ({
    ...whole,
    address: addressOf(card, whole),
    isBusy: isBusy(whole),
    silence,
  });
  if (stream.ability.formats.length > 0) return surveyed(stream, null);
  if (isBusy(stream)) return surveyed(stream, 'not queried while busy');
  const device = `hw:CARD=${card.id},DEV=${stream.device}`;
  const answer = await tools.askAbility(stream.direction, device);
  return answer.ok ? surveyed({ ...stream, ability: answer.ability }, null) : surveyed(stream, answer.reason);
}
