import type { LaneAccount } from '../../agent/lane/lane-account.ts';
import type { LaneStep } from '../../agent/lane/lane-runner.ts';
import { SILENCE_DBFS } from '../../core/audio/pcm.ts';
import { measureLevel } from '../../core/audio/sound-level.ts';
import type { Caption, LaneEffect } from '../../core/lane/effect.ts';
import type { Phase } from '../../core/lane/phases.ts';
import { phaseOf } from '../../core/lane/session/session.ts';

/** One sentence of the visitor and what became of it. */
export interface Exchange {
  /** Counts the sentences from 0. */
  readonly seq: number;
  /** Names the sentence where the service does. */
  readonly id: string | null;
  readonly sourceLanguage: string;
  readonly source: string;
  /** False while the text may still change. */
  readonly isFinal: boolean;
  /** One for each language, in order of arrival. */
  readonly translations: readonly Translation[];
}

export interface Translation {
  readonly language: string;
  readonly text: string;
  /** False while the text may still change. */
  readonly isFinal: boolean;
  /** Where it comes in parts: the text of each, by the service's name for it. */
  readonly parts?: Readonly<Record<string, string>>;
}

/** Something worth a line. */
export interface Notice {
  /** Counts the notices from 0. */
  readonly seq: number;
  /** Since the start of the demo. */
  readonly atMs: number;
  readonly text: string;
}

/** What the demo knows of its lane at one moment: everything that a view shows. */
export interface DemoModel {
  readonly elapsedMs: number;
  readonly phase: Phase;
  /** Without the broker no token can be asked for. */
  readonly isBrokerGone: boolean;
  /** Of the last chunk heard, dBFS of its loudest 20 ms. */
  readonly inputDb: number;
  /** Of what the loudspeaker plays now, dBFS. */
  readonly outputDb: number;
  readonly isPlaying: boolean;
  /** Audio that waits to be sent, milliseconds. */
  readonly backlogMs: number;
  readonly exchanges: readonly Exchange[];
  readonly notices: readonly Notice[];
}

export const FIRST_MODEL: DemoModel = {
  elapsedMs: 0,
  phase: 'idle',
  isBrokerGone: false,
  inputDb: SILENCE_DBFS,
  outputDb: SILENCE_DBFS,
  isPlaying: false,
  backlogMs: 0,
  exchanges: [],
  notices: [],
};

/** Older ones are of no use to a view. */
const KEPT_EXCHANGES = 50;
const KEPT_NOTICES = 50;

/** Takes one step of the lane in. */
export function observeStep(model: DemoModel, step: LaneStep, elapsedMs: number, now: number): DemoModel {
  const { after, event } = step;
  let next: DemoModel = {
    ...model,
    elapsedMs,
    phase: phaseOf(after.session),
    backlogMs: after.backlog.chunks.length * after.settings.chunkMs,
    isPlaying: after.playout.heard !== null && after.playout.heard.until > now,
  };
  if (event.type === 'broker') next = observeBroker(next, event.up, elapsedMs);
  if (event.type === 'captured') next = { ...next, inputDb: event.levels.loudestDb };
  if (!next.isPlaying) next = { ...next, outputDb: SILENCE_DBFS };
  for (const effect of step.effects) next = observeEffect(next, effect, elapsedMs);
  return next;
}

function observeBroker(model: DemoModel, isUp: boolean, elapsedMs: number): DemoModel {
  if (isUp !== model.isBrokerGone) return model;
  const words = isUp
    ? 'the broker is back'
    : 'the broker is gone: no token can be asked for until it is back';
  return { ...notice(model, words, elapsedMs), isBrokerGone: !isUp };
}

/** Adds a line of the demo's own. */
export function notice(model: DemoModel, text: string, elapsedMs: number): DemoModel {
  const seq = (model.notices.at(-1)?.seq ?? -1) + 1;
  return { ...model, notices: [...model.notices, { seq, atMs: elapsedMs, text }].slice(-KEPT_NOTICES) };
}

function observeEffect(model: DemoModel, effect: LaneEffect, elapsedMs: number): DemoModel {
  switch (effect.type) {
    case 'play':
      return { ...model, outputDb: measureLevel(effect.pcm).rmsDb };
    case 'caption':
      return { ...model, exchanges: addCaption(model.exchanges, effect.caption).slice(-KEPT_EXCHANGES) };
    case 'request_token':
      return notice(model, `asks the backend for a token (${effect.reason})`, elapsedMs);
    case 'notify':
      return notice(model, describeEvent(effect), elapsedMs);
    default:
      return model;
  }
}

