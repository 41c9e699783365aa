import {
  type ClientMessage,
  clientMessageSchema,
  INPUT_AUDIO_CHARS,
} from '../../protocol/service/client-message.ts';
import type { Task } from '../../protocol/service/task.ts';
import { createIntake } from './intake.ts';
import { createInterpreter, type Interpreter } from './interpreter.ts';
import { createRateLimits } from './rate-limit.ts';
import { createRecording } from './recording.ts';
import { problemData } from './refusal.ts';
import { createSegmentTimes } from './segment-times.ts';
import { createSender } from './sender.ts';
import { createSilenceWatch } from './silence-watch.ts';
import type { StreamPhase } from './stream-report.ts';
import type { Stream, StreamSetup } from './stream-shape.ts';
import { CLOSE, isEndTask, KNOWN_TO_SPEC, statusWord } from './stream-words.ts';
import { objectToTask } from './task-check.ts';
import { planTask, type TaskPlan } from './task-plan.ts';

/** Time (ms) from a SERVICE_TIMEOUT, or a stream's last message, to the close. */
const CLOSE_AFTER_MS = 300;
const TTS_PER_MINUTE = 60;
const EOS_TIMEOUT_MS = 10_000;
/** Number of invalid messages that ends a stream. */
const MOST_INVALID = 1000;

export type { Stream, StreamSetup };

