import { clientMessageSchema, INPUT_AUDIO_CHARS } from '../../protocol/service/client-message.ts';
import { createIntake, type Intake } from './intake.ts';
import { createRecording, type Recording } from './recording.ts';
import { type ProblemReason, problemData } from './refusal.ts';
import { Replies } from './replies.ts';
import { createSender, type Sender } from './sender.ts';
import { createSilenceWatch, type SilenceWatch } from './silence-watch.ts';
import { StreamLife } from './stream-life.ts';
import type { StreamReport } from './stream-report.ts';
import type { Stream, StreamSetup } from './stream-shape.ts';
import { StreamTask } from './stream-task.ts';
import { CLOSE, isEndTask, KNOWN_TO_SPEC } from './stream-words.ts';

/** Time (ms) from a SERVICE_TIMEOUT to the close. */
const CLOSE_AFTER_MS = 300;
/** Number of invalid messages that ends a stream. */
const MOST_INVALID = 1000;

export type { Stream, StreamSetup };

export function createStream(setup: StreamSetup, openedAt: number): Stream {
  return new ServiceStream(setup, openedAt);
}

/** One stream connection: takes messages and sound, acts at deadlines, and ends. `StreamTask` carries out the client's commands. */
class ServiceStream implements Stream {
  readonly openedAt: number;
  readonly report: StreamReport;
  readonly recording: Recording;
  readonly sender: Sender;
  private readonly setup: StreamSetup;
  private readonly life: StreamLife;
  private readonly intake: Intake;
  private readonly silence: SilenceWatch;
  private readonly replies: Replies;
  private readonly task: StreamTask;

  constructor(setup: StreamSetup, openedAt: number) {
    const { report, choices, emit, random } = setup;
    const recording = createRecording(choices.recordBytes);
    this.setup = setup;
    this.openedAt = openedAt;
    this.report = report;
    this.recording = recording;
    this.sender = createSender({ report, openedAt, emit, random, record: (pcm) => recording.sent(pcm) });
    this.life = new StreamLife(report, openedAt);
    this.intake = createIntake(report, recording, setup.isRepeated);
    this.silence = createSilenceWatch(choices, report, openedAt);
    this.replies = new Replies(choices, report, this.sender);
    this.task = new StreamTask(setup, {
      life: this.life,
      sender: this.sender,
      replies: this.replies,
      intake: this.intake,
      silence: this.silence,
    });
  }

  get nextAt(): number {
    const { phase } = this.life;
    if (phase.kind === 'closed') return Number.POSITIVE_INFINITY;
    if (phase.kind === 'closing') return phase.at;
    return Math.min(this.sender.nextAt, this.phaseEndsAt, this.silence.warnsAt, this.silence.timesOutAt);
  }

  get speaking(): boolean {
    return this.task.interpreter?.speaking ?? false;
  }

  receive(json: unknown, now: number): void {
    if (this.life.isOver) return;
    this.report.messages_in++;
    const parsed = clientMessageSchema.safeParse(json);
    if (!parsed.success) {
      // Clients rely on this: an end_task ends the stream, even with invalid data.
      if (isEndTask(json)) this.task.end({}, now);
      const issue = parsed.error.issues[0];
      return this.refuse(issue?.message ?? 'invalid message', issue?.path.join('.') || null, now);
    }
    const type = parsed.data.message_type;
    if (!this.setup.choices.moreCommands && !KNOWN_TO_SPEC.has(type))
      return this.refuse(`unknown message type ${type}`, 'message_type', now);
    const objection = this.task.obey(parsed.data, now);
    if (objection !== null) this.refuse(objection.desc, objection.param, now);
  }

  receiveJunk(why: string, now: number): void {
    if (this.life.isOver) return;
    this.report.messages_in++;
    this.refuse(why, null, now);
  }

  hear(frame: Uint8Array, chars: number, now: number): void {
    const { report, task, life, intake } = this;
    const { minAudioChars, earlyAudio, tooFast } = this.setup.choices;
    if (life.isOver) return;
    report.messages_in++;
    if (chars < minAudioChars || chars > INPUT_AUDIO_CHARS.max)
      return this.refuse(`${minAudioChars} to ${INPUT_AUDIO_CHARS.max} characters`, 'data.data', now);
    const objection = intake.objectTo(frame, task.plan);
    if (objection !== null) return this.refuse(objection, 'data.data', now);
    const { pcm, overrun, warnings } = intake.take(frame, task.plan, now);
    for (const { code, message } of warnings) this.replies.warn(code, message, now);
    this.silence.restart(now);
    const { kind } = life.phase;
    const isHeard = kind === 'running' || (kind === 'starting' && earlyAudio === 'accept');
    if (!isHeard || task.interpreter === null) {
      report.frames_discarded++;
      return;
    }
    const isLost = overrun && tooFast === 'degrade';
    if (isLost) report.frames_unheard++;
    task.interpreter.hear(pcm, isLost, now);
  }

