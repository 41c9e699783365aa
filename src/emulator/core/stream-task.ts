import type { ClientMessage } from '../../protocol/service/client-message.ts';
import type { Task } from '../../protocol/service/task.ts';
import type { Intake } from './intake.ts';
import { createInterpreter, type Interpreter } from './interpreter.ts';
import { createRateLimits } from './rate-limit.ts';
import type { Replies } from './replies.ts';
import { createSegmentTimes } from './segment-times.ts';
import type { Sender } from './sender.ts';
import type { SilenceWatch } from './silence-watch.ts';
import type { StreamLife } from './stream-life.ts';
import type { StreamSetup } from './stream-shape.ts';
import { statusWord } from './stream-words.ts';
import { objectToTask, type TaskObjection } from './task-check.ts';
import { planTask, type TaskPlan } from './task-plan.ts';

/** Minimum time (ms) between two commands of the same kind. */
const SPACING_MS = { set_task: 2000, get_task: 2000, pause_task: 3000, end_task: 3000 };
const TTS_PER_MINUTE = 60;
/** Time (ms) for the remaining speech after an end_task without `eos_timeout`. */
const EOS_TIMEOUT_MS = 10_000;

type DataOf<T extends ClientMessage['message_type']> = NonNullable<
  (ClientMessage & { message_type: T })['data']
>;

/** A task as the client set it, with its plan and its interpreter. */
interface SetTask {
  readonly task: Task;
  readonly plan: TaskPlan;
  readonly interpreter: Interpreter;
}

/** The parts of a stream that its task uses. */
export interface StreamParts {
  readonly life: StreamLife;
  readonly sender: Sender;
  readonly replies: Replies;
  readonly intake: Intake;
  readonly silence: SilenceWatch;
}

/** The task of a stream, and the commands that set, show, pause, interrupt and end it. */
export class StreamTask {
  private readonly setup: StreamSetup;
  private readonly parts: StreamParts;
  private readonly limits = createRateLimits();
  /** Null before the first set_task and after the stream's end. */
  private current: SetTask | null = null;

  constructor(setup: StreamSetup, parts: StreamParts) {
    this.setup = setup;
    this.parts = parts;
  }

  get plan(): TaskPlan | null {
    return this.current?.plan ?? null;
  }

  get interpreter(): Interpreter | null {
    return this.current?.interpreter ?? null;
  }

  /** @returns the problem of an invalid command; null if it was carried out or refused */
  obey(message: ClientMessage, now: number): TaskObjection | null {
    switch (message.message_type) {
      case 'set_task':
        return this.set(message.data, now);
      case 'get_task':
        this.show(now);
        return null;
      case 'input_audio_data':
        return { param: 'data', desc: 'data.data must be a base64 string' };
      case 'pause_task':
        if (!this.isTooSoon('pause_task', now)) this.pause(now);
        return null;
      case 'interrupt_task':
      case 'flush_task':
        return this.interrupt(message.message_type, message.data ?? {}, now);
      case 'tts_task':
        this.speak(message.data, now);
        return null;
      case 'end_task':
        if (!this.isTooSoon('end_task', now)) this.end(message.data ?? {}, now);
        return null;
      default:
        return message satisfies never;
    }
  }

  /** Ends the task: no more sound is heard, and what was said is still translated. */
  end({ force = false, eos_timeout: timeoutS }: DataOf<'end_task'>, now: number): void {
    const { life, replies } = this.parts;
    replies.status('end_task', 'accepted', now);
    if (!force) this.interpreter?.flush(now);
    const timeoutMs = timeoutS === undefined ? EOS_TIMEOUT_MS : timeoutS * 1000;
    life.enter({ kind: 'ending', eosBy: now + (force ? 0 : timeoutMs) }, now);
  }

  /** The set-up is over: sound is heard from now on. */
  start(now: number): void {
    const { life, replies, silence } = this.parts;
    life.enter({ kind: 'running' }, now);
    silence.restart(now);
    replies.status('set_task', 'applied', now);
  }

  /** Frees the interpreter, because the report of a closed stream is kept long, but its sound is not needed any more. */
  close(): void {
    this.interpreter?.close();
    this.current = null;
  }

