import type { Choices } from './choices.ts';
import { createRateLimits } from './rate-limit.ts';
import type { Sender } from './sender.ts';
import type { StreamReport } from './stream-report.ts';
import { statusWord } from './stream-words.ts';

/** Minimum time (ms) between two warnings with the same code. */
const WARNING_SPACING_MS = 5000;

/** The service's messages about commands and about the stream itself. */
export class Replies {
  private readonly choices: Choices;
  private readonly report: StreamReport;
  private readonly sender: Sender;
  private readonly warned = createRateLimits();

  constructor(choices: Choices, report: StreamReport, sender: Sender) {
    this.choices = choices;
    this.report = report;
    this.sender = sender;
  }

  send(type: string, data: Record<string, unknown>, now: number): void {
    this.sender.send({ type, data }, now);
  }

  error(code: string, desc: string, param: string | null, now: number): void {
    this.send('error', { code, desc, param }, now);
  }

  /** Sends a warning, if the profile has warnings. */
  warn(code: string, message: string, now: number): void {
    if (this.choices.warnings && this.warned.allow(code, WARNING_SPACING_MS, now))
      this.send('warning', { code, message }, now);
  }

  /** Sends a `task_status` after a command, if the profile has them. */
  status(command: string, event: 'accepted' | 'applied', now: number): void {
    if (this.choices.taskStatus)
      this.send('task_status', { command, event, task_status: statusWord(this.report.phase) }, now);
  }
}
