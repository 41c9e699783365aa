/** Asks at the terminal without showing what is typed. */

interface Keyboard {
  readonly isTTY?: boolean;
  setRawMode?(isRaw: boolean): unknown;
  on(event: 'data', listener: (bytes: Buffer) => void): unknown;
  off(event: 'data', listener: (bytes: Buffer) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

const ENTER = /[\r\n]/;
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const ERASE = /[\u007f\b]/;

/** @returns the line; null: no person is at the terminal, or they gave up (Ctrl-C) */
export function askSecretly(
  question: string,
  keyboard: Keyboard,
  show: (text: string) => void,
): Promise<string | null> {
  if (keyboard.isTTY !== true || keyboard.setRawMode === undefined) return Promise.resolve(null);
  show(question);
  keyboard.setRawMode(true);
  keyboard.resume();
  return new Promise((resolve) => {
    let typed: string[] = [];
    const decoder = new TextDecoder();
    const end = (answer: string | null): void => {
      keyboard.off('data', hear);
      keyboard.setRawMode?.(false);
      keyboard.pause();
      show('\n');
      resolve(answer);
    };
    const hear = (bytes: Buffer): void => {
      for (const sign of decoder.decode(bytes, { stream: true })) {
        if (ENTER.test(sign)) return end(typed.join(''));
        if (sign === CTRL_C || sign === CTRL_D) return end(null);
        if (ERASE.test(sign)) typed = typed.slice(0, -1);
        else typed.push(sign);
      }
    };
    keyboard.on('data', hear);
  });
}