  private set(task: Task, now: number): TaskObjection | null {
    const { setup } = this;
    const { life, replies, silence } = this.parts;
    if (this.isTooSoon('set_task', now)) return null;
    const objection = objectToTask(task, setup.choices);
    if (objection !== null) return objection;
    const plan = planTask(task, setup.choices, setup.findVoice, now);
    this.reportPlan(plan);
    for (const voice of plan.missingVoices)
      replies.warn('VOICE_NOT_FOUND', `voice ${voice} is not available`, now);
    const interpreter = this.interpreter ?? this.createInterpreter(plan);
    interpreter.setPlan(plan);
    this.current = { task, plan, interpreter };
    if (life.phase.kind === 'idle') {
      life.enter({ kind: 'starting', readyAt: now + setup.choices.setupMs }, now);
    } else if (life.phase.kind === 'paused') {
      life.enter({ kind: 'running' }, now);
      silence.restart(now);
    }
    replies.status('set_task', 'accepted', now);
    return null;
  }

  private reportPlan({ source, targets, inputHz, outputHz }: TaskPlan): void {
    const { report } = this.setup;
    report.source = source;
    report.targets = targets.map(({ language }) => language);
    report.input_hz = inputHz;
    report.output_hz = outputHz;
  }

  private createInterpreter(plan: TaskPlan): Interpreter {
    const { setup } = this;
    const times = createSegmentTimes(setup.choices);
    return createInterpreter({ ...setup, sender: this.parts.sender, times }, plan);
  }

  private show(now: number): void {
    const { replies } = this.parts;
    if (this.isTooSoon('get_task', now)) return;
    const { phase } = this.setup.report;
    if (this.current === null || phase === 'starting')
      return replies.error('NOT_FOUND', 'no task is running yet', null, now);
    const { task } = this.current;
    const shown = this.setup.choices.statusInTask ? { ...task, task_status: statusWord(phase) } : task;
    replies.send('current_task', shown, now);
  }

  private pause(now: number): void {
    const { life, replies, intake } = this.parts;
    if (life.phase.kind !== 'running') return replies.error('NOT_FOUND', 'no task is running', null, now);
    this.interpreter?.flush(now);
    life.enter({ kind: 'paused' }, now);
    intake.restart();
    replies.status('pause_task', 'applied', now);
  }

  /** Drops the current phrase, in all languages (`global`) or in some. */
  private interrupt(
    command: 'interrupt_task' | 'flush_task',
    { languages = ['global'], pause_task: pauses = false }: DataOf<'interrupt_task'>,
    now: number,
  ): TaskObjection | null {
    const { replies } = this.parts;
    if (this.current === null) {
      replies.error('NOT_FOUND', 'no task is running yet', null, now);
      return null;
    }
    const { targets } = this.setup.report;
    const unknown = languages.find((one) => one !== 'global' && !targets.includes(one));
    if (unknown !== undefined)
      return { param: 'languages', desc: `"${unknown}" is not a target language of the task` };
    this.current.interpreter.interrupt(languages.includes('global') ? null : new Set(languages));
    replies.status(command, 'accepted', now);
    if (pauses) this.pause(now);
    return null;
  }

  /** Speaks a text of the client. */
  private speak({ text, language }: DataOf<'tts_task'>, now: number): void {
    const { replies } = this.parts;
    if (this.current === null) return replies.error('NOT_FOUND', 'no task is running yet', null, now);
    if (this.setup.choices.enforceRates && !this.limits.allowIn('tts_task', TTS_PER_MINUTE, 60_000, now)) {
      const desc = `tts_task at most ${TTS_PER_MINUTE} times a minute`;
      return replies.error('RATE_LIMIT_EXCEEDED', desc, null, now);
    }
    this.current.interpreter.say(text, language, now);
  }

  /** Refuses a command that comes too soon after the last of its kind, if the profile enforces rates. */
  private isTooSoon(command: keyof typeof SPACING_MS, now: number): boolean {
    const { report, choices } = this.setup;
    const spacingMs = SPACING_MS[command];
    const allowed = this.limits.allow(command, spacingMs, now);
    if (command === 'get_task' || command === 'set_task') {
      report[command].count++;
      if (!allowed) report[command].too_often++;
    }
    if (allowed || !choices.enforceRates) return false;
    const desc = `${command} at most once per ${spacingMs / 1000} s`;
    this.parts.replies.error('RATE_LIMIT_EXCEEDED', desc, null, now);
    return true;
  }
}
