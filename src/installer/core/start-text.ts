/** Describes the kiosk after its start in writing: beside the settings on the card, on the console and in the journal. */

import { PHRASES, type PhraseLanguage } from './phrases.ts';
import type { StartState } from './report-schedule.ts';
import type { Trouble } from './start-facts.ts';

/** First line of the boot report's part of the status file; the part before it belongs to other writers. */
export const START_HEAD = 'Dragoman: how the kiosk is after its start';

/** A device, and whether the phrase was played on it. */
export interface Said {
  /** ALSA device name, or the agent's loudspeakers. */
  readonly device: string;
  /** Null: it was played there. */
  readonly trouble: string | null;
}

export interface StartReport {
  readonly state: StartState;
  readonly language: PhraseLanguage;
  /** Wall-clock milliseconds; null while the clock is not set. */
  readonly wall: number | null;
  /** Devices of the last phrase; null: no phrase yet. */
  readonly said: readonly Said[] | null;
}

/** Lines without line ends; the time has a line of its own. */
export function startLines({ state, language, wall, said }: StartReport): string[] {
  return [
    START_HEAD,
    `Time:   ${wall === null ? 'not known: the clock is not set' : timeOf(wall)}`,
    ...(state.kind === 'ready' ? phraseLines('ready', language) : []),
    ...(state.kind === 'starting' ? ['State:  starting; checks continue until the kiosk is ready.'] : []),
    ...(state.kind === 'ready' ? [] : state.troubles.flatMap((one) => troubleLines(one, language))),
    ...(state.kind === 'troubled' && !state.isWatched
      ? ['Checking has ended: restart the kiosk after this is fixed.']
      : []),
    ...(said === null ? [] : ['', ...saidLines(said)]),
  ];
}

/** One line for the journal and the console. */
export function startLine(state: StartState): string {
  if (state.kind === 'ready') return PHRASES.ready.words.en;
  if (state.troubles.length === 0) return 'The kiosk is starting.';
  const texts = state.troubles.map(({ code, detail }) => {
    const words = PHRASES[code].words.en;
    return detail === '' ? words : `${words} (${detail})`;
  });
  return `${state.kind === 'starting' ? 'The kiosk is starting. ' : ''}${texts.join(' ')}`;
}

/** One line each about where a phrase was played and where it could not be. */
export function saidLines(said: readonly Said[]): string[] {
  if (said.length === 0) return ['Not announced: there is no loudspeaker.'];
  const there = said.filter(({ trouble }) => trouble === null).map(({ device }) => device);
  const others = said.filter(({ trouble }) => trouble !== null);
  return [
    ...(there.length === 0 ? [] : [`Announced on ${there.join(', ')}.`]),
    ...others.map(({ device, trouble }) => `Not announced on ${device}: ${trouble}.`),
  ];
}

function phraseLines(code: keyof typeof PHRASES, language: PhraseLanguage): string[] {
  const { words } = PHRASES[code];
  return [`State:  ${code}. ${words.en}`, ...(language === 'en' ? [] : [`        ${words[language]}`])];
}

function troubleLines({ code, detail }: Trouble, language: PhraseLanguage): string[] {
  return [
    ...phraseLines(code, language),
    ...(detail === '' ? [] : [`        Found: ${detail}`]),
    `        To do: ${PHRASES[code].advice.replaceAll('`', '')}`,
  ];
}

const timeOf = (wall: number): string => `${new Date(wall).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
