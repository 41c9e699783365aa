import type { Browser } from '../../adapters/screen/browser.ts';
import { beginWatch, isFrozen, takeBeat } from '../../device/screen/beat-watch.ts';
import type { Clock } from '../../ports/clock.ts';
import { Failure } from '../../program/problem.ts';
import type { ScreenBeat } from '../../protocol/screen.ts';

const ASK_EACH_MS = 5000;
const SERVED_EACH_MS = 1000;

export interface ScreenKeeping {
  readonly url: string;
  readonly clock: Clock;
  /** Null: the agent does not answer. */
  ask(): Promise<ScreenBeat | null>;
  open(): Browser;
  /** Resolves when this program is asked to end. */
  readonly asked: Promise<unknown>;
  complain(text: string): void;
}

/**
 * Shows the page until `asked` resolves.
 * @throws Failure when the browser has ended or no longer paints: the supervisor then restarts this program
 */
export async function keepScreen(keeping: ScreenKeeping): Promise<void> {
  const { url, clock, ask, open } = keeping;
  const asked = keeping.asked.then(() => 'asked' as const);
  const pause = async (ms: number, ...others: Promise<string>[]): Promise<string | null> => {
    let cancel = (): void => {};
    const over = new Promise<null>((resolve) => {
      cancel = clock.at(clock.now() + ms, () => resolve(null));
    });
    const first = await Promise.race([over, asked, ...others]);
    cancel();
    return first;
  };
  // A browser that requests the page too early would show its own error and never retry.
  for (let isFirst = true; (await ask()) === null; isFirst = false) {
    if (isFirst) keeping.complain(`waiting for the page at ${url}: run the agent with "screen.enabled"\n`);
    if ((await pause(SERVED_EACH_MS)) !== null) return;
  }
  const browser = open();
  const ended = browser.ended.then((reason) => `the browser has ended: ${reason}`);
  try {
    for (let watch = beginWatch(clock.now()); ; ) {
      const end = await pause(ASK_EACH_MS, ended);
      if (end === 'asked') return;
      if (end !== null) throw new Failure(end);
      watch = takeBeat(watch, await ask(), clock.now());
      if (isFrozen(watch, clock.now())) throw new Failure('the page is no longer painted');
    }
  } finally {
    await browser.end();
  }
}
