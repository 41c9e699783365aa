import type { Denial, Grant, Hold, LaneEvent } from '../../../src/device/lane/state/lane-event.ts';
import { LANE_DEFAULTS, type LaneOptions } from '../../../src/device/lane/state/lane-options.ts';
import type { Ended, Refusal, Refused, ServiceEvent } from '../../../src/ports/stream.ts';
import { closed, ready, refused, spoke, translated, understood } from '../../service-events.ts';
import { nextPcm, PAUSE, SPEECH, tagged } from './sound.ts';
import { StepHarness } from './step-harness.ts';

export const CHUNK_MS = LANE_DEFAULTS.chunkMs;

/** A lane with its visitors, backend and service, all of them moved by a test. */
export class LaneHarness extends StepHarness {
  private utterances = new Map<string, { tag: number; words: number }>();

  // --- the operator and the backend

  start(): void {
    this.step({ type: 'start' });
  }
  stop(): void {
    this.step({ type: 'stop' });
  }
  shutdown(): void {
    this.step({ type: 'shutdown' });
  }
  hold(hold: Hold | null): void {
    this.step({ type: 'hold', hold });
  }
  /** The operator orders a text to be spoken. */
  say(id = `said-${this.log.length}`, language = 'es'): void {
    this.step({ type: 'say', id, text: 'Cerramos', language, translate: false });
  }
  options(options: Partial<LaneOptions>): void {
    this.step({ type: 'options', options });
  }
  brokerIs(up: boolean): void {
    this.step({ type: 'broker', up });
  }
  /** The backend answers the last request. */
  grant(given: Partial<Grant> = {}): void {
    this.step({ type: 'granted', grant: this.grantFor(this.last('request_token').id, given) });
  }
  grantFor(id: string, given: Partial<Grant> = {}): Grant {
    return {
      id,
      session: `${id}...`,
      streamHost: 'stream.example',
      windowMs: 60_000,
      maxDurationMs: null,
      intent: 's2s',
      connectionType: 'ws',
      ...given,
    };
  }
  deny(denial: Partial<Denial> = {}): void {
    this.step({
      type: 'denied',
      id: this.last('request_token').id,
      denial: { code: 'busy', message: 'later', final: false, retryAfterMs: null, ...denial },
    });
  }

  // --- the service

  /** The number of the newest stream. */
  get stream(): number {
    return this.last('open_stream').stream;
  }
  open(): void {
    this.step({ type: 'opened', stream: this.stream });
  }
  refuse(reason: Refusal = 'forbidden', given: Partial<Refused> = {}, stream = this.stream): void {
    this.says(refused(reason, { status: 403, ...given }), stream);
  }
  unreach(spent: boolean, isOurs = false): void {
    this.step({ type: 'unreached', stream: this.stream, spent, message: 'no way to the service', isOurs });
  }
  says(said: ServiceEvent, stream = this.stream): void {
    this.step({ type: 'service', stream, said });
  }
  /** The connection closes. */
  end(how: 'closed' | 'cut' = 'cut', given: Partial<Ended> = {}, stream = this.stream): void {
    this.says(closed(how, given), stream);
  }
  /** Waits for the question after the newest task and answers that the task runs. */
  taskRuns(): void {
    const { at } = this.last('send_task');
    this.until(() => this.all('poll_task').some((poll) => poll.at > at), 10_000);
    this.says(ready());
  }
  /** Translated sound arrives; its samples encode the sentence and the place in it. */
  hear(
    utterance: string | null,
    ms: number,
    last = false,
    stream = this.stream,
    sentence: string | null = utterance,
    language: string | null = null,
  ): void {
    const key = `${stream}/${utterance}`;
    const { tag, words } = this.utterances.get(key) ?? { tag: this.utterances.size + 1, words: 0 };
    const pcm = tagged(tag, words, Math.round(ms * 12));
    this.utterances.set(key, { tag, words: words + pcm.byteLength / 4 });
    this.says(spoke(pcm, { sentence, language, utterance, last }), stream);
  }

