import { followPage } from '../../adapters/screen/page-events.ts';
import type { Clock } from '../../ports/clock.ts';
import { createConsoleView } from './console-view.ts';

const ESCAPE = '\u001b';
/** Moves to the top left; clears the rest of a row; clears everything below. */
const TOP = `${ESCAPE}[H`;
const CLEAR_ROW = `${ESCAPE}[K`;
const CLEAR_BELOW = `${ESCAPE}[J`;
const USUAL_COLUMNS = 80;

/** The part of a terminal that the console view needs. */
export interface ConsoleOutput {
  readonly columns?: number;
  write(text: string): unknown;
}

/** Shows the page on a text console until `asked` resolves. */
export async function showConsole(
  url: string,
  clock: Clock,
  output: ConsoleOutput,
  asked: Promise<unknown>,
): Promise<void> {
  const view = createConsoleView(output.columns ?? USUAL_COLUMNS, () => clock.wall());
  let last = '';
  let cancel = (): void => {};
  const paint = (): void => {
    cancel();
    const { rows, wakeAt } = view.look(clock.now());
    const picture = `${TOP}${rows.map((row) => `${row}${CLEAR_ROW}\r\n`).join('')}${CLEAR_BELOW}`;
    if (picture !== last) output.write(picture);
    last = picture;
    if (wakeAt !== null) cancel = clock.at(wakeAt, paint);
  };
  const painting =
    <T>(change: (value: T) => void) =>
    (value: T): void => {
      change(value);
      paint();
    };
  paint();
  const end = followPage(url, clock, {
    onSnapshot: painting(view.begin),
    onChange: painting(view.take),
    onLost: painting<void>(view.lost),
  });
  await asked;
  end();
  cancel();
  // No captions remain on the screen.
  output.write(`${TOP}${CLEAR_BELOW}`);
}
