import { connectOperator } from '../../adapters/ctl/operator-client.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import { parseJson } from '../../protocol/json.ts';
import { commandResponseSchema } from '../../protocol/mqtt/command.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import { logSchema } from '../../protocol/mqtt/log.ts';
import type { CtlDeps } from './deps.ts';
import { plain } from './plain.ts';
import { topicLevel } from './target.ts';

const LOOK_EACH_MS = 100;
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Where signals come from: the process, or a test. */
export interface Signals {
  once(signal: (typeof SIGNALS)[number], listener: () => void): unknown;
  off(signal: (typeof SIGNALS)[number], listener: () => void): unknown;
}

/** Shows the log of a device as it is written, until it is ended; the device is told to stop then. */
export async function followLogs(
  args: Readonly<Record<string, unknown>>,
  deps: CtlDeps,
  signals: Signals = process,
): Promise<void> {
  const { topics, target, clock, access, shell, options, timeoutS } = deps;
  if (target.kind !== 'device') throw new Failure('logs are of one device: give its name', EXIT.usage);
  const { device } = target;
  const id = deps.newId();
  let answer: { readonly status: string; readonly words: string } | null = null;
  const client = await connectOperator(
    access.connection,
    clock,
    [topics.answers(device, 'log_stream'), topics.told(device, 'log')],
    {
      message({ topic, payload }) {
        if (topics.read(topic)?.rest === 'log')
          return show(payload, options.json === true, (text) => shell.print(text));
        const parsed = commandResponseSchema.safeParse(parseJson(payload));
        if (!parsed.success || parsed.data.id !== id || parsed.data.status === 'accepted') return;
        const { status, error } = parsed.data;
        answer = {
          status,
          words: `refused (${error?.code ?? status}): ${error?.message ?? 'without a reason'}`,
        };
      },
    },
  );
  const send = (minutes: unknown, as: string): void =>
    client.publish(
      topics.command(topicLevel(target), 'log_stream'),
      JSON.stringify({ ts: timestamp(clock.wall()), id: as, args: { ...args, minutes } }),
      { qos: 1, properties: { expiryS: Math.ceil(timeoutS) } },
    );
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  for (const signal of SIGNALS) signals.once(signal, end);
  try {
    send(args['minutes'], id);
    const startedAt = clock.now();
    const endsAt = startedAt + Number(args['minutes']) * 60_000;
    const said = (): typeof answer => answer;
    while (!isOver && clock.now() < endsAt) {
      await new Promise<void>((go) => clock.at(clock.now() + LOOK_EACH_MS, go));
      const now = said();
      if (now !== null && now.status !== 'ok') throw new Failure(`${device}: ${plain(now.words)}`);
      if (now === null && clock.now() - startedAt > timeoutS * 1000)
        throw new Failure(`${device}: no answer within ${timeoutS} s`, EXIT.noAnswer);
    }
    if (isOver) send(0, deps.newId());
  } finally {
    for (const signal of SIGNALS) signals.off(signal, end);
    await client.close();
  }
}

function show(payload: string, isJson: boolean, print: (text: string) => void): void {
  const parsed = logSchema.safeParse(parseJson(payload));
  if (!parsed.success) return;
  for (const line of parsed.data.lines) print(isJson ? `${plain(line)}\n` : `${plain(wordLine(line))}\n`);
  if (parsed.data.dropped > 0)
    print(isJson ? `{"dropped":${parsed.data.dropped}}\n` : `... ${parsed.data.dropped} more lines\n`);
}

/** "12:31:05 warn the microphone is gone {"lane":"main"}" */
function wordLine(text: string): string {
  const line = parseJson(text);
  if (typeof line !== 'object' || line === null) return text;
  const { time, level, msg, ...fields } = line as Record<string, unknown>;
  const at = /T(\d\d:\d\d:\d\d)/.exec(String(time))?.[1] ?? '';
  const rest = Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`;
  return `${at} ${String(level)} ${String(msg ?? '')}${rest}`;
}
