import { signal } from '@preact/signals';
import type { Me } from '../../../protocol/console-owner.ts';
import type { ConsoleFault, ConsoleProblem } from '../../../protocol/console-routes.ts';
import { t } from '../texts/text.ts';

/** Who is signed in. `undefined`: not known yet; null: no one. */
export const me = signal<Me | null | undefined>(undefined);
/** Whether the session ended while the page was in use. The page then stays visible behind the sign-in form. */
export const isSessionOver = signal(false);

export class ConsoleError extends Error {
  readonly code: string;
  readonly faults: readonly ConsoleFault[];

  constructor(problem: Pick<ConsoleProblem, 'message' | 'faults'> & { readonly code: string }) {
    super(problem.message);
    this.code = problem.code;
    this.faults = problem.faults ?? [];
  }
}

export const get = <T>(path: string, init: RequestInit = {}): Promise<T> => ask<T>(path, init);

export function post<T = unknown>(path: string, body: unknown = {}): Promise<T> {
  const headers = { 'Content-Type': 'application/json' };
  return ask<T>(path, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** @throws ConsoleError with a sentence for people */
async function ask<T>(path: string, init: RequestInit): Promise<T> {
  let response: Response;
  let answer: unknown;
  try {
    response = await fetch(path, { ...init, redirect: 'error' });
    answer = await response.json();
  } catch {
    throw new ConsoleError({ code: 'no_answer', message: t('no_answer') });
  }
  if (response.ok) return answer as T;
  const { error } = answer as { error?: ConsoleProblem };
  if (error?.code === 'signed_out') signedOut();
  throw new ConsoleError(error ?? { code: 'no_answer', message: t('no_answer') });
}

export function signedOut(): void {
  isSessionOver.value = me.value !== null && me.value !== undefined;
  if (!isSessionOver.value) me.value = null;
}

/** The text of an error, for people. */
export const whyFailed = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Encodes a device name such as `museum/kiosk-01` for a path; keeps its slash. */
export const devicePath = (device: string): string => device.split('/').map(encodeURIComponent).join('/');
