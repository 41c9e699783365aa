const COLUMNS = 80;
const NAME_COLUMNS = 24;
const SECONDS_COLUMNS = 8;
const REFRESH_MS = 500;

export interface Screen {
  readonly isTerminal: boolean;
  write(text: string): void;
  /** Monotonic milliseconds. */
  now(): number;
}

export interface Steps {
  /** Runs a step, and prints its result: `work` returns a remark. */
  step(name: string, work: () => Promise<string>): Promise<void>;
  /** Shows the progress of the running step. */
  tell(remark: string): void;
}

/** Prints a line for each step: name, result, seconds. On a terminal the line of the running step keeps counting. */
export function stepLines(screen: Screen): Steps {
  let remark = '';
  return {
    tell: (text) => {
      remark = text;
    },
    async step(name, work) {
      const startedAt = screen.now();
      remark = '';
      const line = () => stepLine(name, remark, (screen.now() - startedAt) / 1000);
      const show = () => screen.write(`\r${line()}`);
      const timer = screen.isTerminal ? setInterval(show, REFRESH_MS) : null;
      let isDone = false;
      try {
        remark = await work();
        isDone = true;
      } finally {
        if (timer !== null) clearInterval(timer);
        if (!isDone) remark = 'failed';
        screen.write(`${screen.isTerminal ? '\r' : ''}${line()}\n`);
      }
    },
  };
}

export function stepLine(name: string, remark: string, seconds: number): string {
  const room = COLUMNS - 1 - NAME_COLUMNS - SECONDS_COLUMNS;
  const text = remark.length > room ? `${remark.slice(0, room - 3)}...` : remark;
  return `${name.padEnd(NAME_COLUMNS)}${text.padEnd(room)}${`${seconds.toFixed(1)} s`.padStart(SECONDS_COLUMNS)}`;
}
