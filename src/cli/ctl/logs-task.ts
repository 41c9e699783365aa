import { EXIT, Failure } from '../../program/problem.ts';
import { isObject, parseJson } from '../../protocol/common/json.ts';
import { jsonLine, oneLine, textLine } from '../../protocol/common/plain-text.ts';
import type { CommandResponse } from '../../protocol/mqtt/command.ts';
import { logSchema } from '../../protocol/mqtt/log.ts';
import { readAnswer, sendCommand } from './ask.ts';
import type { CtlDeps } from './deps.ts';
import { openExchange } from './exchange.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Source of signals: the process, or a test. */
export interface Signals {
  once(signal: (typeof SIGNALS)[number], listener: () => void): unknown;
  off(signal: (typeof SIGNALS)[number], listener: () => void): unknown;
}

/** Shows the log of a device until the user ends it, then stops the log stream of the device. */
export async function followLogs(
  args: Readonly<Record<string, unknown>>,
  deps: CtlDeps,
  signals: Signals = process,
): Promise<void> {
  const { topics, target, clock, shell, options, timeoutS } = deps;
  if (target.kind !== 'device') throw new Failure('logs needs one device: give its name', EXIT.usage);
  const { device } = target;
  const id = deps.newId();
  let answer: CommandResponse | null = null;
  const subscriptions = [topics.answers(device, 'log_stream'), topics.published(device, 'log')];
  const exchange = await openExchange(deps, subscriptions, ({ topic, payload }) => {
    if (topics.read(topic)?.rest === 'log') show(payload, options.json === true, (text) => shell.print(text));
    else answer = readAnswer(payload, id) ?? answer;
  });
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  for (const signal of SIGNALS) signals.once(signal, end);
  try {
    await sendCommand(exchange, 'log_stream', args, id, deps);
    const startedAt = clock.now();
    const mayEnd = (): boolean => {
      checkAnswer(answer, device, clock.now() - startedAt > timeoutS * 1000 ? timeoutS : null);
      return isOver;
    };
    await exchange.waitUntil(mayEnd, () => Number(args['minutes']) * 60_000);
    if (isOver) await sendCommand(exchange, 'log_stream', { ...args, minutes: 0 }, deps.newId(), deps);
  } finally {
    for (const signal of SIGNALS) signals.off(signal, end);
    await exchange.close();
  }
}

/** @throws Failure when the device has refused, or did not answer within the timeout */
function checkAnswer(answer: CommandResponse | null, device: string, overS: number | null): void {
  if (answer === null) {
    if (overS !== null) throw new Failure(`${device}: no answer within ${overS} s`, EXIT.noAnswer);
    return;
  }
  const { status, error } = answer;
  if (status === 'ok' || status === 'accepted') return;
  const words = `refused (${error?.code ?? status}): ${error?.message ?? 'without a reason'}`;
  throw new Failure(`${device}: ${oneLine(words)}`);
}

function show(payload: string, isJson: boolean, print: (text: string) => void): void {
  const parsed = logSchema.safeParse(parseJson(payload));
  if (!parsed.success) return;
  for (const line of parsed.data.lines) print(isJson ? asJsonLine(line) : textLine(wordLine(line)));
  if (parsed.data.dropped > 0)
    print(isJson ? `{"dropped":${parsed.data.dropped}}\n` : `... ${parsed.data.dropped} more lines\n`);
}

/** A line that is not JSON becomes the field `text`, so that the output is always JSON. */
function asJsonLine(line: string): string {
  const json = parseJson(line);
  return jsonLine(isObject(json) ? json : { text: line });
}

/** Formats a record: `12:31:05 warn the microphone is gone {"lane":"main"}` */
function wordLine(text: string): string {
  const line = parseJson(text);
  if (!isObject(line)) return text;
  const { time, level, msg, ...fields } = line;
  const at = /T(\d\d:\d\d:\d\d)/.exec(String(time))?.[1] ?? '';
  const rest = Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`;
  return `${at} ${String(level)} ${String(msg ?? '')}${rest}`;
}