export function createStream(setup: StreamSetup, openedAt: number): Stream {
  const { report, choices, emit } = setup;
  const recording = createRecording(choices.recordBytes);
  const intake = createIntake(report, recording, setup.isRepeated);
  const limits = createRateLimits();
  const sender = createSender({
    report,
    openedAt,
    emit,
    random: setup.random,
    record: (pcm) => recording.sent(pcm),
  });
  const times = createSegmentTimes(choices);
  const silence = createSilenceWatch(choices, report, openedAt);

  let task: Task | null = null;
  let plan: TaskPlan | null = null;
  let interpreter: Interpreter | null = null;
  let readyAt = Number.POSITIVE_INFINITY;
  let eosBy = Number.POSITIVE_INFINITY;
  let closing: { at: number; code: number; reason: string } | null = null;
  let billedUntil = openedAt;
  let billedMs = 0;

  const phase = (next: StreamPhase): void => {
    report.phase = next;
  };
  const isOver = (): boolean => report.phase === 'closing' || report.phase === 'closed';
  const bill = (now: number): void => {
    if (report.phase !== 'paused' && report.phase !== 'closed') billedMs += now - billedUntil;
    billedUntil = now;
    report.billed_ms = Math.round(billedMs);
    if (report.phase !== 'closed') report.open_ms = Math.round(now - openedAt);
  };
  const say = (type: string, data: Record<string, unknown>, now: number): void => {
    sender.send({ type, data }, now);
  };
  const fail = (code: string, desc: string, param: string | null, now: number): void => {
    say('error', { code, desc, param }, now);
  };
  const warn = (code: string, message: string, now: number): void => {
    if (choices.warnings && limits.allow(`warning ${code}`, 5000, now))
      say('warning', { code, message }, now);
  };
  const push = (command: string, event: string, now: number): void => {
    if (choices.taskStatus)
      say('task_status', { command, event, task_status: statusWord(report.phase) }, now);
  };
  const closeAfter = (ms: number, code: number, reason: string, now: number): void => {
    bill(now);
    phase('closing');
    sender.clear();
    closing = { at: now + ms, code, reason };
  };
  const invalid = (desc: string, param: string | null, now: number): void => {
    report.invalid_messages++;
    fail('VALIDATION_ERROR', desc, param, now);
    if (report.invalid_messages >= MOST_INVALID)
      closeAfter(0, CLOSE.policy, 'too many invalid messages', now);
  };
  /** Whether a command comes too soon after the last of its kind, if the profile enforces rates. */
  const tooSoon = (command: string, spacingMs: number, now: number): boolean => {
    const allowed = limits.allow(command, spacingMs, now);
    if (command === 'get_task' || command === 'set_task') {
      report[command].count++;
      if (!allowed) report[command].too_often++;
    }
    if (allowed || !choices.enforceRates) return false;
    fail('RATE_LIMIT_EXCEEDED', `${command} at most once per ${spacingMs / 1000} s`, null, now);
    return true;
  };

  const setTask = (next: Task, now: number): void => {
    if (tooSoon('set_task', 2000, now)) return;
    const objection = objectToTask(next, choices);
    if (objection !== null) return invalid(objection.desc, objection.param, now);
    task = next;
    plan = planTask(next, choices, setup.findVoice, now);
    report.source = plan.source;
    report.targets = plan.targets.map((target) => target.language);
    report.input_hz = plan.inputHz;
    report.output_hz = plan.outputHz;
    for (const voice of plan.missingVoices) warn('VOICE_NOT_FOUND', `voice ${voice} is not available`, now);
    if (interpreter !== null) interpreter.setPlan(plan);
    else interpreter = createInterpreter({ ...setup, sender, times }, plan);
    if (report.phase === 'idle') {
      phase('starting');
      readyAt = now + choices.setupMs;
    } else if (report.phase === 'paused') {
      bill(now);
      phase('running');
      silence.restart(now);
    }
    push('set_task', 'accepted', now);
  };

  const getTask = (now: number): void => {
    if (tooSoon('get_task', 2000, now)) return;
    if (task === null || report.phase === 'idle' || report.phase === 'starting') {
      return fail('NOT_FOUND', 'no task is running yet', null, now);
    }
    say(
      'current_task',
      choices.statusInTask ? { ...task, task_status: statusWord(report.phase) } : task,
      now,
    );
  };

  const pause = (now: number): void => {
    if (report.phase !== 'running') return fail('NOT_FOUND', 'no task is running', null, now);
    interpreter?.flush(now);
    bill(now);
    phase('paused');
    intake.restart();
    push('pause_task', 'applied', now);
  };

  /** Drops the current phrase, in all languages (`global`) or in some. */
  const interrupt = (
    command: 'interrupt_task' | 'flush_task',
    data: { languages?: string[] | undefined; pause_task?: boolean | undefined },
    now: number,
  ): void => {
    if (interpreter === null) return fail('NOT_FOUND', 'no task is running yet', null, now);
    const { languages = ['global'] } = data;
    const unknown = languages.find((one) => one !== 'global' && !report.targets.includes(one));
    if (unknown !== undefined)
      return invalid(`"${unknown}" is not a target language of the task`, 'languages', now);
    interpreter.interrupt(languages.includes('global') ? null : new Set(languages));
    push(command, 'accepted', now);
    if (data.pause_task === true) pause(now);
  };

  const endTask = (
    data: { eos_timeout?: number | undefined; force?: boolean | undefined },
    now: number,
  ): void => {
    push('end_task', 'accepted', now);
    if (data.force !== true) interpreter?.flush(now);
    phase('ending');
    eosBy = now + (data.force === true ? 0 : (data.eos_timeout ?? EOS_TIMEOUT_MS / 1000) * 1000);
  };

  const obey = (message: ClientMessage, now: number): void => {
    switch (message.message_type) {
      case 'set_task':
        return setTask(message.data, now);
      case 'get_task':
        return getTask(now);
      case 'input_audio_data':
        return invalid('data.data must be a base64 string', 'data', now);
      case 'pause_task':
        return tooSoon('pause_task', 3000, now) ? undefined : pause(now);
      case 'interrupt_task':
      case 'flush_task':
        return interrupt(message.message_type, message.data ?? {}, now);
      case 'tts_task':
        if (interpreter === null) return fail('NOT_FOUND', 'no task is running yet', null, now);
        if (choices.enforceRates && !limits.allowIn('tts_task', TTS_PER_MINUTE, 60_000, now)) {
          return fail('RATE_LIMIT_EXCEEDED', `tts_task at most ${TTS_PER_MINUTE} times a minute`, null, now);
        }
        return interpreter.say(message.data.text, message.data.language, now);
      case 'end_task':
        return tooSoon('end_task', 3000, now) ? undefined : endTask(message.data ?? {}, now);
      default:
        return message satisfies never;
    }
  };

  const closeEnded = (now: number): void => {
    if (interpreter?.busy === true && now < eosBy) return;
    sender.clear();
    if (choices.endEvent !== 'none') say(choices.endEvent, {}, now);
    closeAfter(0, CLOSE.normal, 'end of stream', now);
  };

  const timeOut = (now: number): void => {
    fail('SERVICE_TIMEOUT', 'no audio has been received for too long', null, now);
    closeAfter(CLOSE_AFTER_MS, CLOSE.policy, 'SERVICE_TIMEOUT', now);
  };

  return {
    report,
    openedAt,
    recording,
    sender,
    get nextAt() {
      if (report.phase === 'closed') return Number.POSITIVE_INFINITY;
      if (closing !== null) return closing.at;
      const ending = report.phase === 'ending' ? (interpreter?.busy === true ? eosBy : 0) : eosBy;
      return Math.min(sender.nextAt, readyAt, ending, silence.warnsAt, silence.timesOutAt);
    },
    get speaking() {
      return interpreter?.speaking ?? false;
    },
    receive(json, now) {
      if (isOver()) return;
      report.messages_in++;
      const parsed = clientMessageSchema.safeParse(json);
      if (!parsed.success) {
        // Clients depend on it: an end_task ends the stream, even with invalid data.
        if (isEndTask(json)) endTask({}, now);
        const issue = parsed.error.issues[0];
        return invalid(issue?.message ?? 'invalid message', issue?.path.join('.') || null, now);
      }
      const type = parsed.data.message_type;
      if (!choices.moreCommands && !KNOWN_TO_SPEC.has(type)) {
        return invalid(`unknown message type ${type}`, 'message_type', now);
      }
      obey(parsed.data, now);
    },
    receiveJunk(why, now) {
      if (isOver()) return;
      report.messages_in++;
      invalid(why, null, now);
    },
    hear(frame, chars, now) {
      if (isOver()) return;
      report.messages_in++;
      if (chars < choices.minAudioChars || chars > INPUT_AUDIO_CHARS.max) {
        return invalid(`${choices.minAudioChars} to ${INPUT_AUDIO_CHARS.max} characters`, 'data.data', now);
      }
      const objection = intake.objectTo(frame, plan);
      if (objection !== null) return invalid(objection, 'data.data', now);
      const { pcm, overrun, warnings } = intake.take(frame, plan, now);
      for (const { code, message } of warnings) warn(code, message, now);
      silence.restart(now);
      const early = report.phase === 'starting' && choices.earlyAudio === 'accept';
      if ((report.phase !== 'running' && !early) || interpreter === null) {
        report.frames_discarded++;
        return;
      }
      const isLost = overrun && choices.tooFast === 'degrade';
      if (isLost) report.frames_unheard++;
      interpreter.hear(pcm, isLost, now);
    },
    rendered(jobId, pcm, now) {
      if (!isOver()) interpreter?.rendered(jobId, pcm, now);
    },
    decided(now) {
      if (!isOver()) interpreter?.decided(now);
    },
    tick(now) {
      if (report.phase === 'closed') return;
      bill(now);
      if (now >= readyAt) {
        readyAt = Number.POSITIVE_INFINITY;
        if (report.phase === 'starting') {
          phase('running');
          silence.restart(now);
          push('set_task', 'applied', now);
        }
      }
      if (!isOver()) sender.flush(now);
      if (now >= silence.warnsAt) {
        silence.warned();
        warn('AUDIO_STREAM_STALLED', 'no audio arrives', now);
      }
      if (now >= silence.timesOutAt) timeOut(now);
      if (report.phase === 'ending') closeEnded(now);
      if (closing !== null && now >= closing.at) {
        emit({ type: 'close', stream: report.id, code: closing.code, reason: closing.reason });
        this.closed(closing.code, closing.reason, 'service', now);
      }
    },
    end(reason, message, afterMs, now) {
      if (isOver()) return;
      sender.sendNow({ type: message, data: problemData(reason) }, now);
      closeAfter(afterMs, CLOSE.policy, reason, now);
    },
    timeOut(now) {
      if (!isOver()) timeOut(now);
    },
    excuse(ms) {
      intake.excuse(ms);
      silence.excuse(ms);
    },
    closed(code, reason, by, now) {
      if (report.phase === 'closed') return;
      bill(now);
      phase('closed');
      // A client that hangs up on the service's last message has not lost its network.
      const isAnswer = by === 'network' && closing !== null;
      report.closed = isAnswer
        ? { code, reason: closing?.reason ?? reason, by: 'client' }
        : { code, reason, by };
      sender.clear();
      interpreter?.close();
      // The report of a closed stream is kept long, its sound is not.
      interpreter = null;
    },
  };
}