  rendered(jobId: number, pcm: Uint8Array, now: number): void {
    if (!this.life.isOver) this.task.interpreter?.rendered(jobId, pcm, now);
  }

  tick(now: number): void {
    if (this.life.phase.kind === 'closed') return;
    this.life.bill(now);
    this.startIfReady(now);
    if (!this.life.isOver) this.sender.flush(now);
    this.watchSilence(now);
    this.closeIfSpoken(now);
    this.closeIfDue(now);
  }

  end(reason: ProblemReason, message: string, afterMs: number, now: number): void {
    if (this.life.isOver) return;
    this.sender.sendNow({ type: message, data: problemData(reason) }, now);
    this.closeAfter(afterMs, CLOSE.policy, reason, now);
  }

  timeOut(now: number): void {
    if (this.life.isOver) return;
    this.replies.error('SERVICE_TIMEOUT', 'no audio has been received for too long', null, now);
    this.closeAfter(CLOSE_AFTER_MS, CLOSE.policy, 'SERVICE_TIMEOUT', now);
  }

  excuse(ms: number): void {
    this.intake.excuse(ms);
    this.silence.excuse(ms);
  }

  closed(code: number, reason: string, by: 'client' | 'service' | 'network', now: number): void {
    const { phase } = this.life;
    if (phase.kind === 'closed') return;
    this.life.enter({ kind: 'closed' }, now);
    // A client that hangs up after the service's last message has not lost its network.
    const isAnswer = by === 'network' && phase.kind === 'closing';
    this.report.closed = isAnswer ? { code, reason: phase.reason, by: 'client' } : { code, reason, by };
    this.sender.clear();
    this.task.close();
  }

  /** Replies to an invalid message; too many of them end the stream. */
  private refuse(desc: string, param: string | null, now: number): void {
    this.report.invalid_messages++;
    this.replies.error('VALIDATION_ERROR', desc, param, now);
    if (this.report.invalid_messages >= MOST_INVALID)
      this.closeAfter(0, CLOSE.policy, 'too many invalid messages', now);
  }

  /** When the phase ends without a further event. */
  private get phaseEndsAt(): number {
    const { phase } = this.life;
    if (phase.kind === 'starting') return phase.readyAt;
    if (phase.kind !== 'ending') return Number.POSITIVE_INFINITY;
    return this.isSpeechLeft ? phase.eosBy : 0;
  }

  private get isSpeechLeft(): boolean {
    return this.task.interpreter?.busy === true;
  }

  private startIfReady(now: number): void {
    const { phase } = this.life;
    if (phase.kind === 'starting' && now >= phase.readyAt) this.task.start(now);
  }

  private watchSilence(now: number): void {
    if (now >= this.silence.warnsAt) {
      this.silence.warned();
      this.replies.warn('AUDIO_STREAM_STALLED', 'no audio arrives', now);
    }
    if (now >= this.silence.timesOutAt) this.timeOut(now);
  }

  /** Closes an ending stream when all speech is sent or the time for it is over. */
  private closeIfSpoken(now: number): void {
    const { phase } = this.life;
    const { endEvent } = this.setup.choices;
    if (phase.kind !== 'ending' || (this.isSpeechLeft && now < phase.eosBy)) return;
    this.sender.clear();
    if (endEvent !== 'none') this.replies.send(endEvent, {}, now);
    this.closeAfter(0, CLOSE.normal, 'end of stream', now);
  }

  private closeAfter(ms: number, code: number, reason: string, now: number): void {
    this.life.enter({ kind: 'closing', at: now + ms, code, reason }, now);
    this.sender.clear();
  }

  private closeIfDue(now: number): void {
    const { phase } = this.life;
    if (phase.kind !== 'closing' || now < phase.at) return;
    const { code, reason } = phase;
    this.setup.emit({ type: 'close', stream: this.report.id, code, reason });
    this.closed(code, reason, 'service', now);
  }
}
