/** Callers that wait for a machine's answer. The machine knows each caller by a number. */
export interface Callers<Answer> {
  /** @param ask posts the event with the caller's number; an effect of the machine answers the caller */
  wait(ask: (caller: number) => void): Promise<Answer>;
  answer(caller: number, answer: Answer): void;
  /** Answers all callers, because a step threw and the machine may have lost them. Later answers are ignored. */
  answerAll(answer: Answer): void;
}

export function createCallers<Answer>(): Callers<Answer> {
  const waiting = new Map<number, (answer: Answer) => void>();
  let count = 0;
  return {
    wait: (ask) =>
      new Promise((resolve) => {
        count += 1;
        waiting.set(count, resolve);
        ask(count);
      }),
    answer(caller, answer) {
      waiting.get(caller)?.(answer);
      waiting.delete(caller);
    },
    answerAll(answer) {
      for (const resolve of waiting.values()) resolve(answer);
      waiting.clear();
    },
  };
}