function describeEvent({ kind, detail }: Extract<LaneEffect, { type: 'notify' }>): string {
  const text = (key: string): string => String(detail[key] ?? '');
  switch (kind) {
    case 'session_started':
      return `session ${text('session')} is live`;
    case 'session_ended':
      return `session ${text('session')} ended: ${text('cause').replaceAll('_', ' ')}`;
    case 'rollover':
      return `session ${text('session')} took over from the one that reaches its limit`;
    case 'revoked':
    case 'max_duration':
    case 'refused':
    case 'parked':
    case 'internal_error':
      return `${text('message').replace(/\.$/, '')}; next try in ${(Number(detail['retry_ms'] ?? 0) / 1000).toFixed(1)} s`;
    case 'unreachable':
      return `${text('message').replace(/\.$/, '')}; asks the backend for another address`;
    case 'unspoken':
      return `the service did not speak ${Number(detail['unspoken_ms']) / 1000} s of speech (${text('language')})`;
    case 'defect':
    case 'messages_unreadable':
      return text('message');
    case 'audio_lost':
      return `${text('device')} lost: ${text('message')}`;
    case 'audio_back':
      return `${text('device')} is back`;
    case 'echo_detected':
      return `hears its own loudspeaker ${text('delay_ms')} ms later at ${text('gain_db')} dB`;
    case 'echo_restored':
      return 'cancels echo again';
    case 'echo_fallback':
    case 'certificate_problem':
    case 'disk_problem':
    case 'broker_returned':
    case 'capture_problem':
    case 'capture_problem_over':
      return text('message');
    case 'speech_lost':
      return `${Number(detail['lost_ms']) / 1000} s of speech were lost: ${text('cause').replaceAll('_', ' ')}`;
    case 'backend_silent':
    case 'backend_back':
    case 'certificate_renewed':
    case 'broker_changed':
    case 'config_problem':
    case 'config_problem_over':
    case 'disk_problem_over':
    case 'identity_conflict':
      return kind.replaceAll('_', ' ');
    case 'budget':
      return `${text('percent')} % of the minutes of this day are used`;
    case 'speech_dropped':
      return `${text('sentences')} sentences were not played: ${text('why').replaceAll('_', ' ')}`;
    case 'standby':
      return 'nobody speaks: the stream is given up until somebody does';
    case 'wake':
      return 'somebody speaks: a session is needed';
  }
}

function addCaption(exchanges: readonly Exchange[], caption: Caption): readonly Exchange[] {
  const isTranslation =
    caption.kind === 'translated_transcription' || caption.kind === 'partial_translated_transcription';
  const isFinal = caption.kind === 'translated_transcription' || caption.kind === 'validated_transcription';
  const index = exchanges.findLastIndex((exchange) =>
    caption.id !== null ? exchange.id === caption.id : isTranslation ? exchange.isFinal : !exchange.isFinal,
  );
  const known = exchanges[index];
  if (isTranslation) {
    if (known === undefined) return exchanges;
    return exchanges.with(index, { ...known, translations: addTranslation(known, caption, isFinal) });
  }
  // Nothing takes the place of a final text, least of all a partial one that comes late.
  if (known?.isFinal && !isFinal) return exchanges;
  const heard: Exchange = {
    seq: known?.seq ?? (exchanges.at(-1)?.seq ?? -1) + 1,
    id: caption.id,
    sourceLanguage: caption.language,
    source: caption.text,
    isFinal,
    translations: known?.translations ?? [],
  };
  return known === undefined ? [...exchanges, heard] : exchanges.with(index, heard);
}

/** A partial carries the whole text of its part so far: it replaces, never appends. Parts stand in order of arrival. */
function addTranslation(
  { translations }: Exchange,
  { language, part, text }: Caption,
  isFinal: boolean,
): readonly Translation[] {
  const index = translations.findIndex((translation) => translation.language === language);
  const known = translations[index];
  const isNewPart = part !== null && known?.parts?.[part] === undefined;
  if (known?.isFinal && !isFinal && !isNewPart) return translations;
  const parts = part === null ? null : { ...known?.parts, [part]: text };
  const whole = parts === null ? text : Object.values(parts).join(' ');
  const translation: Translation = { language, text: whole, isFinal, ...(parts !== null && { parts }) };
  return known === undefined ? [...translations, translation] : translations.with(index, translation);
}

/** What a demo shows itself on: a terminal's live picture, or plain lines. */
export interface DemoView {
  /** Is called often; draws as often as is good for it. */
  update(model: DemoModel, account: LaneAccount): void;
  /** Leaves the screen as a person would want to find it. Nothing is drawn after it. */
  close(): void;
}