  /** The service sends the final text of the speech up to the last pause. */
  understands(id: string | null, stream = this.stream): void {
    this.says(understood({ id }), stream);
  }
  /** Its translation is written down. */
  translates(id: string, letters: number, stream = this.stream): void {
    this.says(translated({ id, text: 'x'.repeat(letters) }), stream);
  }

  // --- the microphone

  /** The device has an announcement. */
  announce(pcm: Uint8Array): void {
    this.step({ type: 'announce', pcm });
  }
  /** Verdict of the voice detector on voiced chunks; undefined: no detector. */
  isSpeech: boolean | undefined;
  /** One chunk arrives now. */
  capture(voiced = true, capturedAt = this.now): void {
    const { isSpeech } = this;
    const levels = {
      ...(voiced ? SPEECH : PAUSE),
      ...(isSpeech !== undefined && { isSpeech: voiced && isSpeech }),
    };
    this.step({ type: 'captured', capturedAt, pcm: nextPcm(voiced), levels });
  }
  /** A visitor speaks for this many chunks, in real time. */
  speak(chunks: number): void {
    for (let i = 0; i < chunks; i++) {
      this.pass(CHUNK_MS);
      this.capture(true);
    }
  }
  /** Silence for this many chunks; only the room is heard. */
  hush(chunks: number): void {
    for (let i = 0; i < chunks; i++) {
      this.pass(CHUNK_MS);
      this.capture(false);
    }
  }
  fault(device: 'capture' | 'playback', code = 'lost'): void {
    this.step({ type: 'audio_fault', device, code, message: `the ${device} device is gone` });
  }

  /** A step threw. */
  crash(during?: LaneEvent): void {
    this.step({ type: 'defect', where: 'captured: TypeError', ...(during && { during }) });
  }

  // --- stories so far

  goAcquiring(): this {
    this.brokerIs(true);
    this.start();
    return this;
  }
  goConnecting(grant: Partial<Grant> = {}): this {
    this.goAcquiring();
    this.grant(grant);
    return this;
  }
  goConfiguring(grant: Partial<Grant> = {}): this {
    this.goConnecting(grant);
    this.open();
    return this;
  }
  goLive(grant: Partial<Grant> = {}): this {
    this.goConfiguring(grant);
    this.taskRuns();
    return this;
  }
  /** Live on a session that nears its limit: the next token is requested. */
  goRolling(grant: Partial<Grant> = {}): this {
    this.goLive({ maxDurationMs: 60_000, ...grant });
    this.until(() => this.phase === 'rolling', 60_000);
    return this;
  }
  /** The next session runs; a visitor speaks, so that the switch has to wait. */
  goReady(grant: Partial<Grant> = {}): this {
    this.goRolling(grant);
    this.speak(3);
    this.grant({ maxDurationMs: 60_000 });
    this.open();
    this.speak(3);
    this.says(ready());
    return this;
  }
  /** Live on the next session, while the one before it finishes. */
  goOldSession(): this {
    this.goReady();
    this.hush(3);
    return this;
  }
  /** The account allows one stream: the old session finishes first. */
  goMakingRoom(): this {
    this.goRolling();
    this.speak(3);
    this.grant();
    this.refuse('session_limit_reached', { status: 409 });
    this.hush(2);
    return this;
  }
  /** In standby, after a time without speech. */
  goStandby(): this {
    this.options({ standbyAfterMs: 20_000 });
    this.goLive();
    this.until(() => this.phase === 'standby', 30_000);
    this.pass(LANE_DEFAULTS.drainMs);
    return this;
  }
  goWaiting(): this {
    this.goConnecting();
    this.unreach(true);
    return this;
  }
  goParked(): this {
    this.goAcquiring();
    this.deny({ final: true });
    return this;
  }
  goDraining(): this {
    this.goLive();
    this.stop();
    return this;
  }
  goRestarting(): this {
    this.goLive();
    this.crash();
    return this;
  }
  goClosed(): this {
    this.shutdown();
    return this;
  }
  /** From a wait back to live: the next attempt succeeds. */
  comeBack(): void {
    this.until(() => !['waiting', 'parked', 'restarting'].includes(this.phase), 400_000);
    if (this.phase === 'acquiring') this.grant();
    this.open();
    this.taskRuns();
  }
}
