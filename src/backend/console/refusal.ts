import type { ConsoleProblem } from '../../protocol/console-routes.ts';

/** Refuses a request. The message is for people, and never contains a secret. */
export class Refusal extends Error {
  readonly status: number;
  readonly problem: ConsoleProblem;
  constructor(
    status: number,
    code: ConsoleProblem['code'],
    message: string,
    more: Partial<ConsoleProblem> = {},
  ) {
    super(message);
    this.status = status;
    this.problem = { ...more, code, message };
  }
}

export const notFound = (what: string): Refusal => new Refusal(404, 'not_found', `there is no ${what}`);
