import type { LaneAccount } from '../../device/lane/runner/lane-account.ts';
import type { LaneStep } from '../../device/lane/runner/lane-runner.ts';
import type { Caption, LaneEffect } from '../../device/lane/state/lane-effect.ts';
import { phaseOf } from '../../device/lane/state/session-state.ts';
import type { Phase } from '../../protocol/phases.ts';
import { SILENCE_DBFS } from '../../sound/pcm.ts';
import { measureLevel } from '../../sound/sound-level.ts';

/** One sentence of the visitor with its translations. */
export interface Exchange {
  /** Number of the sentence, from 0. */
  readonly seq: number;
  /** The service's id of the sentence, if any. */
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
  /** Text of each part by its id, if it comes in parts. */
  readonly parts?: Readonly<Record<string, string>>;
}

/** A line for the viewer. */
export interface Notice {
  /** Number of the notice, from 0. */
  readonly seq: number;
  /** Milliseconds since the start of the demo. */
  readonly atMs: number;
  readonly text: string;
}

/** State of the demo's lane at one moment: everything that a view shows. */
export interface DemoModel {
  readonly elapsedMs: number;
  readonly phase: Phase;
  /** State of the broker connection. `awaited`: not connected yet. */
  readonly broker: 'awaited' | 'up' | 'gone';
  /** Level of the loudest 20 ms of the last captured chunk (dBFS). */
  readonly inputDb: number;
  /** Level of the loudspeaker now (dBFS). */
  readonly outputDb: number;
  readonly isPlaying: boolean;
  /** Speech that is not sent yet (ms). */
  readonly backlogMs: number;
  readonly exchanges: readonly Exchange[];
  readonly notices: readonly Notice[];
}

export const FIRST_MODEL: DemoModel = {
  elapsedMs: 0,
  phase: 'idle',
  broker: 'awaited',
  inputDb: SILENCE_DBFS,
  outputDb: SILENCE_DBFS,
  isPlaying: false,
  backlogMs: 0,
  exchanges: [],
  notices: [],
};

/** Number of exchanges and notices that are kept: views show fewer. */
const KEPT_EXCHANGES = 50;
const KEPT_NOTICES = 50;

/** Updates the model with one step of the lane. */
export function observeStep(model: DemoModel, step: LaneStep, elapsedMs: number, now: number): DemoModel {
  const { after, event } = step;
  let next: DemoModel = {
    ...model,
    elapsedMs,
    phase: phaseOf(after.session),
    backlogMs: after.backlog.chunks.filter(({ voiced }) => voiced).length * after.settings.chunkMs,
    isPlaying: after.playout.heard !== null && after.playout.heard.until > now,
  };
  if (event.type === 'broker') next = observeBroker(next, event.up, elapsedMs);
  if (event.type === 'captured') next = { ...next, inputDb: event.levels.loudestDb };
  if (!next.isPlaying) next = { ...next, outputDb: SILENCE_DBFS };
  for (const effect of step.effects) next = observeEffect(next, effect, elapsedMs);
  return next;
}

function observeBroker(model: DemoModel, isUp: boolean, elapsedMs: number): DemoModel {
  const broker = isUp ? 'up' : model.broker === 'awaited' ? 'awaited' : 'gone';
  if (broker === model.broker) return model;
  // The first connection is not news.
  if (model.broker === 'awaited') return { ...model, broker };
  const words = isUp
    ? 'the broker is back'
    : 'the broker is gone: no token can be requested until it is back';
  return { ...notice(model, words, elapsedMs), broker };
}

/** Adds a notice. */
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
      return notice(model, `requests a token from the backend (${effect.reason})`, elapsedMs);
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
      return `session ${text('session')} took over from the previous one at its limit`;
    case 'revoked':
    case 'max_duration':
    case 'refused':
    case 'parked':
    case 'internal_error':
      return `${text('message').replace(/\.$/, '')}; next try in ${(Number(detail['retry_ms'] ?? 0) / 1000).toFixed(1)} s`;
    case 'unreachable':
      return `${text('message').replace(/\.$/, '')}; requests another address from the backend`;
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
      return `the microphone hears the loudspeaker after ${text('delay_ms')} ms at ${text('gain_db')} dB`;
    case 'echo_restored':
      return 'the canceller works again';
    case 'echo_fallback':
    case 'two_way_fallback':
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
    case 'commands_dropped':
    case 'disk_problem_over':
    case 'identity_conflict':
      return kind.replaceAll('_', ' ');
    case 'update':
      return `update: ${text('state').replaceAll('_', ' ')}`;
    case 'budget':
      return `${text('percent')} % of today's minutes are used`;
    case 'speech_dropped':
      return `${text('sentences')} sentences were not played: ${text('why').replaceAll('_', ' ')}`;
    case 'conversation_started':
    case 'conversation_ended':
    case 'help_called':
    case 'help_answered':
      return kind.replaceAll('_', ' ');
    case 'standby':
      return 'no speech: the stream is closed until someone speaks';
    case 'wake':
      return 'speech: a session is needed';
  }
}

function addCaption(exchanges: readonly Exchange[], caption: Caption): readonly Exchange[] {
  const { isFinal } = caption;
  const isTranslation = caption.kind === 'translation';
  const index = exchanges.findLastIndex((exchange) =>
    caption.id !== null ? exchange.id === caption.id : isTranslation ? exchange.isFinal : !exchange.isFinal,
  );
  const known = exchanges[index];
  if (isTranslation) {
    if (known === undefined) return exchanges;
    return exchanges.with(index, { ...known, translations: addTranslation(known, caption, isFinal) });
  }
  // A late partial does not replace a final text.
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

/** Replaces the text of a part, because a partial contains its whole text so far. Parts are in order of arrival. */
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

/** Output of a demo: a live picture on a terminal, or plain lines. */
export interface DemoView {
  /** Called often; the view limits how often it draws. */
  update(model: DemoModel, account: LaneAccount): void;
  /** Addresses of the demo's web pages, a line each. They stay in view. */
  showPages(lines: readonly string[]): void;
  /** Restores the screen. The view draws nothing afterwards. */
  close(): void;
}
